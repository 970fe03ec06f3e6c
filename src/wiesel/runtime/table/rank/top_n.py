"""Internal. Top-N: the first rows of each partition; also deduplication, and ORDER BY with LIMIT.

Per batch the stored rows of the affected partitions are sorted together with its rows, and the differences at the end of the batch are
emitted: Flink emits the changes of each row, with the same resulting table, as is done here in rounds if configured. In insert-only
partitions, rows after the last rank of a full partition are filtered first.

Retry semantics: state is the ranked rows by partition, and all rows with their count if rows may be retracted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.grouping import distinct, group_by
from wiesel.columnar.keys import BatchKeys
from wiesel.columnar.row_batch import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, RowBatch, concat
from wiesel.columnar.stored import StoredRow, columns_of, stored_rows
from wiesel.runtime.operators.function_operator import is_batch
from wiesel.runtime.table.base import EmittingAtEnd, state_ttl
from wiesel.runtime.table.join.join_state import RETRACTS, Key, Places
from wiesel.runtime.table.rank.row_order import Keys, ordered_places
from wiesel.runtime.table.rounds import rounds_of
from wiesel.runtime.table.row_lists import ListedRows, NewLists, ReplacedLists, replaced_lists

__all__ = ["TopNSpec", "top_n_operator"]

_ROWS_AT_ONCE = 10_000


@dataclass(frozen=True)
class TopNSpec:
    """Specification of Top-N.

    Attributes:
        partition: The columns of the partitions.
        keys: Sort keys: index, whether ascending, whether NULLs are first. The sort is stable.
        latest_first: Reverse the order of equal rows.
        first: The first emitted rank.
        last: The last one; None for all.
        numbered: The rank is a column.
        in_place: Successive rows of a rank are emitted as updates.
        appends: The input is insert-only.
        schema: The columns of the input.
        results: The columns of the results.
    """

    partition: tuple[int, ...]
    keys: Keys
    latest_first: bool
    first: int
    last: int | None
    numbered: bool
    in_place: bool
    appends: bool
    schema: pa.Schema
    results: pa.Schema

    def ranks(self, ids: Places, columns: Sequence[pa.Array]) -> tuple[Places, Places]:
        """Return the sorted order of rows by partition, and the rank of each row in its partition, from 1."""
        order = ordered_places(ids, columns, self.keys, latest_first=self.latest_first)
        sorted_ids = ids[order]
        starts = np.flatnonzero(np.diff(sorted_ids, prepend=-1))
        within = np.arange(len(ids)) - np.repeat(starts, np.diff(np.append(starts, len(ids))))
        places = np.empty(len(ids), np.int64)
        places[order] = within + 1
        return order, places


class TopNOperator(EmittingAtEnd):
    """Stores and emits the first rows of each partition."""

    def __init__(self, spec: TopNSpec) -> None:
        self._spec = spec

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        ttl, spec = state_ttl(self.context), self._spec
        self._lists: ReplacedLists | None = None
        if spec.appends:
            self._lists = replaced_lists(self.context, "tops", spec.schema, spec.partition, ttl)
        else:
            self._tops: Any = self.context.backend.table("tops", ttl=ttl)
            self._rows: Any = self.context.backend.table("rows", kind="map", ttl=ttl)
        self._is_batch = is_batch(self.context)
        self._rounds = rounds_of(self.context, spec.partition, self._process, self.emit_rows)
        self._updates = spec.numbered or spec.in_place
        if self._rounds is not None:
            # Flink emits updates of each rank also with an OFFSET, and for a single rank of insert-only input.
            self._updates = spec.first > 1 or (spec.appends if spec.last == 1 else spec.numbered)
        self._kept: list[RowBatch] = []

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Update the ranked rows."""
        if self._is_batch:
            self._kept.append(rows)
        elif self._rounds is None:
            self._process(rows)
        else:
            self._rounds.process(rows)

    def _process(self, rows: RowBatch) -> None:
        if self._spec.appends:
            self._add(rows)
        else:
            self._change(rows)

    # Rows that are only added

    def _add(self, rows: RowBatch) -> None:
        spec = self._spec
        assert self._lists is not None and spec.last is not None  # noqa: S101 - for the type checker
        keys = BatchKeys(rows.rows, spec.partition)
        tops = self._lists.read(keys)
        rows, ids = self._that_may_enter(rows, keys.ids, tops)
        if not len(rows):
            return
        touched = distinct(ids, keys.count)
        if len(touched) < keys.count:
            tops = tops.of_keys(touched)
        old = int(tops.sizes.sum())
        all_ids = np.concatenate([np.repeat(np.arange(len(touched)), tops.sizes), np.searchsorted(touched, ids)])
        columns = rows.rows.columns
        if old:
            picked = tops.pick(np.arange(old))
            columns = [pa.concat_arrays([picked.column(index), column]) for index, column in enumerate(columns)]
        order, places = spec.ranks(all_ids, columns)
        places[places > spec.last] = 0
        before = np.zeros(len(all_ids), np.int64)
        before[:old] = np.arange(old) - np.repeat(np.cumsum(tops.sizes) - tops.sizes, tops.sizes) + 1
        chosen = order[places[order] > 0]
        changed = np.zeros(len(touched), np.bool_)
        changed[all_ids[chosen[chosen >= old]]] = True
        chosen = chosen[changed[all_ids[chosen]]]
        fresh = chosen >= old
        made = [column.take(pa.array(chosen[fresh])) for column in columns]
        sizes = np.bincount(all_ids[chosen], minlength=len(touched))[changed]
        self._lists.replace(keys, tops, NewLists(touched[changed], sizes, np.where(fresh, -1, chosen), made))
        self._emit_changes(all_ids, columns, before, places, touched)

    def _that_may_enter(self, rows: RowBatch, ids: Places, tops: ListedRows) -> tuple[RowBatch, Places]:
        """Filter out rows after the last one of a full partition."""
        spec = self._spec
        full = tops.sizes == spec.last
        if not spec.keys or not full.any():
            return rows, ids
        index, ascending, _ = spec.keys[0]
        if pa.types.is_nested(rows.rows.column(index).type):  # which kernels cannot compare
            return rows, ids
        worst = tops.pick(np.where(full, np.cumsum(tops.sizes) - 1, -1)[ids]).column(index)
        late = (pc.greater if ascending else pc.less)(rows.rows.column(index), worst).fill_null(False).to_numpy(zero_copy_only=False)
        if not late.any():
            return rows, ids
        kept = np.flatnonzero(~late)
        return rows.take(kept), ids[kept]

    def _emit_changes(self, ids: Places, columns: list[pa.Array], before: Places, after: Places, partitions: Places) -> None:
        """Emit the differences between ranks before and after; 0 is none. ``partitions`` are the partitions of the ids."""
        spec, count = self._spec, len(partitions)
        was, now = before >= spec.first, after >= spec.first
        if self._updates:
            assert spec.last is not None  # noqa: S101 - for the type checker
            old_at, new_at = np.full((2, count * spec.last), -1, np.int64)
            old_at[(ids * spec.last + before - 1)[was]] = np.flatnonzero(was)
            new_at[(ids * spec.last + after - 1)[now]] = np.flatnonzero(now)
            changed = np.flatnonzero(old_at != new_at)
            olds, news = old_at[changed], new_at[changed]
        else:
            gone, come = np.flatnonzero(was & ~now), np.flatnonzero(now & ~was)
            # By partition, retractions before insertions.
            both = np.concatenate([gone, come])
            arrives = np.arange(len(both)) >= len(gone)
            order = np.lexsort((arrives, ids[both]))
            kinds = np.where(arrives, INSERT, DELETE).astype(np.uint8)[order]
            of = partitions[ids[both[order]]]
            self._emit([column.take(pa.array(both[order])) for column in columns], kinds, np.ones(len(of)), of)
            return
        rows = np.stack([olds, news], axis=1).ravel()
        updates = (olds >= 0) & (news >= 0)
        both_kinds = [np.where(updates, UPDATE_BEFORE, DELETE), np.where(updates, UPDATE_AFTER, INSERT)]
        kinds = np.stack(both_kinds, axis=1).ravel().astype(np.uint8)
        numbers = np.repeat(changed % spec.last + 1, 2)
        chosen = rows >= 0
        of = partitions[ids[rows[chosen]]]
        self._emit([column.take(pa.array(rows[chosen])) for column in columns], kinds[chosen], numbers[chosen], of)

    def _emit(self, columns: list[pa.Array], kinds: Any, numbers: Any, of: Places) -> None:
        """Hand on changes; of each its partition is known."""
        if self._spec.numbered:
            columns = [*columns, pa.array(numbers, pa.int64())]
        rows = RowBatch(pa.RecordBatch.from_arrays(columns, schema=self._spec.results), kinds if kinds.any() else None)
        if self._rounds is None:
            self.emit_rows(rows)
        else:
            self._rounds.add(rows, of)

    # Retractable rows

    def _change(self, rows: RowBatch) -> None:
        spec = self._spec
        batch_keys = BatchKeys(rows.rows, spec.partition)
        keys = batch_keys.tuples
        for place, row, kind in zip(batch_keys.ids.tolist(), stored_rows(rows.rows), rows.kinds_or_inserts().tolist(), strict=True):
            self._count(keys[place], row, -1 if kind in RETRACTS else 1)
        flat: list[StoredRow] = []
        sizes = []
        for key in keys:
            start = len(flat)
            for row, count in self._rows.entries(key):
                flat += [row] * count
            sizes.append(len(flat) - start)
        order, places = spec.ranks(np.repeat(np.arange(len(keys)), sizes), columns_of(flat, spec.schema))
        tops: list[list[StoredRow]] = [[] for _ in keys]
        in_place = order[places[order] <= (spec.last or len(flat))]
        owners = np.repeat(np.arange(len(keys)), sizes)[in_place]
        for owner, place in zip(owners.tolist(), in_place.tolist(), strict=True):
            tops[owner].append(flat[place])
        changes: list[tuple[int, StoredRow, int]] = []
        changed: list[int] = []
        for owner, (key, top) in enumerate(zip(keys, tops, strict=True)):
            old = self._tops.get(key) or []
            if old != top:
                changes += self._changes(old, top)
                changed += [owner] * (len(changes) - len(changed))
                if top:
                    self._tops.put(key, top)
                else:
                    self._tops.remove(key)
        if changes:
            kinds = np.array([kind for kind, _, _ in changes], np.uint8)
            columns = columns_of([row for _, row, _ in changes], spec.schema)
            self._emit(columns, kinds, [number for _, _, number in changes], np.array(changed, np.int64))

    def _count(self, key: Key, row: StoredRow, change: int) -> None:
        count = (self._rows.get_entry(key, row) or 0) + change
        if count > 0:
            self._rows.put_entry(key, row, count)
        else:
            self._rows.remove_entry(key, row)

    def _changes(self, old: list[StoredRow], new: list[StoredRow]) -> Iterator[tuple[int, StoredRow, int]]:
        start = self._spec.first - 1
        if not self._updates:
            gone, come = Counter(old[start:]), Counter(new[start:])
            yield from ((DELETE, row, 1) for row in (gone - come).elements())
            yield from ((INSERT, row, 1) for row in (come - gone).elements())
            return
        for place in range(start, max(len(old), len(new))):
            before = old[place] if place < len(old) else None
            after = new[place] if place < len(new) else None
            if before == after:
                continue
            if before is not None:
                yield (DELETE if after is None else UPDATE_BEFORE, before, place + 1)
            if after is not None:
                yield (INSERT if before is None else UPDATE_AFTER, after, place + 1)

    # BATCH mode: the sorted rows at the end of the input

    def _at_end(self) -> Iterator[RowBatch]:
        if not self._kept:
            return
        spec = self._spec
        rows = concat(self._kept)
        self._kept = []
        ids = group_by([rows.rows.column(index) for index in spec.partition], len(rows)).ids
        order, places = spec.ranks(ids, rows.rows.columns)
        ordered = places[order]
        order = order[(ordered >= spec.first) & (ordered <= (spec.last or len(order)))]
        for start in range(0, len(order), _ROWS_AT_ONCE):
            part = order[start : start + _ROWS_AT_ONCE]
            columns = [column.take(pa.array(part)) for column in rows.rows.columns]
            if spec.numbered:
                columns.append(pa.array(places[part]))
            yield RowBatch(pa.RecordBatch.from_arrays(columns, schema=spec.results))


def top_n_operator(params: dict[str, Any], payload: TopNSpec) -> TopNOperator:
    """Return the operator of a spec."""
    return TopNOperator(payload)
