"""Internal. Window table functions: each row once per window that contains its time."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.window_zones import WindowZone
from wiesel.columnar.windows import Window, milliseconds, timestamps
from wiesel.core.errors import UserFunctionError
from wiesel.runtime.table.base import TableOperator

__all__ = ["WindowTableOperator", "window_table_operator"]


class WindowTableOperator(TableOperator):
    """Adds the bounds of windows of a fixed length."""

    def __init__(self, time: int, window: Window, schema: pa.Schema) -> None:
        self._time = time
        self._window = window
        self._schema = schema

    def open(self) -> None:
        """Initialise the time zone of the session."""
        super().open()
        self._zone = WindowZone(self._schema.types[-1], self.session.time_zone)

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Repeat the rows by their windows."""
        column = rows.rows.column(self._time)
        if column.null_count:
            raise UserFunctionError("the event time of a row in a window is NULL", hint="filter such rows out")
        places, ends = self._window.expanded(self._zone.local(milliseconds(column)))
        repeated = rows.take(places) if len(places) != len(rows) or self._window.kind != "TUMBLE" else rows
        starts, kinds = self._window.starts(ends), self._schema.types[-3:]
        bounds = [timestamps(times, kind) for times, kind in zip((starts, ends, self._zone.points(ends - 1)), kinds, strict=True)]
        columns = [*repeated.rows.columns, *bounds]
        self.emit_rows(repeated.with_rows(pa.RecordBatch.from_arrays(columns, schema=self._schema)))


def window_table_operator(params: dict[str, Any], payload: dict[str, Any]) -> WindowTableOperator:
    """Return the operator of a spec."""
    return WindowTableOperator(payload["time"], payload["window"], payload["schema"])
