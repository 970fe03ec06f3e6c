"""Internal. The operator of CEP on a keyed stream.

In event time, events wait in keyed state until the watermark has passed them; then those of all keys are matched in the order of their
times. In processing time an event is matched on arrival (with a comparator: a millisecond later, together with the others of its
millisecond).
"""

from __future__ import annotations

import functools
from typing import Any

from wiesel.cep.matcher import Matcher
from wiesel.cep.partial_matches import PartialMatches
from wiesel.cep.results import PatternResults
from wiesel.cep.spec import CepSpec
from wiesel.core.errors import ProgramError, invariant
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.core.metrics import LATE_COUNTER
from wiesel.runtime.operator import StreamOperator
from wiesel.runtime.operators.function_operator import FunctionOperator, is_batch
from wiesel.runtime.runtime_context import StreamingRuntimeContext
from wiesel.runtime.timer_service import InternalTimerService
from wiesel.runtime.user_code import raise_failure
from wiesel.spi.functions import Function
from wiesel.state.backend import ListTable
from wiesel.state.key_context import NO_KEY, KeyContext
from wiesel.wire.batch import Batch

__all__ = ["CepOperator", "cep_operator"]


class CepOperator(FunctionOperator):
    """Matches the events of each key."""

    key_context: KeyContext
    ends_keys = True

    def __init__(self, spec: CepSpec) -> None:
        super().__init__(spec.function, spec.output_type)
        self.spec = spec
        owners = {id(a.owner): a.owner for a in spec.automaton.atoms if isinstance(a.owner, Function)}
        self._more_functions = [*owners.values(), *([] if spec.timeout_function is None else [spec.timeout_function])]

    def open(self) -> None:
        """Restore state and timers, then open the functions."""
        spec, backend = self.spec, self.context.backend
        self.key_context = KeyContext()
        serializer = None if spec.input_type is None else spec.input_type.create_serializer()
        queue = backend.table("cep-queue", serializer=serializer, kind="list")
        invariant(isinstance(queue, ListTable), "the backend gave no list table")
        self._queue: Any = queue
        self._due: dict[tuple[int, Any], None] = {}
        self._touched: dict[Any, None] = {}
        self.timers = InternalTimerService(self.context, self.key_context, self._on_event_timer, self._on_processing_timer)
        self.timers.open()
        self._late_dropped = self.context.metrics.counter(LATE_COUNTER)
        super().open()
        for function in self._more_functions:
            self.guard.open(function, StreamingRuntimeContext(self.context, None))
        self.results = PatternResults(spec, self.context, self.guard, self.collector)
        tables = PartialMatches(backend, serializer)
        self._matcher = Matcher(spec.automaton, spec.strategy, tables, self.timers.current_processing_time, spec.on_timeout is not None)
        self._order = None if spec.compare is None else functools.cmp_to_key(spec.compare)

    def close(self) -> None:
        """Close the functions, unless they were never opened."""
        if self._open_called:
            for function in self._more_functions:
                self.guard.close(function)
        super().close()

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Add events to the queue, or match them immediately."""
        invariant(batch.keys is not None, f"operator {self.context.name!r} got records without keys")
        if self.spec.event_time:
            self._enqueue(batch)
        elif self._order is not None:
            self._enqueue_now(batch)
        else:
            self._match_now(batch)

    # Event time

    def _enqueue(self, batch: Batch) -> None:
        if batch.timestamps is None or None in batch.timestamps:
            raise ProgramError(
                f"operator {self.context.name!r} (made at {self.context.user_location}) got events without timestamps",
                hint="call assign_timestamps_and_watermarks(...) before CEP.pattern(...), or in_processing_time() on what it returns",
                operator=self.context.name,
            )
        watermark, append, register = self.timers.current_watermark, self._queue.append, self.timers.event_timers.register
        late: list[int] = []
        for index, (value, key, time) in enumerate(zip(batch.values, batch.keys or (), batch.timestamps, strict=True)):
            if time > watermark:
                append(key, value, time)
                register(time, key)
            else:
                late.append(index)
        if late and self.spec.late_tag is not None:
            self.output.emit_side(self.spec.late_tag, Batch([batch.values[i] for i in late], [batch.timestamps[i] for i in late]))
        elif late:
            self._late_dropped.inc(len(late))

    def process_watermark(self, timestamp: int) -> None:
        """Match the events up to the watermark, and drop timed-out partial matches."""
        self.timers.advance_watermark(timestamp)
        self._match_due(0, timestamp)
        if timestamp == MAX_TIMESTAMP and is_batch(self.context):
            # In BATCH mode processing time ends with the input as well.
            self.on_processing_time(timestamp)
        self.output.emit_watermark(timestamp)

    def end_key(self) -> None:
        """Match all events of the key."""
        self.timers.advance_watermark(MAX_TIMESTAMP)
        self._match_due(0, MAX_TIMESTAMP)
        self.on_processing_time(MAX_TIMESTAMP)
        self.timers.current_watermark = MIN_TIMESTAMP

    def _on_event_timer(self, timestamp: int, key: Any, namespace: Any) -> None:
        self._due[(timestamp, key)] = None

    # Processing time

    def _match_now(self, batch: Batch) -> None:
        now = self.timers.current_processing_time()
        looks = self._matcher.first_look(batch.values) or [None] * len(batch)
        try:
            for value, key, looked in zip(batch.values, batch.keys or (), looks, strict=True):
                self._advance(key, now)
                self._match(key, value, now, looked)
        finally:
            self._flush()

    def _enqueue_now(self, batch: Batch) -> None:
        now = self.timers.current_processing_time()
        for value, key in zip(batch.values, batch.keys or (), strict=True):
            self._queue.append(key, value, now)
            self._wake(key, now)

    def on_processing_time(self, now_ms: int) -> None:
        """Match the events of past milliseconds, and drop timed-out partial matches."""
        self.timers.advance_processing_time(now_ms)
        self._match_due(1, now_ms)

    def _on_processing_timer(self, timestamp: int, key: Any, namespace: Any) -> None:
        self._due[(timestamp, key)] = None

    def finish(self) -> None:
        """Fire the processing timers that are due; later ones are dropped, as in Flink."""
        self.on_processing_time(self.context.clock.now_ms())

    # Both

    def _match_due(self, delay: int, now: int) -> None:
        """Match due events, then advance the time of their keys."""
        due, self._due = list(self._due), {}
        queue, order = self._queue, self._order
        events: list[tuple[int, Any, Any]] = []
        for time, key in due:
            self._touched[key] = None
            waiting = queue.get(key, time - delay)
            if waiting:
                waiting = waiting if order is None else sorted(waiting, key=order)
                events.extend((time - delay, key, value) for value in waiting)
                queue.remove(key, time - delay)
        looks = self._matcher.first_look([value for _, _, value in events]) or [None] * len(events)
        try:
            for (time, key, value), looked in zip(events, looks, strict=True):
                self._advance(key, time)
                self._match(key, value, time, looked)
            for key in self._touched:
                self._advance(key, now)
        finally:
            self._touched = {}
            self._flush()

    def _match(self, key: Any, value: Any, time: int, looked: Any) -> None:
        self.key_context.key = key
        try:
            matches, ends = self._matcher.process(key, value, time, looked)
        except Exception as error:  # noqa: BLE001 - whatever a condition raises is about this event
            failure = self.guard.failed(error, value, time if self.spec.event_time else None)
            if failure is not None:
                raise_failure(failure, error)
            return
        for end in ends:
            self._wake(key, end)
        if matches:
            self.results.add_matches(matches, time)

    def _advance(self, key: Any, now: int) -> None:
        self.key_context.key = key
        matches, timed_out = self._matcher.advance(key, now)
        if matches:
            self.results.add_matches(matches, now)
        if timed_out:
            self.results.add_timed_out(timed_out)

    def _wake(self, key: Any, time: int) -> None:
        """Register a check of the key after ``time``."""
        if not self.spec.event_time:
            self.key_context.key = key
            self.timers.register_processing_time_timer(time + 1)
        elif time > self.timers.current_watermark:
            self.timers.event_timers.register(time, key)

    def _flush(self) -> None:
        self.key_context.key = NO_KEY
        self.results.flush()


def cep_operator(params: dict[str, Any], payload: Any) -> StreamOperator:
    """Create the operator of a pattern stream; the payload is its :class:`CepSpec`."""
    return CepOperator(payload)
