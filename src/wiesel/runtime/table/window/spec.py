"""Internal. What operators of windows aggregate, and which slice of time a row is in."""

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
    """What is aggregated.

    Attributes:
        keys: The columns of the key.
        calls: The calls.
        window: The windows.
        time: The column with the time of rows; None if ``end`` is given.
        end: The column with the end of a row's window.
        by_clock: Whether rows fall in the windows of the time at which they come.
        types: The types of the columns of the input.
        schema: The schema of the results.
        start: Which of the keys is the start of the window; None if it follows from the end.
        retracts: Whether rows may be taken back.
        merges: Whether what comes are no rows but the columns of partials.
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
        """How time is cut into slices; rows that are in a window already are their own slice."""
        return self.window if self.end is None else Window("TUMBLE", self.window.size, self.window.size)

    @property
    def distinct(self) -> list[tuple[tuple[int, ...], int | None]]:
        """Arguments and filters of the calls with DISTINCT, each once."""
        return list(dict.fromkeys((call.arguments, call.filter) for call in self.calls if call.distinct))


def slices_of(spec: WindowSpec, zone: WindowZone, rows: RowBatch) -> Times:
    """Return the end of the slice of each row, by its time.

    Raises:
        UserFunctionError: If a row has no time.
    """
    column = rows.rows.column(spec.time if spec.end is None else spec.end)
    if column.null_count:
        raise UserFunctionError("the event time of a row in a window is NULL", hint="leave such rows out")
    times = milliseconds(column)
    return spec.slicing.slice_ends(zone.local(times)) if spec.end is None else times
