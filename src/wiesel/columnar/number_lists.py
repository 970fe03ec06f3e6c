"""Internal. Lists of numbers by owner, in one array for vectorised access.

A list that outgrows its slot moves to the end of the array and gets twice the needed space; freed space is compacted when it is half of the
array.
"""

from __future__ import annotations

import numpy as np

from wiesel.columnar.grouping import Places

__all__ = ["NumberLists", "spans"]

_LEAST = 1024


def spans(starts: Places, sizes: Places) -> Places:
    """Return the concatenated numbers of several ranges, given by start and size."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


class NumberLists:
    """Lists by the number of the owner, from 0; unwritten lists are empty."""

    def __init__(self) -> None:
        self._starts = np.zeros(0, np.int64)
        self._sizes = np.zeros(0, np.int64)
        self._rooms = np.zeros(0, np.int64)
        self._numbers = np.zeros(_LEAST, np.int64)
        self._end = 0
        self._left_behind = 0

    @property
    def size_bytes(self) -> int:
        """Memory used by the lists."""
        return self._numbers.nbytes + 3 * self._starts.nbytes

    def read(self, owners: Places) -> tuple[Places, Places]:
        """Return the concatenated lists of owners (-1 for an empty one), and their lengths."""
        known = (owners >= 0) & (owners < len(self._starts))
        if known.all():
            starts, sizes = self._starts[owners], self._sizes[owners]
        else:
            places = np.where(known, owners, 0)
            if not known.any():
                return np.zeros(0, np.int64), np.zeros(len(owners), np.int64)
            starts, sizes = self._starts[places], np.where(known, self._sizes[places], 0)
        return self._numbers[spans(starts, sizes)], sizes

    def extend(self, owners: Places, sizes: Places, numbers: Places) -> None:
        """Append to the lists of distinct owners; ``sizes`` has the number of elements for each."""
        self._make_room(owners, sizes, keep=True)
        self._numbers[spans(self._starts[owners] + self._sizes[owners], sizes)] = numbers
        self._sizes[owners] += sizes

    def replace(self, owners: Places, sizes: Places, numbers: Places) -> None:
        """Replace the lists of distinct owners."""
        self._make_room(owners, sizes, keep=False)
        self._numbers[spans(self._starts[owners], sizes)] = numbers
        self._sizes[owners] = sizes

    def renumber(self, numbers: Places) -> None:
        """Replace each number n by ``numbers[n]``."""
        self._compact()
        self._numbers[: self._end] = numbers[self._numbers[: self._end]]

    def _make_room(self, owners: Places, sizes: Places, *, keep: bool) -> None:
        """Move lists that do not fit into their slots; ``sizes`` is the number of added elements, or the new size if ``keep`` is false."""
        most = int(owners.max(initial=-1)) + 1
        if most > len(self._starts):
            more = max(most, 2 * len(self._starts), _LEAST) - len(self._starts)
            self._starts, self._sizes, self._rooms = (np.pad(each, (0, more)) for each in (self._starts, self._sizes, self._rooms))
        old = self._sizes[owners]
        needed = old + sizes if keep else sizes
        small = needed > self._rooms[owners]
        if not small.any():
            return
        moved, needed, old = owners[small], needed[small], old[small]
        if not keep:
            old = np.zeros(len(moved), np.int64)
        # Most lists have one number; those that grow once will grow again.
        rooms = np.where(self._rooms[moved] > 0, 2 * needed, needed)
        total = int(rooms.sum())
        if self._end + total > len(self._numbers):
            self._numbers = np.concatenate([self._numbers, np.zeros(max(total, len(self._numbers)), np.int64)])
        starts = self._end + np.cumsum(rooms) - rooms
        self._numbers[spans(starts, old)] = self._numbers[spans(self._starts[moved], old)]
        self._left_behind += int(self._rooms[moved].sum())
        self._starts[moved], self._rooms[moved] = starts, rooms
        self._sizes[moved] = old
        self._end += total
        if self._left_behind > max(self._end // 2, _LEAST):
            self._compact()

    def _compact(self) -> None:
        """Free the unused space between lists."""
        starts = np.cumsum(self._rooms) - self._rooms
        numbers = np.zeros(max(int(self._rooms.sum()), _LEAST), np.int64)
        numbers[spans(starts, self._sizes)] = self._numbers[spans(self._starts, self._sizes)]
        self._numbers, self._starts = numbers, starts
        self._end, self._left_behind = int(self._rooms.sum()), 0
