"""Internal. ORDER BY, LIMIT, OFFSET and FETCH."""

from __future__ import annotations

from sqlglot import exp

from wiesel.sql.binding.problems import problem
from wiesel.sql.binding.selection import Selection
from wiesel.sql.plan import Relation

__all__ = ["ordered", "ordered_selection"]


def ordered_selection(selection: Selection) -> None:
    """Order the rows of a SELECT, and leave some."""
    selection.relation = ordered(selection.queries.sql, selection.node, selection.relation)


def ordered(sql: str, node: exp.Expr, relation: Relation) -> Relation:
    """Return the rows of a query in its order, and those that its LIMIT leaves."""
    for clause, name in (("order", "ORDER BY"), ("limit", "LIMIT"), ("offset", "OFFSET")):
        if node.args.get(clause):
            raise problem(sql, node, f"{name} is not supported in this version")
    return relation
