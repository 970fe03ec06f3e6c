"""Internal. Common subexpressions, so that each is evaluated once per batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal, walk
from wiesel.columnar.functions.registry import is_deterministic

__all__ = ["with_common_parts"]


def with_common_parts(expressions: Sequence[Expression]) -> tuple[list[Expression], frozenset[int]]:
    """Return the expressions with equal calls replaced by one object, and the ids of repeated calls."""
    known: dict[Any, Expression] = {}
    made = [_unified(expression, known)[0] for expression in expressions]
    times: Counter[int] = Counter(id(part) for each in made for part in walk(each) if isinstance(part, Call))
    return made, frozenset(
        id(part) for each in made for part in walk(each) if isinstance(part, Call) and times[id(part)] > 1 and is_deterministic(part)
    )


def _unified(expression: Expression, known: dict[Any, Expression]) -> tuple[Expression, Any]:
    """Return an expression, and a key shared by equal ones."""
    if isinstance(expression, InputRef):
        return expression, (expression.data_type, expression.index)
    if isinstance(expression, Literal):
        # Zeros of both signs are equal in Python.
        return expression, (expression.data_type, repr(expression.value))
    assert isinstance(expression, Call)  # noqa: S101 - there are no others
    parts = [_unified(operand, known) for operand in expression.operands]
    key: Any = (expression.data_type, expression.function, expression.options, tuple(key for _, key in parts))
    try:
        hash(key)
    except TypeError:
        key = id(expression)  # unique
    if key not in known:
        known[key] = replace(expression, operands=tuple(part for part, _ in parts))
    return known[key], key
