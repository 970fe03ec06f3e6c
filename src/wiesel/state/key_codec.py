"""Internal. The canonical bytes of a key: equal keys, and only those, have equal bytes, in every process and Python version.

Python's own equality is followed: ``1 == 1.0 == True == Decimal(1)`` and a named tuple equals a tuple, so they have the same bytes. Pickle
is unsuitable: its output depends on the identity of the parts and on the order of sets. The encoding of the types named in
``_exact_encoder`` never changes, as stored state depends on it; other classes are encoded by their reduced state, which may differ between
versions of their library.
"""

from __future__ import annotations

import datetime
import math
import numbers
import struct
import uuid
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum, Flag
from typing import Any, TypeAlias

from wiesel.core.errors import ProgramError
from wiesel.types.row import Row

__all__ = ["canonical_bytes", "register_encoder", "unusable_key"]

_INT64 = struct.Struct(">q")
_DOUBLE = struct.Struct(">d")
_LENGTH = struct.Struct(">I")
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)

_Encoder: TypeAlias = Callable[[Any], bytes]


def unusable_key(key: object) -> ProgramError:
    """Return the error for an object that cannot be a key."""
    kind = type(key)
    text = repr(key)
    shown = text if len(text) <= 80 else text[:77] + "..."
    if kind.__hash__ is object.__hash__:
        return ProgramError(
            f"a key of type {kind.__qualname__} is compared by identity, so equal keys cannot be recognised",
            hint="define __eq__ and __hash__ (a frozen dataclass has them), or return a field, a tuple or a string from key_by",
        )
    return ProgramError(
        f"the key {shown} of type {kind.__qualname__} cannot be hashed",
        hint="return an immutable key from key_by: a string, a number, a tuple of those, a frozen dataclass",
    )


def canonical_bytes(key: Any) -> bytes:
    """Return the canonical bytes of ``key``.

    Raises:
        ProgramError: If the key cannot be hashed, is compared by identity or contains itself.
    """
    kind = type(key)
    try:
        encode = _ENCODERS.get(kind)
        return (_encoder_of(kind) if encode is None else encode)(key)
    except (RecursionError, TypeError) as error:
        raise unusable_key(key) from error


def register_encoder(kind: type, encode: Callable[[Any], bytes]) -> None:
    """Set the function that returns the canonical bytes of a class of keys."""
    _ENCODERS[kind] = encode


def _encoder_of(kind: type) -> _Encoder:
    encode = _exact_encoder(kind)
    _ENCODERS[kind] = encode
    return encode


def _exact_encoder(kind: type) -> _Encoder:
    """Return the encoder of a class of keys; the order of the checks matters, as classes may derive from several of these."""
    for base, encode in _UNHASHABLE:
        if issubclass(kind, base):
            return encode
    if getattr(kind, "__hash__", None) is None:
        return _refuse
    for base, encode in _BY_BASE:
        if issubclass(kind, base):
            return encode
    if kind.__module__ == "numpy" and hasattr(kind, "item"):
        return _encode_numpy
    if issubclass(kind, numbers.Rational):
        return _encode_number
    if is_dataclass(kind) and kind.__hash__ is not object.__hash__:
        return _encode_dataclass
    return _refuse if kind.__hash__ is object.__hash__ else _encode_reduced


def _refuse(key: Any) -> bytes:
    raise unusable_key(key)


def _parts(tag: bytes, parts: Iterable[bytes]) -> bytes:
    out = [tag]
    for part in parts:
        out.append(_LENGTH.pack(len(part)))
        out.append(part)
    return b"".join(out)


def _name(kind: Any) -> bytes:
    return f"{kind.__module__}.{kind.__qualname__}".encode()


def _encode_none(key: None) -> bytes:
    return b"N"


def _encode_int(key: Any) -> bytes:
    value = int(key)
    if -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
        return b"i" + _INT64.pack(value)
    return b"I" + value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)


def _encode_float(key: float) -> bytes:
    if key.is_integer():
        return _encode_int(int(key))
    # All NaNs are one key, which is more useful than NaN being unequal to itself.
    return b"f" + _DOUBLE.pack(math.nan if key != key else float(key))


def _encode_number(key: Any) -> bytes:
    """Encode decimals, fractions and complex numbers as the equal integer or float, else as an exact ratio."""
    if isinstance(key, complex):
        return _encode_float(key.real) if key.imag == 0 else b"c" + _DOUBLE.pack(key.real) + _DOUBLE.pack(key.imag)
    if isinstance(key, Decimal) and not key.is_finite():
        return _encode_float(float(key))
    top, bottom = key.as_integer_ratio() if isinstance(key, Decimal) else (key.numerator, key.denominator)
    if bottom == 1:
        return _encode_int(top)
    try:
        near = top / bottom
    except OverflowError:
        near = math.inf
    return b"f" + _DOUBLE.pack(near) if near == key else b"r" + f"{top}/{bottom}".encode()


def _encode_str(key: str) -> bytes:
    return b"s" + key.encode("utf-8", "surrogatepass")


def _encode_bytes(key: Any) -> bytes:
    return b"b" + bytes(key)


def _encode_tuple(key: tuple[Any, ...]) -> bytes:
    return _parts(b"t", map(canonical_bytes, key))


def _encode_frozenset(key: frozenset[Any]) -> bytes:
    return _parts(b"F", sorted(map(canonical_bytes, key)))


def _encode_row(key: Row) -> bytes:
    names = key._names
    kind = bytes([key.get_row_kind().value])
    if names is None:
        return _parts(b"R" + kind, map(canonical_bytes, key))
    order = sorted(range(len(names)), key=names.__getitem__)
    return _parts(b"Q" + kind, (part for i in order for part in (names[i].encode(), canonical_bytes(key[i]))))


def _encode_list(key: list[Any]) -> bytes:
    return _parts(b"L", map(canonical_bytes, key))


def _encode_dict(key: dict[Any, Any]) -> bytes:
    return _parts(b"M", (half for pair in sorted((canonical_bytes(k), canonical_bytes(v)) for k, v in key.items()) for half in pair))


def _encode_set(key: set[Any]) -> bytes:
    return _parts(b"S", sorted(map(canonical_bytes, key)))


def _encode_bytearray(key: bytearray) -> bytes:
    return b"B" + bytes(key)


def _encode_enum(key: Enum) -> bytes:
    return _parts(b"e", (_name(type(key)), canonical_bytes(key.value) if isinstance(key, Flag) else key.name.encode()))


def _encode_datetime(key: datetime.datetime) -> bytes:
    offset = key.utcoffset()
    naive = key.replace(tzinfo=None)
    if offset is None:
        return b"D" + _INT64.pack((naive - _EPOCH) // _MICROSECOND)
    return b"Z" + _INT64.pack((naive - _EPOCH - offset) // _MICROSECOND)


def _encode_date(key: datetime.date) -> bytes:
    return b"d" + _INT64.pack(key.toordinal())


def _encode_time(key: datetime.time) -> bytes:
    micros = ((key.hour * 60 + key.minute) * 60 + key.second) * 1_000_000 + key.microsecond
    offset = key.utcoffset()
    return b"h" + _INT64.pack(micros) if offset is None else b"H" + _INT64.pack(micros - offset // _MICROSECOND)


def _encode_timedelta(key: datetime.timedelta) -> bytes:
    return b"l" + _encode_int(key // _MICROSECOND)


def _encode_uuid(key: uuid.UUID) -> bytes:
    return b"u" + key.bytes


def _encode_numpy(key: Any) -> bytes:
    item: Any = key.item()
    return _encode_reduced(key) if type(item) is type(key) else canonical_bytes(item)


def _encode_type(key: type) -> bytes:
    return _parts(b"k", (_name(key),))


def _encode_dataclass(key: Any) -> bytes:
    return _parts(b"a", [_name(type(key)), *(canonical_bytes(getattr(key, f.name)) for f in fields(key) if f.compare)])


def _encode_reduced(key: Any) -> bytes:
    reduced = key.__reduce_ex__(4)
    if isinstance(reduced, str):
        return _parts(b"g", (_name(type(key)), reduced.encode()))
    make, *rest = (*reduced, None, None, None, None)[:5]
    return _parts(b"o", (_name(type(key)), _name(make), *map(_encode_inside, rest)))


def _encode_inside(part: Any) -> bytes:
    """Encode a part of an object's state, where unhashable containers are allowed."""
    if isinstance(part, dict):
        return _parts(b"m", (half for pair in sorted((_encode_inside(k), _encode_inside(v)) for k, v in part.items()) for half in pair))
    if isinstance(part, (list, tuple)):
        return _parts(b"t", map(_encode_inside, part))
    if isinstance(part, (set, frozenset)):
        return _parts(b"F", sorted(map(_encode_inside, part)))
    if isinstance(part, bytearray):
        return _encode_bytes(part)
    if hasattr(part, "__next__"):
        return _parts(b"t", map(_encode_inside, part))
    return canonical_bytes(part)


_UNHASHABLE: tuple[tuple[Any, _Encoder], ...] = (
    (list, _encode_list),
    (dict, _encode_dict),
    (set, _encode_set),
    (bytearray, _encode_bytearray),
)

_BY_BASE: tuple[tuple[Any, _Encoder], ...] = (
    (type, _encode_type),
    (bool, _encode_int),
    (numbers.Integral, _encode_int),
    (str, _encode_str),
    ((bytes, memoryview), _encode_bytes),
    (tuple, _encode_tuple),
    (float, _encode_float),
    ((Decimal, complex), _encode_number),
    (Row, _encode_row),
    (Enum, _encode_enum),
    (frozenset, _encode_frozenset),
    (datetime.datetime, _encode_datetime),
    (datetime.date, _encode_date),
    (datetime.time, _encode_time),
    (datetime.timedelta, _encode_timedelta),
    (uuid.UUID, _encode_uuid),
)

_ENCODERS: dict[type, _Encoder] = {
    type(None): _encode_none,
    int: _encode_int,
    bool: _encode_int,
    str: _encode_str,
    bytes: _encode_bytes,
    float: _encode_float,
    tuple: _encode_tuple,
}
