"""Internal. Hash joins of BATCH jobs: the build side is stored, the probe side streams through.

The build side is broadcast to each subtask, or both sides are partitioned by key. It is chosen to be small, and held in memory; rows of the
probe side wait until it is complete, in a file if they are many. Both sides are insert-only.

Retry semantics: there is no state beyond the attempt; a failed BATCH stage runs again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.grouping import group_by
from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import RowBatch, concat
from wiesel.runtime.batch.spill_files import Spill
from wiesel.runtime.batch.spillable_list import SpillableList
from wiesel.runtime.table.base import TableOperator
from wiesel.runtime.table.join.regular_join import JoinSpec, PairCondition

__all__ = ["BuildProbeSpec", "build_probe_join_operator"]

Places = npt.NDArray[np.int64]

_WAITING_BYTES = 32 << 20
_PAIRS_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class BuildProbeSpec:
    """A join, and its build side, whose unmatched rows are not emitted."""

    join: JoinSpec
    build: int


class _Table:
    """The rows of the build side by key."""

    def __init__(self, batches: list[RowBatch], schema: pa.Schema, keys: tuple[int, ...], null_safe: tuple[bool, ...]) -> None:
        rows = concat(batches).rows if batches else pa.RecordBatch.from_arrays([pa.nulls(0, of.type) for of in schema], schema=schema)
        self.columns = rows.columns
        self._keys = keys
        groups = group_by([rows.column(index) for index in keys], rows.num_rows)
        distinct = rows.select(list(keys)).take(pa.array(groups.first))
        self._safe = null_safe
        self._values = distinct.column(0) if len(keys) == 1 and _is_looked_up(distinct.column(0).type) else None
        self._places: dict[Any, int] = {}
        if self._values is None:
            self._places = {key: place for place, key in enumerate(key_tuples(distinct, range(len(keys)))) if self._joins(key)}
        self._order = np.argsort(groups.ids, kind="stable")
        self._sizes = np.bincount(groups.ids, minlength=1)
        self._starts = np.cumsum(self._sizes) - self._sizes

    def _joins(self, key: tuple[Any, ...]) -> bool:
        return all(value is not None or safe for value, safe in zip(key, self._safe, strict=True))

    def found(self, rows: pa.RecordBatch, keys: tuple[int, ...]) -> Places:
        """Return the group of each row's key, -1 if there is none."""
        if self._values is not None:
            found = pc.index_in(rows.column(keys[0]), value_set=self._values, skip_nulls=not self._safe[0])
            return np.asarray(found.fill_null(-1), np.int64)
        groups = group_by([rows.column(index) for index in keys], rows.num_rows)
        distinct = key_tuples(rows.select(list(keys)).take(pa.array(groups.first)), range(len(keys))) if keys else [()]
        return np.array([self._places.get(key, -1) for key in distinct], np.int64)[groups.ids]

    def sizes(self, found: Places) -> Places:
        """Return the number of rows of the groups."""
        return np.where(found < 0, 0, self._sizes[found])

    def pairs(self, found: Places, sizes: Places) -> tuple[Places, Places]:
        """Return pairs of indexes in ``found`` and of rows here."""
        own = np.repeat(np.arange(len(found)), sizes)
        within = np.arange(len(own)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return own, self._order[np.repeat(self._starts[found], sizes) + within]


def _is_looked_up(kind: pa.DataType) -> bool:
    """Return whether Arrow can look up values of a type: equal ones must have equal bytes."""
    of = pa.types
    return any(check(kind) for check in (of.is_integer, of.is_string, of.is_date, of.is_timestamp, of.is_decimal))


class BuildProbeJoinOperator(TableOperator):
    """Joins each batch of the probe side with the table of the build side."""

    def __init__(self, spec: BuildProbeSpec) -> None:
        self._spec, self._build = spec.join, spec.build
        width = len(spec.join.sides[0].schema)
        self._condition = None if spec.join.condition is None else PairCondition(spec.join.condition, width)

    def open(self) -> None:
        """Initialise without rows."""
        super().open()
        self._batches: list[RowBatch] = []
        self._table: _Table | None = None
        self._spill = Spill(self.context.local_dir)
        self._waiting = SpillableList(_WAITING_BYTES, self._spill)
        self._rest: Iterator[RowBatch] | None = None

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Store rows, or emit their matches."""
        if input_index == self._build:
            self._batches.append(rows)
        elif self._table is None:
            self._waiting.append(rows, rows.rows.nbytes)
        else:
            self._probe(rows)

    def end_input(self, input_index: int = 0) -> None:
        """Create the table of the build side when it is complete."""
        if input_index == self._build:
            side = self._spec.sides[self._build]
            self._table = _Table(self._batches, side.schema, side.keys, side.null_safe)
            self._batches = []

    @property
    def has_more(self) -> bool:
        """Return whether waiting rows are left."""
        return self._rest is not None

    def finish(self) -> None:
        """Emit the results of waiting rows, a batch at a time."""
        if self._rest is None:
            self._rest = iter(self._waiting)
        rows = next(self._rest, None)
        if rows is None:
            self._rest = None
            self._waiting.clear()
        else:
            self._probe(rows)

    def close(self) -> None:
        """Remove files."""
        if hasattr(self, "_spill"):
            self._spill.close()

    def _probe(self, rows: RowBatch) -> None:
        table = self._table
        assert table is not None  # noqa: S101 - rows wait until it is there
        keys = self._spec.sides[1 - self._build].keys
        found = table.found(rows.rows, keys)
        sizes = table.sizes(found)
        ends = np.cumsum(sizes)
        start = 0
        while start < len(rows):
            done = int(ends[start - 1]) if start else 0
            end = max(int(np.searchsorted(ends, done + _PAIRS_AT_ONCE, side="right")), start + 1)
            self._probe_part(table, rows.rows.slice(start, end - start), found[start:end], sizes[start:end])
            start = end

    def _probe_part(self, table: _Table, rows: pa.RecordBatch, found: Places, sizes: Places) -> None:
        own, theirs = table.pairs(found, sizes)
        if self._condition is not None and len(own):
            own, theirs = self._fulfilling(table, rows, own, theirs)
        if self._spec.filters:
            paired = np.bincount(own, minlength=rows.num_rows) > 0
            chosen = np.flatnonzero(paired != (self._spec.type == "ANTI"))
            self.emit_rows(RowBatch(pa.RecordBatch.from_arrays(rows.take(pa.array(chosen)).columns, schema=self._spec.schema)))
            return
        missing = None
        if self._spec.outer[1 - self._build]:
            alone = np.flatnonzero(np.bincount(own, minlength=rows.num_rows) == 0)
            own, theirs = np.concatenate([own, alone]), np.concatenate([theirs, np.zeros(len(alone), np.int64)])
            missing = np.arange(len(own)) >= len(own) - len(alone)
        if len(own):
            probed = [column.take(pa.array(own)) for column in rows.columns]
            built = [column.take(pa.array(theirs, mask=missing)) for column in table.columns]
            columns = built + probed if self._build == 0 else probed + built
            self.emit_rows(RowBatch(pa.RecordBatch.from_arrays(columns, schema=self._spec.schema)))

    def _fulfilling(self, table: _Table, rows: pa.RecordBatch, own: Places, theirs: Places) -> tuple[Places, Places]:
        """Return the pairs that satisfy the condition."""
        condition = self._condition
        assert condition is not None  # noqa: S101 - asked before
        taken = {1 - self._build: (rows.columns, pa.array(own)), self._build: (table.columns, pa.array(theirs))}
        needed = [taken[side][0][column].take(taken[side][1]) for side in (0, 1) for column in condition.own[side]]
        kept = condition.holds(needed, len(own), self.session)
        return own[kept], theirs[kept]


def build_probe_join_operator(params: dict[str, Any], payload: BuildProbeSpec) -> BuildProbeJoinOperator:
    """Return the operator of a spec."""
    return BuildProbeJoinOperator(payload)
