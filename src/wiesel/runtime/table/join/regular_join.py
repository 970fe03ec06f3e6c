"""Internal. Joins of tables that change, without bounds in time: both sides are kept, and each change is joined with the other side.

A batch of one side meets the other side's rows once per different key: what follows, the pairs and what the condition says of them, is
columns again. Only where rows without partners come out (outer and semi joins) are pairs gone through one by one, to count partners.

Retry story: the state is the rows of both sides with the numbers of their partners; nothing else outlives a batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.evaluation import Frame, as_array, evaluate
from wiesel.columnar.expressions import Expression, InputRef, input_refs, transformed
from wiesel.columnar.keys import BatchKeys
from wiesel.columnar.number_lists import spans
from wiesel.columnar.row_batch import DELETE, INSERT, RowBatch
from wiesel.columnar.stored import StoredRow, columns_of
from wiesel.runtime.operators.function_operator import is_batch
from wiesel.runtime.table.base import EmittingAtEnd
from wiesel.runtime.table.join.join_state import RETRACTS, JoinSide, Places, SideState, Stored, open_side
from wiesel.runtime.table.row_lists import Picked, Taken

__all__ = ["JoinSpec", "PairCondition", "join_operator"]

_ROWS_AT_ONCE = 10_000
_PAIRS_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class JoinSpec:
    """A join.

    Attributes:
        type: ``INNER``, ``LEFT``, ``RIGHT``, ``FULL``, ``SEMI`` or ``ANTI``.
        sides: Left and right.
        condition: What pairs must fulfil besides equal keys, over the columns of the left side and then those of the right one.
        schema: The columns that come out.
    """

    type: str
    sides: tuple[JoinSide, JoinSide]
    condition: Expression | None
    schema: pa.Schema

    @property
    def outer(self) -> tuple[bool, bool]:
        """True for each side whose unmatched rows are emitted."""
        return self.type in ("LEFT", "FULL"), self.type in ("RIGHT", "FULL")

    @property
    def filters(self) -> bool:
        """True if rows of the left side are emitted, not pairs (semi and anti joins)."""
        return self.type in ("SEMI", "ANTI")

    @property
    def counted(self) -> tuple[bool, bool]:
        """The sides whose numbers of matches are stored."""
        return (True, False) if self.filters else self.outer


@dataclass
class _Emitted:
    """Rows to emit: indexes of rows of the input and of the other side (-1 for NULLs), and their kinds."""

    own: list[int] = field(default_factory=list)
    theirs: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)

    def add(self, kind: int, own: int, theirs: int) -> None:
        self.own.append(own)
        self.theirs.append(theirs)
        self.kinds.append(kind)


class PairCondition:
    """A condition over few of the columns of pairs."""

    def __init__(self, condition: Expression, width: int) -> None:
        refs = sorted(input_refs(condition))
        places = {ref: place for place, ref in enumerate(refs)}
        self.own = [[ref for ref in refs if ref < width], [ref - width for ref in refs if ref >= width]]
        self._expression = transformed(
            condition, lambda part: InputRef(part.data_type, places[part.index]) if isinstance(part, InputRef) else None
        )

    def holds(self, columns: Sequence[pa.Array], count: int, session: Any) -> Places:
        rows = pa.RecordBatch.from_arrays(list(columns), names=[str(place) for place in range(len(columns))])
        mask = as_array(evaluate(self._expression, Frame(rows, session)), count)
        return np.flatnonzero(mask.fill_null(False).to_numpy(zero_copy_only=False))


class JoinOperator(EmittingAtEnd):
    """Joins two tables."""

    def __init__(self, spec: JoinSpec) -> None:
        self._spec = spec
        width = len(spec.sides[0].schema)
        self._condition = None if spec.condition is None else PairCondition(spec.condition, width)

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        counted = self._spec.counted
        self._states: list[SideState] = [
            open_side(side, name, self.context, counts_partners=counted[index])
            for index, (side, name) in enumerate(zip(self._spec.sides, ("left", "right"), strict=True))
        ]
        self._is_batch = is_batch(self.context)

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Join rows of one side with the other side, then store them."""
        keys = BatchKeys(rows.rows, self._spec.sides[input_index].keys)
        stored = self._states[1 - input_index].read(keys)
        before = list(stored.partners)
        own, theirs = self._pairs(rows, input_index, keys.ids, stored)
        partners = np.bincount(own, minlength=len(rows))
        self._emit(rows, input_index, (own, theirs, partners), stored)
        self._states[1 - input_index].write_partners(keys, stored, before)
        counts = partners.tolist() if self._spec.counted[input_index] else None
        self._states[input_index].write(keys, rows, counts)

    def _pairs(self, rows: RowBatch, side: int, ids: Places, stored: Stored) -> tuple[Places, Places]:
        """Return the pairs that satisfy the condition, as indexes in the input and in the stored rows; in the order of the input."""
        sizes = stored.sizes[ids]
        if self._condition is None or int(sizes.sum()) <= _PAIRS_AT_ONCE:
            return self._pairs_of(rows, side, (0, len(rows)), ids, stored)
        parts = [self._pairs_of(rows, side, span, ids, stored) for span in _spans(sizes)]
        return np.concatenate([own for own, _ in parts]), np.concatenate([theirs for _, theirs in parts])

    def _pairs_of(self, rows: RowBatch, side: int, span: tuple[int, int], ids: Places, stored: Stored) -> tuple[Places, Places]:
        start, end = span
        chosen = ids[start:end]
        sizes = stored.sizes[chosen]
        own = np.repeat(np.arange(start, end), sizes)
        theirs = spans((np.cumsum(stored.sizes) - stored.sizes)[chosen], sizes)
        if self._condition is None or not len(own):
            return own, theirs
        taken: dict[int, Picked] = {side: Taken(rows.rows.columns, own), 1 - side: stored.rows.pick(theirs)}
        needed = [taken[index].column(column) for index in (0, 1) for column in self._condition.own[index]]
        kept = self._condition.holds(needed, len(own), self.session)
        return own[kept], theirs[kept]

    def _emit(self, rows: RowBatch, side: int, pairs: tuple[Places, Places, Places], stored: Stored) -> None:
        spec = self._spec
        own, theirs, partners = pairs
        if spec.filters:
            self._emit_filtered(rows, side, pairs, stored)
        elif spec.outer[1 - side]:
            found = self._with_returning(rows, side, pairs, stored)
            self._emit_places(rows, side, np.array(found.own, np.int64), np.array(found.theirs, np.int64), stored, found.kinds)
        elif spec.outer[side]:
            kinds = rows.kinds_or_inserts()
            goes = np.isin(kinds, list(RETRACTS))
            outer_kinds = np.where(goes, DELETE, INSERT).astype(np.uint8)
            if not self._is_batch:
                own, theirs = _padded(own, theirs, partners)
            else:
                lost = self._never_joined(rows, side)
                own, theirs = np.concatenate([own, lost]), np.concatenate([theirs, np.full(len(lost), -1)])
            self._emit_places(rows, side, own, theirs, stored, outer_kinds[own])
        else:
            self._emit_places(rows, side, own, theirs, stored, None if rows.kinds is None else rows.kinds[own])

    def _never_joined(self, rows: RowBatch, side: int) -> Places:
        """Return the rows with a NULL key, which never match: they are not stored."""
        of = self._spec.sides[side]
        lost = np.zeros(len(rows), np.bool_)
        for column, safe in zip(of.keys, of.null_safe, strict=True):
            if not safe:
                lost |= rows.rows.column(column).is_null().to_numpy(zero_copy_only=False)
        return np.flatnonzero(lost)

    def _with_returning(self, rows: RowBatch, side: int, pairs: tuple[Places, Places, Places], stored: Stored) -> _Emitted:
        """Return results in outer joins: retract null-padded rows of the other side on their first match, re-emit them after the last."""
        own_outer = self._spec.outer[side]
        found = _Emitted()
        counts = stored.partners
        theirs = pairs[1].tolist()
        pads = not self._is_batch
        end = 0
        for place, (kind, size) in enumerate(zip(rows.kinds_or_inserts().tolist(), pairs[2].tolist(), strict=True)):
            start, end = end, end + size
            span = theirs[start:end]
            retracts = kind in RETRACTS
            if not span:
                if own_outer and pads:
                    found.add(DELETE if retracts else INSERT, place, -1)
                continue
            pair = INSERT if not retracts else DELETE if own_outer else kind
            for other in span:
                if not retracts:
                    if pads and counts[other] == 0:
                        found.add(DELETE, -1, other)
                    counts[other] += 1
                found.add(pair, place, other)
                if retracts:
                    counts[other] -= 1
                    if pads and counts[other] == 0:
                        found.add(INSERT, -1, other)
        if self._is_batch and own_outer:
            for place in self._never_joined(rows, side).tolist():
                found.add(INSERT, place, -1)
        return found

    def _emit_filtered(self, rows: RowBatch, side: int, pairs: tuple[Places, Places, Places], stored: Stored) -> None:
        anti = self._spec.type == "ANTI"
        if side == 0:
            chosen = np.flatnonzero((pairs[2] > 0) != anti) if not self._is_batch else self._never_joined(rows, 0)
            if not self._is_batch or anti:
                self.emit_rows(rows.take(chosen))
            return
        counts, kinds = stored.partners, rows.kinds_or_inserts()
        found = _Emitted()
        for place, other in zip(pairs[0].tolist(), pairs[1].tolist(), strict=True):
            kind = int(kinds[place])
            retracts = kind in RETRACTS
            counts[other] += -1 if retracts else 1
            if counts[other] == (0 if retracts else 1):
                found.add(kind if not anti else INSERT if retracts else DELETE, -1, other)
        if not self._is_batch and found.kinds:
            self._send(self._columns(stored.rows.pick(np.array(found.theirs, np.int64)), 0), found.kinds)

    def _emit_places(self, rows: RowBatch, side: int, own: Places, theirs: Places, stored: Stored, kinds: Any) -> None:
        if not len(own):
            return
        taken: dict[int, Picked] = {side: Taken(rows.rows.columns, own), 1 - side: stored.rows.pick(theirs)}
        self._send(self._columns(taken[0], 0) + self._columns(taken[1], 1), kinds)

    def _columns(self, picked: Picked, side: int) -> list[pa.Array]:
        return [picked.column(index) for index in range(len(self._spec.sides[side].schema))]

    def _send(self, columns: list[pa.Array], kinds: Any) -> None:
        numbers = None if kinds is None else np.asarray(kinds, np.uint8)
        rows = pa.RecordBatch.from_arrays(columns, schema=self._spec.schema)
        self.emit_rows(RowBatch(rows, numbers if numbers is not None and numbers.any() else None))

    # BATCH mode: unmatched rows, and those of semi joins, are known at the end

    def _at_end(self) -> Iterator[RowBatch]:
        if not self._is_batch:
            return
        spec = self._spec
        if spec.filters:
            chosen = self._states[0].paired() if spec.type == "SEMI" else self._states[0].unpaired()
            yield from (RowBatch(self._end_rows(part, 0)) for part in _parts(chosen))
            return
        for side in (0, 1):
            if spec.outer[side]:
                yield from (RowBatch(self._end_rows(part, side)) for part in _parts(self._states[side].unpaired()))

    def _end_rows(self, part: list[StoredRow], side: int) -> pa.RecordBatch:
        columns = {side: columns_of(part, self._spec.sides[side].schema)}
        if self._spec.filters:
            return pa.RecordBatch.from_arrays(columns[0], schema=self._spec.schema)
        columns[1 - side] = [pa.nulls(len(part), of.type) for of in self._spec.sides[1 - side].schema]
        return pa.RecordBatch.from_arrays(columns[0] + columns[1], schema=self._spec.schema)


def _parts(rows: Iterator[StoredRow]) -> Iterator[list[StoredRow]]:
    return iter(lambda: list(islice(rows, _ROWS_AT_ONCE)), [])


def _spans(sizes: Places) -> Iterator[tuple[int, int]]:
    """Yield parts of the input with a limited number of pairs."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        done = ends[start - 1] if start else 0
        end = max(int(np.searchsorted(ends, done + _PAIRS_AT_ONCE, side="right")), start + 1)
        yield start, end
        start = end


def _padded(own: Places, theirs: Places, partners: Places) -> tuple[Places, Places]:
    """Return pairs merged, in the order of the input, with unmatched rows."""
    alone = np.flatnonzero(partners == 0)
    if not len(alone):
        return own, theirs
    all_own = np.concatenate([own, alone])
    order = np.argsort(all_own, kind="stable")
    return all_own[order], np.concatenate([theirs, np.full(len(alone), -1)])[order]


def join_operator(params: dict[str, Any], payload: JoinSpec) -> JoinOperator:
    """Return the operator of a spec."""
    return JoinOperator(payload)
