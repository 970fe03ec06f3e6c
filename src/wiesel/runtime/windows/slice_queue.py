"""Internal. Aggregates of overlapping windows, computed from slices with a constant number of merges per window.

The algorithm is two-stacks, see Tangwongsan, Hirzel, Schneider and Wu, General Incremental Sliding-Window Aggregation (VLDB 2015). The
slices of a window are a queue: new ones are appended at the back, and old ones are removed at the front. The queue has two parts. For the
front part, the aggregate from each slide to the end of that part is stored; for the back part, one aggregate of all slices. A window is a
merge of the two. When the window has left the front part, its remaining slices become the new one.

All data is in keyed state, entry by entry, so that its size is limited by the backend only and a checkpoint writes the changes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.runtime.isolation import isolated
from wiesel.runtime.windows.contents import AggregatingContents, ReducingContents
from wiesel.runtime.windows.slices import Slice, Slices

__all__ = ["Position", "SliceQueue"]


class Position(NamedTuple):
    """Position of a key in its windows.

    Attributes:
        end: The end of its last window; slices up to there are in the queue.
        last: The start of the last slice in the queue.
        front: The start of the first slide for which the front part has an aggregate; None if it is empty.
        front_end: The end of the front part; ``MIN_TIMESTAMP`` if the queue must be rebuilt.
    """

    end: int
    last: int
    front: int | None
    front_end: int


class SliceQueue:
    """The queues of all keys.

    Args:
        slices: The slicing of windows.
        contents: The aggregates of the slices, by ``Slice``.
        aggregates: Table of aggregates over several slices: by the start of a slide those of the front part, without namespace that of the
            back part.
        positions: Table of ``Position``, as plain tuples.
        clears: Drop slices immediately if no later window contains them.
        function: The user's function, for errors.
    """

    def __init__(
        self, slices: Slices, contents: ReducingContents | AggregatingContents, aggregates: Any, positions: Any, clears: bool, function: str
    ) -> None:
        self._slices = slices
        self._contents = contents
        self._get_slice = contents.table.get
        self._combined = contents.combined
        self._aggregates = aggregates
        self._positions = positions
        self._clears = clears
        self._function = function

    def position(self, key: Any) -> Position | None:
        """Return the position of a key; None if it has no window that overlaps with later ones."""
        stored = self._positions.get(key)
        return None if stored is None else Position(*stored)

    def aggregate(self, key: Any, end: int) -> tuple[Any, Position]:
        """Return the aggregate of the window that ends at ``end``, and the new position, which must be passed to ``advance``.

        Windows of a key are requested in order, each as long as the previous one had slices in common with it.
        """
        start = end - self._slices.size
        old = self.position(key)
        if old is None or old.front_end < start:
            position = self._flip(key, start, end)
            back = None
        else:
            position, back = self._take(key, old, end)
        front = None if position.front is None else self._aggregates.get(key, position.front)
        return self._merged(front, back), position

    def advance(self, key: Any, position: Position) -> bool:
        """Remove the slices that only the window of ``position`` has; return whether the next one is nonempty."""
        slices = self._slices
        start = position.end - slices.size
        following = start + slices.slide
        if self._clears:
            for piece in slices.between(start, following):
                self._contents.table.remove(key, piece)
        front = position.front
        if front is not None and front < following:
            self._aggregates.remove(key, front)
            front = self._first_front(key, following, position.front_end)
        if position.last < following:
            self._positions.remove(key)
            self._aggregates.remove(key)
            return False
        self._positions.put(key, (position.end, position.last, front, position.front_end))
        return True

    def spoil(self, key: Any, end: int, last: int) -> None:
        """Mark the queue to be rebuilt for the next window, as slices in it have changed."""
        self._positions.put(key, (end, last, None, MIN_TIMESTAMP))

    def last_slice(self, key: Any, start: int, end: int) -> int:
        """Return the start of the last nonempty slice between two times; ``MIN_TIMESTAMP`` if there is none."""
        return next((s[0] for s in reversed(self._slices.between(start, end)) if self._get_slice(key, s) is not None), MIN_TIMESTAMP)

    def around(self, key: Any, piece: Slice, ends: range) -> list[Any]:
        """Return the aggregates of the windows with these ends, which all contain the slice ``piece``; from the slices alone."""
        slices = self._slices
        size = slices.size
        before: dict[int, Any] = {}
        after: dict[int, Any] = {}
        aggregate = None
        for part in reversed(slices.between(ends[0] - size, piece[1])):
            aggregate = self._merged(self._get_slice(key, part), aggregate)
            before[part[0]] = aggregate
        aggregate = None
        after[piece[1]] = aggregate
        for part in slices.between(piece[1], ends[-1]):
            aggregate = self._merged(aggregate, self._get_slice(key, part))
            after[part[1]] = aggregate
        return [self._merged(before[end - size], after[end]) for end in ends]

    def _flip(self, key: Any, start: int, end: int) -> Position:
        """Make all slices of a window the front part."""
        slices, aggregates, get = self._slices, self._aggregates, self._get_slice
        aggregates.remove(key)
        front = aggregate = None
        last = MIN_TIMESTAMP
        for begin in reversed(range(start, end, slices.slide)):
            for piece in reversed(slices.between(begin, min(begin + slices.slide, end))):
                own = get(key, piece)
                if own is not None:
                    aggregate = self._merged(own, aggregate)
                    last = max(last, piece[0])
                    front = begin
            if front == begin:
                aggregates.put(key, aggregate, begin)
        return Position(end, last, front, end)

    def _take(self, key: Any, old: Position, end: int) -> tuple[Position, Any]:
        """Add the slices that are in this window but not in the previous one to the back part; return its aggregate as well."""
        back = self._aggregates.get(key)
        last = old.last
        for piece in self._slices.between(old.end, end):
            own = self._get_slice(key, piece)
            if own is not None:
                back = self._merged(back, own)
                last = piece[0]
        if last != old.last:
            self._aggregates.put(key, back)
        return Position(end, last, old.front, old.front_end), back

    def _first_front(self, key: Any, start: int, end: int) -> int | None:
        get = self._aggregates.get
        if start < end and get(key, start) is not None:
            return start
        return next((begin for begin in range(start, end, self._slices.slide) if get(key, begin) is not None), None)

    def _merged(self, first: Any, second: Any) -> Any:
        if first is None or second is None:
            return isolated(second if first is None else first)
        # Copies throughout: merge and get_result may change their arguments.
        result = self._combined(isolated(first), isolated(second))
        if result is None:
            raise TypeError(
                f"{self._function} returned None for two aggregates of windows that share slices; it has to merge the two "
                "(an AggregateFunction by its merge)"
            )
        return result
