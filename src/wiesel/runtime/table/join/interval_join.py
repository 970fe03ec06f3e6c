"""Internal. Interval joins of tables by event time: pairs are emitted immediately, unmatched rows of outer joins at expiry.

A row is stored until the watermark excludes further matches. The watermark is delayed by the maximal waiting time of a row, so that the
times of both rows of a pair are not late.

Retry semantics: rows are keyed state, with a matched flag where needed; the expiry schedule is rebuilt.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.grouping import Places, group_by
from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.stored import StoredRow, columns_of, stored_rows
from wiesel.columnar.windows import milliseconds
from wiesel.core.errors import UserFunctionError
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.runtime.table.base import TableOperator
from wiesel.runtime.table.join.regular_join import JoinSpec, PairCondition

__all__ = ["IntervalJoinSpec", "interval_join_operator"]

Key = tuple[Any, ...]
Entry = tuple[StoredRow, bool]
"""A row, and whether it has been matched."""


@dataclass(frozen=True)
class IntervalJoinSpec:
    """Specification of the join.

    Attributes:
        join: Its sides and condition, including the bounds; both sides are insert-only.
        times: The event time columns.
        lower: Lower bound of left time minus right time, in ms.
        upper: Upper bound.
    """

    join: JoinSpec
    times: tuple[int, int]
    lower: int
    upper: int


class IntervalJoinOperator(TableOperator):
    """Joins two tables within time bounds."""

    def __init__(self, spec: IntervalJoinSpec) -> None:
        self._spec = spec
        self._condition = None
        if spec.join.condition is not None:
            self._condition = PairCondition(spec.join.condition, len(spec.join.sides[0].schema))
        self._wait = (-spec.lower, spec.upper)
        self._delay = max(-spec.lower, spec.upper, 0)
        self._watermark = MIN_TIMESTAMP
        self._number = 0

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        self._tables: list[Any] = [self.context.backend.table(name, kind="map") for name in ("left", "right")]
        self._due: list[list[tuple[int, int, Key]]] = [[], []]
        for side, table in enumerate(self._tables):
            place = self._spec.times[side]
            kind = self._spec.join.sides[side].schema.field(place).type
            for key, _, entries in table.items():
                numbers, rows = list(entries), [row for row, _ in entries.values()]
                column = columns_of([(row[place],) for row in rows], pa.schema([("time", kind)]))[0]
                expiries = (milliseconds(column) + self._wait[side]).tolist()
                self._due[side] += [(expiry, number, key) for expiry, number in zip(expiries, numbers, strict=True)]
                self._number = max(self._number, *numbers)
            heapq.heapify(self._due[side])

    # Input

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Join rows with those of the other side, then store them."""
        side, outer = self._spec.join.sides[input_index], self._spec.join.outer
        column = rows.rows.column(self._spec.times[input_index])
        if column.null_count:
            raise UserFunctionError("the event time of a row in a join within bounds of time is NULL", hint="filter such rows out")
        groups = group_by([rows.rows.column(index) for index in side.keys], len(rows))
        keys = key_tuples(rows.rows.select(list(side.keys)).take(pa.array(groups.first)), range(len(side.keys)))
        live = [side.joins(key) for key in keys]
        own, found = self._joined(rows, input_index, groups.ids, [key if joins else None for key, joins in zip(keys, live, strict=True)])
        partners = np.zeros(len(rows), np.bool_)
        partners[own] = True
        if outer[1 - input_index]:
            for key, number, row in found:
                self._tables[1 - input_index].put_entry(key, number, (row, True))
        expiries = milliseconds(column) + self._wait[input_index]
        kept = (expiries > self._watermark) & np.array(live, np.bool_)[groups.ids]
        self._keep(rows, input_index, [keys[group] for group in groups.ids.tolist()], (expiries, kept, partners))
        if outer[input_index]:
            self._emit_alone(rows.rows.take(pa.array(np.flatnonzero(~kept & ~partners))).columns, input_index)

    def _joined(self, rows: RowBatch, side: int, ids: Places, keys: Sequence[Key | None]) -> tuple[Places, set[tuple[Key, int, StoredRow]]]:
        """Emit pairs; return the matched rows, and the rows of the other side matched for the first time."""
        flat: list[tuple[Key, int, StoredRow, bool]] = []
        sizes = np.zeros(len(keys), np.int64)
        for place, key in enumerate(keys):
            if key is not None:
                before = len(flat)
                flat += [(key, number, row, had) for number, (row, had) in self._tables[1 - side].entries(key)]
                sizes[place] = len(flat) - before
        counts = sizes[ids]
        own = np.repeat(np.arange(len(rows)), counts)
        within = np.arange(len(own)) - np.repeat(np.cumsum(counts) - counts, counts)
        theirs = np.repeat((np.cumsum(sizes) - sizes)[ids], counts) + within
        if not len(own):
            return own, set()
        columns = {side: rows.rows.columns, 1 - side: columns_of([row for _, _, row, _ in flat], self._spec.join.sides[1 - side].schema)}
        if self._condition is not None:
            places = {side: pa.array(own), 1 - side: pa.array(theirs)}
            needed = [columns[index][column].take(places[index]) for index in (0, 1) for column in self._condition.own[index]]
            holds = self._condition.holds(needed, len(own), self.session)
            own, theirs = own[holds], theirs[holds]
        places = {side: pa.array(own), 1 - side: pa.array(theirs)}
        made = [column.take(places[index]) for index in (0, 1) for column in columns[index]]
        self.emit_rows(RowBatch(pa.RecordBatch.from_arrays(made, schema=self._spec.join.schema)))
        first = (flat[place] for place in np.unique(theirs).tolist())
        return own, {(key, number, row) for key, number, row, had in first if not had}

    def _keep(self, rows: RowBatch, side: int, keys: Sequence[Key], facts: tuple[Any, Any, Any]) -> None:
        table, due = self._tables[side], self._due[side]
        expiries, kept, partners = (fact.tolist() for fact in facts)
        for key, row, expiry, keep, had in zip(keys, stored_rows(rows.rows), expiries, kept, partners, strict=True):
            if keep:
                self._number += 1
                table.put_entry(key, self._number, (row, had))
                heapq.heappush(due, (expiry, self._number, key))

    # Time

    def process_watermark(self, timestamp: int) -> None:
        """Drop expired rows, emit those unmatched, and forward the delayed watermark."""
        self._watermark = timestamp
        for side, (table, due) in enumerate(zip(self._tables, self._due, strict=True)):
            alone: list[StoredRow] = []
            while due and due[0][0] <= timestamp:
                _, number, key = heapq.heappop(due)
                row, had = table.get_entry(key, number)
                table.remove_entry(key, number)
                if not had:
                    alone.append(row)
            if alone and self._spec.join.outer[side]:
                self._emit_alone(columns_of(alone, self._spec.join.sides[side].schema), side)
        if timestamp == MAX_TIMESTAMP:
            self.output.emit_watermark(timestamp)
        elif timestamp - self._delay > MIN_TIMESTAMP:
            self.output.emit_watermark(timestamp - self._delay)

    def _emit_alone(self, columns: Sequence[pa.Array], side: int) -> None:
        """Emit rows of a side padded with NULLs."""
        nothing = [pa.nulls(len(columns[0]), of.type) for of in self._spec.join.sides[1 - side].schema]
        both = [*columns, *nothing] if side == 0 else [*nothing, *columns]
        self.emit_rows(RowBatch(pa.RecordBatch.from_arrays(both, schema=self._spec.join.schema)))


def interval_join_operator(params: dict[str, Any], payload: IntervalJoinSpec) -> IntervalJoinOperator:
    """Return the operator of a spec."""
    return IntervalJoinOperator(payload)
