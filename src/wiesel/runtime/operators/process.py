"""Internal. Process functions: one input, keyed or not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any, NamedTuple

from wiesel.core.errors import invariant
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.runtime.isolation import isolated
from wiesel.runtime.operators.function_operator import FunctionOperator, object_reuse
from wiesel.runtime.operators.timed import TimedOperator
from wiesel.runtime.results import ProcessLoop
from wiesel.runtime.timer_service import InternalTimerService, KeyedTimerService, NonKeyedTimerService
from wiesel.runtime.user_code import FailedCall, raise_failure
from wiesel.spi.functions import CoProcessFunction, KeyedCoProcessFunction, KeyedProcessFunction, ProcessFunction
from wiesel.spi.timers import TimeDomain, TimerService
from wiesel.state.key_context import NO_KEY, KeyContext
from wiesel.state.value_keys import key_value
from wiesel.wire.batch import Batch

__all__ = ["KeyedFunctionOperator", "UnkeyedFunctionOperator", "keyed_process_operator", "process_operator"]


class _Context(ProcessFunction.Context, CoProcessFunction.Context):
    """The context of functions without a key; one object for all records."""

    def __init__(self, timer_service: TimerService) -> None:
        self._timer_service = timer_service
        self.current_timestamp: int | None = None

    def timer_service(self) -> TimerService:
        return self._timer_service

    def timestamp(self) -> int:
        timestamp = self.current_timestamp
        return MIN_TIMESTAMP if timestamp is None else timestamp


class _KeyedContext(KeyedProcessFunction.Context, KeyedCoProcessFunction.Context):
    """The context of keyed functions; one object for all records."""

    def __init__(self, timer_service: TimerService, key_context: KeyContext) -> None:
        self._timer_service = timer_service
        self._key_context = key_context
        self.current_timestamp: int | None = None

    def timer_service(self) -> TimerService:
        return self._timer_service

    def timestamp(self) -> int:
        timestamp = self.current_timestamp
        return MIN_TIMESTAMP if timestamp is None else timestamp

    def get_current_key(self) -> Any:
        return key_value(self._key_context.key)


class _OnTimerContext(_KeyedContext, KeyedProcessFunction.OnTimerContext, KeyedCoProcessFunction.OnTimerContext):
    """The context of timers; one object for all of them."""

    current_domain = TimeDomain.EVENT_TIME

    def time_domain(self) -> TimeDomain:
        return self.current_domain


class _FiredTimer(NamedTuple):
    """Replaces the record in error messages of timers."""

    timestamp: int
    key: Any
    domain: str

    @property
    def subject(self) -> str:
        return f"with the timer of key {self.key!r} at {self.timestamp} ms ({self.domain.lower().replace('_', ' ')})"


FailedCall.register(_FiredTimer)


class UnkeyedFunctionOperator(FunctionOperator):
    """Base of process functions without keys: they read the time and have no timers."""

    def open(self) -> None:
        """Create the context, then open the function."""
        self._timer_service = NonKeyedTimerService(self.context)
        super().open()
        self._loop = ProcessLoop(_Context(self._timer_service), KeyContext(), self.guard, self.collector, object_reuse(self.context))

    def run(self, process: Callable[[Any, Any], Any], batch: Batch) -> None:
        """Process a batch by one method of the function."""
        self._loop.run(process, batch)

    def process_watermark(self, timestamp: int) -> None:
        """Advance the time visible to functions, and forward the watermark."""
        self._timer_service.watermark = timestamp
        self.output.emit_watermark(timestamp)


class KeyedFunctionOperator(TimedOperator, FunctionOperator):
    """Base of process functions with keyed state and timers. Records of all inputs share the keys."""

    key_context: KeyContext
    ends_keys = True

    def open(self) -> None:
        """Restore the timers, create the contexts, then open the function."""
        self.key_context = KeyContext()
        self.timers = InternalTimerService(self.context, self.key_context, self._on_event_time, self._on_processing_time)
        self.timers.open()
        timer_service = KeyedTimerService(self.timers, self.key_context)
        self._on_timer_context = _OnTimerContext(timer_service, self.key_context)
        self._on_timer: Callable[[int, Any], Any] | None = getattr(self.function, "on_timer", None)
        self._timer_results: list[Any] = []
        self._timer_times: list[Any] = []
        super().open()
        self._loop = ProcessLoop(
            _KeyedContext(timer_service, self.key_context), self.key_context, self.guard, self.collector, object_reuse(self.context)
        )

    def run(self, process: Callable[[Any, Any], Any], batch: Batch) -> None:
        """Process a batch by one method of the function."""
        invariant(batch.keys is not None, f"operator {self.context.name!r} got records without keys")
        self._loop.run(process, batch)
        self.key_context.key = NO_KEY

    def end_key(self) -> None:
        """Fire the timers of the key."""
        self._fire(lambda _: self.timers.end_key_of_user(), MAX_TIMESTAMP)

    def _emit_fired(self) -> None:
        results, times = self._timer_results, self._timer_times
        self._timer_results, self._timer_times = [], []
        self.collector.emit(results, times)

    def _on_event_time(self, timestamp: int, key: Any, namespace: Any) -> None:
        self._call_on_timer(timestamp, key, TimeDomain.EVENT_TIME)

    def _on_processing_time(self, timestamp: int, key: Any, namespace: Any) -> None:
        self._call_on_timer(timestamp, key, TimeDomain.PROCESSING_TIME)

    def _call_on_timer(self, timestamp: int, key: Any, domain: TimeDomain) -> None:
        context, results, on_timer = self._on_timer_context, self._timer_results, self._on_timer
        if on_timer is None:
            return
        context.current_timestamp = timestamp
        context.current_domain = domain
        error: Exception | None = None
        try:
            produced = on_timer(timestamp, context)
            if produced is not None:
                results.extend(map(isolated, produced))
        except Exception as raised:  # noqa: BLE001 - whatever a user's function raises is about this timer
            error = raised
        self._timer_times.extend(repeat(timestamp, len(results) - len(self._timer_times)))
        if error is not None:
            failure = self.guard.failed(error, _FiredTimer(timestamp, key, domain.name), timestamp)
            if failure is not None:
                raise_failure(failure, error)


class ProcessOperator(UnkeyedFunctionOperator):
    """Runs a ProcessFunction."""

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Process the records."""
        self.run(self.function.process_element, batch)


class KeyedProcessOperator(KeyedFunctionOperator):
    """Runs a KeyedProcessFunction."""

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Process the records under their keys."""
        self.run(self.function.process_element, batch)


def process_operator(params: dict[str, Any], payload: Any) -> ProcessOperator:
    """Create the operator of ``process``."""
    return ProcessOperator(payload["function"], payload.get("output_type"))


def keyed_process_operator(params: dict[str, Any], payload: Any) -> KeyedProcessOperator:
    """Create the operator of ``process`` on a keyed stream."""
    return KeyedProcessOperator(payload["function"], payload.get("output_type"))
