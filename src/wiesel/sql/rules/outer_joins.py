"""Internal. An outer join becomes an inner one where a condition above it leaves out the rows that are padded with NULL.

So does the join with a subquery that returns one value: ``WHERE price > (SELECT AVG(price) FROM orders)``.
"""

from __future__ import annotations

from dataclasses import replace

from wiesel.columnar.expressions import Call, Expression, InputRef, input_refs
from wiesel.sql.plan.relations import Filter, Join, JoinType, Relation
from wiesel.sql.rules.push_down import conjuncts, filtered

__all__ = ["with_inner_joins"]

_COMPARISONS = frozenset(["=", "<>", "<", "<=", ">", ">="])
_STRICT = frozenset(["+", "-", "*", "/", "%", "NEGATE", "CAST"])
"""Functions that return NULL if an operand is NULL."""


def with_inner_joins(relation: Relation) -> Relation:
    """Return a relation with the same rows, with inner joins where outer ones are not needed."""
    if relation.inputs:
        relation = relation.with_inputs(*map(with_inner_joins, relation.inputs))
    if not isinstance(relation, Filter) or not isinstance(relation.input, Join):
        return relation
    join = relation.input
    width = len(join.left.fields)
    padded = {JoinType.LEFT: range(width, len(join.columns)), JoinType.RIGHT: range(width)}.get(join.type)
    if padded is None or not any(_refuses_null(part, padded) for part in conjuncts(relation.condition)):
        return relation
    return filtered(replace(join, type=JoinType.INNER), relation.condition)


def _refuses_null(condition: Expression, columns: range) -> bool:
    """Return whether a condition is not true if columns are NULL."""
    if not isinstance(condition, Call):
        return False
    if condition.function == "IS NOT NULL":
        return _is_strict(condition.operands[0], columns)
    return condition.function in _COMPARISONS and any(_is_strict(operand, columns) for operand in condition.operands)


def _is_strict(expression: Expression, columns: range) -> bool:
    """Return whether an expression is NULL if columns are."""
    if isinstance(expression, InputRef):
        return expression.index in columns
    if not isinstance(expression, Call) or expression.function not in _STRICT or not input_refs(expression):
        return False
    return any(_is_strict(operand, columns) for operand in expression.operands)
