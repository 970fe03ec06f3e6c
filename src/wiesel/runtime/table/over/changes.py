"""Internal. OVER in unbounded jobs, ordered by columns that are not time attributes.

A row may be inserted between others, or be retracted, which changes the results of those after it.

Per batch all rows of the affected partitions are computed before and after it, and the differences are emitted: Flink does so per row, with
the same resulting table, as is done here in rounds if configured.

Retry semantics: state is the rows of each partition in order.
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
from wiesel.runtime.table.join.join_state import RETRACTS, Key
from wiesel.runtime.table.over.results import PartitionsSpec, sorted_with_results
from wiesel.runtime.table.rounds import rounds_of

__all__ = ["changing_over_operator"]


class ChangingOverOperator(TableOperator):
    """Stores the rows of each partition, and emits the changes of their results."""

    def __init__(self, spec: PartitionsSpec, *, sends_before: bool) -> None:
        self._spec = spec
        self._sends_before = sends_before
        self._width = len(spec.schema) - len(spec.calls)
        self._input_schema = pa.schema(list(spec.schema)[: self._width])

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        self._table = self.context.backend.table("rows", ttl=state_ttl(self.context))
        self._rounds = rounds_of(self.context, self._spec.partition, self._change, self.emit_rows)

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Change the results of partitions."""
        if self._rounds is None:
            self._change(rows)
        else:
            self._rounds.process(rows)

    def _change(self, rows: RowBatch) -> None:
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
        owners: list[int] = []
        comes = rows.kinds_or_inserts().tolist()
        for owner, (key, olds, news) in enumerate(zip(keys, self._results(before), self._results(after), strict=True)):
            if news:
                self._table.put(key, [row[: self._width] for row in news])
            else:
                self._table.remove(key)
            changes += self._changes(olds, news) if self._rounds is None else self._changes_by_row(olds, news, comes[owner])
            owners += [owner] * (len(changes) - len(owners))
        if changes:
            kinds = np.array([kind for kind, _ in changes], np.uint8)
            columns = columns_of([row for _, row in changes], self._spec.schema)
            found = RowBatch(pa.RecordBatch.from_arrays(columns, schema=self._spec.schema), kinds if kinds.any() else None)
            if self._rounds is None:
                self.emit_rows(found)
            else:
                self._rounds.add(found, np.array(owners, np.int64))

    def _results(self, partitions: Sequence[list[StoredRow]]) -> Iterator[list[StoredRow]]:
        """Yield the rows of each partition in order, with their results."""
        rows = columns_of([row for mine in partitions for row in mine], self._input_schema)
        found = stored_rows(sorted_with_results(self._spec, pa.RecordBatch.from_arrays(rows, schema=self._input_schema)))
        start = 0
        for mine in partitions:
            yield found[start : start + len(mine)]
            start += len(mine)

    def _changes(self, olds: list[StoredRow], news: list[StoredRow]) -> Iterator[tuple[int, StoredRow]]:
        """Yield the differences; rows whose results differ are updated."""
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

    def _changes_by_row(self, olds: list[StoredRow], news: list[StoredRow], kind: int) -> Iterator[tuple[int, StoredRow]]:
        """Yield the differences after one inserted or retracted row, in the order of the rows."""
        shorter = min(len(olds), len(news))
        width = self._width
        place = next((place for place in range(shorter) if olds[place][:width] != news[place][:width]), shorter)
        came, went = len(news) - shorter, len(olds) - shorter
        for before, after in zip(olds[:place], news[:place], strict=True):
            yield from self._update(before, after)
        if came:
            yield kind, news[place]
        if went:
            yield DELETE, olds[place]
        for before, after in zip(olds[place + went :], news[place + came :], strict=True):
            yield from self._update(before, after)

    def _update(self, before: StoredRow, after: StoredRow) -> Iterator[tuple[int, StoredRow]]:
        if before != after:
            if self._sends_before:
                yield UPDATE_BEFORE, before
            yield UPDATE_AFTER, after


def changing_over_operator(params: dict[str, object], payload: dict[str, Any]) -> ChangingOverOperator:
    """Return the operator of a spec."""
    return ChangingOverOperator(payload["spec"], sends_before=payload["sends_before"])
