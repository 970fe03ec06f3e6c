"""Internal. Aggregates by key and session: a session ends when no row has come for a time, the gap.

What a batch has for a key is put in sessions first, so that state is read and written once per key and batch.

Retry story: state is the list of open sessions per key, each with its slots; which session ends when is found out anew when it is restored.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.calls import Input, accumulators, reduced
from wiesel.columnar.aggregates.slots import Slot
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.grouping import Groups, Places, group_by
from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.window_zones import WindowZone
from wiesel.columnar.windows import Times, milliseconds
from wiesel.core.errors import UserFunctionError
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.runtime.table.aggregation import python_values, slot_column
from wiesel.runtime.table.base import TableOperator
from wiesel.runtime.table.window_aggregate import LATE_COUNTER, WindowSpec, window_results

__all__ = ["SessionAggregateOperator", "session_aggregate_operator"]

_Session = tuple[Any, ...]
"""Start, end, and slots."""


class SessionAggregateOperator(TableOperator):
    """Aggregates by key and session."""

    def __init__(self, spec: WindowSpec) -> None:
        self._spec = spec
        self._gap = spec.window.size
        self._accumulators = accumulators(spec.calls)
        self._slots: list[Slot] = [slot for each in self._accumulators for slot in each.slots]
        self._watermark = MIN_TIMESTAMP
        self._ends: list[tuple[int, int, Any]] = []
        self._number = 0

    def open(self) -> None:
        """Take the state."""
        super().open()
        self._zone = WindowZone(self._spec.schema.types[-1], self.session.time_zone)
        self._table = self.context.backend.table("sessions")
        for key, _, sessions in self._table.items():
            for session in sessions:
                self._ends_at(session[1], key)
        self._late = self.context.metrics.counter(LATE_COUNTER)
        self._ask()

    def _ends_at(self, end: int, key: Any) -> None:
        self._number += 1  # keys need not have an order
        heapq.heappush(self._ends, (end, self._number, key))

    # Input

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Put rows into sessions."""
        times = self._times(rows)
        columns = rows.rows.columns
        keys = group_by([columns[index] for index in self._spec.keys], len(rows))
        order, sessions = self._sessions(keys.ids, times)
        groups = Groups(np.empty(len(rows), np.int64), int(sessions[-1]) + 1)
        groups.ids[order] = sessions
        starts, lasts = np.full(groups.count, np.iinfo(np.int64).max), np.full(groups.count, MIN_TIMESTAMP)
        np.minimum.at(starts, groups.ids, times)
        np.maximum.at(lasts, groups.ids, times)
        source = Input(columns, groups)
        called = zip(self._spec.calls, self._accumulators, strict=True)
        slots = [column for call, each in called for column in reduced(each, source.of(call))]
        states = list(zip(*map(python_values, slots), strict=True)) if slots else [()] * groups.count
        taken = rows.rows.take(pa.array(groups.first)).select(list(self._spec.keys)) if self._spec.keys else None
        found = [()] * groups.count if taken is None else key_tuples(taken, range(len(self._spec.keys)))
        fresh = zip(found, starts.tolist(), (lasts + self._gap).tolist(), states, groups.sizes().tolist(), strict=True)
        for key, start, end, state, size in fresh:
            self._add(key, (start, end, *state), size)
        self._ask()

    def _times(self, rows: RowBatch) -> Times:
        if self._spec.by_clock:
            return self._zone.local(np.full(len(rows), self.context.clock.now_ms(), np.int64))
        column = rows.rows.column(self._spec.time)
        if column.null_count:
            raise UserFunctionError("the event time of a row in a window is NULL", hint="leave such rows out")
        return self._zone.local(milliseconds(column))

    def _sessions(self, keys: Places, times: Times) -> tuple[Places, Places]:
        """Return the rows in the order of key and time, and for each the number of its session within the batch."""
        order = np.lexsort((times, keys))
        sorted_keys, sorted_times = keys[order], times[order]
        begins = (sorted_keys[1:] != sorted_keys[:-1]) | (sorted_times[1:] - sorted_times[:-1] > self._gap)
        return order, np.concatenate([[0], np.cumsum(begins)])

    def _add(self, key: Any, session: _Session, size: int) -> None:
        """Unite a session of the batch with those that it touches."""
        known: list[_Session] = self._table.get(key) or []
        touched = [each for each in known if each[0] <= session[1] and each[1] >= session[0]]
        united = self._united([*touched, session]) if touched else session
        if not self._spec.by_clock and self._zone.over_at(united[1]) <= self._watermark:
            self._late.inc(size)
            return
        self._table.put(key, [*(each for each in known if each not in touched), united])
        if all(each[1] != united[1] for each in touched):
            self._ends_at(united[1], key)

    def _united(self, sessions: Sequence[_Session]) -> _Session:
        state = [self._reduced(slot, [each[2 + place] for each in sessions]) for place, slot in enumerate(self._slots)]
        return (min(each[0] for each in sessions), max(each[1] for each in sessions), *state)

    @staticmethod
    def _reduced(slot: Slot, values: list[Any]) -> Any:
        """Return what the stored values of a slot are together."""
        if slot.how == "sum" and not pa.types.is_floating(slot.type):
            return sum(values)
        if slot.how in ("min", "max"):
            return (min if slot.how == "min" else max)((value for value in values if value is not None), default=None)
        column = slot.reduce(slot_column(slot, values), Groups(np.zeros(len(values), np.int64), 1))
        return python_values(column)[0]

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
            known: list[_Session] = self._table.get(key) or []
            ended = [session for session in known if session[1] == end]
            if not ended:
                continue  # it was united with a later one
            fired += [(key, session) for session in ended]
            left = [session for session in known if session[1] != end]
            if left:
                self._table.put(key, left)
            else:
                self._table.remove(key)
        if fired:
            self._emit(fired)

    def _emit(self, fired: list[tuple[Any, _Session]]) -> None:
        kinds = [self._spec.types[index] for index in self._spec.keys]
        columns = [pa.array([key[place] for key, _ in fired], kind) for place, kind in enumerate(kinds)]
        slots = [slot_column(slot, [session[2 + place] for _, session in fired]) for place, slot in enumerate(self._slots)]
        for call, accumulator in zip(self._spec.calls, self._accumulators, strict=True):
            mine, slots = slots[: len(accumulator.slots)], slots[len(accumulator.slots) :]
            columns.append(accumulator.finish(mine).cast(arrow_type(call.spec.result)))
        starts, ends = (np.array([session[place] for _, session in fired], np.int64) for place in (0, 1))
        self.emit_rows(window_results(self._spec.schema, columns, starts, ends, self._zone))


def session_aggregate_operator(params: dict[str, Any], payload: dict[str, Any]) -> SessionAggregateOperator:
    """Return the operator of a spec."""
    return SessionAggregateOperator(payload["spec"])
