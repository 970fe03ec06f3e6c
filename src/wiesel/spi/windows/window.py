"""Windows: identifiers with metadata. Their elements are in state, with the window as namespace."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, BinaryIO

from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.types.serializers import TypeSerializer

if TYPE_CHECKING:
    from wiesel.spi.windows.assigner import MergingWindowAssigner

__all__ = [
    "CountWindow",
    "CountWindowSerializer",
    "GlobalWindow",
    "GlobalWindowSerializer",
    "TimeWindow",
    "TimeWindowSerializer",
    "Window",
]


class Window(ABC):
    """A group of elements. Windows are values: comparable, hashable, picklable, never changed."""

    __slots__ = ()

    @abstractmethod
    def max_timestamp(self) -> int:
        """Return the maximal timestamp (ms) of an element of this window; 2**63 - 1 if unlimited."""


class TimeWindow(Window):
    """The elements with ``start <= timestamp < end`` (ms)."""

    __slots__ = ("end", "start")

    start: int
    end: int

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end

    def max_timestamp(self) -> int:
        """Return the last millisecond of the window: ``end - 1``."""
        return self.end - 1

    def intersects(self, other: TimeWindow) -> bool:
        """Return whether the two overlap or touch."""
        return self.start <= other.end and self.end >= other.start

    def cover(self, other: TimeWindow) -> TimeWindow:
        """Return the smallest window that covers both."""
        return TimeWindow(min(self.start, other.start), max(self.end, other.end))

    @staticmethod
    def get_window_start_with_offset(timestamp: int, offset: int, window_size: int) -> int:
        """Return the start of the window with ``timestamp``, for windows of ``window_size`` at multiples of it + ``offset``.

        All in ms; also correct before 1970.
        """
        return timestamp - (timestamp - offset) % window_size

    @staticmethod
    def merge_windows(windows: Iterable[TimeWindow], callback: MergingWindowAssigner.MergeCallback[TimeWindow]) -> None:
        """Find the groups of windows that overlap or touch; call ``callback`` with each group of two or more and the covering window."""
        covering: TimeWindow | None = None
        group: set[TimeWindow] = set()
        for window in sorted(windows):
            if covering is not None and covering.intersects(window):
                covering = covering.cover(window)
                group.add(window)
                continue
            if covering is not None and len(group) > 1:
                callback.merge(group, covering)
            covering, group = window, {window}
        if covering is not None and len(group) > 1:
            callback.merge(group, covering)

    def __reduce__(self) -> tuple[type[TimeWindow], tuple[int, int]]:
        return TimeWindow, (self.start, self.end)

    def __hash__(self) -> int:
        return hash((self.start, self.end))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TimeWindow) and self.end == other.end and self.start == other.start

    def __lt__(self, other: TimeWindow) -> bool:
        if not isinstance(other, TimeWindow):
            return NotImplemented
        return (self.start, self.end) < (other.start, other.end)

    def __le__(self, other: TimeWindow) -> bool:
        if not isinstance(other, TimeWindow):
            return NotImplemented
        return (self.start, self.end) <= (other.start, other.end)

    def __repr__(self) -> str:
        return f"TimeWindow(start={self.start}, end={self.end})"


class CountWindow(Window):
    """A group of a fixed number of elements; ``id`` numbers the groups per key, from 0."""

    __slots__ = ("id",)

    id: int

    def __init__(self, id: int) -> None:  # noqa: A002 - the name that callers know
        self.id = id

    def max_timestamp(self) -> int:
        """Return 2**63 - 1: such a window has no time."""
        return MAX_TIMESTAMP

    def __reduce__(self) -> tuple[type[CountWindow], tuple[int]]:
        return CountWindow, (self.id,)

    def __hash__(self) -> int:
        return hash(self.id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CountWindow) and self.id == other.id

    def __repr__(self) -> str:
        return f"CountWindow(id={self.id})"


class GlobalWindow(Window):
    """The window with all elements of a key."""

    __slots__ = ()

    @staticmethod
    def get() -> GlobalWindow:
        """Return the window."""
        return GlobalWindow()

    def max_timestamp(self) -> int:
        """Return 2**63 - 1: the window never ends."""
        return MAX_TIMESTAMP

    def __reduce__(self) -> tuple[type[GlobalWindow], tuple[()]]:
        return GlobalWindow, ()

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GlobalWindow)

    def __repr__(self) -> str:
        return "GlobalWindow"


_TWO_LONGS = struct.Struct(">qq")
_LONG = struct.Struct(">q")


class TimeWindowSerializer(TypeSerializer[TimeWindow]):
    """Writes a :class:`TimeWindow` as start and end: two big-endian 64-bit integers."""

    def serialize(self, element: TimeWindow, stream: BinaryIO) -> None:
        """Write the window."""
        stream.write(_TWO_LONGS.pack(element.start, element.end))

    def deserialize(self, stream: BinaryIO) -> TimeWindow:
        """Read a window back."""
        return TimeWindow(*_TWO_LONGS.unpack(stream.read(16)))


class CountWindowSerializer(TypeSerializer[CountWindow]):
    """Writes a :class:`CountWindow` as its id: a big-endian 64-bit integer."""

    def serialize(self, element: CountWindow, stream: BinaryIO) -> None:
        """Write the window."""
        stream.write(_LONG.pack(element.id))

    def deserialize(self, stream: BinaryIO) -> CountWindow:
        """Read a window back."""
        return CountWindow(*_LONG.unpack(stream.read(8)))


class GlobalWindowSerializer(TypeSerializer[GlobalWindow]):
    """Writes the :class:`GlobalWindow` as one zero byte."""

    def serialize(self, element: GlobalWindow, stream: BinaryIO) -> None:
        """Write the window."""
        stream.write(b"\0")

    def deserialize(self, stream: BinaryIO) -> GlobalWindow:
        """Read the window back."""
        stream.read(1)
        return GlobalWindow()
