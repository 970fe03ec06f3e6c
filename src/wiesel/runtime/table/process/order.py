"""Internal. ORDER BY of a table of a process table function: its rows wait for the watermark, and are then sorted.

Retry semantics: waiting rows are written to keyed state when a checkpoint is taken, for the keys changed since the previous one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.stored import columns_of, stored_rows
from wiesel.columnar.windows import Times, milliseconds
from wiesel.core.errors import UserFunctionError
from wiesel.core.metrics import LATE_COUNTER
from wiesel.runtime.table.process.spec import TableInput
from wiesel.runtime.table.rank.row_order import ordered_places

__all__ = ["OrderedRows"]


class OrderedRows:
    """The rows of a table that wait for the watermark.

    Args:
        table: The table.
        schema: Its columns.
        context: The operator's context.
    """

    def __init__(self, table: TableInput, schema: pa.Schema, context: Any) -> None:
        self._table = table
        self._schema = schema.append(pa.field("$kind", pa.uint8()))
        self._time = table.order[0][0]
        self._keys = tuple((index, not direction.is_descending, direction.is_nulls_first) for index, direction in table.order)
        self._late = context.metrics.counter(LATE_COUNTER)
        self._stored = context.backend.table(f"ordered {table.name}")
        self._changed: set[tuple[Any, ...]] = set()
        rows = [row for _, _, mine in self._stored.items() for row in mine]
        self._waiting = [pa.RecordBatch.from_arrays(columns_of(rows, self._schema), schema=self._schema)] if rows else []

    def add(self, rows: RowBatch, watermark: int) -> None:
        """Buffer rows; late ones are dropped."""
        batch = pa.RecordBatch.from_arrays([*rows.rows.columns, pa.array(rows.kinds_or_inserts())], schema=self._schema)
        if batch.column(self._time).null_count:
            message = f"the event time of a row of the table {self._table.name} is NULL, which is in ORDER BY"
            raise UserFunctionError(message, hint="filter rows without time out")
        late = self._times(batch) <= watermark
        if late.any():
            self._late.inc(int(late.sum()))
            batch = batch.filter(pa.array(~late))
        self._wait(batch)

    def due(self, watermark: int) -> RowBatch | None:
        """Return the rows up to a watermark in order; None if there are none."""
        if not self._waiting:
            return None
        rows = pa.concat_batches(self._waiting)
        due = self._times(rows) <= watermark
        if not due.any():
            return None
        self._waiting = []
        self._wait(rows.filter(pa.array(~due)))
        rows = rows.filter(pa.array(due))
        self._changed.update(key_tuples(rows, self._table.keys))
        rows = rows.take(pa.array(ordered_places(np.zeros(len(rows), np.int64), rows.columns, self._keys)))
        kinds = rows.column(rows.num_columns - 1).to_numpy()
        plain = pa.RecordBatch.from_arrays(rows.columns[:-1], names=self._schema.names[:-1])
        return RowBatch(plain, kinds if kinds.any() else None)

    def snapshot(self) -> None:
        """Write the waiting rows to state."""
        waiting: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {key: [] for key in self._changed}
        for batch in self._waiting:
            for key, row in zip(key_tuples(batch, self._table.keys), stored_rows(batch), strict=True):
                if key in waiting:
                    waiting[key].append(row)
        for key, rows in waiting.items():
            if rows:
                self._stored.put(key, rows)
            else:
                self._stored.remove(key)
        self._changed = set()

    def _wait(self, batch: pa.RecordBatch) -> None:
        if len(batch):
            self._waiting.append(batch)
            self._changed.update(key_tuples(batch, self._table.keys))

    def _times(self, rows: pa.RecordBatch) -> Times:
        return milliseconds(rows.column(self._time))
