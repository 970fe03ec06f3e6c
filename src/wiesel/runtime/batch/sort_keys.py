"""Internal. Normalised keys: bytes in the order of the represented keys, equal only for equal keys.

They are prefix-free (none is a prefix of another one), so that bytes may follow without changing the order (G. Graefe, "Implementing
Sorting in Database Systems", ACM Computing Surveys 38(3), 2006). For a declared type of keys, the encoding is determined by the type; else
by the value. Python's equality holds: ``1 == 1.0 == True`` have the same bytes.

Order: None first; False before True; numbers by value, NaN last; strings by code point; tuples and rows field by field. Values of different
kinds (a number and a string) have no order in Python; here the kinds are ordered.
"""

from __future__ import annotations

import datetime
import math
import numbers
import struct
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from typing import Any, TypeAlias

from wiesel.core.errors import ProgramError
from wiesel.state.key_codec import canonical_bytes
from wiesel.types.row import Row
from wiesel.types.typeinfo import BasicType, BasicTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation

__all__ = ["KeyEncoder", "descending", "group_key", "key_encoder", "order_key", "sort_encoder"]

KeyEncoder: TypeAlias = Callable[[Any], bytes]

_DOUBLE = struct.Struct(">d")
_UINT64 = struct.Struct(">Q")
_SIGN = 1 << 63
_ALL = (1 << 64) - 1
_INVERTED = bytes(255 - i for i in range(256))
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
# Exact for every difference of a Decimal or an int and the nearest float.
_EXACT = Context(prec=5000, Emax=10**9, Emin=-(10**9))

# The first byte, by kind of value; the order among kinds is arbitrary but fixed.
_NONE, _NUMBER, _TEXT, _BYTES, _TUPLE, _DATE, _DATETIME, _INSTANT, _TIME, _OTHER = (bytes([16 + i]) for i in range(10))

# After the double that is nearest to a number: the difference of the number from it.
_BELOW_ALL, _LESS, _EXACTLY, _MORE, _ABOVE_ALL = b"\x00", b"\x40", b"\x80", b"\xc0", b"\xff"


def descending(key: bytes) -> bytes:
    """Return the bytes for the opposite order; they are prefix-free as well."""
    return key.translate(_INVERTED)


def _double(value: float) -> bytes:
    bits = _UINT64.unpack(_DOUBLE.pack(math.nan if value != value else value + 0.0))[0]
    return _UINT64.pack(bits ^ _ALL if bits & _SIGN else bits | _SIGN)


def _difference(difference: Decimal) -> bytes:
    """Encode the difference of a number from its double: sign, exponent, digits."""
    digits = "".join(map(str, difference.as_tuple().digits)).strip("0").encode()
    size = _UINT64.pack((difference.adjusted() + _SIGN) & _ALL) + digits + b"\x00"
    return _LESS + descending(size) if difference < 0 else _MORE + size


def _number(value: Any) -> bytes:
    """Encode any real number: the nearest double, then the exact difference from it (rounding is monotonic)."""
    try:
        near = float(value)
    except OverflowError:
        near = math.inf if value > 0 else -math.inf
    head = _double(near)
    if type(value) is float or value == near:
        end = _EXACTLY if math.isfinite(near) or near != near else _ABOVE_ALL if near > 0 else _BELOW_ALL
        return head + end
    if near != near:
        return head + _EXACTLY
    exact = Decimal(value) if isinstance(value, int) else value
    return head + _difference(exact if math.isinf(near) else _EXACT.subtract(exact, Decimal(near)))


def _text_bytes(data: bytes) -> bytes:
    return data.replace(b"\x00", b"\x00\xff") + b"\x00\x01"


def _encode_number(value: Any) -> bytes:
    return _NUMBER + _number(value)


def _encode_str(value: str) -> bytes:
    return _TEXT + _text_bytes(value.encode("utf-8", "surrogatepass"))


def _encode_bytes(value: Any) -> bytes:
    return _BYTES + _text_bytes(bytes(value))


def _micros(value: int) -> bytes:
    return _UINT64.pack(value + _SIGN)


def _encode_datetime(value: datetime.datetime) -> bytes:
    offset = value.utcoffset()
    micros = (value.replace(tzinfo=None) - _EPOCH) // _MICROSECOND
    return _DATETIME + _micros(micros) if offset is None else _INSTANT + _micros(micros - offset // _MICROSECOND)


def _encode_time(value: datetime.time) -> bytes:
    offset = value.utcoffset()
    micros = ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    return _TIME + (b"h" + _micros(micros) if offset is None else b"H" + _micros(micros - offset // _MICROSECOND))


def _encode_none(value: None) -> bytes:
    return _NONE


def _sequence(encode: KeyEncoder) -> Callable[[Any], bytes]:
    def encode_all(value: Any) -> bytes:
        # 1 before each part and 0 at the end: a prefix of a tuple sorts before it.
        return _TUPLE + b"".join([b"\x01" + encode(part) for part in value]) + b"\x00"

    return encode_all


_ORDERED: dict[type, KeyEncoder] = {
    type(None): _encode_none,
    int: _encode_number,
    bool: _encode_number,
    float: _encode_number,
    Decimal: _encode_number,
    str: _encode_str,
    bytes: _encode_bytes,
    datetime.datetime: _encode_datetime,
    datetime.date: lambda value: _DATE + _micros(value.toordinal()),
    datetime.time: _encode_time,
    datetime.timedelta: lambda value: _OTHER + b"l" + _number(value // _MICROSECOND),
}


def order_key(value: Any) -> bytes:
    """Return the key of a value of any type that has an order here.

    Raises:
        ProgramError: If it has none.
    """
    encode = _ORDERED.get(type(value))
    if encode is not None:
        return encode(value)
    for base, encode in _ORDERED.items():
        if isinstance(value, base):
            return encode(value)
    if isinstance(value, tuple | Row | list):
        return _order_sequence(value)
    if type(value).__module__ == "numpy" and hasattr(value, "item") and type(value.item()) is not type(value):
        return order_key(value.item())
    shown = repr(value)
    raise ProgramError(
        f"the sort key {shown[:80]} of type {type(value).__qualname__} cannot be ordered",
        hint="sort by numbers, strings, bytes, booleans, dates and times, or tuples of those; a key selector can make one",
    )


_order_sequence = _sequence(order_key)


def group_key(value: Any) -> bytes:
    """Return the encoding of any hashable value: equal bytes for equal values. Ordered values are encoded in order.

    Raises:
        ProgramError: If it cannot be a key.
    """
    kind = type(value)
    if kind in _ORDERED:
        return _ORDERED[kind](value)
    for base, encode in _GROUPED_BASES:
        if isinstance(value, base):
            return encode(value)
    if isinstance(value, numbers.Number):
        plain = _plain_number(value)
        if plain is not None:
            return _encode_number(plain)
    return _OTHER + b"c" + _text_bytes(canonical_bytes(value))


_GROUPED_BASES: tuple[tuple[type, KeyEncoder], ...] = ((str, _encode_str), (bytes, _encode_bytes), (tuple, _sequence(group_key)))


def _plain_number(value: Any) -> int | float | Decimal | None:
    """Convert a number (a fraction, a complex number, numpy's) to an equal one of an ordered kind, if there is one."""
    if isinstance(value, int | float | Decimal):
        return value
    value = value.real if isinstance(value, complex) and value.imag == 0 else value
    for kind in (int, float):
        try:
            plain: Any = kind(value)
        except (TypeError, ValueError, OverflowError):
            continue
        if plain == value:
            return plain  # type: ignore[no-any-return]
    return None


def _fixed(code: str, bits: int) -> KeyEncoder:
    pack = struct.Struct(">B" + code).pack
    offset = 1 << (bits - 1)

    def encode(value: Any) -> bytes:
        return b"\x00" if value is None else pack(1, value + offset)

    return encode


def _typed_double(value: Any) -> bytes:
    return b"\x00" if value is None else b"\x01" + _double(value)


def _typed_str(value: Any) -> bytes:
    return b"\x00" if value is None else b"\x01" + _text_bytes(value.encode("utf-8", "surrogatepass"))


_TYPED: dict[BasicType, KeyEncoder] = {
    BasicType.BYTE: _fixed("B", 8),
    BasicType.SHORT: _fixed("H", 16),
    BasicType.INT: _fixed("I", 32),
    BasicType.LONG: _fixed("Q", 64),
    BasicType.FLOAT: _typed_double,
    BasicType.DOUBLE: _typed_double,
    BasicType.STRING: _typed_str,
    BasicType.CHAR: _typed_str,
    BasicType.BOOLEAN: lambda value: b"\x00" if value is None else b"\x02" if value else b"\x01",
}


def _compiled(declared: TypeInformation | None) -> KeyEncoder | None:
    """Return the encoder determined by the type alone, if there is one."""
    if isinstance(declared, BasicTypeInfo):
        return _TYPED.get(declared._basic_type)
    if isinstance(declared, TupleTypeInfo | RowTypeInfo):
        parts = [_compiled(part) for part in declared.get_field_types()]
        if all(part is not None for part in parts):
            encoders: Sequence[Any] = parts
            return lambda value: b"".join([encode(part) for encode, part in zip(encoders, value, strict=True)])
    return None


def _located(encode: KeyEncoder, declared: TypeInformation) -> KeyEncoder:
    def checked(value: Any) -> bytes:
        try:
            return encode(value)
        except (struct.error, TypeError, AttributeError, ValueError) as error:
            shown = repr(value)
            raise ProgramError(
                f"the key {shown[:80]} is not of its declared type {declared}", hint="correct the type that is declared, or the key"
            ) from error

    return checked


def key_encoder(declared: TypeInformation | None) -> KeyEncoder:
    """Return the encoder of keys that records are grouped or joined by."""
    encode = _compiled(declared)
    return group_key if encode is None or declared is None else _located(encode, declared)


def sort_encoder(declared: TypeInformation | None, *, ascending: bool = True) -> KeyEncoder:
    """Return the encoder of keys that records are sorted by."""
    compiled = _compiled(declared)
    encode = order_key if compiled is None or declared is None else _located(compiled, declared)
    return encode if ascending else lambda value: descending(encode(value))
