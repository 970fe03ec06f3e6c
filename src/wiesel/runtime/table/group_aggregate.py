"""Internal. GROUP BY: one row per key, which changes as rows come.

What a batch has for a key is aggregated first, so that state is read and written once per key and batch, and one change comes of it:
Flink's operator does so with mini-batches, its other one emits a change per row. The table that the changes make is the same.

Retry story: state is a tuple of slots per key, and the values of DISTINCT by key; nothing else outlives a batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wiesel.columnar.aggregates.calls import BoundCall, Input
from wiesel.columnar.aggregates.registry import Signs
from wiesel.columnar.aggregates.slots import Column, numbers
from wiesel.columnar.grouping import group_by
from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, RowBatch
from wiesel.runtime.operators.function_operator import is_batch
from wiesel.runtime.table.aggregation import Aggregation, changed_places
from wiesel.runtime.table.base import TableOperator, state_ttl

__all__ = ["GroupAggregateOperator", "group_aggregate_operator", "row_signs"]

_ROWS_AT_ONCE = 10_000


def row_signs(rows: RowBatch) -> Signs:
    """Return 1 for rows that come and -1 for rows that go; None if none goes."""
    if rows.kinds is None:
        return None
    goes = (rows.kinds == UPDATE_BEFORE) | (rows.kinds == DELETE)
    return np.where(goes, -1, 1) if goes.any() else None


class GroupAggregateOperator(TableOperator):
    """Aggregates by key.

    Args:
        keys: The columns of the key; without any all rows are one group.
        calls: What is aggregated.
        schema: That of the results: the key, then a column per call.
        sends_before: Whether ``-U`` rows are wanted.
        ttl_ms: After which time without a row a group is forgotten; 0 for never, None for what the job says.
    """

    def __init__(
        self, keys: Sequence[int], calls: Sequence[BoundCall], schema: pa.Schema, sends_before: bool, ttl_ms: int | None = None
    ) -> None:
        self._ttl_ms = ttl_ms
        self._keys = list(keys)
        self._aggregation = Aggregation(calls)
        self._schema = schema
        self._sends_before = sends_before

    def open(self) -> None:
        """Take the state."""
        super().open()
        ttl = state_ttl(self.context, self._ttl_ms)
        self._expires = ttl is not None
        self._table = self.context.backend.table("groups", ttl=ttl)
        self._aggregation.open(self.context.backend, ttl)
        self._is_batch = is_batch(self.context)
        self._left: Iterator[tuple[Any, Any]] | None = None

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Change the groups of the rows."""
        columns = rows.rows.columns
        groups = group_by([columns[index] for index in self._keys], len(rows))
        key_columns = rows.rows.select(self._keys).take(pa.array(groups.first)) if self._keys else None
        keys = [()] if key_columns is None else key_tuples(key_columns, range(len(self._keys)))
        aggregation, empty = self._aggregation, self._aggregation.empty
        stored = list(map(self._table.get, keys))
        old = aggregation.columns([empty if state is None else state for state in stored])
        new = aggregation.add(keys, old, Input(columns, groups, row_signs(rows)))
        self._write(keys, aggregation.states(new), numbers(new[0]) > 0)
        if not self._is_batch:
            self._emit_changes(key_columns, stored, old, new)

    def _write(self, keys: Sequence[Any], states: list[tuple[Any, ...]], alive: npt.NDArray[np.bool_]) -> None:
        put = self._table.put
        if alive.all():
            for key, state in zip(keys, states, strict=True):
                put(key, state)
            return
        for key, state, lives in zip(keys, states, alive.tolist(), strict=True):
            if lives:
                put(key, state)
            else:
                self._table.remove(key)
                self._aggregation.clear(key)

    def _emit_changes(self, keys: pa.RecordBatch | None, stored: list[Any], old: list[Column], new: list[Column]) -> None:
        was = np.fromiter((state is not None for state in stored), np.bool_, len(stored))
        lives = numbers(new[0]) > 0
        after = self._aggregation.results(new)
        before = self._aggregation.results(old) if was.any() else after
        updated = was & lives
        if not self._expires:
            updated &= changed_places(before, after, len(stored))
        self.emit_rows(self._changes(keys, before, after, (was, lives, updated)))

    def _changes(self, keys: pa.RecordBatch | None, before: list[Column], after: list[Column], fate: tuple[Any, Any, Any]) -> RowBatch:
        """Return the changes of groups; their fate is whether each was there before, whether it lives, and whether it was updated."""
        was, lives, updated = fate
        count = len(was)
        key_columns = [] if keys is None else keys.columns
        deleted = was & ~lives
        inserted = lives & ~was
        if not was.any():
            rows = pa.RecordBatch.from_arrays([*key_columns, *after], schema=self._schema)
            return RowBatch(rows if lives.all() else rows.filter(pa.array(lives)))
        # Old rows and new ones by turns.
        olds, news = np.arange(count), np.arange(count) + count
        places = np.stack([olds, news], axis=1).ravel()
        wanted = np.stack([deleted | (updated if self._sends_before else np.False_), inserted | updated], axis=1).ravel()
        old_kinds = np.where(deleted, DELETE, UPDATE_BEFORE)
        new_kinds = np.where(inserted, INSERT, UPDATE_AFTER)
        kinds = np.stack([old_kinds, new_kinds], axis=1).ravel().astype(np.uint8)[wanted]
        both = [pa.concat_arrays([column, column]) for column in key_columns]
        both += [pa.concat_arrays(list(each)) for each in zip(before, after, strict=True)]
        rows = pa.RecordBatch.from_arrays(both, schema=self._schema).take(pa.array(places[wanted]))
        return RowBatch(rows, kinds if kinds.any() else None)

    # BATCH mode: the results at the end of the input

    @property
    def has_more(self) -> bool:
        """Whether there are results left to emit."""
        return self._left is not None

    def finish(self) -> None:
        """Emit results of a BATCH job, a part at a time."""
        if not self._is_batch:
            return
        if self._left is None:
            found = ((key, state) for key, _, state in self._table.items())
            self._left = iter([((), self._aggregation.empty)]) if not self._keys and self._table.get(()) is None else found
        part = list(islice(self._left, _ROWS_AT_ONCE))
        if not part:
            self._left = None
            return
        key_columns = zip(*(key for key, _ in part), strict=True)
        keys = [pa.array(values, field.type) for values, field in zip(key_columns, self._schema, strict=False)]
        results = self._aggregation.results(self._aggregation.columns([state for _, state in part]))
        self.emit_rows(RowBatch(pa.RecordBatch.from_arrays([*keys, *results], schema=self._schema)))


def group_aggregate_operator(params: dict[str, Any], payload: dict[str, Any]) -> GroupAggregateOperator:
    """Return the operator of a spec."""
    return GroupAggregateOperator(payload["keys"], payload["calls"], payload["schema"], payload["sends_before"], payload["ttl_ms"])
