"""Internal. Slicing of overlapping windows.

A slice is the interval between two adjacent starts or ends of windows. There are at most two per slide, whatever the greatest common
divisor of size and slide ("paired windows": Krishnamurthy, Wu and Franklin, On-the-Fly Sharing for Streamed Aggregation, SIGMOD 2006).
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd
from typing import TypeAlias

__all__ = ["Slice", "Slices"]

Slice: TypeAlias = tuple[int, int]
"""Start and end in ms, end exclusive: also the namespace of its state."""


class Slices:
    """The slices of windows of ``size`` that begin every ``slide`` ms, at multiples of ``slide`` + ``offset``; ``slide < size``."""

    def __init__(self, size: int, slide: int, offset: int) -> None:
        self.size = size
        self.slide = slide
        self._offset = offset
        # Distance of window ends from the preceding start; 0 if they coincide with starts.
        self._rest = size % slide
        self.step = gcd(slide, self._rest)
        """All timestamps from one multiple of ``step`` + ``offset`` to the next are in one slice."""
        # All keys request the same slices at a time.
        self.between = lru_cache(maxsize=16)(self._between)
        """``between(start, end)`` returns the slices from one start or end of a window to another one, in order."""

    def slice_of(self, timestamp: int) -> Slice:
        """Return the slice of a timestamp."""
        start = self.window_start(timestamp)
        middle = start + self._rest
        return (start, middle) if timestamp < middle else (middle, start + self.slide)

    def window_start(self, timestamp: int) -> int:
        """Return the start of the last window that contains a timestamp."""
        return timestamp - (timestamp - self._offset) % self.slide

    def first_end(self, piece: Slice) -> int:
        """Return the end of the first window that contains a slice."""
        return self.end_from(piece[1])

    def last_end(self, piece: Slice) -> int:
        """Return the end of the last window that contains a slice."""
        return self.window_start(piece[0]) + self.size

    def end_from(self, timestamp: int) -> int:
        """Return the first end of a window at or after a timestamp."""
        return timestamp + (self._offset + self._rest - timestamp) % self.slide

    def _between(self, start: int, end: int) -> list[Slice]:
        slide, rest = self.slide, self._rest
        if not rest:
            return [(s, s + slide) for s in range(start, end, slide)]
        found = []
        while start < end:
            piece = self.slice_of(start)
            found.append(piece)
            start = piece[1]
        return found
