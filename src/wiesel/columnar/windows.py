"""Internal. SQL windows: assignment of times to windows, vectorised over columns.

All times are in ms. Windows of fixed length consist of disjoint slices, identified by their end: a slice is the unit of aggregation, and a
window is the sum of its slices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["Times", "Window", "milliseconds", "timestamps"]

Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Window:
    """Definition of windows.

    Attributes:
        kind: ``TUMBLE``, ``HOP``, ``CUMULATE`` or ``SESSION``.
        size: The length; the maximum for CUMULATE, the gap for SESSION.
        step: Distance between windows of HOP and CUMULATE; the size for TUMBLE.
        offset: Shift of the windows.
        newest_first: Merge slices from the last one on, which is visible in lists of values; as Flink does for HOP as a table function.
    """

    kind: str
    size: int
    step: int
    offset: int = 0
    newest_first: bool = False

    @property
    def slice(self) -> int:
        """The length of the slices: the step, unless the size is no multiple of it."""
        return math.gcd(self.size, self.step) if self.kind == "HOP" else self.step

    def slice_ends(self, times: Times) -> Times:
        """Return the end of the slice of each time."""
        return times - (times - self.offset) % self.slice + self.slice

    def first_ends(self, slice_ends: Times) -> Times:
        """Return the end of the first window that contains a slice."""
        if self.kind == "HOP" and self.slice != self.step:
            return slice_ends + (self.offset + self.size - slice_ends) % self.step
        return slice_ends

    def last_ends(self, slice_ends: Times) -> Times:
        """Return the end of the last window that contains a slice."""
        if self.kind == "HOP":
            begins = slice_ends - self.slice
            return begins - (begins - self.offset) % self.step + self.size
        if self.kind == "CUMULATE":
            return self.starts(slice_ends) + self.size
        return slice_ends

    def starts(self, ends: Times) -> Times:
        """Return the starts of windows, given their ends."""
        if self.kind == "CUMULATE":
            inside = ends - 1
            return inside - (inside - self.offset) % self.size
        return ends - self.size

    def ends_of_slice(self, slice_end: int) -> range:
        """Return the ends of all windows that contain a slice."""
        ends = np.array([slice_end])
        return range(int(self.first_ends(ends)[0]), int(self.last_ends(ends)[0]) + 1, self.step)

    def slices_of(self, end: int) -> range:
        """Return the ends of the slices of a window."""
        start = int(self.starts(np.array([end]))[0])
        return range(start + self.slice, end + 1, self.slice)

    def fired_slice(self, time: int) -> int:
        """Return the end of the last slice that has ended at a time.

        For cumulating windows, rows of earlier slices are added to it, as the slices before it are already merged.
        """
        return time - (time - self.offset) % self.slice

    def expanded(self, times: Times) -> tuple[Times, Times]:
        """Return a row index and a window end for each pair of a time and a window that contains it, in the order of the times."""
        slices = self.slice_ends(times)
        firsts = self.first_ends(slices)
        counts = (self.last_ends(slices) - firsts) // self.step + 1
        places = np.repeat(np.arange(len(times)), counts)
        nth = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
        return places, firsts[places] + nth * self.step


def milliseconds(column: Any) -> Times:
    """Return a column of timestamps without NULL in ms, rounded down."""
    unit = column.type.unit
    values = column.view(pa.int64()).to_numpy(zero_copy_only=False)
    return values if unit == "ms" else values // {"s": 1, "us": 1_000, "ns": 1_000_000}[unit]  # type: ignore[no-any-return]


def timestamps(times: Times, kind: Any) -> Any:
    """Convert times to a column of a timestamp type."""
    found = pa.array(times, pa.int64())
    return found.view(kind) if kind.unit == "ms" else found.view(pa.timestamp("ms", kind.tz)).cast(kind)
