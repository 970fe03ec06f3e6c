"""Internal. Specification of window aggregates, and the assignment of rows to slices."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from wiesel.columnar.aggregates.calls import BoundCall
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.window_zones import WindowZone
from wiesel.columnar.windows import Times, Window, milliseconds
from wiesel.core.errors import UserFunctionError

__all__ = ["WindowSpec", "slices_of"]


@dataclass(frozen=True)
class WindowSpec:
    """Specification of a window aggregate.

    Attributes:
        keys: The columns of the key.
        calls: The calls.
        window: The windows.
        time: The time column of rows; None if ``end`` is given.
        end: The column with the end of a row's window.
        by_clock: Windows of processing time.
        types: The types of the columns of the input.
        schema: The schema of the results.
        start: Index of the key with the start of the window; None if it is derived from the end.
        retracts: Rows may be retracted.
        merges: The input has partial aggregates instead of rows.
    """

    keys: tuple[int, ...]
    calls: tuple[BoundCall, ...]
    window: Window
    time: int | None
    end: int | None
    by_clock: bool
    types: tuple[pa.DataType, ...]
    schema: pa.Schema
    start: int | None = None
    retracts: bool = False
    merges: bool = False

    @property
    def slicing(self) -> Window:
        """The slicing of windows; rows with assigned windows are their own slice."""
        return self.window if self.end is None else Window("TUMBLE", self.window.size, self.window.size)

    @property
    def distinct(self) -> list[tuple[tuple[int, ...], int | None]]:
        """Arguments and filters of the calls with DISTINCT, without duplicates."""
        return list(dict.fromkeys((call.arguments, call.filter) for call in self.calls if call.distinct))


def slices_of(spec: WindowSpec, zone: WindowZone, rows: RowBatch) -> Times:
    """Return the end of the slice of each row, by its time.

    Raises:
        UserFunctionError: If a row has no time.
    """
    column = rows.rows.column(spec.time if spec.end is None else spec.end)
    if column.null_count:
        raise UserFunctionError("the event time of a row in a window is NULL", hint="filter such rows out")
    times = milliseconds(column)
    return spec.slicing.slice_ends(zone.local(times)) if spec.end is None else times
