"""Internal. Hive's rules for types: which type operands have in common, and what values of other types become."""

from __future__ import annotations

from collections.abc import Iterable

from wiesel.columnar.expressions import Expression, Literal
from wiesel.columnar.functions.registry import call, cast
from wiesel.columnar.type_rules import common_type, is_binary, is_text
from wiesel.core.errors import ProgramError
from wiesel.types import logical as t

__all__ = ["DOUBLE", "INT", "LONG", "STRING", "compared", "hive_cast", "hive_common_type", "if_else", "is_null", "null_of"]

STRING = t.VarCharType(t.MAX_LENGTH)
DOUBLE = t.DoubleType()
INT = t.IntType()
LONG = t.BigIntType()
BOOLEAN = t.BooleanType()
_TIMES = (t.DateType, t.TimestampType, t.LocalZonedTimestampType)
_SIMPLE = (t.NumericType, t.BooleanType, t.CharType, t.VarCharType, *_TIMES)


def null_of(of: t.DataType) -> Literal:
    """Return NULL of a type."""
    return Literal(of.nullable(), None)


def is_null(value: Expression) -> Expression:
    """Return whether a value is NULL."""
    return call("IS NULL", [value])


def if_else(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    """Return one of two values of the same type."""
    return call("CASE", [condition, then, otherwise])


def hive_common_type(types: Iterable[t.DataType]) -> t.DataType | None:
    """Return the type of values of several types, as CASE, COALESCE and arrays have it: text where one is text; None if there is none."""
    found = [of for of in types if not isinstance(of, t.NullType)]
    if not found:
        return STRING
    if any(is_text(of) for of in found) and all(isinstance(of, _SIMPLE) for of in found):
        return STRING
    if any(isinstance(of, t.DoubleType) for of in found) and all(isinstance(of, t.NumericType) for of in found):
        return DOUBLE
    common = common_type(found)
    return None if common is None else common.nullable()


def compared(sign: str, left: Expression, right: Expression) -> Expression:
    """Return a comparison: of a number and a text as numbers, of a date or time and a text as times."""
    one, other = left.data_type, right.data_type
    wanted: t.DataType | None = None
    if isinstance(one, t.NumericType) != isinstance(other, t.NumericType):
        wanted = DOUBLE if is_text(one) or is_text(other) else None
    elif (is_text(one) != is_text(other) and isinstance(other if is_text(one) else one, _TIMES)) or (
        isinstance(one, _TIMES) and isinstance(other, _TIMES) and type(one) is not type(other)
    ):
        wanted = t.TimestampType(6)
    if wanted is None:
        for known, unknown in ((one, other), (other, one)):
            if isinstance(unknown, t.NullType):
                wanted = known
    if wanted is not None and not isinstance(wanted, t.NullType):
        left, right = hive_cast(left, wanted), hive_cast(right, wanted)
    elif wanted is not None:
        left, right = null_of(STRING), null_of(STRING)
    return call(sign, [left, right])


def hive_cast(value: Expression, wanted: t.DataType) -> Expression:
    """Return a value as one of another type, NULL where there is no such value.

    Raises:
        ProgramError: If values of its type are never values of the other.
    """
    of = value.data_type
    if of.nullable() == wanted.nullable():
        return value
    if isinstance(of, t.NullType) or (isinstance(value, Literal) and value.value is None):
        return null_of(wanted)
    if is_text(wanted):
        return _as_text(value, wanted)
    if isinstance(wanted, t.BooleanType):
        return _as_boolean(value)
    if isinstance(wanted, t.DateType) and is_text(of):
        # Behind the date a time may stand.
        return _tried(call("hiveql.DATE_OF_TEXT", [value]), wanted)
    if isinstance(wanted, t.IntegralType) and is_text(of):
        return _tried(call("hiveql.INTEGER_OF_TEXT", [value]), wanted)
    if isinstance(wanted, t.IntegralType) and isinstance(of, t.BooleanType):
        return call("CASE", [value, Literal(wanted, 1), call("IS FALSE", [value]), Literal(wanted, 0), null_of(wanted)])
    if isinstance(wanted, t.IntegralType) and isinstance(of, t.FloatType | t.DoubleType | t.IntegralType):
        return cast(value, wanted)
    if isinstance(wanted, t.NumericType) and isinstance(of, t.TimestampType):
        seconds = call("hiveql.SECONDS", [cast(value, t.TimestampType(6))])
        return cast(call("FLOOR", [seconds]) if isinstance(wanted, t.IntegralType) else seconds, wanted)
    if isinstance(wanted, t.TimestampType) and isinstance(of, t.NumericType):
        # Whole numbers are milliseconds, others seconds.
        thousand = Literal(t.DoubleType(False), 1000.0 if isinstance(of, t.IntegralType) else 1.0)
        return _tried(call("hiveql.TIMESTAMP_OF_SECONDS", [call("/", [cast(value, DOUBLE), thousand])]), wanted)
    if isinstance(wanted, t.NumericType) and isinstance(of, t.BooleanType):
        return cast(hive_cast(value, INT), wanted)
    if is_binary(wanted) and is_text(of):
        return call("ENCODE", [value, Literal(t.CharType(5, False), "UTF-8")])
    return _tried(value, wanted)


def _tried(value: Expression, wanted: t.DataType) -> Expression:
    if value.data_type.nullable() == wanted.nullable():
        return value
    try:
        return call("TRY_CAST", [value], [wanted.nullable()])
    except ProgramError as error:
        message = f"{value.data_type.nullable().as_summary_string()} cannot become {wanted.as_summary_string()}"
        raise ProgramError(message, hint="use a value of another type") from error


def _as_text(value: Expression, wanted: t.DataType) -> Expression:
    of = value.data_type
    text = value
    if is_binary(of):
        text = call("DECODE", [value, Literal(t.CharType(5, False), "UTF-8")])
    elif isinstance(of, t.TimestampType | t.LocalZonedTimestampType):
        text = call("hiveql.TIMESTAMP_TEXT", [cast(value, t.TimestampType(6))])
    elif isinstance(of, t.DecimalType):
        text = call("hiveql.DECIMAL_TEXT", [value])
    elif isinstance(of, t.BooleanType):
        text = call("LOWER", [cast(value, STRING)])
    elif not is_text(of):
        text = cast(value, STRING)
    if isinstance(wanted, t.VarCharType) and wanted.length == t.MAX_LENGTH:
        return text if isinstance(text.data_type, t.VarCharType) and text.data_type.length == t.MAX_LENGTH else cast(text, STRING)
    return cast(text, wanted)


def _as_boolean(value: Expression) -> Expression:
    of = value.data_type
    if is_text(of):
        return call("hiveql.BOOLEAN_OF_TEXT", [value])
    if isinstance(of, t.NumericType):
        return call("<>", [value, cast(Literal(t.IntType(False), 0), of)])
    raise ProgramError(f"{of.as_summary_string()} cannot be BOOLEAN", hint="write a comparison")
