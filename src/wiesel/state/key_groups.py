"""Internal. Key groups: the unit in which keyed state moves between subtasks when a job is rescaled.

A key belongs to group ``stable_hash(key) % max_parallelism``, and a subtask owns a range of groups. Flink's formulas are used, so the
ranges equal Flink's. The results must never change, as checkpoints depend on them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Sequence
from typing import Any
from zlib import crc32

from wiesel.core.errors import ConfigurationError, InvariantError, WieselError
from wiesel.state.backend import KeyGroupRange
from wiesel.state.key_codec import canonical_bytes, unusable_key

__all__ = [
    "MAX_MAX_PARALLELISM",
    "ChannelSelector",
    "default_max_parallelism",
    "hash_of_canonical",
    "key_group",
    "key_group_range",
    "spread",
    "stable_hash",
    "subtask_for_key_group",
]

MAX_MAX_PARALLELISM = 1 << 15
_MIN_DEFAULT = 1 << 7
_CACHED_KEYS = 1 << 17
_MANY = 64

_pack_int = struct.Struct(">q").pack
# State of crc32 after the tag that key_codec prepends to an int or a str.
_INT = crc32(b"i")
_STR = crc32(b"s")


def stable_hash(key: Any) -> int:
    """Return a hash of 32 bits that is the same in every process, and the same for equal keys.

    crc32 reads the canonical bytes at C speed; as it is linear, a multiplication spreads keys that differ in a few bits only.

    Raises:
        ProgramError: If the key cannot be hashed or is compared by identity.
    """
    kind = type(key)
    try:
        if kind is str:
            mixed = crc32(key.encode(), _STR) * 0x9E3779B1 & 0xFFFFFFFF
        elif kind is int:
            mixed = crc32(_pack_int(key), _INT) * 0x9E3779B1 & 0xFFFFFFFF
        else:
            return hash_of_canonical(canonical_bytes(key))
    except (UnicodeEncodeError, struct.error):  # lone surrogates, integers beyond 64 bits
        return hash_of_canonical(canonical_bytes(key))
    return mixed ^ (mixed >> 15)


def hash_of_canonical(data: bytes) -> int:
    """Return the hash of the key whose canonical bytes these are."""
    return int(spread(crc32(data)))


def spread(checksum: Any) -> Any:
    """Return the hash of the key whose canonical bytes have this crc32, or hashes for an array of int64 with several."""
    mixed = checksum * 0x9E3779B1 & 0xFFFFFFFF
    return mixed ^ (mixed >> 15)


def key_group(key: Any, max_parallelism: int) -> int:
    """Return the key group of a key: ``0 <= group < max_parallelism``."""
    return stable_hash(key) % max_parallelism


def subtask_for_key_group(group: int, max_parallelism: int, parallelism: int) -> int:
    """Return the index of the subtask that owns a key group."""
    return group * parallelism // max_parallelism


def key_group_range(subtask: int, max_parallelism: int, parallelism: int) -> KeyGroupRange:
    """Return the key groups that a subtask owns.

    Raises:
        ConfigurationError: If the parallelism is larger than the maximum, which is larger than 32768, or one is not positive.
    """
    if not 0 < parallelism <= max_parallelism <= MAX_MAX_PARALLELISM:
        raise ConfigurationError(
            f"parallelism {parallelism} does not fit max parallelism {max_parallelism}",
            hint=f"choose 1 <= parallelism <= max parallelism <= {MAX_MAX_PARALLELISM} (pipeline.max-parallelism)",
        )
    if not 0 <= subtask < parallelism:
        raise InvariantError(f"subtask {subtask} of parallelism {parallelism} does not exist")
    start = (subtask * max_parallelism + parallelism - 1) // parallelism
    end = ((subtask + 1) * max_parallelism - 1) // parallelism + 1
    return KeyGroupRange(start, end, max_parallelism)


def default_max_parallelism(parallelism: int) -> int:
    """Return the max parallelism of an operator for which none was set: 1.5 times its parallelism, as a power of two from 128 to 32768."""
    wanted = parallelism + parallelism // 2
    return min(max(1 << max(wanted - 1, 0).bit_length(), _MIN_DEFAULT), MAX_MAX_PARALLELISM)


class _ChannelOfKey(dict[Hashable, int]):
    """Remembers the channels of keys; computes those it does not know, and forgets all when it is full.

    Attributes:
        overflowed: True if it was full.
    """

    def __init__(self, compute: Callable[[Any], int], limit: int) -> None:
        self._compute = compute
        self._limit = limit
        self.overflowed = False

    def __missing__(self, key: Hashable) -> int:
        channel = self._compute(key)
        if len(self) >= self._limit:
            self.clear()
            self.overflowed = True
        self[key] = channel
        return channel


class ChannelSelector:
    """Chooses the subtask for each key of a batch.

    Args:
        max_parallelism: Number of key groups of the receiving operator.
        parallelism: Number of its subtasks, which are the channels.
        cached_keys: How many keys to remember; a remembered key costs a dict lookup.
    """

    def __init__(self, max_parallelism: int, parallelism: int, cached_keys: int = _CACHED_KEYS) -> None:
        key_group_range(0, max_parallelism, parallelism)  # refuses what does not fit
        self._parallelism = parallelism
        self._max_parallelism = max_parallelism
        self._known = _ChannelOfKey(self.channel, cached_keys)
        self._lookup = self._known.__getitem__

    def channel(self, key: Any) -> int:
        """Return the channel of one key.

        Raises:
            ProgramError: If the key cannot be hashed or is compared by identity.
        """
        return stable_hash(key) % self._max_parallelism * self._parallelism // self._max_parallelism

    def of_hashes(self, hashes: Any) -> Any:
        """Return the channel of the keys with a hash, or channels for an array of int64 with several hashes."""
        return hashes % self._max_parallelism * self._parallelism // self._max_parallelism

    def channels(self, keys: Sequence[Any]) -> list[int]:
        """Return the channels of the keys, in their order.

        Raises:
            ProgramError: If a key cannot be hashed or is compared by identity.
        """
        if self._known.overflowed and len(keys) >= _MANY:
            # Too many keys to cache; computing the hashes one by one takes several times as long.
            channels = self._at_once(keys)
            if channels is not None:
                return channels
        try:
            return list(map(self._lookup, keys))
        except WieselError:
            raise
        except TypeError as error:
            for key in keys:
                try:
                    hash(key)
                except TypeError:
                    raise unusable_key(key) from error
            raise

    def _at_once(self, keys: Sequence[Any]) -> list[int] | None:
        """Return the channels of keys that are all integers of at most 64 bits or all strings, None for other keys."""
        kinds = set(map(type, keys))
        if kinds != {int} and kinds != {str}:
            return None
        import numpy as np  # of no use to most jobs

        from wiesel.state.key_hashes import hashes_of_integers, hashes_of_strings

        try:
            hashes = hashes_of_integers(np.array(keys, np.int64)) if kinds == {int} else hashes_of_strings(keys)
        except (OverflowError, UnicodeEncodeError):
            return None
        return self.of_hashes(hashes).tolist()  # type: ignore[no-any-return]
