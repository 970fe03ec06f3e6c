"""Internal. Event time of tables: watermarks from an expression over each row.

A batch is handed on whole, and behind it the greatest of its rows' watermarks. Only where a row is late by a watermark of a row before it
in the batch, the batch is divided in front of that row, so that what is late does not depend on how rows fell into batches.

Retry story: as in Flink the watermark is not part of checkpoints; after a restore it starts anew with the first row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wiesel.columnar.evaluation import Frame, as_array, evaluate
from wiesel.columnar.expressions import Expression
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.windows import Times, milliseconds
from wiesel.core.errors import UserFunctionError
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.runtime.operators.function_operator import is_batch
from wiesel.runtime.table.base import TableOperator

__all__ = ["WatermarkOperator", "watermark_operator"]


class WatermarkOperator(TableOperator):
    """Emits watermarks.

    Args:
        column: The column with the event time.
        name: Its name, for messages.
        watermark: The expression; where it is NULL, a row has no watermark.
    """

    def __init__(self, column: int, name: str, watermark: Expression) -> None:
        self._column = column
        self._name = name
        self._expression = watermark
        self._watermark = MIN_TIMESTAMP

    def open(self) -> None:
        """Look whether time goes on before the end."""
        super().open()
        self._progressive = not is_batch(self.context)

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Hand on the rows, and watermarks behind them."""
        column = rows.rows.column(self._column)
        if column.null_count:
            raise UserFunctionError(
                f"the event time {self._name} of a row is NULL", hint="leave such rows out in the table's source, or give them a time"
            )
        if not self._progressive:
            self.emit_rows(rows)
            return
        found = as_array(evaluate(self._expression, Frame(rows.rows, self.session)), len(rows))
        marks = np.full(len(found), MIN_TIMESTAMP, np.int64)
        there = np.flatnonzero(found.is_valid().to_numpy(zero_copy_only=False))
        marks[there] = milliseconds(found.drop_null())
        running = np.maximum(np.maximum.accumulate(marks), self._watermark)
        start = 0
        for end in [*self._late_places(milliseconds(column), running), len(rows)]:
            self.emit_rows(rows if end - start == len(rows) else RowBatch(rows.rows.slice(start, end - start), _part(rows, start, end)))
            self._advance(int(running[end - 1]))
            start = end

    @staticmethod
    def _late_places(times: Times, running: Times) -> list[int]:
        """Return the places of rows before which a watermark is to be emitted, as they are late by it."""
        late = np.flatnonzero(times[1:] <= running[:-1]) + 1
        places: list[int] = []
        emitted = None
        for place in late.tolist():
            if running[place - 1] != emitted:
                emitted = running[place - 1]
                places.append(place)
        return places

    def _advance(self, watermark: int) -> None:
        if watermark > self._watermark:
            self._watermark = watermark
            self.output.emit_watermark(watermark)

    def process_watermark(self, timestamp: int) -> None:
        """Drop watermarks from upstream but the last one, which ends a bounded input."""
        if timestamp == MAX_TIMESTAMP:
            self._advance(timestamp)


def _part(rows: RowBatch, start: int, end: int) -> Any:
    return None if rows.kinds is None else rows.kinds[start:end]


def watermark_operator(params: dict[str, Any], payload: dict[str, Any]) -> WatermarkOperator:
    """Return the operator of a spec."""
    return WatermarkOperator(payload["column"], payload["name"], payload["watermark"])
