"""Internal. How far the rows of a table's source are, for sources that wait for each other (``scan.watermark.alignment.*``).

What the source emits goes no further than to the operator behind it that makes the watermarks of the table.
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
    """Emits the greatest value of an expression over the rows that were read.

    Args:
        watermark: The expression, over the columns of the source.
        schema: Those columns.
        session: What the expression knows of the world.
    """

    emits_per_event = False

    def __init__(self, watermark: Expression, schema: pa.Schema, session: Session) -> None:
        self._expression = watermark
        self._schema = schema
        self._session = session
        self._greatest = MIN_TIMESTAMP

    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        """Look at one record."""
        self.on_events([event], [event_timestamp], output)

    def on_events(self, events: Sequence[Any], timestamps: Sequence[int], output: WatermarkOutput) -> None:
        """Look at records: rows, or batches of them."""
        rows = concat(list(events)) if isinstance(events[0], RowBatch) else from_rows(list(events), self._schema)
        if len(rows):
            found = as_array(evaluate(self._expression, Frame(rows.rows, self._session)), len(rows)).drop_null()
            if len(found):
                self._greatest = max(self._greatest, int(milliseconds(found).max()))

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit how far they are."""
        if self._greatest > MIN_TIMESTAMP:
            output.emit_watermark(self._greatest)
