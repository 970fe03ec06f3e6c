"""Internal. Watermark generator of a table's source, for watermark alignment (``scan.watermark.alignment.*``).

Its watermarks are dropped by the next operator, which generates the watermarks of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from wiesel.columnar.evaluation import Frame, Session, as_array, evaluate
from wiesel.columnar.expressions import Expression
from wiesel.columnar.row_batch import RowBatch, concat
from wiesel.columnar.rows import from_rows
from wiesel.columnar.windows import milliseconds
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.spi.watermark import WatermarkGenerator, WatermarkOutput

__all__ = ["RowWatermarks"]


class RowWatermarks(WatermarkGenerator):
    """Emits the maximum of an expression over the rows read.

    Args:
        watermark: The expression, over the columns of the source.
        schema: The columns of the source.
        session: The evaluation context.
    """

    emits_per_event = False

    def __init__(self, watermark: Expression, schema: pa.Schema, session: Session) -> None:
        self._expression = watermark
        self._schema = schema
        self._session = session
        self._greatest = MIN_TIMESTAMP

    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        """Process one record."""
        self.on_events([event], [event_timestamp], output)

    def on_events(self, events: Sequence[Any], timestamps: Sequence[int], output: WatermarkOutput) -> None:
        """Process records: rows, or batches of them."""
        rows = concat(list(events)) if isinstance(events[0], RowBatch) else from_rows(list(events), self._schema)
        if len(rows):
            found = as_array(evaluate(self._expression, Frame(rows.rows, self._session)), len(rows)).drop_null()
            if len(found):
                self._greatest = max(self._greatest, int(milliseconds(found).max()))

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit the maximum."""
        if self._greatest > MIN_TIMESTAMP:
            output.emit_watermark(self._greatest)
