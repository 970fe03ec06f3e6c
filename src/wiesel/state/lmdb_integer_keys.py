"""Internal. The keys of many integers in the environment of the ``lmdb`` backend at once: what ``SlotCodec.prefix`` returns for each."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from wiesel.state.key_hashes import hashes_of_integers

__all__ = ["integer_keys"]

_KEY = np.dtype([("group", ">u2"), ("state", ">u2"), ("length", ">u2"), ("type", "S1"), ("number", ">i8")])
_LENGTH = 9
"""Of the type and the number."""
_unpack = struct.Struct(f"{_KEY.itemsize}s").iter_unpack


def integer_keys(numbers: Sequence[int], state_id: int, max_parallelism: int) -> list[bytes] | None:
    """Return the keys; None if there is a number of more than 64 bits."""
    try:
        column = np.array(numbers, np.int64)
    except OverflowError:
        return None
    keys = np.empty(len(column), _KEY)
    keys["group"] = hashes_of_integers(column) % max_parallelism
    keys["state"] = state_id
    keys["length"] = _LENGTH
    keys["type"] = b"i"
    keys["number"] = column
    return [key for (key,) in _unpack(keys.tobytes())]
