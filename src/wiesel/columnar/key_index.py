"""Internal. An index of keys, which are numbered; vectorised over the keys of a batch.

Integer keys, the usual case, are in a hash table of NumPy arrays with open addressing: each step probes one slot for all unresolved keys,
whose number falls quickly. Other keys, and those with NULL, are in a dictionary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress, repeat
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wiesel.columnar.grouping import Places
from wiesel.columnar.keys import BatchKeys

__all__ = ["KeyIndex"]

_FEWEST = 1024
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_OBJECT_BYTES = 150
"""Estimated size of a key in a dictionary, in bytes."""


class KeyIndex:
    """Numbers of keys, from 0 in the order of insertion. ``len()`` is their count.

    Args:
        types: Types of the key columns.
    """

    def __init__(self, types: Iterable[pa.DataType]) -> None:
        kinds = list(types)
        self._integers = _IntegerKeys(len(kinds)) if kinds and all(map(pa.types.is_signed_integer, kinds)) else None
        self._others: dict[Any, int] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def size_bytes(self) -> int:
        """Estimate of the memory used."""
        return _OBJECT_BYTES * len(self._others) + (0 if self._integers is None else self._integers.size_bytes)

    def find(self, keys: BatchKeys) -> Places:
        """Return the numbers of keys; -1 for unknown ones."""
        if self._integers is None:
            return self._of_others(keys.values)
        if keys.whole.all():
            return self._integers.find(keys.integers)
        found = np.full(keys.count, -1, np.int64)
        found[keys.whole] = self._integers.find([column[keys.whole] for column in keys.integers])
        found[~keys.whole] = self._of_others(list(compress(keys.values, ~keys.whole)))
        return found

    def _of_others(self, values: Sequence[Any]) -> Places:
        return np.fromiter(map(self._others.get, values, repeat(-1)), np.int64, len(values))

    def add(self, keys: BatchKeys, found: Places | None = None) -> Places:
        """Return the numbers of keys, adding new ones. ``found``: the result of :meth:`find` for them, if available."""
        numbers = self.find(keys) if found is None else found.copy()
        new = numbers < 0
        count = int(np.count_nonzero(new))
        if not count:
            return numbers
        numbers[new] = np.arange(self._count, self._count + count)
        self._count += count
        other = new
        if self._integers is not None:
            whole = new & keys.whole
            self._integers.add([column[whole] for column in keys.integers], numbers[whole])
            other = new & ~keys.whole
        if other.any():
            self._others.update(zip(compress(keys.values, other), numbers[other].tolist(), strict=True))
        return numbers


class _IntegerKeys:
    """A hash table: slots with numbers of keys, -1 if free, and the keys by their number."""

    def __init__(self, width: int) -> None:
        self._places = np.full(_FEWEST, -1, np.int32)
        self._keys = [np.zeros(_FEWEST, np.int64) for _ in range(width)]
        self._there = np.zeros(_FEWEST, np.bool_)
        self._count = 0

    @property
    def size_bytes(self) -> int:
        return self._places.nbytes + self._there.nbytes + sum(column.nbytes for column in self._keys)

    def find(self, columns: Sequence[Places]) -> Places:
        """Return the numbers of keys, -1 for unknown ones."""
        at, last = self._first_places(columns), len(self._places) - 1
        found = np.full(len(at), -1, np.int64)
        undecided, rest = np.arange(len(at)), list(columns)
        while len(undecided):
            numbers = self._places[at]
            taken = numbers >= 0
            same = taken.copy()
            for known, column in zip(self._keys, rest, strict=True):
                same &= known[numbers] == column
            found[undecided[same]] = numbers[same]
            on = taken & ~same
            undecided, at, rest = undecided[on], (at[on] + 1) & last, [column[on] for column in rest]
        return found

    def add(self, columns: Sequence[Places], numbers: Places) -> None:
        """Add distinct new keys."""
        if not len(numbers):
            return
        most = int(numbers.max()) + 1
        if most > len(self._there):
            more = max(most, 2 * len(self._there)) - len(self._there)
            self._keys = [np.pad(column, (0, more)) for column in self._keys]
            self._there = np.pad(self._there, (0, more))
        for known, column in zip(self._keys, columns, strict=True):
            known[numbers] = column
        self._there[numbers] = True
        self._count += len(numbers)
        if 2 * self._count > len(self._places):
            self._places = np.full(1 << (4 * self._count - 1).bit_length(), -1, np.int32)
            numbers = np.flatnonzero(self._there)
            columns = [column[numbers] for column in self._keys]
        self._enter(self._first_places(columns), numbers.astype(np.int32))

    def _enter(self, at: Places, numbers: npt.NDArray[np.int32]) -> None:
        """Store each key in the next free slot; conflicts are resolved in favour of one key."""
        last = len(self._places) - 1
        while len(numbers):
            free = self._places[at] < 0
            self._places[at[free]] = numbers[free]
            on = self._places[at] != numbers
            at, numbers = (at[on] + 1) & last, numbers[on]

    def _first_places(self, columns: Sequence[Places]) -> Places:
        hashed = columns[0].view(np.uint64) * _FACTOR
        for column in columns[1:]:
            hashed = ((hashed ^ (hashed >> np.uint64(32))) + column.view(np.uint64)) * _FACTOR
        bits = (len(self._places) - 1).bit_length()
        return (hashed >> np.uint64(64 - bits)).astype(np.int64)
