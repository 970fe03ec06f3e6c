"""Internal. Top-N over updating input whose rows only move up, with the changes of each row.

Retry semantics: state is the ranked rows by partition; other rows arrive again with their next update.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.keys import BatchKeys
from wiesel.columnar.row_batch import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, RowBatch
from wiesel.columnar.stored import StoredRow, columns_of, stored_rows
from wiesel.runtime.table.base import TableOperator, state_ttl
from wiesel.runtime.table.rank.top_n import TopNSpec
from wiesel.runtime.table.rounds import Rounds

__all__ = ["updated_top_n_operator"]

_Change = tuple[int, StoredRow, int]


class UpdatedTopNOperator(TableOperator):
    """Stores and emits the first rows of each partition; a row replaces the one with the same key.

    Args:
        spec: Specification of Top-N.
        row_key: The columns of the key of rows.
    """

    def __init__(self, spec: TopNSpec, row_key: Sequence[int]) -> None:
        self._spec = spec
        self._row_key = list(row_key)
        # With an OFFSET rows change ranks, as with rank numbers.
        self._at_places = spec.numbered or spec.first > 1

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        self._tops = self.context.backend.table("tops", ttl=state_ttl(self.context))
        self._rounds = Rounds(self._spec.partition, self._change, self.emit_rows)

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Update the ranked rows; UPDATE_BEFORE rows are ignored."""
        if rows.kinds is not None:
            rows = rows.take(np.flatnonzero(rows.kinds != UPDATE_BEFORE))
        if len(rows):
            self._rounds.process(rows)

    def _change(self, rows: RowBatch) -> None:
        """Change partitions by a row each."""
        spec = self._spec
        assert spec.last is not None  # noqa: S101 - for the type checker
        keys = BatchKeys(rows.rows, spec.partition).tuples
        flat: list[StoredRow] = []
        found: list[tuple[list[StoredRow], int | None]] = []
        for key, row in zip(keys, stored_rows(rows.rows), strict=True):
            old: list[StoredRow] = self._tops.get(key) or []
            place = self._place(old, row)
            found.append((old, place))
            flat += [*old, row] if place is None else [*old[:place], row, *old[place + 1 :]]
        sizes = [len(old) + (place is None) for old, place in found]
        order, _ = spec.ranks(np.repeat(np.arange(len(keys)), sizes), columns_of(flat, spec.schema))
        changes: list[_Change] = []
        owners: list[int] = []
        start = 0
        for owner, (key, size, (old, place)) in enumerate(zip(keys, sizes, found, strict=True)):
            mine = order[start : start + size].tolist()
            at = mine.index(start + (size - 1 if place is None else place))
            new = [flat[each] for each in mine[: spec.last]]
            start += size
            if new != old:
                self._tops.put(key, new)
                changes += self._changes(old, new, place, at)
                owners += [owner] * (len(changes) - len(owners))
        if changes:
            self._emit(changes, np.array(owners, np.int64))

    def _place(self, rows: Sequence[StoredRow], row: StoredRow) -> int | None:
        key = [row[index] for index in self._row_key]
        return next((place for place, each in enumerate(rows) if [each[index] for index in self._row_key] == key), None)

    def _changes(self, old: list[StoredRow], new: list[StoredRow], was: int | None, at: int) -> Iterator[_Change]:
        """Yield the changes caused by a row that moves from a rank, or none, to another one."""
        if self._at_places:
            first = self._spec.first - 1
            yield from (change for change in _at_places(old, new, was, at) if change[2] > first)
        elif was is not None:
            yield from ((UPDATE_BEFORE, old[was], 1), (UPDATE_AFTER, new[at], 1))
        elif self._spec.last == 1 and old:
            yield from ((UPDATE_BEFORE, old[0], 1), (UPDATE_AFTER, new[0], 1))
        else:
            if len(old) == self._spec.last:
                yield DELETE, old[-1], 1
            yield INSERT, new[at], 1

    def _emit(self, changes: Sequence[_Change], owners: Any) -> None:
        columns = columns_of([row for _, row, _ in changes], self._spec.schema)
        if self._spec.numbered:
            columns.append(pa.array([number for _, _, number in changes], pa.int64()))
        rows = pa.RecordBatch.from_arrays(columns, schema=self._spec.results)
        kinds = np.array([kind for kind, _, _ in changes], np.uint8)
        self._rounds.add(RowBatch(rows, kinds if kinds.any() else None), owners)


def _at_places(old: list[StoredRow], new: list[StoredRow], was: int | None, at: int) -> Iterator[_Change]:
    """Yield the changes of each rank; a moved row leaves its old rank before it enters the new one."""
    for place in range(at, len(new) if was is None else was + 1):
        if place < len(old) and not (place == was and place > at):
            yield UPDATE_BEFORE, old[place], place + 1
        if place == at and was is not None and was > at:
            yield UPDATE_BEFORE, old[was], was + 1
        yield UPDATE_AFTER if place < len(old) else INSERT, new[place], place + 1


def updated_top_n_operator(params: dict[str, Any], payload: dict[str, Any]) -> UpdatedTopNOperator:
    """Return the operator of a spec."""
    return UpdatedTopNOperator(payload["spec"], payload["row_key"])
