"""Internal. Vectorised stable hashes: the results of ``stable_hash`` for many keys of one type."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from wiesel.state.key_codec import canonical_bytes
from wiesel.state.key_groups import spread

__all__ = ["hashes_of_integers", "hashes_of_strings", "hashes_of_tuples", "hashes_of_tuples_of_text"]

_BYTES = 8
Integers = npt.NDArray[Any]
Hashes = npt.NDArray[np.int64]
_Tables = list[npt.NDArray[np.uint32]]


def hashes_of_integers(numbers: Integers) -> Hashes:
    """Return the hashes of integers of at most 64 bits."""
    zero = canonical_bytes(0)
    return _hashes(crc32(zero), [numbers], [_tables(zero, len(zero))])


def hashes_of_tuples(columns: Sequence[Integers]) -> Hashes:
    """Return the hashes of the tuples formed by the rows of integer columns; there is at least one column."""
    zeros = canonical_bytes((0,) * len(columns))
    each = (len(zeros) - 1) // len(columns)  # behind the tag of tuples; the bytes of an integer are the last ones of its part
    return _hashes(crc32(zeros), columns, [_tables(zeros, 1 + each * (place + 1)) for place in range(len(columns))])


def hashes_of_strings(strings: Sequence[str]) -> Hashes:
    """Return the hashes of strings.

    Raises:
        UnicodeEncodeError: If one has a lone surrogate.
    """
    start = crc32(canonical_bytes(""))
    return spread(np.fromiter((crc32(text.encode(), start) for text in strings), np.int64, len(strings)))  # type: ignore[no-any-return]


def hashes_of_tuples_of_text(strings: Sequence[bytes]) -> Hashes:
    """Return the hashes of tuples of one string each, given in UTF-8."""
    return spread(np.fromiter((crc32(text, _before_text(len(text))) for text in strings), np.int64, len(strings)))  # type: ignore[no-any-return]


@lru_cache(1024)
def _before_text(length: int) -> int:
    """Return the checksum of the prefix of the canonical bytes of a tuple of one string of this length."""
    whole = canonical_bytes(("a" * length,))
    return crc32(whole[: len(whole) - length])


def _hashes(start: int, columns: Sequence[Integers], tables: Sequence[_Tables]) -> Hashes:
    checksums = np.full(len(columns[0]), start, np.uint32)
    for column, of_bytes in zip(columns, tables, strict=True):
        written = np.ascontiguousarray(column, ">i8").view(np.uint8).reshape(-1, _BYTES)
        for place, table in enumerate(of_bytes):
            checksums ^= table[written[:, place]]
    return spread(checksums.astype(np.int64))  # type: ignore[no-any-return]


@lru_cache
def _tables(data: bytes, end: int) -> _Tables:
    """Return how each value of each byte of an integer, all of which are 0 and end at ``end``, changes the checksum of ``data``.

    crc32 over a fixed length is linear except for a constant: the effect of changing several bytes is the XOR of their single effects.
    """
    start = crc32(data)
    return [
        np.array([crc32(data[:place] + bytes([value]) + data[place + 1 :]) ^ start for value in range(256)], np.uint32)
        for place in range(end - _BYTES, end)
    ]
