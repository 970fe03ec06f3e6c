"""Internal. A vectorised hash table of NumPy arrays: bits of pairs of numbers.

Open addressing with linear probing (Knuth, The Art of Computer Programming, volume 3, section 6.4, algorithm L): all pairs of a batch probe
together, and those with a collision continue with the next slot. There are no removals.
"""

from __future__ import annotations

import numpy as np

from wiesel.columnar.grouping import Places

__all__ = ["SeenPairs"]

_FIRST_SIZE = 1 << 10
_FULL = 0.5
# Odd numbers of 64 bits without patterns: multiplicative hashing, whose upper bits are good.
_MIX_ONE = np.uint64(0x9E3779B97F4A7C15)
_MIX_OTHER = np.uint64(0xC2B2AE3D27D4EB4F)


class SeenPairs:
    """Bits set for pairs of numbers. ``len()`` is the number of pairs."""

    def __init__(self) -> None:
        self._resize(_FIRST_SIZE)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def _resize(self, size: int) -> None:
        self._ones, self._others = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self._bits = np.zeros(size, np.int64)  # 0 for free slots
        self._changed = np.zeros(size, np.bool_)
        self._shift = np.uint64(64 - size.bit_length() + 1)

    def mark(self, ones: Places, others: Places, bits: Places) -> Places:
        """Set bits (at least one for each) of distinct pairs; return the bits that were set before."""
        self._make_room(len(ones))
        before = np.zeros(len(ones), np.int64)
        waiting, places = np.arange(len(ones)), self._places(ones, others)
        while len(waiting):
            mine, other = ones[waiting], others[waiting]
            free = np.flatnonzero(self._bits[places] == 0)
            # If several want a free slot the last one gets it; the others continue.
            self._ones[places[free]], self._others[places[free]] = mine[free], other[free]
            here = (self._ones[places] == mine) & (self._others[places] == other)
            taken, met = places[here], waiting[here]
            known = before[met] = self._bits[taken]
            self._bits[taken] = known | bits[met]
            self._changed[taken] |= (bits[met] & ~known) != 0
            waiting, places = waiting[~here], (places[~here] + 1) & (len(self._bits) - 1)
        self._count += int(np.count_nonzero(before == 0))
        return before

    def changed(self) -> tuple[Places, Places, Places]:
        """Return the pairs with changed bits, and all their bits, since the last call."""
        found = np.flatnonzero(self._changed)
        self._changed[:] = False
        return self._ones[found], self._others[found], self._bits[found]

    def _places(self, ones: Places, others: Places) -> Places:
        mixed = ones.view(np.uint64) * _MIX_ONE ^ others.view(np.uint64) * _MIX_OTHER
        places: Places = ((mixed ^ mixed >> np.uint64(29)) * _MIX_ONE >> self._shift).astype(np.int64)
        return places

    def _make_room(self, more: int) -> None:
        size = len(self._bits)
        while self._count + more > size * _FULL:
            size *= 2
        if size == len(self._bits):
            return
        used = np.flatnonzero(self._bits)
        ones, others, bits, changed = self._ones[used], self._others[used], self._bits[used], self._changed[used]
        self._resize(size)
        self._count = 0
        # Unchanged ones first, as inserted ones count as changed.
        for which in (~changed, changed):
            self._changed[:] = False
            self.mark(ones[which], others[which], bits[which])
