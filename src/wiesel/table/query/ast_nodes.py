"""Internal. From what programs write to the nodes of expressions."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from wiesel.columnar.expressions import Expression as Bound
from wiesel.columnar.expressions import Literal
from wiesel.columnar.functions.intervals import DAY_TIME, YEAR_MONTH
from wiesel.columnar.functions.registry import call
from wiesel.core.argument_checks import require_instance
from wiesel.core.errors import ArgumentTypeError
from wiesel.core.user_location import program_error
from wiesel.sql.language import nodes
from wiesel.sql.language.built_nodes import BuiltIn, Stand
from wiesel.types import logical as t

__all__ = ["aggregate", "built_in", "column", "constant", "json_call", "length_of_time", "literal", "months", "stand_of", "value_of"]

_INTS = ((t.IntType(False), 2**31), (t.BigIntType(False), 2**63))
_WHOLE: dict[type[t.DataType], int] = {t.TinyIntType: 7, t.SmallIntType: 15, t.IntType: 31, t.BigIntType: 63}
_MOST_DIGITS = 38


def column(name: str) -> exp.Expr:
    """Return the node of a column."""
    return exp.Column(this=exp.Identifier(this=name, quoted=True))


def built_in(name: str, operands: Sequence[exp.Expr], options: tuple[Any, ...] = ()) -> exp.Expr:
    """Return the call of a function of the registry."""
    node = BuiltIn(this=name, expressions=list(operands), options=[repr(option) for option in options])
    if options:
        node.meta["options"] = options
    return node


def aggregate(name: str, operands: Sequence[exp.Expr]) -> exp.Expr:
    """Return the call of an aggregate function, or of one of those that users have named."""
    return exp.Anonymous(this=name, expressions=list(operands))


def json_call(
    name: str, operands: Sequence[exp.Expr], words: Sequence[str], returning: t.DataType | None = None, defaults: Any = ()
) -> exp.Expr:
    """Return the call of a function of JSON with words behind its arguments."""
    kind = None
    if returning is not None:
        require_instance(returning, t.DataType, f"what {name} returns", "give one of DataTypes, such as DataTypes.STRING()")
        kind = nodes.DataTypeNode(this=returning.as_summary_string())
        kind.meta["data_type"] = returning
    return nodes.Call(this=name, expressions=list(operands), words=list(words), returning=kind, defaults=list(defaults))


def constant(bound: Bound) -> Stand:
    """Return the node of an expression without columns that is bound already."""
    return Stand.of(bound, f"{bound.data_type.as_summary_string()} {bound}")


def stand_of(relation: Any) -> Stand:
    """Return the node of the plan of a table."""
    return Stand.of(relation, f"plan {id(relation)}")


def literal(value: Any) -> Bound:
    """Return the literal of a Python value, of the type that Flink gives it.

    Raises:
        ProgramError: If there are no literals of its type.
    """
    if isinstance(value, list | tuple):
        raise program_error(f"{value!r} is no single value", "make a collection with array(...), row(...) or map_(...)", ArgumentTypeError)
    made = _LITERALS.get(type(value))
    if made is None:
        hint = "give a bool, int, float, Decimal, str, bytes, date, time, datetime or timedelta, or an expression"
        raise program_error(f"there are no literals of values such as {value!r}", hint, ArgumentTypeError)
    found: Bound = made(value)
    return found


def _int(value: int) -> Literal:
    for kind, limit in _INTS:
        if -limit <= value < limit:
            return Literal(kind, value)
    raise program_error(f"the number {value} is too large for a BIGINT", "give a Decimal")


def _decimal(value: decimal.Decimal) -> Literal:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise program_error(f"{value} is no number of a DECIMAL", "give a finite number")
    scale = max(-exponent, 0)
    precision = max(len(digits) + max(exponent, 0), scale, 1)
    if precision > _MOST_DIGITS:
        raise program_error(f"the number {value} has {precision} digits, a DECIMAL has at most 38", "give a float")
    return Literal(t.DecimalType(precision, scale, False), value.quantize(decimal.Decimal(1).scaleb(-scale)))


def _str(value: str) -> Literal:
    units = len(value.encode("utf-16-le", "surrogatepass")) // 2
    return Literal(t.CharType(units, False) if units else t.VarCharType(t.MAX_LENGTH, False), value)


def _time(value: datetime.time) -> Literal:
    ms = ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000
    return Literal(t.TimeType(0, False), ms)


def _datetime(value: datetime.datetime) -> Literal:
    if value.tzinfo is not None:
        raise program_error("a datetime with a zone cannot be a literal", "use to_timestamp_ltz()")
    since = value - datetime.datetime(1970, 1, 1)
    return Literal(t.TimestampType(6, False), since // datetime.timedelta(microseconds=1))


def length_of_time(ms: int) -> Literal:
    """Return a length of time."""
    return Literal(DAY_TIME.not_null(), ms)


def months(count: int) -> Literal:
    """Return a number of months."""
    return Literal(YEAR_MONTH.not_null(), count)


_LITERALS: dict[type, Any] = {
    type(None): lambda value: Literal(t.NullType(), None),
    bool: lambda value: Literal(t.BooleanType(False), value),
    int: _int,
    float: lambda value: Literal(t.DoubleType(False), value),
    decimal.Decimal: _decimal,
    str: _str,
    bytes: lambda value: Literal(t.BinaryType(max(len(value), 1), False), value),
    bytearray: lambda value: Literal(t.BinaryType(max(len(value), 1), False), bytes(value)),
    datetime.date: lambda value: Literal(t.DateType(False), value),
    datetime.time: _time,
    datetime.datetime: _datetime,
    datetime.timedelta: lambda value: length_of_time(value // datetime.timedelta(milliseconds=1)),
}


def value_of(value: Any, data_type: t.DataType) -> Bound:
    """Return the literal of a Python value of a given type.

    Raises:
        ProgramError: If the value is none of the type.
    """
    if value is None:
        if not data_type.is_nullable:
            raise program_error(f"None is no {data_type.as_summary_string()}", "let the type be nullable")
        return Literal(data_type, None)
    found = literal(value)
    if found.data_type.nullable() == data_type.nullable():
        return Literal(data_type, value)
    bits = _WHOLE.get(type(data_type))
    if bits is not None and type(value) is int:
        if not -(2**bits) <= value < 2**bits:
            raise program_error(f"{value} is no {data_type.as_summary_string()}", "give a smaller number, or another type")
        return Literal(data_type, value)
    if isinstance(data_type, t.VarCharType | t.CharType) and isinstance(value, str):
        return Literal(data_type, value)
    if isinstance(data_type, t.FloatType | t.DoubleType) and isinstance(value, float):
        return Literal(data_type, value)
    return call("CAST", [found], [data_type])
