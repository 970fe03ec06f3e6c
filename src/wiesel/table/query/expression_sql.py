"""Internal. Expressions of the Table API as strings of SQL, for what catalogs keep."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from wiesel.columnar.expressions import Literal
from wiesel.core.errors import ProgramError
from wiesel.sql.language.built_nodes import BuiltIn, Plus, Stand, Text
from wiesel.sql.language.signs import SIGNS
from wiesel.types import logical as t
from wiesel.types.logical_intervals import DayTimeIntervalType, YearMonthIntervalType

__all__ = ["sql_of"]

_SIGNS: dict[type[exp.Expr], str] = {**SIGNS, Plus: "+"}


def sql_of(node: Any) -> str:
    """Return an expression as SQL that means the same.

    Raises:
        ProgramError: If there is no such text, as for functions without a name.
    """
    sign = _SIGNS.get(type(node))
    if sign is not None:
        return f"({sql_of(node.this)} {sign} {sql_of(node.expression)})"
    write = _WRITTEN.get(type(node))
    if write is None:
        raise _without_text(type(node).__name__)
    return write(node)


def _without_text(what: str) -> ProgramError:
    return ProgramError(f"an expression with {what} cannot be kept with a table", hint="give the expression as a text of SQL")


def _constant(node: Stand) -> str:
    bound = node.bound
    if not isinstance(bound, Literal):
        raise _without_text(str(bound))
    kind, value = bound.data_type, bound.value
    if value is None:
        return f"CAST(NULL AS {kind.nullable().as_summary_string()})"
    if isinstance(kind, DayTimeIntervalType):
        return f"INTERVAL '{decimal.Decimal(value) / 1000:f}' SECOND"
    if isinstance(kind, YearMonthIntervalType):
        return f"INTERVAL '{value}' MONTH"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        text = value.replace("'", "''")
        return f"'{text}'" if isinstance(kind, t.CharType) else f"CAST('{text}' AS {kind.nullable().as_summary_string()})"
    if isinstance(value, datetime.date):
        return f"DATE '{value}'"
    if isinstance(value, float):
        return f"CAST('{value!r}' AS {kind.nullable().as_summary_string()})"
    if isinstance(value, int) and isinstance(kind, t.IntType):
        return str(value)
    if isinstance(value, int | decimal.Decimal):
        return f"CAST({value} AS {kind.nullable().as_summary_string()})"
    raise _without_text(str(bound))


def _built_in(node: BuiltIn) -> str:
    name, operands = node.name, [sql_of(operand) for operand in node.expressions]
    if name in ("CAST", "TRY_CAST"):
        return f"{name}({operands[0]} AS {node.options[0].as_summary_string()})"
    if name.startswith("IS ") and len(operands) == 1 and not node.options:
        return f"({operands[0]} {name})"
    if name == "NEGATE":
        return f"(-{operands[0]})"
    if node.options or not name.replace("_", "").isalnum():
        raise _without_text(name)
    return f"{name}({', '.join(operands)})"


def _case(node: Any) -> str:
    branches = " ".join(f"WHEN {sql_of(each.this)} THEN {sql_of(each.args['true'])}" for each in node.args["ifs"])
    return f"CASE {branches} ELSE {sql_of(node.args['default'])} END"


_WRITTEN: dict[type[exp.Expr], Callable[[Any], str]] = {
    exp.Column: lambda node: t.quoted(node.name),
    exp.Dot: lambda node: f"({sql_of(node.this)}).{t.quoted(node.expression.name)}",
    exp.Not: lambda node: f"(NOT {sql_of(node.this)})",
    exp.Anonymous: lambda node: f"{node.name.upper()}({', '.join(map(sql_of, node.expressions))})",
    exp.Case: _case,
    BuiltIn: _built_in,
    Stand: _constant,
    Text: lambda node: f"({node.this})",
}
