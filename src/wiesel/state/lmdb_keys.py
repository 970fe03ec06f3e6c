"""Internal. Keys and values of the ``lmdb`` backend's environment.

A key is: key group u16, state id u16, length of the slot's bytes u16, those bytes; then the map key's bytes for an entry of a map, or
a number u64 for a piece of a list; all big endian, so that the entries of a group, of a slot and of a list lie together and in order.
Bytes are canonical (see ``key_codec``); long ones are replaced by a digest, as LMDB bounds its keys to 511 bytes.

A value begins with 0 if slot and map key can be read from the key (they are of type ``int`` or ``str``), or with 1, a length u32 and the
pickled pair (slot, map key). The pickled value follows.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Sequence
from hashlib import blake2b
from operator import itemgetter
from typing import Any
from zlib import crc32

from wiesel.core import code_pickling
from wiesel.core.errors import SerializationError
from wiesel.state.key_codec import canonical_bytes
from wiesel.state.key_groups import hash_of_canonical

__all__ = [
    "SlotCodec",
    "decode_slot",
    "decode_value",
    "dump_one",
    "map_key_bytes",
    "plain_integers",
    "range_after",
    "range_of",
    "slot_end",
    "state_id_of",
    "value_payload",
]

_HEAD = struct.Struct(">HHH")
_LENGTH = struct.Struct("<I")
_INT64 = struct.Struct(">q")
_TYPED_INT64 = struct.Struct(">xq")
_pack_head = _HEAD.pack
_pack_int64 = _INT64.pack
_FIRST_BYTE = itemgetter(0)
_MANY = 64
_LONGEST = 200
_DIGEST = 0x8000 | 16
_INT64_END = 1 << 63
_BARE = frozenset({int, float, bool, str, bytes})
"""A pickle of one of these is eight or nine bytes smaller without the frame of later protocols, and is read in the same way."""


def dump_one(value: Any) -> bytes:
    """Return the pickle of one value; by value where its class is known to the user's script only.

    Raises:
        SerializationError: If it cannot be pickled.
    """
    try:
        return pickle.dumps(value, 3 if type(value) in _BARE else 5)
    except (pickle.PicklingError, TypeError, AttributeError):
        pass
    try:
        return code_pickling.dumps(value)
    except Exception as error:
        raise SerializationError(
            f"a value of type {type(value).__qualname__} in keyed state cannot be pickled: {error}",
            hint="keep picklable values in state: no open files, connections, locks, generators or lambdas",
        ) from error


class SlotCodec:
    """Makes the keys of one state name.

    Args:
        state_id: Number of the state in the environment.
        spaced: Slots are pairs (key, namespace).
        max_parallelism: Number of key groups.
    """

    def __init__(self, state_id: int, spaced: bool, max_parallelism: int) -> None:
        self._state_id = state_id
        self._spaced = spaced
        self._max_parallelism = max_parallelism

    def prefix(self, slot: Any) -> bytes:
        """Return the key of a slot, which is the prefix of the keys of its parts."""
        # The usual keys do without the calls that the general way makes: this is most of what an access to the disk costs.
        kind = type(slot)
        try:
            if kind is int:
                data = b"i" + _pack_int64(slot)
            elif kind is str:
                data = b"s" + slot.encode()
            elif self._spaced:
                return self._spaced_prefix(*slot)
            else:
                data = canonical_bytes(slot)
        except (UnicodeEncodeError, struct.error):  # lone surrogates, integers beyond 64 bits
            data = canonical_bytes(slot)
        length = len(data)
        if length > _LONGEST:
            return self._digest(hash_of_canonical(data), data)
        mixed = crc32(data) * 0x9E3779B1 & 0xFFFFFFFF
        return _pack_head((mixed ^ (mixed >> 15)) % self._max_parallelism, self._state_id, length) + data

    def _spaced_prefix(self, key: Any, namespace: Any) -> bytes:
        data = canonical_bytes(key)
        key_hash = hash_of_canonical(data)
        data = _LENGTH.pack(len(data)) + data + canonical_bytes(namespace)
        if len(data) > _LONGEST:
            return self._digest(key_hash, data)
        return _pack_head(key_hash % self._max_parallelism, self._state_id, len(data)) + data

    def _digest(self, key_hash: int, data: bytes) -> bytes:
        return _pack_head(key_hash % self._max_parallelism, self._state_id, _DIGEST) + blake2b(data, digest_size=16).digest()

    def entries(self, slots: Sequence[Any], payloads: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
        """Return the keys of slots, and what is stored there of a pickled value each. Those of many integers are made at once."""
        if not self._spaced and len(slots) >= _MANY and set(map(type, slots)) == {int}:
            from wiesel.state.lmdb_integer_keys import integer_keys  # with NumPy, which few keys do without

            keys = integer_keys(slots, self._state_id, self._max_parallelism)
            if keys is not None:
                return list(zip(keys, map(b"\0".__add__, payloads), strict=True))
        prefix, head = self.prefix, self.encode
        return [(prefix(slot), head(slot) + payload) for slot, payload in zip(slots, payloads, strict=True)]

    def encode(self, slot: Any, map_key: Any = None) -> bytes:
        """Return what stands before the pickled value."""
        if not self._spaced and _is_plain(slot) and (map_key is None or _is_plain(map_key)):
            return b"\0"
        pair = dump_one((slot, map_key))
        return b"\1" + _LENGTH.pack(len(pair)) + pair


def map_key_bytes(map_key: Any) -> bytes:
    """Return what an entry of a map adds to the key of its slot."""
    data = canonical_bytes(map_key)
    return data if len(data) <= _LONGEST else b"#" + blake2b(data, digest_size=16).digest()


def value_payload(stored: bytes) -> bytes:
    """Return the pickled value of a stored value."""
    return stored[1:] if stored[0] == 0 else stored[5 + _LENGTH.unpack_from(stored, 1)[0] :]


def decode_value(stored: bytes) -> Any:
    """Return the value of a stored value."""
    return pickle.loads(value_payload(stored))


def decode_slot(key: bytes, stored: bytes) -> tuple[Any, Any]:
    """Return slot and map key (None where there is none) of an entry."""
    if stored[0] == 1:
        pair: tuple[Any, Any] = pickle.loads(stored[5 : 5 + _LENGTH.unpack_from(stored, 1)[0]])
        return pair
    end = _HEAD.size + _HEAD.unpack_from(key)[2]
    return _plain(key[_HEAD.size : end]), _plain(key[end:])


def slot_end(key: bytes) -> int:
    """Return where in a key the slot's bytes end."""
    length: int = _HEAD.unpack_from(key)[2] & 0x7FFF
    return _HEAD.size + length


def state_id_of(key: bytes) -> int:
    """Return the state id in a key."""
    return int(_HEAD.unpack_from(key)[1])


def range_of(group: int, state_id: int) -> bytes:
    """Return the first possible key of a state in a key group."""
    return _pack_head(group, state_id, 0)[:4]


def range_after(key: bytes) -> bytes:
    """Return what follows all possible keys of the state and key group of a key."""
    return (int.from_bytes(key[:4], "big") + 1).to_bytes(4, "big")


def plain_integers(keys: Sequence[bytes], stored: Sequence[bytes]) -> list[int] | None:
    """Return the slots of entries if all of them can be read as integers from the keys; many at once cost a tenth of one by one."""
    count, width = len(keys), _HEAD.size + _TYPED_INT64.size
    # What equals an integer, such as 1.0, has the same key, but the slot stands before the value then.
    if any(map(_FIRST_BYTE, stored)) or set(map(len, keys)) != {width}:
        return None
    data = b"".join([key[_HEAD.size :] for key in keys])
    if data[:: _TYPED_INT64.size] != b"i" * count:
        return None
    return [number for (number,) in _TYPED_INT64.iter_unpack(data)]


def _is_plain(value: Any) -> bool:
    kind = type(value)
    if kind is int:
        return bool(-_INT64_END <= value < _INT64_END)
    # A character has at most four bytes.
    return kind is str and len(value) <= _LONGEST // 4 - 1


def _plain(data: bytes) -> Any:
    if data[:1] == b"i":
        return _INT64.unpack_from(data, 1)[0]
    return data[1:].decode("utf-8", "surrogatepass") if data[:1] == b"s" else None
