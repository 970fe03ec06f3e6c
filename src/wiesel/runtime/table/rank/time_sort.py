"""Internal. ORDER BY time in unbounded jobs: rows wait for the watermark, and are then sorted.

Retry semantics: waiting rows are written to state when a checkpoint is taken.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.stored import columns_of, stored_rows
from wiesel.columnar.windows import milliseconds
from wiesel.core.errors import UserFunctionError
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.core.metrics import LATE_COUNTER
from wiesel.runtime.operator import StreamOperator
from wiesel.runtime.table.base import TableOperator
from wiesel.runtime.table.rank.top_n import TopNSpec

__all__ = ["time_sort_operator"]


class TimeSortOperator(TableOperator):
    """Emits rows in the order of their time, and of further columns. Late rows are dropped."""

    def __init__(self, spec: TopNSpec) -> None:
        self._spec = spec
        self._time = spec.keys[0][0]
        self._waiting: list[pa.RecordBatch] = []
        self._changed = False
        self._watermark = MIN_TIMESTAMP

    def open(self) -> None:
        """Restore the waiting rows."""
        super().open()
        self._late = self.context.metrics.counter(LATE_COUNTER)
        self._table = self.context.backend.table("rows")
        stored = self._table.get(())
        if stored:
            self._waiting = [pa.RecordBatch.from_arrays(columns_of(stored, self._spec.schema), schema=self._spec.schema)]

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Buffer rows."""
        batch = rows.rows.cast(self._spec.schema)
        if batch.column(self._time).null_count:
            raise UserFunctionError("the event time of a row under ORDER BY is NULL", hint="filter such rows out")
        late = milliseconds(batch.column(self._time)) <= self._watermark
        if late.any():
            self._late.inc(int(late.sum()))
            batch = batch.filter(pa.array(~late))
        self._waiting.append(batch)
        self._changed = True

    def process_watermark(self, timestamp: int) -> None:
        """Emit the rows up to the watermark in order, then forward it."""
        if self._waiting:
            rows = pa.concat_batches(self._waiting)
            due = milliseconds(rows.column(self._time)) <= timestamp
            if due.any():
                self._changed = True
                self._waiting = [] if due.all() else [rows.filter(pa.array(~due))]
                rows = rows.filter(pa.array(due))
                order, _ = self._spec.ranks(np.zeros(len(rows), np.int64), rows.columns)
                self.emit_rows(RowBatch(rows.take(pa.array(order))))
        self._watermark = timestamp
        self.output.emit_watermark(timestamp)

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> None:
        """Write the waiting rows to state."""
        if not self._changed:
            return
        self._changed = False
        rows = pa.concat_batches(self._waiting) if self._waiting else None
        if rows is None or not len(rows):
            self._table.remove(())
        else:
            self._table.put((), stored_rows(rows))


def time_sort_operator(params: dict[str, object], payload: TopNSpec) -> StreamOperator:
    """Create the operator; the payload is its :class:`~wiesel.runtime.table.rank.top_n.TopNSpec`."""
    return TimeSortOperator(payload)
