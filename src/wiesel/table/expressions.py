"""Functions that make expressions: ``col``, ``lit`` and all that is not a method of one."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from wiesel.columnar.expressions import Literal
from wiesel.core.argument_checks import require_instance
from wiesel.core.errors import ArgumentTypeError, ProgramError
from wiesel.core.user_location import program_error
from wiesel.sql.language import nodes
from wiesel.sql.language.built_nodes import BuiltIn, Text, UserCall
from wiesel.table.expression import Expression, JsonOnNull, TimePointUnit, call_of, node_of
from wiesel.table.query.ast_nodes import aggregate, built_in, column, constant, json_call, literal, value_of
from wiesel.types import logical as t

# Those of PyFlink: programs write `from ... import *`.
__all__ = [
    "CURRENT_RANGE",
    "CURRENT_ROW",
    "UNBOUNDED_RANGE",
    "UNBOUNDED_ROW",
    "and_",
    "array",
    "atan2",
    "call",
    "call_sql",
    "col",
    "concat",
    "concat_ws",
    "convert_tz",
    "current_database",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_watermark",
    "date_format",
    "descriptor",
    "e",
    "from_unixtime",
    "if_then_else",
    "json",
    "json_array",
    "json_array_agg",
    "json_object",
    "json_object_agg",
    "json_string",
    "lit",
    "local_time",
    "local_timestamp",
    "log",
    "map_",
    "negative",
    "not_",
    "null_of",
    "object_of",
    "or_",
    "pi",
    "rand",
    "rand_integer",
    "range_",
    "row",
    "row_interval",
    "source_watermark",
    "temporal_overlaps",
    "timestamp_diff",
    "to_date",
    "to_timestamp",
    "to_timestamp_ltz",
    "unix_timestamp",
    "uuid",
    "with_columns",
    "without_columns",
]


def _bound(name: str) -> Expression[Any]:
    return Expression(exp.Var(this=name))


UNBOUNDED_ROW: Expression[Any] = _bound("UNBOUNDED_ROW")
"""In ``preceding()``: from the first row on, counted by rows."""

UNBOUNDED_RANGE: Expression[Any] = _bound("UNBOUNDED_RANGE")
"""In ``preceding()``: from the first row on, by time."""

CURRENT_ROW: Expression[Any] = _bound("CURRENT_ROW")
"""In ``following()``: up to the row itself."""

CURRENT_RANGE: Expression[Any] = _bound("CURRENT_RANGE")
"""In ``following()``: up to the last row of the same time."""


def col(name: str) -> Expression[Any]:
    """Return the column of a name; ``*`` stands for all."""
    require_instance(name, str, "col() takes the name of a column: it", "give a text")
    return Expression(exp.Star() if name == "*" else column(name))


def lit(v: Any, data_type: t.DataType | None = None) -> Expression[Any]:
    """Return a constant; of the type that Flink gives such a value, or of another one.

    Raises:
        ProgramError: If there are no constants of its type.
    """
    if isinstance(v, Expression):
        return v
    if data_type is not None:
        require_instance(data_type, t.DataType, "the type of a constant", "give one of DataTypes, such as DataTypes.INT()")
    return Expression(constant(literal(v) if data_type is None else value_of(v, data_type)))


def range_(start: str | int, end: str | int) -> Expression[Any]:
    """Return the columns from one to another, by their names or by their places from 1 on; for ``with_columns`` and ``without_columns``."""
    return Expression(built_in("RANGE", [node_of(start), node_of(end)]))


def with_all_columns() -> Expression[Any]:
    """Return all columns."""
    return Expression(exp.Star())


def with_columns(head: Any, *tails: Any) -> Expression[Any]:
    """Return some columns: names, places from 1 on, and ranges of them."""
    return Expression(built_in("WITH_COLUMNS", [node_of(each) for each in (head, *tails)]))


def without_columns(head: Any, *tails: Any) -> Expression[Any]:
    """Return all columns but some: names, places from 1 on, and ranges of them."""
    return Expression(built_in("WITHOUT_COLUMNS", [node_of(each) for each in (head, *tails)]))


# Conditions


def _chained(node: type[exp.Expr], parts: tuple[Any, ...]) -> Expression[bool]:
    operands = list(map(node_of, parts))
    found = operands[0]
    for operand in operands[1:]:
        found = node(this=found, expression=operand)
    found.meta["operands"] = operands
    return Expression(found)


def and_(predicate0: Any, predicate1: Any, *predicates: Any) -> Expression[bool]:
    """Return whether all conditions are true."""
    return _chained(exp.And, (predicate0, predicate1, *predicates))


def or_(predicate0: Any, predicate1: Any, *predicates: Any) -> Expression[bool]:
    """Return whether any condition is true."""
    return _chained(exp.Or, (predicate0, predicate1, *predicates))


def not_(expression: Expression[bool]) -> Expression[bool]:
    """Return the opposite of a condition; NULL of NULL."""
    return Expression(exp.Not(this=node_of(expression)))


def if_then_else(condition: Any, if_true: Any, if_false: Any) -> Expression[Any]:
    """Return the one value where a condition is true, else the other."""
    return Expression(node_of(condition)).then(if_true, if_false)


def coalesce(*args: Any) -> Expression[Any]:
    """Return the first value that is not NULL."""
    return Expression(built_in("COALESCE", [node_of(each) for each in args]))


def null_of(data_type: t.DataType) -> Expression[Any]:
    """Return NULL of a type."""
    require_instance(data_type, t.DataType, "null_of() takes a data type: it", "give one of DataTypes")
    return Expression(constant(Literal(data_type.nullable(), None)))


# Time


def current_database() -> Expression[Any]:
    """Return the name of the current database."""
    return Expression(aggregate("CURRENT_DATABASE", []))


def current_date() -> Expression[Any]:
    """Return the date of today in the time zone of the session."""
    return call_of("CURRENT_DATE")


def current_time() -> Expression[Any]:
    """Return the time of day in the time zone of the session."""
    return call_of("CURRENT_TIME")


def current_timestamp() -> Expression[Any]:
    """Return the time, as TIMESTAMP_LTZ(3)."""
    return call_of("CURRENT_TIMESTAMP")


def current_watermark(rowtimeAttribute: Any) -> Expression[Any]:  # noqa: N803 - PyFlink's name
    """Return the watermark of a column with event time; NULL before there is one."""
    return call("CURRENT_WATERMARK", rowtimeAttribute)


def local_time() -> Expression[Any]:
    """Return the time of day in the time zone of the session."""
    return call_of("LOCALTIME")


def local_timestamp() -> Expression[Any]:
    """Return the time in the time zone of the session, as TIMESTAMP(3)."""
    return call_of("LOCALTIMESTAMP")


def to_date(date_str: Any, format: Any = None) -> Expression[Any]:
    """Return the date of a text."""
    return call_of("TO_DATE", date_str, format)


def to_timestamp(timestamp_str: Any, format: Any = None) -> Expression[Any]:
    """Return the time of a text, without a zone."""
    return call_of("TO_TIMESTAMP", timestamp_str, format)


def to_timestamp_ltz(*args: Any) -> Expression[Any]:
    """Return the point in time of a number and its precision (0 for s, 3 for ms), or of a text, maybe with format and zone."""
    return call_of("TO_TIMESTAMP_LTZ", *args)


def temporal_overlaps(left_time_point: Any, left_temporal: Any, right_time_point: Any, right_temporal: Any) -> Expression[Any]:
    """Return whether two periods have a moment in common; each has a start and an end or length."""
    periods = [exp.Tuple(expressions=[node_of(start), _until(start, end)]) for start, end in (
        (left_time_point, left_temporal), (right_time_point, right_temporal))]  # fmt: skip
    return Expression(exp.Overlaps(this=periods[0], expression=periods[1]))


def _until(start: Any, end: Any) -> exp.Expr:
    node = node_of(end)
    bound = getattr(node, "meta", {}).get("bound")
    if isinstance(bound, Literal) and type(bound.data_type).__name__.endswith("IntervalType"):
        return exp.Add(this=node_of(start), expression=node)
    return node


def date_format(timestamp: Any, format: Any) -> Expression[Any]:
    """Return a time as text, by a pattern of Java such as ``yyyy-MM-dd``."""
    return call_of("DATE_FORMAT", timestamp, format)


def timestamp_diff(time_point_unit: TimePointUnit, time_point1: Any, time_point2: Any) -> Expression[Any]:
    """Return how many units of time are from one time to another."""
    return call_of("TIMESTAMPDIFF", time_point1, time_point2, options=(time_point_unit.name,))


def convert_tz(date_str: Any, tz_from: Any, tz_to: Any) -> Expression[Any]:
    """Return a time as text in another time zone."""
    return call_of("CONVERT_TZ", date_str, tz_from, tz_to)


def from_unixtime(unixtime: Any, format: Any = None) -> Expression[Any]:
    """Return the time of seconds since 1970 as text, in the time zone of the session."""
    return call_of("FROM_UNIXTIME", unixtime, format)


def unix_timestamp(date_str: Any = None, format: Any = None) -> Expression[Any]:
    """Return the seconds since 1970, of now or of a text in the time zone of the session."""
    return call_of("UNIX_TIMESTAMP") if date_str is None else call_of("UNIX_TIMESTAMP", date_str, format)


def source_watermark() -> Expression[Any]:
    """Return the watermark that the source of a table tells; for schemas only."""
    return call("SOURCE_WATERMARK")


def row_interval(rows: int) -> Expression[Any]:
    """Return a number of rows, for windows."""
    require_instance(rows, int, "row_interval() takes a number of rows: it", "give a whole number")
    return Expression(BuiltIn(this="ROW_INTERVAL", expressions=[exp.Literal.number(rows)]))


# Collections


def array(head: Any, *tail: Any) -> Expression[Any]:
    """Return the array of some elements."""
    return Expression(built_in("ARRAY", [node_of(each) for each in (head, *tail)]))


def row(head: Any, *tail: Any) -> Expression[Any]:
    """Return the row of some values."""
    return Expression(built_in("ROW", [node_of(each) for each in (head, *tail)]))


def map_(key: Any, value: Any, *tail: Any) -> Expression[Any]:
    """Return the map of keys and values, by turns."""
    return Expression(built_in("MAP", [node_of(each) for each in (key, value, *tail)]))


def map_from_arrays(key: Any, value: Any) -> Expression[Any]:
    """Return the map of an array of keys and one of values."""
    return call_of("MAP_FROM_ARRAYS", key, value)


def descriptor(*column_names: str) -> Expression[Any]:
    """Return columns by their names, as an argument of a table function."""
    return Expression(nodes.Descriptor(expressions=[column(name) for name in column_names]))


# Numbers


def pi() -> Expression[float]:
    """Return the number pi."""
    return call_of("PI")


def e() -> Expression[float]:
    """Return Euler's number."""
    return call_of("E")


def rand(seed: Any = None) -> Expression[float]:
    """Return a random number from 0 to less than 1."""
    return call_of("RAND", seed)


def rand_integer(bound: Any, seed: Any = None) -> Expression[Any]:
    """Return a random whole number from 0 to less than a bound."""
    return call_of("RAND_INTEGER", bound) if seed is None else call_of("RAND_INTEGER", seed, bound)


def atan2(y: Any, x: Any) -> Expression[float]:
    """Return the arc tangent of a coordinate."""
    return call_of("ATAN2", y, x)


def negative(v: Any) -> Expression[Any]:
    """Return a number with the other sign."""
    return call_of("NEGATE", v)


def log(v: Any, base: Any = None) -> Expression[float]:
    """Return the logarithm, the natural one without a base."""
    return call_of("LOG", v) if base is None else call_of("LOG", base, v)


# Strings


def concat(first: Any, *others: Any) -> Expression[str]:
    """Return strings behind each other; NULL if one of them is."""
    return Expression(built_in("CONCAT", [node_of(each) for each in (first, *others)]))


def concat_ws(separator: Any, first: Any, *others: Any) -> Expression[str]:
    """Return strings behind each other with a separator between them; those that are NULL are left out."""
    return Expression(built_in("CONCAT_WS", [node_of(each) for each in (separator, first, *others)]))


def uuid() -> Expression[str]:
    """Return a random identifier per row."""
    return call_of("UUID")


# JSON


def _on_null(on_null: JsonOnNull) -> list[str]:
    require_instance(on_null, JsonOnNull, "the handling of NULL", "give JsonOnNull.NULL or JsonOnNull.ABSENT first")
    return [f"{on_null.name} ON NULL"]


def json(value: Any) -> Expression[Any]:
    """Return a text as JSON within ``json_object`` and ``json_array``, not as a text between quotes."""
    return call_of("JSON", value)


def object_of(class_name: str, *args: Any) -> Expression[Any]:
    """Return a structured object of names of fields and their values, by turns; the name of the class only tells types apart."""
    return call_of("OBJECT_OF", class_name, *args)


def json_string(value: Any) -> Expression[Any]:
    """Return a value as JSON."""
    return call_of("JSON_STRING", value)


def json_object(on_null: JsonOnNull = JsonOnNull.NULL, *args: Any) -> Expression[Any]:
    """Return the object of keys and values, by turns."""
    return Expression(json_call("JSON_OBJECT", [node_of(each) for each in args], _on_null(on_null)))


def json_array(on_null: JsonOnNull = JsonOnNull.ABSENT, *args: Any) -> Expression[Any]:
    """Return the array of values."""
    return Expression(json_call("JSON_ARRAY", [node_of(each) for each in args], _on_null(on_null)))


def json_object_agg(on_null: JsonOnNull, key_expr: Any, value_expr: Any) -> Expression[Any]:
    """Return the object of the keys and values of all rows."""
    return Expression(json_call("JSON_OBJECTAGG", [node_of(key_expr), node_of(value_expr)], _on_null(on_null)))


def json_array_agg(on_null: JsonOnNull, item_expr: Any) -> Expression[Any]:
    """Return the array of the values of all rows."""
    return Expression(json_call("JSON_ARRAYAGG", [node_of(item_expr)], _on_null(on_null)))


# Rows around a row


def lag(expr: Any, offset: int = 1, default: Any = None) -> Expression[Any]:
    """Return the value of the row so many places before this one; for ``over()``."""
    return Expression(aggregate("LAG", [node_of(each) for each in (expr, offset, *([] if default is None else [default]))]))


def lead(expr: Any, offset: int = 1, default: Any = None) -> Expression[Any]:
    """Return the value of the row so many places behind this one; for ``over()``."""
    return Expression(aggregate("LEAD", [node_of(each) for each in (expr, offset, *([] if default is None else [default]))]))


# Calls


def call(f: Any, *args: Any) -> Expression[Any]:
    """Return the call of a function: one of Flink's or of the environment by its name, or what ``udf`` and its like returned.

    Raises:
        ProgramError: If it is no function.
    """
    operands = [node_of(each) for each in args]
    if isinstance(f, str):
        named = aggregate(f, operands)
        named.meta["by_name"] = True
        return Expression(named)
    from wiesel.table.udf import UserDefinedFunctionWrapper

    if not isinstance(f, UserDefinedFunctionWrapper):
        raise program_error(
            f"{f!r} cannot be called in expressions", "give the name of a function, or wrap it: udf(f, result_type=...)", ArgumentTypeError
        )
    node = UserCall(this=f"{f._name} {id(f)}", expressions=operands)
    node.meta["function"] = f.function
    return Expression(node)


def call_sql(sql_expression: str) -> Expression[Any]:
    """Return the expression of a text in SQL, without aggregates and queries."""
    require_instance(sql_expression, str, "call_sql() takes an expression as text: it", "give a text")
    if not sql_expression.strip():
        raise ProgramError("call_sql() got an empty text", hint="give an expression of SQL")
    return Expression(Text(this=sql_expression))
