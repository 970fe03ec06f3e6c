"""Internal. Session window table functions: each row with the bounds of its session, emitted when the session ends.

Retry semantics: state has the open sessions of each key and the key's rows; the ends of sessions are scheduled again.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.grouping import group_by
from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.stored import StoredRow, columns_of, stored_rows
from wiesel.columnar.window_zones import WindowZone
from wiesel.columnar.windows import Times, milliseconds, timestamps
from wiesel.core.errors import UserFunctionError
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.core.metrics import LATE_COUNTER
from wiesel.runtime.table.base import TableOperator

__all__ = ["SessionTableSpec", "session_table_operator"]

Session = tuple[int, int]
"""Start and end, in local time."""


@dataclass(frozen=True)
class SessionTableSpec:
    """Specification of session windows.

    Attributes:
        keys: The partitioning columns of sessions.
        time: The column with the time.
        gap: Session gap in ms.
        input: The columns of rows.
        schema: These, followed by the bounds.
    """

    keys: tuple[int, ...]
    time: int
    gap: int
    input: pa.Schema
    schema: pa.Schema


class SessionTableOperator(TableOperator):
    """Stores rows until their session ends."""

    def __init__(self, spec: SessionTableSpec) -> None:
        self._spec = spec
        self._watermark = MIN_TIMESTAMP
        self._ends: list[tuple[int, int, Any]] = []
        self._number = 0

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        self._zone = WindowZone(self._spec.schema.types[-1], self.session.time_zone)
        self._sessions = self.context.backend.table("sessions")
        self._rows: Any = self.context.backend.table("rows", kind="list")
        self._late = self.context.metrics.counter(LATE_COUNTER)
        for key, _, sessions in self._sessions.items():
            for _, end in sessions:
                self._ends_at(end, key)

    def _ends_at(self, end: int, key: Any) -> None:
        self._number += 1  # keys need not have an order
        heapq.heappush(self._ends, (end, self._number, key))

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Add rows to sessions."""
        column = rows.rows.column(self._spec.time)
        if column.null_count:
            raise UserFunctionError("the event time of a row in a window is NULL", hint="filter such rows out")
        times = self._zone.local(milliseconds(column))
        groups = group_by([rows.rows.column(index) for index in self._spec.keys], len(rows))
        firsts = rows.rows.select(list(self._spec.keys)).take(pa.array(groups.first)) if self._spec.keys else None
        keys = [()] if firsts is None else key_tuples(firsts, range(len(self._spec.keys)))
        stored, kinds = stored_rows(rows.rows), rows.kinds_or_inserts().tolist()
        bounds = np.cumsum(groups.sizes()).tolist()
        start = 0
        for key, end in zip(keys, bounds, strict=True):
            places = groups.order[start:end]
            on_time = self._extended(key, times[places])
            self._rows.extend(key, [(int(times[place]), kinds[place], stored[place]) for place in places[on_time].tolist()])
            start = end

    def _extended(self, key: Any, times: Times) -> Any:
        """Extend the sessions of a key by rows; return the rows that are not late."""
        sessions: list[Session] = self._sessions.get(key) or []
        on_time = np.ones(len(times), np.bool_)
        for place in np.argsort(times, kind="stable").tolist():
            start, end = int(times[place]), int(times[place]) + self._spec.gap
            touched = [each for each in sessions if each[0] <= end and each[1] >= start]
            united = (min([start, *(each[0] for each in touched)]), max([end, *(each[1] for each in touched)]))
            if self._zone.over_at(united[1]) <= self._watermark:
                on_time[place] = False
                self._late.inc()
                continue
            sessions = [*(each for each in sessions if each not in touched), united]
            if all(each[1] != united[1] for each in touched):
                self._ends_at(united[1], key)
        if on_time.any():
            self._sessions.put(key, sessions)
        return on_time

    def process_watermark(self, timestamp: int) -> None:
        """Emit the rows of ended sessions, then forward the watermark."""
        found: list[tuple[StoredRow, int, Session]] = []
        while self._ends and self._zone.over_at(self._ends[0][0]) <= timestamp:
            end, _, key = heapq.heappop(self._ends)
            sessions: list[Session] = self._sessions.get(key) or []
            over = next((each for each in sessions if each[1] == end), None)
            if over is not None:  # else it was merged with a later one
                found += self._taken(key, over, [each for each in sessions if each is not over])
        if found:
            self._emit(found)
        self._watermark = timestamp
        self.output.emit_watermark(timestamp)

    def _taken(self, key: Any, over: Session, left: list[Session]) -> list[tuple[StoredRow, int, Session]]:
        """Remove the rows of a session from state."""
        rows = self._rows.get(key) or []
        if left:
            self._sessions.put(key, left)
            self._rows.put(key, [row for row in rows if not over[0] <= row[0] < over[1]])
        else:
            self._sessions.remove(key)
            self._rows.remove(key)
        return [(row, kind, over) for time, kind, row in rows if over[0] <= time < over[1]]

    def _emit(self, found: list[tuple[StoredRow, int, Session]]) -> None:
        starts, ends = (np.array([session[side] for _, _, session in found], np.int64) for side in (0, 1))
        times = (starts, ends, self._zone.points(ends - 1))
        bounds = [timestamps(each, kind) for each, kind in zip(times, self._spec.schema.types[-3:], strict=True)]
        columns = columns_of([row for row, _, _ in found], self._spec.input)
        kinds = np.array([kind for _, kind, _ in found], np.uint8)
        rows = pa.RecordBatch.from_arrays([*columns, *bounds], schema=self._spec.schema)
        self.emit_rows(RowBatch(rows, kinds if kinds.any() else None))


def session_table_operator(params: dict[str, Any], payload: SessionTableSpec) -> SessionTableOperator:
    """Return the operator of a spec."""
    return SessionTableOperator(payload)
