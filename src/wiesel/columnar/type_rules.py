"""Internal. Flink's type rules: result types of arithmetic, common types, and types of literals.

There are two rules for common types, as in Flink: that of operators and CASE (:func:`least_restrictive`), where of FLOAT and DOUBLE, and of
TIMESTAMP and TIMESTAMP_LTZ, the first one wins, and that of functions (:func:`common_type`), where DOUBLE and TIMESTAMP_LTZ win.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wiesel.types import logical as t
from wiesel.types import logical_intervals as intervals
from wiesel.types.logical_structured import StructuredType

__all__ = [
    "NESTED",
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

NESTED = (t.ArrayType, t.MapType, t.MultisetType, t.RowType)
"""Types whose values have nested values."""

STRING = t.VarCharType(t.MAX_LENGTH)
BYTES = t.VarBinaryType(t.MAX_LENGTH)

_DIGITS: dict[type[t.DataType], int] = {t.TinyIntType: 3, t.SmallIntType: 5, t.IntType: 10, t.BigIntType: 19}
_LEAST_SCALE = 6
_Timestamp = t.TimestampType | t.LocalZonedTimestampType


def text_type(length: int, kind: type[t.CharType] | type[t.VarCharType] = t.CharType) -> t.CharType | t.VarCharType:
    """Return a string type; literals may have length 0, which columns cannot."""
    of = kind(max(1, length))
    of.length = length
    return of


def is_text(of: t.DataType) -> bool:
    """Return whether values are strings."""
    return isinstance(of, t.CharType | t.VarCharType)


def is_binary(of: t.DataType) -> bool:
    """Return whether values are bytes."""
    return isinstance(of, t.BinaryType | t.VarBinaryType)


def is_approximate(of: t.DataType) -> bool:
    """Return whether values are floating-point numbers."""
    return isinstance(of, t.FloatType | t.DoubleType)


def is_interval(of: t.DataType) -> bool:
    """Return whether values are intervals."""
    return isinstance(of, intervals.DayTimeIntervalType | intervals.YearMonthIntervalType)


def as_decimal(of: t.DataType) -> t.DecimalType:
    """Return the decimal type that holds all numbers of an exact type."""
    return of if isinstance(of, t.DecimalType) else t.DecimalType(_DIGITS[type(of)], 0)


def decimal_of(precision: int, scale: int) -> t.DecimalType:
    """Return a decimal type, reducing the scale to at least six digits if the precision is too large."""
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
    """Return the type of decimals rounded to a scale."""
    if digits >= of.scale:
        return t.DecimalType(of.precision, of.scale)
    whole = 1 + of.precision - of.scale
    return t.DecimalType(min(38, whole), 0) if digits < 0 else t.DecimalType(whole + digits, digits)


def least_restrictive(types: Iterable[t.DataType]) -> t.DataType | None:
    """Return the common type of the operands of an operator, None if there is none."""
    return _common(list(types), _FirstWins())


def common_type(types: Iterable[t.DataType]) -> t.DataType | None:
    """Return the common type of the arguments of a function, None if there is none."""
    return _common(list(types), _WidestWins())


class _FirstWins:
    """Choice between two kinds by operators and CASE: the first one."""

    def of_floats(self, left: t.DataType, right: t.DataType) -> t.DataType:
        return left

    def of_float_and_exact(self, left: t.DataType, right: t.DataType) -> t.DataType:
        """Return the type for a floating-point number and an exact one."""
        decimal = isinstance(left, t.DecimalType) or isinstance(right, t.DecimalType)
        return t.DoubleType() if decimal else left if is_approximate(left) else right

    def of_parts_of_time(self, left: t.DataType, right: t.DataType) -> t.DataType | None:
        """Return the type for a timestamp and a date or a time of the day, None if there is none."""
        return None

    def of_timestamps(self, left: _Timestamp, right: _Timestamp) -> t.DataType:
        # Calcite compares the precisions only: the first kind is kept where they are equal.
        kind = left if left.precision == right.precision else right
        return type(kind)(max(left.precision, right.precision))


class _WidestWins(_FirstWins):
    """Choice between two kinds by functions: the widest one."""

    def of_floats(self, left: t.DataType, right: t.DataType) -> t.DataType:
        return t.DoubleType() if isinstance(right, t.DoubleType) else left

    def of_float_and_exact(self, left: t.DataType, right: t.DataType) -> t.DataType:
        return right if isinstance(right, t.FloatType) else super().of_float_and_exact(left, right)

    def of_parts_of_time(self, left: t.DataType, right: t.DataType) -> t.DataType | None:
        parts = [of for of in (left, right) if isinstance(of, t.DateType | t.TimeType)]
        return parts[0] if len(parts) == 1 and any(isinstance(of, t.TimestampType) for of in (left, right)) else None

    def of_timestamps(self, left: _Timestamp, right: _Timestamp) -> t.DataType:
        both = type(left) if type(left) is type(right) else t.LocalZonedTimestampType
        return both(max(left.precision, right.precision))


def _common(types: Sequence[t.DataType], choice: _FirstWins) -> t.DataType | None:
    nullable = any(of.is_nullable for of in types)
    found: t.DataType | None = t.NullType()
    for of in types:
        found = None if found is None else _of_two(found, of, choice)
    if found is None or isinstance(found, t.NullType):
        return found
    return found.nullable() if nullable else found.not_null()


def _of_two(left: t.DataType, right: t.DataType, choice: _FirstWins) -> t.DataType | None:
    if isinstance(left, t.NullType) or left.nullable() == right.nullable():
        return right if not left.is_nullable or isinstance(left, t.NullType) else left
    if isinstance(right, t.NullType):
        return left
    if isinstance(left, t.NumericType) and isinstance(right, t.NumericType):
        return _of_numbers(left, right, choice)
    if (is_text(left) and is_text(right)) or (is_binary(left) and is_binary(right)):
        return _of_lengths(left, right)
    return _of_times(left, right, choice) or _of_parts(left, right, choice)


def _of_numbers(left: t.DataType, right: t.DataType, choice: _FirstWins) -> t.DataType:
    floats = [of for of in (left, right) if is_approximate(of)]
    if len(floats) == 2:
        return choice.of_floats(left, right)
    if floats:
        return choice.of_float_and_exact(left, right)
    if isinstance(left, t.IntegralType) and isinstance(right, t.IntegralType):
        return max(left, right, key=lambda of: of.bits)
    one, other = as_decimal(left), as_decimal(right)
    # Unlike for sums, no integral digits are given up.
    whole = max(one.precision - one.scale, other.precision - other.scale)
    scale = min(max(one.scale, other.scale), 38 - whole)
    return t.DecimalType(whole + scale, scale)


def _of_lengths(left: t.DataType, right: t.DataType) -> t.DataType:
    length = max(left.length, right.length)  # type: ignore[attr-defined]
    if is_text(left):
        fixed = isinstance(left, t.CharType) and isinstance(right, t.CharType) and left.length == right.length
        return text_type(length, t.CharType if fixed else t.VarCharType)
    return t.VarBinaryType(length)


def _of_times(left: t.DataType, right: t.DataType, choice: _FirstWins) -> t.DataType | None:
    if isinstance(left, _Timestamp) and isinstance(right, _Timestamp):
        return choice.of_timestamps(left, right)
    if isinstance(left, t.TimeType) and isinstance(right, t.TimeType):
        return t.TimeType(max(left.precision, right.precision))
    for kind_of in (intervals.DayTimeIntervalType, intervals.YearMonthIntervalType):
        if isinstance(left, kind_of) and isinstance(right, kind_of):
            return wider_interval(left, right)
    return choice.of_parts_of_time(left, right)


def wider_interval(left: t.DataType, right: t.DataType) -> t.DataType:
    """Return the type of sums of two intervals of one kind: from the larger unit of both to the smaller one."""
    if isinstance(left, intervals.YearMonthIntervalType):
        return left if left.resolution == right.resolution else intervals.YearMonthIntervalType(  # type: ignore[attr-defined]
            intervals.YearMonthIntervalType.YearMonthResolution.YEAR_TO_MONTH
        )
    return left


def _of_one_class(left: StructuredType, right: t.RowType) -> bool:
    return isinstance(right, StructuredType) and (left.class_name, left.names) == (right.class_name, right.names)


def _of_parts(left: t.DataType, right: t.DataType, choice: _FirstWins) -> t.DataType | None:
    if isinstance(left, t.ArrayType) and isinstance(right, t.ArrayType):
        element = _common([left.element_type, right.element_type], choice)
        return None if element is None else t.ArrayType(element)
    if isinstance(left, t.MapType) and isinstance(right, t.MapType):
        key = _common([left.key_type, right.key_type], choice)
        value = _common([left.value_type, right.value_type], choice)
        return None if key is None or value is None else t.MapType(key, value)
    if isinstance(left, t.RowType) and isinstance(right, t.RowType) and len(left.fields) == len(right.fields):
        kinds = [_common([a.data_type, b.data_type], choice) for a, b in zip(left.fields, right.fields, strict=True)]
        if any(kind is None for kind in kinds):
            return None
        fields = [t.RowField(a.name, kind) for a, kind in zip(left.fields, kinds, strict=True) if kind is not None]
        if isinstance(left, StructuredType):
            return StructuredType(left.class_name, fields) if _of_one_class(left, right) else None
        return None if isinstance(right, StructuredType) else t.RowType(fields)
    return None
