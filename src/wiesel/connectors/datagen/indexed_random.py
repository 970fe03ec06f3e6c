"""Internal. Counter-based random numbers: the same index gives the same number, on any machine and in any order.

A source of random rows can be restarted anywhere, and repeats its earlier rows. Numbers are generated as arrays; the function is SplitMix64
(Steele, Lea and Flood: Fast splittable pseudorandom number generators, 2014).
"""

from __future__ import annotations

import hashlib
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Words", "derived_seed", "uniform_floats", "uniform_integers", "words"]

Words: TypeAlias = npt.NDArray[np.uint64]

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def derived_seed(seed: int, name: str) -> int:
    """Return a derived seed for an independent use."""
    return int.from_bytes(hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=8).digest(), "little")


def _mixed(state: Words) -> Words:
    state = (state ^ (state >> np.uint64(30))) * _MIX_1
    state = (state ^ (state >> np.uint64(27))) * _MIX_2
    return state ^ (state >> np.uint64(31))


def words(seed: int, indexes: Words) -> Words:
    """Return 64 random bits for each index."""
    return _mixed(_mixed(indexes * _GAMMA + np.uint64(seed)) + _GAMMA)


def uniform_integers(seed: int, indexes: Words, low: int, high: int) -> Any:
    """Return a uniformly distributed integer between ``low`` and ``high``, inclusive, for each index.

    Both must be signed 64-bit numbers; the result is an array of such.
    """
    span = high - low + 1
    drawn = words(seed, indexes)
    if span < 2**64:
        # Words at the top of the range beyond a multiple of the span are drawn again, as they would favour small numbers.
        limit = 2**64 - 2**64 % span
        while limit < 2**64 and (again := drawn >= np.uint64(limit)).any():
            drawn[again] = _mixed(drawn[again] + _GAMMA)
        drawn %= np.uint64(span)
    return (drawn + np.uint64(low % 2**64)).view(np.int64)


def uniform_floats(seed: int, indexes: Words) -> npt.NDArray[np.float64]:
    """Return a number in [0, 1) with 53 random bits for each index."""
    return (words(seed, indexes) >> np.uint64(11)).astype(np.float64) * 2.0**-53
