"""Random expressions, each as Flink and as DuckDB write it.

Only what means the same to both is made. Left out, as it does not: ``/`` (DuckDB divides integers into fractions, and by zero into NULL),
``AVG`` of decimals (a DOUBLE in DuckDB), GREATEST, LEAST and CONCAT (which skip NULLs in DuckDB), negative places in SUBSTRING, numbers
that overflow, and functions that depend on the order of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tests.unit.random_sql.choices import Choices

__all__ = ["Column", "Sql", "boolean", "both", "value"]

TYPES = ("INT", "STRING", "BIGINT", "DOUBLE", "DECIMAL", "BOOLEAN", "DATE", "TIMESTAMP")
NUMBERS = ("INT", "BIGINT", "DOUBLE", "DECIMAL")


class Sql(NamedTuple):
    """A piece of SQL as each of the two engines writes it."""

    flink: str
    duck: str


@dataclass(frozen=True)
class Column:
    """What an expression can read."""

    sql: Sql
    type: str
    name: str = ""


def same(text: str) -> Sql:
    """Return SQL that both write alike."""
    return Sql(text, text)


def both(pattern: str, *parts: Sql, duck: str | None = None) -> Sql:
    """Return the pattern with ``{}`` filled by parts; ``duck`` is DuckDB's, if it is another."""
    return Sql(pattern.format(*(part.flink for part in parts)), (duck or pattern).format(*(part.duck for part in parts)))


_LITERALS = {
    "INT": ("0", "1", "2", "3", "-1", "7"),
    "BIGINT": ("CAST(1 AS BIGINT)", "CAST(2000000014 AS BIGINT)", "CAST(-3 AS BIGINT)"),
    "DOUBLE": ("CAST(0.5 AS DOUBLE)", "CAST(-1.25 AS DOUBLE)", "CAST(2 AS DOUBLE)"),
    "DECIMAL": ("0.5", "1.25", "CAST(-0.75 AS DECIMAL(10, 2))", "CAST(1 AS DECIMAL(10, 2))"),
    "STRING": ("'a'", "'b'", "''", "'ab'", "'é%'"),
    "BOOLEAN": ("TRUE", "FALSE"),
    "DATE": ("DATE '2024-02-29'", "DATE '2024-03-01'"),
    "TIMESTAMP": ("TIMESTAMP '2024-02-28 23:59:34.25'", "TIMESTAMP '2024-02-29 00:00:00'"),
}
_NAMES = {"DECIMAL": "DECIMAL(10, 2)", "TIMESTAMP": "TIMESTAMP(3)"}
_NAMES_OF_DUCK = {"DECIMAL": "DECIMAL(10, 2)", "TIMESTAMP": "TIMESTAMP"}


def literal(choices: Choices, kind: str, *, null: bool = True) -> Sql:
    """Return a literal of a type, or NULL."""
    if null and choices.chance(8):
        return Sql(f"CAST(NULL AS {_NAMES.get(kind, kind)})", f"CAST(NULL AS {_NAMES_OF_DUCK.get(kind, kind)})")
    return same(choices.of(_LITERALS[kind]))


def leaf(choices: Choices, columns: list[Column], kind: str) -> Sql:
    """Return a column or a literal."""
    found = [column for column in columns if column.type == kind]
    if found and not choices.chance(20):
        return choices.of(found).sql
    return literal(choices, kind)


_SAME_OF = {
    # Multiplied are columns and literals only, so that nothing overflows: see value().
    "INT": (("({} + {})", "INT", "INT"), ("({} - {})", "INT", "INT"), ("ABS({})", "INT"), ("MOD({}, 3)", "INT"),
            ("CHAR_LENGTH({})", "STRING"),
            ("EXTRACT(DAY FROM {})", "DATE"), ("EXTRACT(HOUR FROM {})", "TIMESTAMP"), ("POSITION('b' IN {})", "STRING"), ("(- {})", "INT")),
    "BIGINT": (("({} + {})", "BIGINT", "INT"), ("({} - {})", "BIGINT", "BIGINT"), ("CAST({} AS BIGINT)", "INT"), ("ABS({})", "BIGINT")),
    "DOUBLE": (("({} + {})", "DOUBLE", "DOUBLE"), ("({} - {})", "DOUBLE", "INT"), ("CAST({} AS DOUBLE)", "INT"), ("FLOOR({})", "DOUBLE"),
               ("CEIL({})", "DOUBLE"), ("ABS({})", "DOUBLE"), ("(- {})", "DOUBLE"), ("({} + {})", "DECIMAL", "DOUBLE"),
               ("CAST({} AS DOUBLE)", "DECIMAL")),
    "DECIMAL": (("({} + {})", "DECIMAL", "DECIMAL"), ("({} - {})", "DECIMAL", "INT"), ("ABS({})", "DECIMAL"),
                ("CAST({} AS DECIMAL(14, 1))", "DECIMAL"), ("CAST({} AS DECIMAL(12, 3))", "INT"), ("(- {})", "DECIMAL")),
    "STRING": (("({} || {})", "STRING", "STRING"), ("UPPER({})", "STRING"), ("LOWER({})", "STRING"), ("TRIM({})", "STRING"),
               ("SUBSTRING({} FROM 1 FOR 2)", "STRING"), ("REPLACE({}, 'b', 'xy')", "STRING"), ("CAST({} AS STRING)", "INT"),
               ("CAST({} AS STRING)", "DATE"), ("SUBSTRING({} FROM 2)", "STRING")),
    "BOOLEAN": (),
    "DATE": (("CAST({} AS DATE)", "TIMESTAMP"),),
    "TIMESTAMP": (("({} + INTERVAL '1' DAY)", "TIMESTAMP"), ("({} - INTERVAL '90' MINUTE)", "TIMESTAMP")),
}  # fmt: skip
_OTHERS = {
    "INT": (("CAST({} AS INT)", "CAST(trunc({}) AS INT)", "DOUBLE"), ("CAST({} AS INT)", "CAST(trunc({}) AS INT)", "DECIMAL")),
    "STRING": (("CAST({} AS STRING)", "UPPER(CAST({} AS STRING))", "BOOLEAN"),),
    "DATE": (("({} + INTERVAL '1' DAY)", "CAST({} + INTERVAL '1' DAY AS DATE)", "DATE"),),
    "TIMESTAMP": (("FLOOR({} TO HOUR)", "date_trunc('hour', {})", "TIMESTAMP"),
                  ("CAST({} AS TIMESTAMP(3))", "CAST({} AS TIMESTAMP)", "DATE")),
}  # fmt: skip


def value(choices: Choices, columns: list[Column], kind: str, depth: int = 2) -> Sql:
    """Return an expression of a type."""
    what = choices.below(10) if depth > 0 else 0
    if what < 4:
        return leaf(choices, columns, kind)
    if kind == "BOOLEAN":
        return boolean(choices, columns, depth)
    if what == 4:
        return _conditional(choices, columns, kind, depth)
    if what == 5 and kind in ("INT", "DECIMAL", "DOUBLE"):
        return both("({} * {})", leaf(choices, columns, kind), leaf(choices, columns, "INT"))
    others = _OTHERS.get(kind, ())
    chosen = choices.below(len(_SAME_OF[kind]) + len(others))
    if chosen < len(_SAME_OF[kind]):
        pattern, *kinds = _SAME_OF[kind][chosen]
        return both(pattern, *(value(choices, columns, each, depth - 1) for each in kinds))
    pattern, duck, operand = others[chosen - len(_SAME_OF[kind])]
    return both(pattern, value(choices, columns, operand, depth - 1), duck=duck)


def _conditional(choices: Choices, columns: list[Column], kind: str, depth: int) -> Sql:
    first, second = (value(choices, columns, kind, depth - 1) for _ in range(2))
    form = choices.below(4)
    if form == 0:
        return both("COALESCE({}, {})", first, second)
    if form == 1:
        return both("NULLIF({}, {})", first, second)
    condition = boolean(choices, columns, depth - 1)
    if form == 2:
        return both("CASE WHEN {} THEN {} ELSE {} END", condition, first, second)
    return both("CASE WHEN {} THEN {} END", condition, first)


_SIGNS = ("=", "<", ">", "<>", "<=", ">=")
_TESTS = ("IS NULL", "IS NOT NULL")
_TRUTHS = ("IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE")


def boolean(choices: Choices, columns: list[Column], depth: int = 2) -> Sql:
    """Return a condition."""
    form = choices.below(12) if depth > 0 else choices.below(3)
    kind = choices.of(TYPES)
    if form == 0:
        return both(f"({{}} {choices.of(_TESTS)})", value(choices, columns, kind, depth - 1))
    if form <= 2:
        operands = [value(choices, columns, each, depth - 1) for each in _comparable(choices, kind)]
        return both(f"({{}} {choices.of(_SIGNS)} {{}})", *operands)
    if form <= 5:
        sign = choices.of(("AND", "OR"))
        return both(f"({{}} {sign} {{}})", boolean(choices, columns, depth - 1), boolean(choices, columns, depth - 1))
    if form == 6:
        return both("(NOT {})", boolean(choices, columns, depth - 1))
    if form == 7:
        return both(f"({{}} {choices.of(_TRUTHS)})", boolean(choices, columns, depth - 1))
    negated = choices.of(("", "NOT "))
    if form == 8:
        items = [value(choices, columns, kind, 0) for _ in range(1 + choices.below(3))]
        return both(f"({{}} {negated}IN ({', '.join(['{}'] * len(items))}))", value(choices, columns, kind, depth - 1), *items)
    if form == 9:
        kind = choices.of(("INT", "STRING", "DECIMAL", "DATE", "TIMESTAMP", "DOUBLE", "BIGINT"))
        return both(f"({{}} {negated}BETWEEN {{}} AND {{}})", *(value(choices, columns, kind, depth - 1) for _ in range(3)))
    if form == 10:
        pattern = choices.of(("'a%'", "'%b%'", "'_'", "''", "'%%'", "'é%'"))
        return both(f"({{}} {negated}LIKE {pattern})", value(choices, columns, "STRING", depth - 1))
    return both(f"({{}} IS {negated}DISTINCT FROM {{}})", *(value(choices, columns, kind, depth - 1) for _ in range(2)))


def _comparable(choices: Choices, kind: str) -> tuple[str, str]:
    return (kind, choices.of(NUMBERS)) if kind in NUMBERS and choices.chance(30) else (kind, kind)
