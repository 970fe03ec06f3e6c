"""Internal. The arguments of table functions, by place or name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.columnar.expressions import Call, Literal
from wiesel.sql.binding.problems import meant, problem
from wiesel.sql.binding.scope import Scope
from wiesel.sql.language import nodes
from wiesel.sql.plan.relations import Relation

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["map_of_strings", "named_arguments", "table_argument"]


def named_arguments(sql: str, node: exp.Expr, name: str, names: Sequence[str], how: str = "") -> dict[str, Any]:
    """Return the arguments of a call by their names.

    Args:
        sql: The statement.
        node: The call.
        name: The function.
        names: Its arguments in their order, in capitals; those in brackets may be left out.
        how: What to write, for errors.

    Raises:
        SqlParseError: If one is not known, comes twice or is missing.
    """
    plain = [each.strip("[]") for each in names]
    known = f"the arguments are {', '.join(names)}"
    found: dict[str, Any] = {}
    for place, argument in enumerate(node.expressions):
        if isinstance(argument, nodes.NamedArgument):
            key, value = argument.this.name.upper(), argument.expression
        else:
            key, value = plain[place] if place < len(plain) else "", argument
        if key not in plain or key in found:
            raise problem(sql, argument, f"{name} has no such argument", meant(key, plain) or known)
        found[key] = value
    missing = [each for each in names if each[0] != "[" and each not in found]
    if missing:
        raise problem(sql, node, f"{name} needs the argument {missing[0]}", how or known)
    return found


def table_argument(queries: QueryBinder, data: exp.Expr) -> Relation:
    """Return the plan of a table or query that is an argument."""
    if isinstance(data.this, exp.Table):
        return queries.table(data.this)
    return queries.bind(data.this)


def map_of_strings(queries: QueryBinder, node: exp.Expr | None, name: str) -> dict[str, str]:
    """Return a map of literal strings; an empty one where there is none.

    Raises:
        SqlParseError: If it is something else; ``name`` is that of the argument.
    """
    if node is None:
        return {}
    bound: Any = queries.expressions(Scope([])).bind(node)
    # Strings of several lengths are cast to one type.
    operands = [each.operands[0] if isinstance(each, Call) and each.function == "CAST" else each for each in getattr(bound, "operands", ())]
    strings = [each.value for each in operands if isinstance(each, Literal) and isinstance(each.value, str)]
    if getattr(bound, "function", "") != "MAP" or len(strings) < len(operands):
        raise problem(queries.sql, node, f"{name} is a map of strings", "write MAP['key', 'value']")
    return dict(zip(strings[::2], strings[1::2], strict=True))
