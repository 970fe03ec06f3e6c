"""Internal. The type that values of several types have in common: that of a column which comes of several queries or branches."""

from __future__ import annotations

from collections.abc import Sequence

from wiesel.types import logical as t

__all__ = ["common_type"]

_TEXTS = (t.CharType, t.VarCharType)
_BYTES = (t.BinaryType, t.VarBinaryType)
_INTEGRAL = (t.TinyIntType, t.SmallIntType, t.IntType, t.BigIntType)
_APPROXIMATE = (t.FloatType, t.DoubleType)
_DIGITS = {t.TinyIntType: 3, t.SmallIntType: 5, t.IntType: 10, t.BigIntType: 19}
_MOST_DIGITS = 38


def common_type(types: Sequence[t.DataType]) -> t.DataType | None:
    """Return the narrowest type that holds the values of all types (at least one); None if there is none."""
    found: t.DataType | None = types[0]
    for other in types[1:]:
        found = None if found is None else _common(found, other)
    return found


def _common(left: t.DataType, right: t.DataType) -> t.DataType | None:
    if isinstance(left, t.NullType):
        return right.nullable()
    if isinstance(right, t.NullType):
        return left.nullable()
    merged = left.not_null() if left.not_null() == right.not_null() else _merged(left, right)
    if merged is None:
        return None
    return merged.nullable() if left.is_nullable or right.is_nullable else merged.not_null()


def _merged(left: t.DataType, right: t.DataType) -> t.DataType | None:
    for kinds, fixed, varying in ((_TEXTS, t.CharType, t.VarCharType), (_BYTES, t.BinaryType, t.VarBinaryType)):
        if isinstance(left, kinds) and isinstance(right, kinds):
            same = isinstance(left, fixed) and isinstance(right, fixed) and left.length == right.length
            merged = (fixed if same else varying)()
            # Literals can have the length 0, which no column can have.
            merged.length = max(left.length, right.length)
            return merged
    for timestamp in (t.TimestampType, t.LocalZonedTimestampType):
        if isinstance(left, timestamp) and isinstance(right, timestamp):
            return max(left, right, key=lambda of: of.precision)
    if isinstance(left, t.RowType | t.ArrayType | t.MapType):
        return _nested(left, right)
    return _numeric(left, right)


def _nested(left: t.DataType, right: t.DataType) -> t.DataType | None:
    """Return the type of rows, arrays or maps whose parts hold those of both; names are those of the first."""
    if type(left) is not type(right):
        return None
    if isinstance(left, t.RowType) and isinstance(right, t.RowType):
        parts = [_common(mine.data_type, theirs.data_type) for mine, theirs in zip(left, right, strict=False)]
        if len(left) != len(right) or None in parts:
            return None
        return t.RowType([t.RowField(field.name, part) for field, part in zip(left, parts, strict=True) if part is not None])
    if isinstance(left, t.MapType) and isinstance(right, t.MapType):
        key, value = _common(left.key_type, right.key_type), _common(left.value_type, right.value_type)
        return None if key is None or value is None else t.MapType(key, value)
    assert isinstance(left, t.ArrayType) and isinstance(right, t.ArrayType)  # noqa: S101 - there are no others
    element = _common(left.element_type, right.element_type)
    return None if element is None else t.ArrayType(element)


def _numeric(left: t.DataType, right: t.DataType) -> t.DataType | None:
    numbers = (*_INTEGRAL, *_APPROXIMATE, t.DecimalType)
    if not isinstance(left, numbers) or not isinstance(right, numbers):
        return None
    decimals = isinstance(left, t.DecimalType) or isinstance(right, t.DecimalType)
    if isinstance(left, _APPROXIMATE) or isinstance(right, _APPROXIMATE):
        double = decimals or t.DoubleType in (type(left), type(right))
        return t.DoubleType() if double else t.FloatType()
    if not decimals:
        return max(left, right, key=lambda of: _INTEGRAL.index(type(of)))
    (precision, scale), (other, other_scale) = _digits(left), _digits(right)
    most = max(scale, other_scale)
    return t.DecimalType(min(max(precision - scale, other - other_scale) + most, _MOST_DIGITS), most)


def _digits(of: t.DataType) -> tuple[int, int]:
    return (of.precision, of.scale) if isinstance(of, t.DecimalType) else (_DIGITS[type(of)], 0)  # type: ignore[index]
