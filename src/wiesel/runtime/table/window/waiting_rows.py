"""Internal. Base of window Top-N and window joins: rows wait until their window ends, later ones are dropped.

Retry semantics: see :mod:`wiesel.runtime.table.window.row_store` for rows; operator state has the watermark up to which windows have ended.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.window_zones import WindowZone
from wiesel.columnar.windows import Times, milliseconds
from wiesel.core.metrics import LATE_COUNTER
from wiesel.runtime.operator import OperatorSnapshot
from wiesel.runtime.table.base import TableOperator
from wiesel.runtime.table.window.fired_windows import FiredWindows
from wiesel.runtime.table.window.row_store import WindowRows

__all__ = ["WindowSide", "WindowedOperator"]


class WindowSide:
    """An input.

    Attributes:
        schema: Its columns.
        keys: The partitioning columns.
        end: The column with the end of a row's window.
    """

    def __init__(self, schema: pa.Schema, keys: tuple[int, ...], end: int) -> None:
        self.schema = schema
        self.keys = keys
        self.end = end


class WindowedOperator(TableOperator):
    """Stores rows until their window ends.

    Args:
        sides: The inputs.
        time: The type of the windows' time.
    """

    def __init__(self, sides: tuple[WindowSide, ...], time: pa.DataType) -> None:
        self._sides = sides
        self._time = time

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        self._zone = WindowZone(self._time, self.session.time_zone)
        self._rows = [
            WindowRows(side.schema, side.keys, self.context.backend.table(f"rows-{index}")) for index, side in enumerate(self._sides)
        ]
        self._fired = FiredWindows(self.context)
        self._late = self.context.metrics.counter(LATE_COUNTER)

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Store rows whose window has not ended."""
        side = self._sides[input_index]
        ends = milliseconds(rows.rows.column(side.end))
        on_time = self._on_time(rows.rows, ends, side)
        if not on_time.all():
            self._late.inc(int((~on_time).sum()))
            places = np.flatnonzero(on_time)
            if not len(places):
                return
            rows, ends = rows.take(places), ends[places]
        for end in self._rows[input_index].add(rows.rows, ends):
            self._added(end, input_index)

    def _on_time(self, rows: pa.RecordBatch, ends: Times, side: WindowSide) -> Any:
        overs = self._zone.over(ends)
        on_time = overs > self._fired.time
        for over in np.unique(overs[on_time]).tolist():
            places = np.flatnonzero(on_time & (overs == over))
            keys = rows.take(pa.array(places)).select(list(side.keys))
            waiting = self._fired.waiting(over, lambda keys=keys: key_tuples(keys, range(len(side.keys))))  # type: ignore[misc]
            if waiting is not None:
                on_time[places] = waiting
        return on_time

    def process_watermark(self, timestamp: int) -> None:
        """Emit the results of ended windows, then forward the watermark."""
        ends = sorted({end for rows in self._rows for end in rows.ends() if self._zone.over_at(end) <= timestamp})
        for end in ends:
            self._fire(end, [rows.of(end) for rows in self._rows])
            for rows in self._rows:
                rows.drop(end)
        if timestamp > self._fired.time:
            self._fired.advance(timestamp)
        self.output.emit_watermark(timestamp)

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> OperatorSnapshot | None:
        """Write changes to state."""
        for rows in self._rows:
            rows.flush()
        self._fired.snapshot()
        return None

    def _added(self, end: int, input_index: int) -> None:
        """Handle rows added to a window."""

    @abstractmethod
    def _fire(self, end: int, sides: list[pa.RecordBatch | None]) -> None:
        """Emit the results of a window; an input without rows is None."""
