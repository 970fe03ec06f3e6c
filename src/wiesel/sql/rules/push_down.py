"""Internal. Conditions go down: to the input whose columns they read, or into the join that they compare two inputs of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal, input_refs, shifted
from wiesel.columnar.functions.registry import call
from wiesel.sql.plan.relations import Filter, Join, JoinType, Project, Relation, TopN
from wiesel.sql.rules.project import read_through

__all__ = ["all_of", "conjuncts", "filtered", "joined"]

_BOUNDS: dict[str, Callable[[int], tuple[int, int | None]]] = {
    "=": lambda limit: (limit, limit),
    "<": lambda limit: (1, limit - 1),
    "<=": lambda limit: (1, limit),
    ">": lambda limit: (limit + 1, None),
    ">=": lambda limit: (limit, None),
}
_TURNED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

_KEEP_LEFT = (JoinType.INNER, JoinType.LEFT, JoinType.SEMI, JoinType.ANTI)
_KEEP_RIGHT = (JoinType.INNER, JoinType.RIGHT)


def conjuncts(condition: Expression | None) -> Iterator[Expression]:
    """Yield the parts of a condition that must all be true."""
    if isinstance(condition, Call) and condition.function == "AND":
        for operand in condition.operands:
            yield from conjuncts(operand)
    elif condition is not None:
        yield condition


def all_of(conditions: Sequence[Expression]) -> Expression | None:
    """Return the condition that is true where all are; None if there are none."""
    found = conditions[0] if conditions else None
    for other in conditions[1:]:
        found = other if found is None else call("AND", [found, other])
    return found


def filtered(relation: Relation, condition: Expression | None) -> Relation:
    """Return the rows of a relation for which a condition is true."""
    here: list[Expression] = []
    for part in conjuncts(condition):
        below = _into(relation, part)
        if below is None:
            here.append(part)
        else:
            relation = below
    rest = all_of(here)
    return relation if rest is None else Filter(relation, rest)


def _into(relation: Relation, part: Expression) -> Relation | None:
    """Return a relation that leaves only rows for which a condition is true; None if it has to be asked above it."""
    if isinstance(relation, Join):
        return _into_join(relation, part)
    if isinstance(relation, TopN):
        return _into_top(relation, part)
    if isinstance(relation, Project):
        if any(not isinstance(relation.expressions[ref], InputRef) for ref in input_refs(part)):
            return None
        below = _into(relation.input, read_through(relation, part))
        return None if below is None else replace(relation, input=below)
    return None


def _into_top(top: TopN, part: Expression) -> TopN | None:
    """Return a TopN with a condition on the number as its bounds, or with one on the columns of the partition below it."""
    refs = input_refs(part)
    if refs and refs <= set(top.partition):
        return replace(top, input=filtered(top.input, part))
    if refs != {len(top.input.fields)} or not isinstance(part, Call) or part.function not in _BOUNDS:
        return None
    one, other = part.operands
    function = part.function if isinstance(one, InputRef) else _TURNED[part.function]
    number, limit = (one, other) if isinstance(one, InputRef) else (other, one)
    if isinstance(limit, Call) and limit.function == "CAST" and isinstance(limit.operands[0], Literal):
        limit = limit.operands[0]
    if not isinstance(number, InputRef) or not isinstance(limit, Literal) or not isinstance(limit.value, int):
        return None
    first, last = _BOUNDS[function](limit.value)
    ends = [end for end in (top.last, last) if end is not None]
    return replace(top, first=max(top.first, first), last=min(ends) if ends else None)


def _into_join(join: Join, part: Expression) -> Join | None:
    """Return a join that leaves only pairs for which a condition is true; None if it has to be asked behind the join."""
    refs, width = input_refs(part), len(join.left.fields)
    if refs and max(refs) < width and join.type in _KEEP_LEFT:
        return replace(join, left=filtered(join.left, part))
    if refs and min(refs) >= width and join.type in _KEEP_RIGHT:
        return replace(join, right=filtered(join.right, shifted(part, -width)))
    if join.type is JoinType.INNER:
        return replace(join, condition=all_of([*conjuncts(join.condition), part]))
    return None


def joined(join: Join) -> Join:
    """Return a join of which those parts of the condition that read one side are asked before it, where rows without partner allow it."""
    width = len(join.left.fields)
    left, right, here = join.left, join.right, []
    for part in conjuncts(join.condition):
        refs = input_refs(part)
        if refs and max(refs) < width and join.type in (JoinType.INNER, JoinType.RIGHT, JoinType.SEMI):
            left = filtered(left, part)
        elif refs and min(refs) >= width and join.type in (JoinType.INNER, JoinType.LEFT, JoinType.SEMI, JoinType.ANTI):
            right = filtered(right, shifted(part, -width))
        else:
            here.append(part)
    return replace(join, left=left, right=right, condition=all_of(here))
