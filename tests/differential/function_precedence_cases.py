"""Functions of users that have names of built-in ones: in SQL, and in expressions of the Table API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["KINDS", "SQL", "TABLE", "outcome", "registered"]

KINDS = ("temporary system", "temporary")
"""Kinds of registered functions."""

SQL: tuple[tuple[str, str], ...] = tuple(
    (name, sql)
    for name, _, sql in (
        line.partition(": ")
        for line in """
UPPER: UPPER(s)
upper: UPPER(s)
plus: a + b
plus: plus(a, b)
minus: a - b
equals: a = b
and: p AND p
ABS: ABS(a)
CONCAT: CONCAT(s, s)
COALESCE: COALESCE(a, b)
MOD: MOD(a, b)
MOD: a % b
SUBSTRING: SUBSTRING(s, 1)
SUBSTRING: SUBSTRING(s FROM 1)
SUBSTR: SUBSTR(s, 1)
TRIM: TRIM(s)
LTRIM: LTRIM(s)
NOW: NOW()
CURRENT_DATE: CURRENT_DATE
IF: IF(p, a, b)
IFNULL: IFNULL(a, b)
CAST: CAST(a AS STRING)
LIKE: s LIKE 'x'
YEAR: YEAR(d)
EXTRACT: EXTRACT(YEAR FROM d)
CHAR_LENGTH: CHAR_LENGTH(s)
CHARACTER_LENGTH: CHARACTER_LENGTH(s)
POSITION: POSITION('a' IN s)
CEIL: CEIL(n)
FLOOR: FLOOR(n)
OVERLAY: OVERLAY(s PLACING 'x' FROM 2)
JSON_VALUE: JSON_VALUE(s, '$.a')
TIMESTAMPADD: TIMESTAMPADD(DAY, 1, ts)
NULLIF: NULLIF(a, b)
IN: a IN (1, 2)
GREATEST: GREATEST(a, b)
PI: PI()
CARDINALITY: CARDINALITY(ARRAY[a])
ARRAY: ARRAY[a]
ROW: ROW(a, b)
TYPEOF: TYPEOF(a)
LEFT: LEFT(s, 1)
RAND: RAND()
UUID: UUID()
POWER: POWER(a, b)
REGEXP_REPLACE: REGEXP_REPLACE(s, 'a', 'b')
TO_TIMESTAMP: TO_TIMESTAMP(s)
myfn: myfn(a)
""".strip().splitlines()
    )
)
"""Names of functions, and expressions of SQL."""


def _table(functions: Any) -> dict[str, Callable[..., Any]]:
    """Return expressions of the Table API over columns a, b (INT), s (STRING) and p (BOOLEAN), by the names of functions."""
    return {
        "plus": lambda a, b, s, p: a + b,
        "PLUS": lambda a, b, s, p: 1 + a,
        "minus": lambda a, b, s, p: a - b,
        "times": lambda a, b, s, p: a * b,
        "divide": lambda a, b, s, p: a / b,
        "mod": lambda a, b, s, p: a % b,
        "equals": lambda a, b, s, p: a == b,
        "notEquals": lambda a, b, s, p: a != b,
        "greaterThan": lambda a, b, s, p: a > b,
        "greaterThanOrEqual": lambda a, b, s, p: a >= b,
        "lessThan": lambda a, b, s, p: a < b,
        "lessThanOrEqual": lambda a, b, s, p: a <= b,
        "and": lambda a, b, s, p: p & p,
        "or": lambda a, b, s, p: p | p,
        "not": lambda a, b, s, p: ~p,
        "isNotTrue": lambda a, b, s, p: ~p,
        "isNull": lambda a, b, s, p: a.is_null,
        "isNotNull": lambda a, b, s, p: a.is_not_null,
        "isTrue": lambda a, b, s, p: p.is_true,
        "isFalse": lambda a, b, s, p: p.is_false,
        "minusPrefix": lambda a, b, s, p: -a,
        "negative": lambda a, b, s, p: -a,
        "between": lambda a, b, s, p: a.between(1, 2),
        "notBetween": lambda a, b, s, p: a.not_between(1, 2),
        "in": lambda a, b, s, p: a.in_(1, 2),
        "upper": lambda a, b, s, p: s.upper_case,
        "UPPER": lambda a, b, s, p: s.upper_case,
        "lower": lambda a, b, s, p: s.lower_case,
        "abs": lambda a, b, s, p: a.abs,
        "ifThenElse": lambda a, b, s, p: p.then(1, 2),
        "ifNull": lambda a, b, s, p: a.if_null(1),
        "like": lambda a, b, s, p: s.like("x%"),
        "substring": lambda a, b, s, p: s.substring(1, 1),
        "charLength": lambda a, b, s, p: s.char_length,
        "trim": lambda a, b, s, p: s.trim(),
        "round": lambda a, b, s, p: a.round(1),
        "sqrt": lambda a, b, s, p: a.sqrt,
        "md5": lambda a, b, s, p: s.md5,
        "power": lambda a, b, s, p: a**b,
        "pi": lambda a, b, s, p: functions.pi(),
        "uuid": lambda a, b, s, p: functions.uuid(),
        "array": lambda a, b, s, p: functions.array(a, b),
        "row": lambda a, b, s, p: functions.row(a, b),
        "concat": lambda a, b, s, p: functions.concat(s, s),
        "currentTimestamp": lambda a, b, s, p: functions.current_timestamp(),
        "call upper": lambda a, b, s, p: functions.call("upper", s),
        "call plus": lambda a, b, s, p: functions.call("plus", a, b),
    }


TABLE = tuple(_table(None))
"""Operators and functions of the Table API by the names that replace them."""


def registered(t_env: Any, kind: str, name: str, udf: Any, types: Any) -> None:
    """Give a function that returns VARBINARY(17) a name."""
    function = udf(lambda *values: None, result_type=types.VARBINARY(17))
    if kind == "temporary system":
        t_env.create_temporary_system_function(name, function)
    else:
        t_env.create_temporary_function(name, function)


def outcome(t_env: Any, api: str, kind: str, case: int, udf: Any, types: Any, functions: Any) -> str:
    """Return whether the function of the user is called, or the built-in one; or that neither can be."""
    name, sql = SQL[case] if api == "sql" else (TABLE[case].removeprefix("call "), "")
    registered(t_env, kind, name, udf, types)
    first = "CAST(1 AS INT), CAST(2 AS INT), CAST('x' AS STRING), CAST(TRUE AS BOOLEAN)"
    rows = f"(VALUES ({first}, DATE '2024-01-01', 1.5, TIMESTAMP '2024-01-01 00:00:00')) AS t (a, b, s, p, d, n, ts)"
    try:
        if api == "sql":
            table = t_env.sql_query(f"SELECT {sql} AS r FROM {rows}")
        else:
            column = functions.col
            expression = _table(functions)[TABLE[case]](column("a"), column("b"), column("s"), column("p"))
            table = t_env.sql_query(f"SELECT a, b, s, p FROM {rows}").select(expression.alias("r"))
        found = table.get_schema().get_field_data_types()[0]
    except Exception:  # noqa: BLE001 - of one system or the other
        return "neither"
    return "user" if "VARBINARY" in str(found).upper() or "VarBinary" in repr(found) else "built-in"
