"""Internal. Flink's rules for types: what arithmetic returns, which type values of several types have in common, what literals are.

There are two rules for common types, as in Flink: that of operators and CASE (:func:`least_restrictive`), where of FLOAT and DOUBLE the
first one wins, and that of functions (:func:`common_type`), where the wider one does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from wiesel.types import logical as t
from wiesel.types import logical_intervals as intervals

__all__ = [
    "as_decimal",
    "common_type",
    "decimal_of",
    "division_type",
    "is_text",
    "least_restrictive",
    "modulo_type",
    "product_type",
    "round_type",
    "sum_type",
    "text_type",
]

STRING = t.VarCharType(t.MAX_LENGTH)
BYTES = t.VarBinaryType(t.MAX_LENGTH)

_DIGITS: dict[type[t.DataType], int] = {t.TinyIntType: 3, t.SmallIntType: 5, t.IntType: 10, t.BigIntType: 19}
_LEAST_SCALE = 6


def text_type(length: int, kind: type[t.CharType] | type[t.VarCharType] = t.CharType) -> t.CharType | t.VarCharType:
    """Return a type of texts, of which literals can have the length 0 that no column can have."""
    of = kind(max(1, length))
    of.length = length
    return of


def is_text(of: t.DataType) -> bool:
    """Return whether values are texts."""
    return isinstance(of, t.CharType | t.VarCharType)


def is_binary(of: t.DataType) -> bool:
    """Return whether values are bytes."""
    return isinstance(of, t.BinaryType | t.VarBinaryType)


def is_approximate(of: t.DataType) -> bool:
    """Return whether values are floating-point numbers."""
    return isinstance(of, t.FloatType | t.DoubleType)


def is_interval(of: t.DataType) -> bool:
    """Return whether values are lengths of time."""
    return isinstance(of, intervals.DayTimeIntervalType | intervals.YearMonthIntervalType)


def as_decimal(of: t.DataType) -> t.DecimalType:
    """Return the decimal type that holds all numbers of an exact type."""
    return of if isinstance(of, t.DecimalType) else t.DecimalType(_DIGITS[type(of)], 0)


def decimal_of(precision: int, scale: int) -> t.DecimalType:
    """Return a decimal type, with fewer digits behind the point where there are too many, but six if there were as many."""
    if precision <= 38:
        return t.DecimalType(precision, scale)
    whole = precision - scale
    return t.DecimalType(38, max(38 - whole, min(scale, _LEAST_SCALE)))


def sum_type(left: t.DecimalType, right: t.DecimalType) -> t.DecimalType:
    """Return the type of sums and differences."""
    scale = max(left.scale, right.scale)
    return decimal_of(max(left.precision - left.scale, right.precision - right.scale) + scale + 1, scale)


def product_type(left: t.DecimalType, right: t.DecimalType) -> t.DecimalType:
    """Return the type of products."""
    return decimal_of(left.precision + right.precision + 1, left.scale + right.scale)


def division_type(left: t.DecimalType, right: t.DecimalType) -> t.DecimalType:
    """Return the type of quotients."""
    scale = max(_LEAST_SCALE, left.scale + right.precision + 1)
    return decimal_of(left.precision - left.scale + right.scale + scale, scale)


def modulo_type(left: t.DecimalType, right: t.DecimalType) -> t.DecimalType:
    """Return the type of remainders."""
    scale = max(left.scale, right.scale)
    return decimal_of(min(left.precision - left.scale, right.precision - right.scale) + scale, scale)


def round_type(of: t.DecimalType, digits: int) -> t.DecimalType:
    """Return the type of decimals that are rounded to some digits behind the point."""
    if digits >= of.scale:
        return t.DecimalType(of.precision, of.scale)
    whole = 1 + of.precision - of.scale
    return t.DecimalType(min(38, whole), 0) if digits < 0 else t.DecimalType(whole + digits, digits)


def least_restrictive(types: Iterable[t.DataType]) -> t.DataType | None:
    """Return the common type of the operands of an operator, None if there is none."""
    return _common(list(types), _first_approximate)


def common_type(types: Iterable[t.DataType]) -> t.DataType | None:
    """Return the common type of the arguments of a function, None if there is none."""
    return _common(list(types), lambda left, right: t.DoubleType() if isinstance(right, t.DoubleType) else left)


_Approximate = Callable[[t.DataType, t.DataType], t.DataType]


def _first_approximate(left: t.DataType, right: t.DataType) -> t.DataType:
    return left


def _common(types: Sequence[t.DataType], approximate: _Approximate) -> t.DataType | None:
    nullable = any(of.is_nullable for of in types)
    found: t.DataType | None = t.NullType()
    for of in types:
        found = None if found is None else _of_two(found, of, approximate)
    if found is None or isinstance(found, t.NullType):
        return found
    return found.nullable() if nullable else found.not_null()


def _of_two(left: t.DataType, right: t.DataType, approximate: _Approximate) -> t.DataType | None:
    if isinstance(left, t.NullType) or left.nullable() == right.nullable():
        return right if not left.is_nullable or isinstance(left, t.NullType) else left
    if isinstance(right, t.NullType):
        return left
    if isinstance(left, t.NumericType) and isinstance(right, t.NumericType):
        return _of_numbers(left, right, approximate)
    if (is_text(left) and is_text(right)) or (is_binary(left) and is_binary(right)):
        return _of_lengths(left, right)
    return _of_times(left, right) or _of_parts(left, right, approximate)


def _of_numbers(left: t.DataType, right: t.DataType, approximate: _Approximate) -> t.DataType:
    floats = [of for of in (left, right) if is_approximate(of)]
    if len(floats) == 2:
        return approximate(left, right)
    if floats:
        return t.DoubleType() if isinstance(left, t.DecimalType) or isinstance(right, t.DecimalType) else floats[0]
    if isinstance(left, t.IntegralType) and isinstance(right, t.IntegralType):
        return max(left, right, key=lambda of: of.bits)
    one, other = as_decimal(left), as_decimal(right)
    scale = max(one.scale, other.scale)
    return decimal_of(max(one.precision - one.scale, other.precision - other.scale) + scale, scale)


def _of_lengths(left: t.DataType, right: t.DataType) -> t.DataType:
    length = max(left.length, right.length)  # type: ignore[attr-defined]
    if is_text(left):
        fixed = isinstance(left, t.CharType) and isinstance(right, t.CharType) and left.length == right.length
        return text_type(length, t.CharType if fixed else t.VarCharType)
    return t.VarBinaryType(length)


def _of_times(left: t.DataType, right: t.DataType) -> t.DataType | None:
    stamps = (t.TimestampType, t.LocalZonedTimestampType)
    if isinstance(left, stamps) and isinstance(right, stamps):
        kind = t.TimestampType if isinstance(left, t.TimestampType) and isinstance(right, t.TimestampType) else t.LocalZonedTimestampType
        return kind(max(left.precision, right.precision))
    if isinstance(left, t.DateType) and isinstance(right, stamps):
        return right
    if isinstance(left, stamps) and isinstance(right, t.DateType):
        return left
    if isinstance(left, t.TimeType) and isinstance(right, t.TimeType):
        return t.TimeType(max(left.precision, right.precision))
    for kind_of in (intervals.DayTimeIntervalType, intervals.YearMonthIntervalType):
        if isinstance(left, kind_of) and isinstance(right, kind_of):
            return wider_interval(left, right)
    return None


def wider_interval(left: t.DataType, right: t.DataType) -> t.DataType:
    """Return the type of sums of two intervals of one kind: from the larger unit of both down to the smaller one."""
    if isinstance(left, intervals.YearMonthIntervalType):
        return left if left.resolution == right.resolution else intervals.YearMonthIntervalType(  # type: ignore[attr-defined]
            intervals.YearMonthIntervalType.YearMonthResolution.YEAR_TO_MONTH
        )
    return left


def _of_parts(left: t.DataType, right: t.DataType, approximate: _Approximate) -> t.DataType | None:
    if isinstance(left, t.ArrayType) and isinstance(right, t.ArrayType):
        element = _common([left.element_type, right.element_type], approximate)
        return None if element is None else t.ArrayType(element)
    if isinstance(left, t.MapType) and isinstance(right, t.MapType):
        key = _common([left.key_type, right.key_type], approximate)
        value = _common([left.value_type, right.value_type], approximate)
        return None if key is None or value is None else t.MapType(key, value)
    if isinstance(left, t.RowType) and isinstance(right, t.RowType) and len(left.fields) == len(right.fields):
        kinds = [_common([a.data_type, b.data_type], approximate) for a, b in zip(left.fields, right.fields, strict=True)]
        if any(kind is None for kind in kinds):
            return None
        return t.RowType([t.RowField(a.name, kind) for a, kind in zip(left.fields, kinds, strict=True) if kind is not None])
    return None
