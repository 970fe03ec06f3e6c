"""Internal. The interval join: pairs of records of one key whose timestamps differ by no more than two bounds.

State per key: tables ``left-buffer`` and ``right-buffer``, maps of timestamp -> tuple of its records; and an event timer per buffered
timestamp, whose namespace is the buffer to clean.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from wiesel.core.errors import ProgramError, invariant
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.core.metrics import LATE_COUNTER
from wiesel.runtime.isolation import isolated
from wiesel.runtime.operators.function_operator import FunctionOperator, object_reuse
from wiesel.runtime.timer_service import InternalTimerService
from wiesel.runtime.user_code import FailedCall, raise_failure
from wiesel.spi.joins import ProcessJoinFunction
from wiesel.state.backend import MapTable
from wiesel.state.key_context import NO_KEY, KeyContext
from wiesel.wire.batch import Batch

__all__ = ["interval_join_operator"]

_SIDES = ("left", "right")


class _Pair(NamedTuple):
    """Replaces the record in errors of a function that joins a pair."""

    left: Any
    right: Any

    @property
    def subject(self) -> str:
        return f"with left record {self.left!r} and right record {self.right!r}"


FailedCall.register(_Pair)


class _Context(ProcessJoinFunction.Context):
    """The context; one object for all pairs."""

    left = right = MIN_TIMESTAMP

    def get_left_timestamp(self) -> int:
        return self.left

    def get_right_timestamp(self) -> int:
        return self.right

    def get_timestamp(self) -> int:
        return max(self.left, self.right)


class IntervalJoinOperator(FunctionOperator):
    """Joins left records with right ones for which ``left + lower <= right <= left + upper`` (ms).

    A record is buffered until the watermark excludes further matches. One behind the watermark is late: it is not joined.
    """

    key_context: KeyContext
    ends_keys = True

    def __init__(self, function: Any, output_type: Any, lower: int, upper: int, late_tags: tuple[str | None, str | None]) -> None:
        super().__init__(function, output_type)
        # By side: the bounds of the other record relative to this one; and how long this one has to be buffered.
        self._bounds = ((lower, upper), (-upper, -lower))
        self._keep_ms = (max(upper, 0), max(-lower, 0))
        self._late_tags = late_tags

    def open(self) -> None:
        """Restore buffers and timers, then open the function."""
        self.key_context = KeyContext()
        self.timers = InternalTimerService(self.context, self.key_context, self._clean, self._no_processing_timer)
        self.timers.open()
        tables = [self.context.backend.table(f"{side}-buffer", kind="map") for side in _SIDES]
        self._buffers: list[MapTable] = [table for table in tables if isinstance(table, MapTable)]
        self._late_dropped = self.context.metrics.counter(LATE_COUNTER)
        self._join_context = _Context()
        super().open()
        self._reuse = object_reuse(self.context)

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Buffer records of one side and join them with the buffer of the other."""
        keys = batch.keys or []
        invariant(len(keys) == len(batch.values), f"operator {self.context.name!r} got records without keys")
        timestamps: list[Any] = batch.timestamps or [None] * len(keys)
        results: list[Any] = []
        times: list[Any] = []
        late: tuple[list[Any], list[Any]] = ([], [])
        watermark = self.timers.current_watermark
        try:
            for value, key, timestamp in zip(batch.values, keys, timestamps, strict=True):
                if timestamp is None or timestamp == MIN_TIMESTAMP:
                    self._without_timestamp(value, input_index)
                elif timestamp < watermark:
                    late[0].append(value)
                    late[1].append(timestamp)
                else:
                    self.key_context.key = key
                    self._buffer(input_index, key, timestamp, value)
                    self._join(input_index, key, timestamp, value, results, times)
        finally:
            self.key_context.key = NO_KEY
            self._hand_on_late(self._late_tags[input_index], late)
            self.collector.emit(results, times)

    def _buffer(self, side: int, key: Any, timestamp: int, value: Any) -> None:
        table = self._buffers[side]
        before = table.get_entry(key, timestamp)
        table.put_entry(key, timestamp, (value,) if before is None else (*before, value))
        if before is None:
            cleanup = timestamp + self._keep_ms[side]
            if cleanup <= MAX_TIMESTAMP:
                self.timers.event_timers.register(cleanup, key, _SIDES[side])

    def _partners(self, side: int, key: Any, timestamp: int) -> Iterator[tuple[int, Any]]:
        """Yield (timestamp, record) of the other side's buffer within the bounds, sorted by time."""
        lower, upper = self._bounds[side]
        low, high = timestamp + lower, timestamp + upper
        table = self._buffers[1 - side]
        if low == high:
            found = [(low, table.get_entry(key, low) or ())]
        else:
            found = sorted((entry for entry in table.entries(key) if low <= entry[0] <= high), key=_time_of)
        return ((time, record) for time, records in found for record in records)

    def _join(self, side: int, key: Any, timestamp: int, value: Any, results: list[Any], times: list[Any]) -> None:
        context, process, keep = self._join_context, self.function.process_element, None if self._reuse else isolated
        for time, other in self._partners(side, key, timestamp):
            left, right = (other, value) if side else (value, other)
            context.left, context.right = (time, timestamp) if side else (timestamp, time)
            later = time if time > timestamp else timestamp
            failed: Exception | None = None
            try:
                produced = process(left, right, context)
                if produced is not None:
                    results.extend(produced if keep is None else map(keep, produced))
            except Exception as error:  # noqa: BLE001 - whatever a user's function raises is about this pair
                failed = error
            times.extend([later] * (len(results) - len(times)))
            if failed is not None:
                failure = self.guard.failed(failed, _Pair(left, right), later)
                if failure is not None:
                    raise_failure(failure, failed)

    def _hand_on_late(self, tag: str | None, late: tuple[list[Any], list[Any]]) -> None:
        if not late[0]:
            return
        if tag is None:
            self._late_dropped.inc(len(late[0]))
        else:
            self.output.emit_side(tag, Batch(*late))

    def _without_timestamp(self, value: Any, side: int) -> None:
        error = ProgramError(
            f"a record of the {_SIDES[side]} stream of an interval join has no timestamp: {value!r}",
            hint="call assign_timestamps_and_watermarks(...) on both streams before the join",
            operator=self.context.name,
        )
        failure = self.guard.failed(error, value, None)
        if failure is not None:
            raise_failure(failure, error)

    # Time

    def end_key(self) -> None:
        """Clear the buffers and their timers, as no more matches are possible."""

    def process_watermark(self, timestamp: int) -> None:
        """Drop records that cannot be joined any more."""
        self.timers.advance_watermark(timestamp)
        self.key_context.key = NO_KEY
        self.output.emit_watermark(timestamp)

    def _clean(self, timestamp: int, key: Any, namespace: Any) -> None:
        side = _SIDES.index(namespace)
        self._buffers[side].remove_entry(key, timestamp - self._keep_ms[side])

    def _no_processing_timer(self, timestamp: int, key: Any, namespace: Any) -> None:
        invariant(False, "an interval join has no timers of processing time")


def _time_of(entry: tuple[int, Any]) -> int:
    return entry[0]


def interval_join_operator(params: dict[str, Any], payload: Any) -> IntervalJoinOperator:
    """Create the operator of an interval join.

    Args:
        params: ``lower`` and ``upper``: the bounds in ms, both inclusive.
        payload: ``function``, ``output_type`` and ``late_tags`` (ids of the side outputs for late records of left and right, or None).
    """
    return IntervalJoinOperator(payload["function"], payload.get("output_type"), params["lower"], params["upper"], payload["late_tags"])
