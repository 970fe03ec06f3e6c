"""Internal. Session window aggregates: a session ends after a gap without rows.

The rows of a batch are first combined to sessions, so that state is read and written once per key and batch.

Retry semantics: state is the list of open sessions per key, each with its slots; their ends are scheduled again at a restore.
"""

from __future__ import annotations

import heapq
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.calls import accumulators
from wiesel.columnar.aggregates.slots import Slot, numbers
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.grouping import Groups
from wiesel.columnar.keys import key_values
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.window_zones import WindowZone
from wiesel.columnar.windows import Times
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.core.metrics import LATE_COUNTER
from wiesel.runtime.table.aggregate.aggregation import python_values, slot_column
from wiesel.runtime.table.base import TableOperator
from wiesel.runtime.table.window.aggregate import window_results
from wiesel.runtime.table.window.session_partials import SessionPartials, session_times
from wiesel.runtime.table.window.spec import WindowSpec

__all__ = ["SessionAggregateOperator", "session_aggregate_operator"]

_Session = tuple[Any, ...]
"""Start, end, and slots."""


class SessionAggregateOperator(TableOperator):
    """Aggregates by key and session."""

    def __init__(self, spec: WindowSpec) -> None:
        self._spec = spec
        self._accumulators = accumulators(spec.calls)
        self._partials = SessionPartials(spec)
        self._slots = self._partials.slots
        self._unite = [_uniting(slot) for slot in self._slots]
        self._watermark = MIN_TIMESTAMP
        self._ends: list[tuple[int, int, Any]] = []
        self._first_ends: dict[Any, int] = {}
        self._number = 0

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        self._zone = WindowZone(self._spec.schema.types[-1], self.session.time_zone)
        self._table = self.context.backend.table("sessions")
        for key, _, sessions in self._table.items():
            for session in sessions:
                self._ends_at(session[1], key)
        self._late = self.context.metrics.counter(LATE_COUNTER)
        self._ask()

    def _ends_at(self, end: int, key: Any) -> None:
        """Schedule a check of a key when a session of it may end; sessions that grow are checked too early, and then again."""
        first = self._first_ends.get(key)
        if first is None or end < first:
            self._first_ends[key] = end
            self._number += 1  # keys need not have an order
            heapq.heappush(self._ends, (end, self._number, key))

    # Input

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Add rows to sessions."""
        part = rows.rows.columns if self._spec.merges else self._partials.of(rows, self._times(rows))
        width = len(self._spec.keys)
        columns = [key_values(column) for column in part[:width]]
        keys = list(zip(*columns, strict=True)) if columns else [()] * len(part[0])
        starts, ends, sizes = (numbers(column) for column in part[width : width + 3])
        slots = [python_values(column) for column in part[width + 3 :]]
        late = np.zeros(len(ends), np.bool_) if self._spec.by_clock else self._zone.over(ends) <= self._watermark
        fresh = zip(keys, zip(starts.tolist(), ends.tolist(), *slots, strict=True), sizes.tolist(), late.tolist(), strict=True)
        for key, session, size, is_late in fresh:
            self._add(key, session, size, is_late)
        self._ask()

    def _times(self, rows: RowBatch) -> Times:
        if self._spec.by_clock:
            return self._zone.local(np.full(len(rows), self.context.clock.now_ms(), np.int64))
        return session_times(self._spec, self._zone, rows)

    def _add(self, key: Any, session: _Session, size: int, is_late: bool) -> None:
        """Merge a session of the batch with adjacent ones; a late session may touch one that is not."""
        known: list[_Session] = self._table.get(key) or []
        touched = [each for each in known if each[0] <= session[1] and each[1] >= session[0]]
        united = session
        for each in touched:
            united = self._united(each, united)
        if is_late and self._zone.over_at(united[1]) <= self._watermark:
            self._late.inc(size)
            return
        self._table.put(key, [united] if len(touched) == len(known) else [*(each for each in known if each not in touched), united])
        self._ends_at(united[1], key)

    def _united(self, one: _Session, other: _Session) -> _Session:
        slots = (unite(one[2 + place], other[2 + place]) for place, unite in enumerate(self._unite))
        return (min(one[0], other[0]), max(one[1], other[1]), *slots)

    # Firing

    def process_watermark(self, timestamp: int) -> None:
        """Fire the sessions that have ended, then hand the watermark on."""
        if not self._spec.by_clock:
            self._fire(timestamp)
            self._watermark = timestamp
        self.output.emit_watermark(timestamp)

    def on_processing_time(self, now_ms: int) -> None:
        """Fire the sessions that have ended."""
        if self._spec.by_clock:
            self._fire(now_ms)
            self._ask()

    def _ask(self) -> None:
        if self._spec.by_clock and self._ends:
            self.context.register_processing_timer(self._zone.over_at(self._ends[0][0]))

    def _fire(self, time: int) -> None:
        fired: list[tuple[Any, _Session]] = []
        while self._ends and self._zone.over_at(self._ends[0][0]) <= time:
            end, _, key = heapq.heappop(self._ends)
            if self._first_ends.get(key) != end:
                continue  # superseded by an earlier check
            del self._first_ends[key]
            known: list[_Session] = self._table.get(key) or []
            left = [session for session in known if self._zone.over_at(session[1]) > time]
            if len(left) < len(known):
                fired += [(key, session) for session in known if session not in left]
                if left:
                    self._table.put(key, left)
                else:
                    self._table.remove(key)
            for session in left:
                self._ends_at(session[1], key)
        if fired:
            self._emit(sorted(fired, key=lambda each: each[1][1]))

    def _emit(self, fired: list[tuple[Any, _Session]]) -> None:
        kinds = [self._spec.types[index] for index in self._spec.keys]
        columns = [pa.array([key[place] for key, _ in fired], kind) for place, kind in enumerate(kinds)]
        slots = [slot_column(slot, [session[2 + place] for _, session in fired]) for place, slot in enumerate(self._slots)]
        for call, accumulator in zip(self._spec.calls, self._accumulators, strict=True):
            mine, slots = slots[: len(accumulator.slots)], slots[len(accumulator.slots) :]
            columns.append(accumulator.finish(mine).cast(arrow_type(call.spec.result)))
        starts, ends = (np.array([session[place] for _, session in fired], np.int64) for place in (0, 1))
        self.emit_rows(window_results(self._spec.schema, columns, starts, ends, self._zone))


def _uniting(slot: Slot) -> Callable[[Any, Any], Any]:
    """Return the function that merges two stored values of a slot."""
    if slot.how == "sum" and pa.types.is_integer(slot.type):
        return operator.add
    if slot.how in ("min", "max"):
        pick = min if slot.how == "min" else max
        return lambda one, other: other if one is None else one if other is None else pick(one, other)

    def unite(one: Any, other: Any) -> Any:
        return python_values(slot.reduce(slot_column(slot, [one, other]), Groups(np.zeros(2, np.int64), 1)))[0]

    return unite


def session_aggregate_operator(params: dict[str, Any], payload: dict[str, Any]) -> SessionAggregateOperator:
    """Return the operator of a spec."""
    return SessionAggregateOperator(payload["spec"])
