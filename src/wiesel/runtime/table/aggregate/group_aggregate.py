"""Internal. GROUP BY: one row per key, updated as rows arrive.

The rows of a batch are aggregated by key first, so that state is read and written once per key and batch, with one change: Flink's operator
does so with mini-batches, its other one emits a change per row, as this one does in rounds if configured. The resulting table is the same.

Retry semantics: state is a tuple of slots per key, and the values of DISTINCT by key; columnar data is written to it by each snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.calls import BoundCall, Input
from wiesel.columnar.aggregates.slots import Column, numbers
from wiesel.columnar.grouping import Places, group_by
from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, RowBatch
from wiesel.runtime.operators.function_operator import is_batch
from wiesel.runtime.table.aggregate.aggregation import Aggregation, changed_places
from wiesel.runtime.table.aggregate.group_store import ArrayGroups, GroupStore, Mask, StateGroups
from wiesel.runtime.table.base import EmittingAtEnd, state_ttl
from wiesel.runtime.table.bundles import BundledOperator
from wiesel.runtime.table.mini_batch import MiniBatch
from wiesel.runtime.table.rounds import rounds_of
from wiesel.runtime.table.row_signs import row_signs

__all__ = ["GroupAggregateOperator", "group_aggregate_operator"]

_ROWS_AT_ONCE = 10_000


class GroupAggregateOperator(BundledOperator, EmittingAtEnd):
    """Aggregates by key.

    Args:
        keys: The key columns; without any all rows are one group.
        calls: The aggregates.
        schema: That of the results: the key, then a column per call.
        sends_before: Emit ``-U`` rows.
        ttl_ms: TTL of a group; 0 for never, None for that of the job.
        merges: The input has partial aggregates instead of rows: the key columns, then those of :class:`Partials`.
        mini_batch: Settings of mini-batches; None for none.
    """

    def __init__(
        self,
        keys: Sequence[int],
        calls: Sequence[BoundCall],
        schema: pa.Schema,
        sends_before: bool,
        ttl_ms: int | None = None,
        merges: bool = False,
        mini_batch: MiniBatch | None = None,
    ) -> None:
        super().__init__(mini_batch)
        self._merges = merges
        self._ttl_ms = ttl_ms
        self._keys = list(keys)
        self._aggregation = Aggregation(calls)
        self._schema = schema
        self._sends_before = sends_before

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        ttl = state_ttl(self.context, self._ttl_ms)
        self._expires = ttl is not None
        backend = self.context.backend
        table = backend.table("groups", ttl=ttl)
        by_place = ttl is None and backend.in_memory
        self._aggregation.open(backend, ttl, by_place=by_place)
        self._groups: GroupStore = (ArrayGroups if by_place else StateGroups)(table, self._aggregation)
        self._is_batch = is_batch(self.context)
        self._rounds = None if self._merges else rounds_of(self.context, self._keys, self._change, self.emit_rows)

    def process_bundle(self, rows: RowBatch) -> None:
        """Change the groups of the rows."""
        if self._rounds is None:
            self._change(rows)
        else:
            self._rounds.process(rows)

    def _change(self, rows: RowBatch) -> None:
        columns = rows.rows.columns
        groups = group_by([columns[index] for index in self._keys], len(rows))
        key_columns = rows.rows.select(self._keys).take(pa.array(groups.first)) if self._keys else None
        keys = self._groups.keys([()] if key_columns is None else key_tuples(key_columns, range(len(self._keys))))
        was, old = self._groups.read(keys)
        if self._merges:
            new = self._aggregation.merge(keys, old, columns[len(self._keys) :], groups)
        else:
            new = self._aggregation.add(keys, old, Input(columns, groups, row_signs(rows)))
        self._groups.write(keys, new)
        if not self._is_batch:
            self._emit_changes(key_columns, was, old, new)

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> None:
        """Write changes to keyed state."""
        self._groups.flush()

    def _emit_changes(self, keys: pa.RecordBatch | None, was: Mask, old: list[Column], new: list[Column]) -> None:
        lives = numbers(new[0]) > 0
        after = self._aggregation.results(new)
        before = self._aggregation.results(old) if was.any() else after
        updated = was & lives
        if not self._expires:
            updated &= changed_places(before, after, len(was))
        rows, of = self._changes(keys, before, after, (was, lives, updated))
        if self._rounds is None:
            self.emit_rows(rows)
        else:
            self._rounds.add(rows, np.flatnonzero(lives) if of is None else of % len(was))

    def _changes(
        self, keys: pa.RecordBatch | None, before: list[Column], after: list[Column], fate: tuple[Any, Any, Any]
    ) -> tuple[RowBatch, Places | None]:
        """Return the changes of groups, and the groups' indexes: those of their old rows, followed by those of the new ones.

        The fate of groups is whether each existed before, whether it exists now, and whether it was updated. The indexes are None for the
        new rows of all existing groups.
        """
        was, lives, updated = fate
        count = len(was)
        key_columns = [] if keys is None else keys.columns
        deleted = was & ~lives
        inserted = lives & ~was
        if not was.any():
            rows = pa.RecordBatch.from_arrays([*key_columns, *after], schema=self._schema)
            return RowBatch(rows if lives.all() else rows.filter(pa.array(lives))), None
        # Old rows and new ones alternately.
        olds, news = np.arange(count), np.arange(count) + count
        places = np.stack([olds, news], axis=1).ravel()
        wanted = np.stack([deleted | (updated if self._sends_before else np.False_), inserted | updated], axis=1).ravel()
        old_kinds = np.where(deleted, DELETE, UPDATE_BEFORE)
        new_kinds = np.where(inserted, INSERT, UPDATE_AFTER)
        kinds = np.stack([old_kinds, new_kinds], axis=1).ravel().astype(np.uint8)[wanted]
        both = [pa.concat_arrays([column, column]) for column in key_columns]
        both += [pa.concat_arrays(list(each)) for each in zip(before, after, strict=True)]
        chosen = places[wanted]
        rows = pa.RecordBatch.from_arrays(both, schema=self._schema).take(pa.array(chosen))
        return RowBatch(rows, kinds if kinds.any() else None), chosen

    # BATCH mode: the results at the end of the input

    def _at_end(self) -> Iterator[RowBatch]:
        if not self._is_batch:
            return
        parts: Iterable[tuple[list[Any], list[Column]]] = self._groups.parts(_ROWS_AT_ONCE)
        if not self._keys:
            parts = list(parts) or [([()], self._aggregation.columns([self._aggregation.empty]))]
        for keys, slots in parts:
            key_columns = zip(*keys, strict=True)
            found = [pa.array(values, field.type) for values, field in zip(key_columns, self._schema, strict=False)]
            found += self._aggregation.results(slots)
            yield RowBatch(pa.RecordBatch.from_arrays(found, schema=self._schema))


def group_aggregate_operator(params: dict[str, Any], payload: dict[str, Any]) -> GroupAggregateOperator:
    """Return the operator of a spec."""
    return GroupAggregateOperator(**payload)
