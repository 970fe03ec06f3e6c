"""Internal. Window joins, computed at the end of the window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.evaluation import Frame, as_array, evaluate
from wiesel.columnar.grouping import Places, group_by
from wiesel.columnar.row_batch import RowBatch
from wiesel.runtime.table.join.regular_join import JoinSpec
from wiesel.runtime.table.window.waiting_rows import WindowedOperator, WindowSide

__all__ = ["WindowJoinSpec", "window_join_operator"]

_PAIRS_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class WindowJoinSpec:
    """Specification of a window join.

    Attributes:
        join: The join; the bounds of windows are among its keys.
        ends: The columns of both sides with the end of a row's window.
        pairs: The columns of pairs.
        time: The type of the windows' time.
    """

    join: JoinSpec
    ends: tuple[int, int]
    pairs: pa.Schema
    time: pa.DataType


class WindowJoinOperator(WindowedOperator):
    """Joins the rows of a window at its end."""

    def __init__(self, spec: WindowJoinSpec) -> None:
        sides = tuple(WindowSide(side.schema, side.keys, end) for side, end in zip(spec.join.sides, spec.ends, strict=True))
        super().__init__(sides, spec.time)
        self._spec = spec

    def _fire(self, end: int, sides: list[pa.RecordBatch | None]) -> None:
        left, right = (_empty(side.schema) if rows is None else rows for rows, side in zip(sides, self._sides, strict=True))
        join = self._spec.join
        partners = [np.zeros(left.num_rows, np.bool_), np.zeros(right.num_rows, np.bool_)]
        for own, theirs in self._pairs(left, right):
            partners[0][own] = True
            partners[1][theirs] = True
            if not join.filters and len(own):
                self._emit(left, right, own, theirs)
        if join.filters:
            chosen = np.flatnonzero(partners[0] == (join.type == "SEMI"))
            self.emit_rows(RowBatch(pa.RecordBatch.from_arrays(left.take(pa.array(chosen)).columns, schema=join.schema)))
            return
        for side, outer in enumerate(join.outer):
            alone = np.flatnonzero(~partners[side])
            if outer and len(alone):
                nothing = np.full(len(alone), -1)
                self._emit(left, right, *((alone, nothing) if side == 0 else (nothing, alone)))

    def _pairs(self, left: pa.RecordBatch, right: pa.RecordBatch) -> Iterator[tuple[Places, Places]]:
        """Yield the pairs of rows that satisfy the condition."""
        lefts, rights = self._key_ids(left, right)
        order = np.argsort(rights, kind="stable")
        sorted_rights = rights[order]
        first = np.searchsorted(sorted_rights, lefts)
        sizes = np.searchsorted(sorted_rights, lefts, side="right") - first
        sizes[lefts < 0] = 0
        total = np.cumsum(sizes)
        start = 0
        while start < len(sizes):
            done = int(total[start - 1]) if start else 0
            end = max(int(np.searchsorted(total, done + _PAIRS_AT_ONCE, side="right")), start + 1)
            counts = sizes[start:end]
            own = np.repeat(np.arange(start, end), counts)
            within = np.arange(len(own)) - np.repeat(np.cumsum(counts) - counts, counts)
            theirs = order[np.repeat(first[start:end], counts) + within]
            yield self._fulfilled(left, right, own, theirs)
            start = end

    def _key_ids(self, left: pa.RecordBatch, right: pa.RecordBatch) -> tuple[Places, Places]:
        """Return numbers of the rows' keys; -1 on the left and -2 on the right for unmatchable ones."""
        sides = self._spec.join.sides
        both = [_beneath(left.column(one), right.column(other)) for one, other in zip(sides[0].keys, sides[1].keys, strict=True)]
        ids = group_by(both, left.num_rows + right.num_rows).ids.copy()
        for column, safe in zip(both, sides[0].null_safe, strict=True):
            if column.null_count and not safe:
                ids[column.is_null().to_numpy(zero_copy_only=False)] = -1
        lefts, rights = ids[: left.num_rows], ids[left.num_rows :]
        rights[rights < 0] = -2
        return lefts, rights

    def _fulfilled(self, left: pa.RecordBatch, right: pa.RecordBatch, own: Places, theirs: Places) -> tuple[Places, Places]:
        condition = self._spec.join.condition
        if condition is None or not len(own):
            return own, theirs
        columns = [*left.take(pa.array(own)).columns, *right.take(pa.array(theirs)).columns]
        pairs = pa.RecordBatch.from_arrays(columns, schema=self._spec.pairs)
        holds = as_array(evaluate(condition, Frame(pairs, self.session)), len(own))
        kept = np.flatnonzero(holds.fill_null(False).to_numpy(zero_copy_only=False))
        return own[kept], theirs[kept]

    def _emit(self, left: pa.RecordBatch, right: pa.RecordBatch, own: Places, theirs: Places) -> None:
        """Emit pairs; -1 is no row."""
        taken = [pa.array(places, mask=places < 0) for places in (own, theirs)]
        columns = [column.take(places) for side, places in zip((left, right), taken, strict=True) for column in side.columns]
        self.emit_rows(RowBatch(pa.RecordBatch.from_arrays(columns, schema=self._spec.join.schema)))


def _beneath(one: pa.Array, other: pa.Array) -> pa.Array:
    return pa.concat_arrays([one, other]) if one.type == other.type else pa.array([*one.to_pylist(), *other.to_pylist()])


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], of.type) for of in schema], schema=schema)


def window_join_operator(params: dict[str, Any], payload: WindowJoinSpec) -> WindowJoinOperator:
    """Return the operator of a spec."""
    return WindowJoinOperator(payload)
