"""Internal. HASH_CODE and PRINT, by the methods that the values have in Java: ``hashCode`` and ``toString``."""

from __future__ import annotations

import datetime
import decimal
import struct
import sys
from collections.abc import Callable
from typing import Any

from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.kernels import by_value
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.type_rules import is_text
from wiesel.types import logical as t
from wiesel.types.java_strings import double_to_string, float_to_string

__all__: list[str] = []

_EPOCH = datetime.datetime(1970, 1, 1)
_TRUE, _FALSE = 1231, 1237
"""The hash codes of ``Boolean``."""


def _int(value: int) -> int:
    """Return the lower 32 bits as a number with sign."""
    return ((value + 2**31) & 0xFFFFFFFF) - 2**31


def _long_hash(value: int) -> int:
    bits = value & 0xFFFFFFFFFFFFFFFF
    return _int(bits ^ (bits >> 32))


def _text_hash(value: str) -> int:
    found = 0
    for (unit,) in struct.iter_unpack("<H", value.encode("utf-16-le", "surrogatepass")):
        found = (31 * found + unit) & 0xFFFFFFFF
    return _int(abs(_int(found)))  # like Math.abs, which Flink uses for strings


def _decimal_hash(value: decimal.Decimal) -> int:
    """Return the hash of a ``BigDecimal``: of its digits as a ``BigInteger`` and of its scale."""
    sign, digits, exponent = value.as_tuple()
    magnitude, found = int("".join(map(str, digits))), 0
    for word in reversed(range((magnitude.bit_length() + 31) // 32)):
        found = 31 * found + (magnitude >> 32 * word & 0xFFFFFFFF)
    return _int(31 * (-found if sign else found) - int(exponent))


def _timestamp_hash(value: datetime.datetime) -> int:
    micros = (value.replace(tzinfo=None) - _EPOCH) // datetime.timedelta(microseconds=1)
    millis, rest = divmod(micros, 1000)
    return _int(31 * _long_hash(millis) + rest * 1000)


def _millis(value: datetime.time) -> int:
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000


def _days(value: datetime.date) -> int:
    return (value - _EPOCH.date()).days


_HASHES: dict[type[t.DataType], Callable[[Any], int]] = {
    t.BooleanType: lambda value: _TRUE if value else _FALSE,
    t.TinyIntType: int,
    t.SmallIntType: int,
    t.IntType: int,
    t.BigIntType: _long_hash,
    t.FloatType: lambda value: struct.unpack("<i", struct.pack("<f", value))[0],
    t.DoubleType: lambda value: _long_hash(struct.unpack("<q", struct.pack("<d", value))[0]),
    t.DecimalType: _decimal_hash,
    t.CharType: _text_hash,
    t.VarCharType: _text_hash,
    t.DateType: _days,
    t.TimeType: _millis,
    t.TimestampType: _timestamp_hash,
}


def _resolve_hash(arguments: Arguments) -> Signature:
    types = arguments.types
    if len(types) != 1 or type(types[0]) not in _HASHES:
        raise arguments.refuse("HASH_CODE(<BOOLEAN>|<NUMERIC>|<CHARACTER>|<TIMESTAMP>|<TIME>|<DATE>)")
    return Signature(types, t.IntType(types[0].is_nullable))


def _hashed(call: Call, frame: Any, operands: list[Any]) -> Any:
    return by_value(_HASHES[type(call.operands[0].data_type)])(call, frame, operands)


register(ScalarFunction("HASH_CODE", _resolve_hash, _hashed))


def _timestamp_text(value: datetime.datetime) -> str:
    """Return the string of ``LocalDateTime``: without seconds if they are 0, and with three or six fractional digits."""
    if not value.microsecond:
        return value.strftime("%Y-%m-%dT%H:%M:%S" if value.second else "%Y-%m-%dT%H:%M")
    return value.isoformat(timespec="microseconds" if value.microsecond % 1000 else "milliseconds")


_TEXTS: dict[type[t.DataType], Callable[[Any], str]] = {
    t.BooleanType: lambda value: str(value).lower(),
    t.FloatType: float_to_string,
    t.DoubleType: double_to_string,
    t.DecimalType: lambda value: f"{value:f}",
    t.DateType: lambda value: str(_days(value)),
    t.TimeType: lambda value: str(_millis(value)),
    t.TimestampType: _timestamp_text,
}


def _resolve_print(arguments: Arguments) -> Signature:
    types = arguments.types
    if len(types) != 2 or not is_text(types[0]):
        raise arguments.refuse("PRINT(<CHARACTER>, <ANY>)")
    return Signature(types, types[1])


def _printed(call: Call, frame: Any, operands: list[Any]) -> Any:
    text = _TEXTS.get(type(call.operands[1].data_type), str)

    def show(prefix: str | None, value: Any) -> Any:
        sys.stdout.write(f"{'null' if prefix is None else prefix}{'null' if value is None else text(value)}\n")
        return value

    return by_value(show, nulls=True)(call, frame, operands)


register(ScalarFunction("PRINT", _resolve_print, _printed, deterministic=False))
