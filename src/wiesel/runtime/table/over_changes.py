"""Internal. OVER in a job without end, in the order of columns that are no time.

Each row may come between others, or go, which changes the results of those behind it.

Per batch all rows of the partitions that it touches are computed before and after it, and what is different is emitted: Flink does so per
row, which comes to the same table.

Retry story: kept are the rows of each partition in their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.grouping import group_by
from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, RowBatch
from wiesel.columnar.stored import StoredRow, columns_of, stored_rows
from wiesel.runtime.table.base import TableOperator, state_ttl
from wiesel.runtime.table.join_state import RETRACTS, Key
from wiesel.runtime.table.over_results import PartitionsSpec, sorted_with_results

__all__ = ["changing_over_operator"]


class ChangingOverOperator(TableOperator):
    """Keeps the rows of each partition, and emits how their results change."""

    def __init__(self, spec: PartitionsSpec, *, sends_before: bool) -> None:
        self._spec = spec
        self._sends_before = sends_before
        self._width = len(spec.schema) - len(spec.calls)
        self._input_schema = pa.schema(list(spec.schema)[: self._width])

    def open(self) -> None:
        """Take the state."""
        super().open()
        self._table = self.context.backend.table("rows", ttl=state_ttl(self.context))

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Change the results of partitions."""
        groups = group_by([rows.rows.column(index) for index in self._spec.partition], len(rows))
        partition = list(self._spec.partition)
        keys: list[Key] = [()]
        if partition:
            keys = key_tuples(rows.rows.select(partition).take(pa.array(groups.first)), range(len(partition)))
        before = [list(self._table.get(key) or []) for key in keys]
        after = [list(mine) for mine in before]
        for place, row, kind in zip(groups.ids.tolist(), stored_rows(rows.rows), rows.kinds_or_inserts().tolist(), strict=True):
            if kind not in RETRACTS:
                after[place].append(row)
            elif row in after[place]:
                after[place].remove(row)
        changes: list[tuple[int, StoredRow]] = []
        for key, olds, news in zip(keys, self._results(before), self._results(after), strict=True):
            if news:
                self._table.put(key, [row[: self._width] for row in news])
            else:
                self._table.remove(key)
            changes += self._changes(olds, news)
        if changes:
            kinds = np.array([kind for kind, _ in changes], np.uint8)
            columns = columns_of([row for _, row in changes], self._spec.schema)
            self.emit_rows(RowBatch(pa.RecordBatch.from_arrays(columns, schema=self._spec.schema), kinds if kinds.any() else None))

    def _results(self, partitions: Sequence[list[StoredRow]]) -> Iterator[list[StoredRow]]:
        """Yield the rows of each partition in order, with their results."""
        rows = columns_of([row for mine in partitions for row in mine], self._input_schema)
        found = stored_rows(sorted_with_results(self._spec, pa.RecordBatch.from_arrays(rows, schema=self._input_schema)))
        start = 0
        for mine in partitions:
            yield found[start : start + len(mine)]
            start += len(mine)

    def _changes(self, olds: list[StoredRow], news: list[StoredRow]) -> Iterator[tuple[int, StoredRow]]:
        """Yield what is different; rows of which only results are different are updated."""
        before, after = Counter(olds), Counter(news)
        gone: dict[StoredRow, list[StoredRow]] = {}
        for row in (before - after).elements():
            gone.setdefault(row[: self._width], []).append(row)
        come = []
        for row in (after - before).elements():
            earlier = gone.get(row[: self._width])
            come.append((row, earlier.pop() if earlier else None))
        yield from ((DELETE, row) for rows in gone.values() for row in rows)
        for row, old in come:
            if old is not None and self._sends_before:
                yield UPDATE_BEFORE, old
            yield INSERT if old is None else UPDATE_AFTER, row


def changing_over_operator(params: dict[str, object], payload: dict[str, Any]) -> ChangingOverOperator:
    """Return the operator of a spec."""
    return ChangingOverOperator(payload["spec"], sends_before=payload["sends_before"])
