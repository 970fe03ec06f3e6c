"""Internal. Functions of a stream and a broadcast stream: input 0 is the stream, keyed or not, and input 1 the broadcast stream.

In BATCH mode the broadcast side is complete before the first record of the other one is processed, as in Flink. For keyed operators the
task guarantees it by sorting their input; others hold records back here, spilling them to files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from wiesel.core.errors import StateAccessError
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.runtime.batch.object_sizes import mean_size
from wiesel.runtime.batch.spill_files import Spill
from wiesel.runtime.batch.spillable_list import SpillableList
from wiesel.runtime.operator import OperatorContext
from wiesel.runtime.operators.function_operator import is_batch, object_reuse
from wiesel.runtime.operators.process import KeyedFunctionOperator, UnkeyedFunctionOperator
from wiesel.runtime.results import ProcessLoop
from wiesel.runtime.timer_service import InternalTimerService, KeyedTimerService, NonKeyedTimerService
from wiesel.runtime.user_code import caller_location
from wiesel.spi.functions import BroadcastProcessFunction, KeyedBroadcastProcessFunction, KeyedStateFunction
from wiesel.spi.timers import TimeDomain, TimerService
from wiesel.state.handles import keys_with, make_state
from wiesel.state.key_context import NO_KEY, KeyContext
from wiesel.state.operator_handles import make_broadcast_state
from wiesel.state.value_keys import key_value
from wiesel.wire.batch import Batch

__all__ = ["broadcast_process_operator", "keyed_broadcast_process_operator"]

_BROADCAST_INPUT = 1
_SLOT_BYTES = 48
"""Overhead of a record that is held back, including its timestamp."""


class _BroadcastStates:
    """The broadcast states that were declared with the stream, in one of their two forms."""

    def __init__(self, descriptors: list[Any], context: OperatorContext, *, read_only: bool) -> None:
        store = context.backend.operator_state
        self._by_name = {d.name: make_broadcast_state(d, store, read_only=read_only) for d in descriptors}
        self._operator = context.name

    def get(self, descriptor: Any) -> Any:
        try:
            return self._by_name[descriptor.name]
        except (KeyError, AttributeError):
            self._refuse(descriptor)

    def _refuse(self, descriptor: Any) -> NoReturn:
        known = ", ".join(sorted(self._by_name))
        raise StateAccessError(
            f"{descriptor!r} is no broadcast state of operator {self._operator!r}, which has: {known}",
            hint="check the name, and give its MapStateDescriptor to broadcast(...)",
            operator=self._operator,
        )


class _BaseContext:
    """Base of the contexts of both sides; one object for all records of a side."""

    def __init__(self, timer_service: TimerService, states: _BroadcastStates) -> None:
        self._timer_service = timer_service
        self._states = states
        self.current_timestamp: int | None = None

    def timestamp(self) -> int:
        timestamp = self.current_timestamp
        return MIN_TIMESTAMP if timestamp is None else timestamp

    def current_processing_time(self) -> int:
        return self._timer_service.current_processing_time()

    def current_watermark(self) -> int:
        return self._timer_service.current_watermark()

    def timer_service(self) -> TimerService:
        return self._timer_service

    def get_broadcast_state(self, state_descriptor: Any) -> Any:
        return self._states.get(state_descriptor)


class _ReadOnlyContext(_BaseContext, BroadcastProcessFunction.ReadOnlyContext):
    pass


class _Context(_BaseContext, BroadcastProcessFunction.Context):
    pass


class _KeyedReadOnlyContext(_BaseContext, KeyedBroadcastProcessFunction.ReadOnlyContext):
    def __init__(self, timer_service: TimerService, states: _BroadcastStates, key_context: KeyContext) -> None:
        super().__init__(timer_service, states)
        self._key_context = key_context

    def get_current_key(self) -> Any:
        return key_value(self._key_context.key)


class _KeyedOnTimerContext(_KeyedReadOnlyContext, KeyedBroadcastProcessFunction.OnTimerContext):
    current_domain = TimeDomain.EVENT_TIME

    def time_domain(self) -> TimeDomain:
        return self.current_domain


class _KeyedContext(_BaseContext, KeyedBroadcastProcessFunction.Context):
    def __init__(self, timer_service: TimerService, states: _BroadcastStates, apply: Callable[[Any, Any], None]) -> None:
        super().__init__(timer_service, states)
        self._apply = apply

    def apply_to_keyed_state(self, state_descriptor: Any, function: Any) -> None:
        self._apply(state_descriptor, function)


class _BroadcastSideTimerService(NonKeyedTimerService):
    """The timer service of the broadcast side of a keyed operator: returns the time, and rejects timers, as there is no key."""

    def __init__(self, context: OperatorContext, timers: InternalTimerService) -> None:
        super().__init__(context)
        self._timers = timers

    def current_watermark(self) -> int:
        return self._timers.current_watermark

    def _refuse(self, what: str) -> NoReturn:
        raise StateAccessError(
            f"{what} timers is not possible in process_broadcast_element, as a broadcast record has no key: "
            f"operator {self._context.name!r}, at {caller_location()}",
            hint="set and delete timers in process_element and on_timer",
            operator=self._context.name,
            location=caller_location(),
        )


class BroadcastProcessOperator(UnkeyedFunctionOperator):
    """Runs a BroadcastProcessFunction."""

    def __init__(self, function: Any, output_type: Any, descriptors: list[Any]) -> None:
        super().__init__(function, output_type)
        self._descriptors = descriptors
        self._holding = False

    def open(self) -> None:
        """Open the function, then create the contexts of both sides."""
        super().open()
        self._holding = is_batch(self.context)
        self._spill = Spill(self.context.local_dir)
        self._held = SpillableList(self.context.managed_memory_bytes, self._spill)
        reuse = object_reuse(self.context)
        readable = _BroadcastStates(self._descriptors, self.context, read_only=True)
        writable = _BroadcastStates(self._descriptors, self.context, read_only=False)
        self._loop = ProcessLoop(_ReadOnlyContext(self._timer_service, readable), KeyContext(), self.guard, self.collector, reuse)
        self._broadcast_loop = ProcessLoop(_Context(self._timer_service, writable), KeyContext(), self.guard, self.collector, reuse)

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Process records of one of the sides."""
        if input_index == _BROADCAST_INPUT:
            self._broadcast_loop.run(self.function.process_broadcast_element, batch)
        elif self._holding:
            self._held.append((batch.values, batch.timestamps), int(len(batch) * (mean_size(batch.values) + _SLOT_BYTES)))
        else:
            self.run(self.function.process_element, batch)

    def end_input(self, input_index: int = 0) -> None:
        """Process the records held back, once the broadcast side is complete."""
        if input_index == _BROADCAST_INPUT:
            self._release()

    def process_watermark(self, timestamp: int) -> None:
        """Advance the time; the final watermark of both sides follows all their records."""
        if timestamp == MAX_TIMESTAMP:
            self._release()
        super().process_watermark(timestamp)

    def _release(self) -> None:
        self._holding = False
        for values, timestamps in self._held:
            self.run(self.function.process_element, Batch(values, timestamps))
        self._held.clear()

    def close(self) -> None:
        """Delete the records held back, then close the function."""
        if hasattr(self, "_spill"):
            self._spill.close()
        super().close()


class KeyedBroadcastProcessOperator(KeyedFunctionOperator):
    """Runs a KeyedBroadcastProcessFunction."""

    def __init__(self, function: Any, output_type: Any, descriptors: list[Any]) -> None:
        super().__init__(function, output_type)
        self._descriptors = descriptors

    def open(self) -> None:
        """Open the function, then create the contexts of both sides and of the timers."""
        super().open()
        reuse = object_reuse(self.context)
        readable = _BroadcastStates(self._descriptors, self.context, read_only=True)
        writable = _BroadcastStates(self._descriptors, self.context, read_only=False)
        timer_service = KeyedTimerService(self.timers, self.key_context)
        self._on_timer_context: Any = _KeyedOnTimerContext(timer_service, readable, self.key_context)
        keyed = _KeyedReadOnlyContext(timer_service, readable, self.key_context)
        self._loop = ProcessLoop(keyed, self.key_context, self.guard, self.collector, reuse)
        broadcast = _KeyedContext(_BroadcastSideTimerService(self.context, self.timers), writable, self._apply_to_keyed_state)
        # A separate key context: that of the operator has no key, so that access to keyed state is rejected.
        self._broadcast_loop = ProcessLoop(broadcast, KeyContext(), self.guard, self.collector, reuse)

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Process records of one side, those of the stream under their keys."""
        if input_index == _BROADCAST_INPUT:
            self._broadcast_loop.run(self.function.process_broadcast_element, batch)
        else:
            self.run(self.function.process_element, batch)

    def _apply_to_keyed_state(self, descriptor: Any, function: Any) -> None:
        call = function.process if isinstance(function, KeyedStateFunction) else function
        if not callable(call):
            raise TypeError(f"apply_to_keyed_state() takes a KeyedStateFunction, or a callable of key and state, got {function!r}")
        key_context = self.key_context
        state = make_state(descriptor, self.context.backend, key_context)
        try:
            for key in keys_with(descriptor, self.context.backend):
                key_context.key = key
                call(key, state)
        finally:
            key_context.key = NO_KEY


def broadcast_process_operator(params: dict[str, Any], payload: Any) -> BroadcastProcessOperator:
    """Create the operator of ``process`` on a stream connected with a broadcast one."""
    return BroadcastProcessOperator(payload["function"], payload.get("output_type"), payload["descriptors"])


def keyed_broadcast_process_operator(params: dict[str, Any], payload: Any) -> KeyedBroadcastProcessOperator:
    """Create the operator of ``process`` on a keyed stream connected with a broadcast one."""
    return KeyedBroadcastProcessOperator(payload["function"], payload.get("output_type"), payload["descriptors"])
