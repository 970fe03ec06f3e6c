"""Internal. The hash function XXH64 with seed 42, used for estimates by Flink and Spark."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["hash_bytes", "hash_ints", "hash_longs"]

_SEED = 42
_MASK = 0xFFFFFFFFFFFFFFFF
_P1, _P2, _P3, _P4, _P5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_STRIPE = 32


def _u(value: int) -> np.uint64:
    return np.uint64(value & _MASK)


def _rotated_array(values: npt.NDArray[np.uint64], by: int) -> npt.NDArray[np.uint64]:
    return (values << np.uint64(by)) | (values >> np.uint64(64 - by))


def _mixed_array(found: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    found = (found ^ (found >> np.uint64(33))) * _u(_P2)
    found = (found ^ (found >> np.uint64(29))) * _u(_P3)
    return found ^ (found >> np.uint64(32))


def hash_ints(values: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Return the hashes of numbers of 32 bits, as of their four bytes."""
    given = values.astype(np.int32, copy=False).view(np.uint32).astype(np.uint64)
    return _mixed_array(_rotated_array(_u(_SEED + _P5 + 4) ^ (given * _u(_P1)), 23) * _u(_P2) + _u(_P3))


def hash_longs(values: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Return the hashes of numbers of 64 bits, as of their eight bytes."""
    given = values.astype(np.int64, copy=False).view(np.uint64)
    found = _u(_SEED + _P5 + 8) ^ (_rotated_array(given * _u(_P2), 31) * _u(_P1))
    return _mixed_array(_rotated_array(found, 27) * _u(_P1) + _u(_P4))


def _rotated(value: int, by: int) -> int:
    return (value << by | value >> (64 - by)) & _MASK


def _round(lane: int, word: int) -> int:
    return _rotated(lane + word * _P2 & _MASK, 31) * _P1 & _MASK


def _of_stripes(data: bytes) -> int:
    """Return the accumulated hash of the leading stripes of 32 bytes."""
    lanes = [_SEED + _P1 + _P2, _SEED + _P2, _SEED, _SEED - _P1]
    for words in struct.iter_unpack("<4Q", data[: len(data) // _STRIPE * _STRIPE]):
        lanes = [_round(lane, word) for lane, word in zip(lanes, words, strict=True)]
    found = sum(_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & _MASK
    for lane in lanes:
        found = ((found ^ _round(0, lane)) * _P1 + _P4) & _MASK
    return found


def hash_bytes(data: bytes) -> int:
    """Return the hash of bytes, from 0 on."""
    found = (_of_stripes(data) if len(data) >= _STRIPE else _SEED + _P5) + len(data) & _MASK
    at = len(data) // _STRIPE * _STRIPE
    while at + 8 <= len(data):
        (word,) = struct.unpack_from("<Q", data, at)
        found = (_rotated(found ^ _round(0, word), 27) * _P1 + _P4) & _MASK
        at += 8
    if at + 4 <= len(data):
        (word,) = struct.unpack_from("<I", data, at)
        found = (_rotated(found ^ (word * _P1 & _MASK), 23) * _P2 + _P3) & _MASK
        at += 4
    for byte in data[at:]:
        found = _rotated(found ^ (byte * _P5 & _MASK), 11) * _P1 & _MASK
    found = (found ^ found >> 33) * _P2 & _MASK
    found = (found ^ found >> 29) * _P3 & _MASK
    return found ^ found >> 32
