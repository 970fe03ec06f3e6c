"""Internal. String forms of values as printed by Flink.

There are two forms, as in Flink:

* :func:`print_formatter`, for ``print()``: PyFlink formats values without a declared type with Python's ``str``, rows as ``+I[a,1]`` with
``str`` of each field, and leaves all other declared types to Java.
* :func:`java_formatter`, for encoders of files: Java's ``toString``, rows as ``+I[a, 1]``; values without a declared type, for which Flink
would write the address of the pickle, use Python's ``str``.

Floating-point numbers are formatted as in Java 17, which real Flink's expected values come from: with the fewest digits that identify them,
but one or two more for whole numbers beyond the type's precision. (Java 17 has a few further rare cases, such as 9.999999999999999E22 for
1.0E23, which Java 19 fixed and which are not imitated.)
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Callable
from typing import Any, TypeAlias

from wiesel.core.durations import Instant
from wiesel.types.checks import row_fields
from wiesel.types.coercion import round_to_float
from wiesel.types.row import Row, RowKind
from wiesel.types.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)

__all__ = ["double_to_string", "float_to_string", "java_formatter", "print_formatter", "to_java_string"]

Formatter: TypeAlias = Callable[[Any], str]


def to_java_string(value: Any, kind: TypeInformation | None) -> str:
    """Return the text of one value (see :func:`java_formatter`)."""
    return java_formatter(kind)(value)


def print_formatter(kind: TypeInformation | None) -> Formatter:
    """Return the formatter of ``print()`` for values of this type (``None``: no type declared)."""
    if isinstance(kind, RowTypeInfo | ExternalTypeInfo):
        return _print_row(kind)
    return java_formatter(kind)


def java_formatter(kind: TypeInformation | None) -> Formatter:
    """Return the formatter that equals Java's ``toString`` for values of this type."""
    formatter = _formatter(kind)
    return lambda value: "null" if value is None and kind is not None else formatter(value)


def _print_row(kind: TypeInformation) -> Formatter:
    row_kind = kind._type_info if isinstance(kind, ExternalTypeInfo) else kind
    java = java_formatter(row_kind)

    def text(value: Any) -> str:
        if isinstance(value, Row):
            return f"{value._row_kind}[{','.join(map(str, value._values))}]"
        fields = row_fields(row_kind, value) if isinstance(row_kind, RowTypeInfo) else None
        return java(value) if fields is None else f"{RowKind.INSERT}[{','.join(map(str, fields))}]"

    return text


def _formatter(kind: TypeInformation | None) -> Formatter:
    match kind:
        case None | PickledBytesTypeInfo():
            return str
        case BasicTypeInfo():
            return _BASIC.get(kind._basic_type, str)
        case RowTypeInfo():
            return _row(kind)
        case TupleTypeInfo():
            return _tuple(kind)
        case MapTypeInfo():
            return _map(kind)
        case ExternalTypeInfo():
            return _formatter(kind._type_info)
        case DateTypeInfo():
            return lambda value: (value.date() if isinstance(value, datetime.datetime) else value).isoformat()
        case TimeTypeInfo():
            return lambda value: value.strftime("%H:%M:%S")
        case TimestampTypeInfo():
            return _timestamp
        case LocalTimeTypeInfo():
            return _local
        case PrimitiveArrayTypeInfo() if kind.element_type == BasicTypeInfo(BasicType.BYTE):
            return lambda value: _bracketed([str(b - 256 if b > 127 else b) for b in value])
    if kind.children():
        element = java_formatter(kind.children()[0])
        return lambda value: _bracketed(map(element, value))
    return str


def _bracketed(strings: Any) -> str:
    return f"[{', '.join(strings)}]"


def _row(kind: RowTypeInfo) -> Formatter:
    formatters = [java_formatter(field) for field in kind.get_field_types()]

    def text(value: Any) -> str:
        fields = row_fields(kind, value) or ()
        row_kind = value._row_kind if isinstance(value, Row) else RowKind.INSERT
        return f"{row_kind}{_bracketed(f(v) for f, v in zip(formatters, fields, strict=False))}"

    return text


def _tuple(kind: TupleTypeInfo) -> Formatter:
    formatters = [java_formatter(field) for field in kind.get_field_types()]
    return lambda value: f"({','.join(f(v) for f, v in zip(formatters, value, strict=False))})"


def _map(kind: MapTypeInfo) -> Formatter:
    key, item = java_formatter(kind._key_type_info), java_formatter(kind._value_type_info)
    return lambda value: "{" + ", ".join(f"{key(k)}={item(v)}" for k, v in value.items()) + "}"


def _boolean(value: Any) -> str:
    return "true" if value else "false"


def double_to_string(value: float) -> str:
    """Return the text of Java's ``Double.toString``."""
    value = float(value)
    if not value or not math.isfinite(value):
        return _java_notation(value, "", 0)
    return _java_notation(value, *(_large_whole_digits(value, 53) or _shortest_digits(value)))


def float_to_string(value: float) -> str:
    """Return the text of Java's ``Float.toString`` for the nearest 32-bit float."""
    value = round_to_float(value)
    if not value or not math.isfinite(value):
        return _java_notation(value, "", 0)
    if whole := _large_whole_digits(value, 24):
        return _java_notation(value, *whole)
    for precision in range(1, 10):
        text = f"{abs(value):.{precision}e}"
        if round_to_float(float(text)) == abs(value):
            break
    return _java_notation(value, *_split(text))


def _large_whole_digits(value: float, precision_bits: int) -> tuple[str, int] | None:
    """Return digits and exponent of a whole number beyond the precision and within 63 bits, truncated as in Java 17; else ``None``."""
    exponent = math.frexp(value)[1] - 1
    if not precision_bits < exponent <= 62:
        return None
    # All insignificant bits but one are dropped, as far as they make up whole decimal digits.
    dropped = len(str(1 << (exponent - precision_bits - 1))) - 1
    rounded = (int(abs(value)) + (10**dropped >> 1)) // 10**dropped
    return _split(str(rounded * 10**dropped))


def _shortest_digits(value: float) -> tuple[str, int]:
    """Return significant digits and decimal exponent; Java requires at least two digits and picks the nearest such number."""
    text = f"{abs(value):.1e}"
    return _split(text if float(text) == abs(value) else repr(abs(value)))


def _split(text: str) -> tuple[str, int]:
    number = decimal.Decimal(text)
    _, digits, exponent = number.as_tuple()
    significant = "".join(map(str, digits)).lstrip("0")
    stripped = significant.rstrip("0") or "0"
    return stripped, int(exponent) + len(significant) - 1


def _java_notation(value: float, digits: str, exponent: int) -> str:
    """Return plain notation from 0.001 up to 10 million, else scientific."""
    if math.isnan(value):
        return "NaN"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if math.isinf(value):
        return f"{sign}Infinity"
    if value == 0:
        return f"{sign}0.0"
    if not -3 <= exponent < 7:
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    return f"{sign}{whole}.{digits[exponent + 1 :] or '0'}"


def _big_decimal(value: Any) -> str:
    # Java's BigDecimal has no negative zero.
    return str(value.copy_abs() if isinstance(value, decimal.Decimal) and value.is_zero() else value)


def _timestamp(value: datetime.datetime) -> str:
    """Return the string of ``java.sql.Timestamp``, to milliseconds, with at least one fractional digit."""
    millis = f"{value.microsecond // 1000:03d}".rstrip("0") or "0"
    return f"{value:%Y-%m-%d %H:%M:%S}.{millis}"


def _instant(value: Instant) -> str:
    """Return the ISO-8601 string; the fraction has 0, 3, 6 or 9 digits."""
    at = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=value.seconds + value.nanos // 1_000_000_000)
    return f"{at:%Y-%m-%dT%H:%M:%S}{_fraction(value.nanos % 1_000_000_000)}Z"


def _fraction(nanos: int) -> str:
    if nanos == 0:
        return ""
    digits = f"{nanos:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}"


def _local(value: datetime.date | datetime.time) -> str:
    """Return the string of ``java.time.Local...``: seconds are omitted where they are zero."""
    if isinstance(value, datetime.datetime):
        return f"{value.date().isoformat()}T{_local(value.time())}"
    if isinstance(value, datetime.date):
        return value.isoformat()
    if value.second == 0 and value.microsecond == 0:
        return f"{value:%H:%M}"
    return f"{value:%H:%M:%S}{_fraction(value.microsecond * 1000)}"


_BASIC: dict[BasicType, Formatter] = {
    BasicType.BOOLEAN: _boolean,
    BasicType.FLOAT: float_to_string,
    BasicType.DOUBLE: double_to_string,
    BasicType.BIG_DEC: _big_decimal,
    BasicType.INSTANT: _instant,
}
