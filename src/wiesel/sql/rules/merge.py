"""Internal. Projections and filters that follow each other become one of each, so that rows pass one operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal, walk
from wiesel.columnar.functions.registry import is_deterministic
from wiesel.columnar.functions.user_functions import is_user_call
from wiesel.sql.plan.relations import Filter, Project, Relation
from wiesel.sql.rules.project import read_through
from wiesel.sql.rules.push_down import all_of

__all__ = ["merged"]


def merged(relation: Relation) -> Relation:
    """Return a relation of the same fields with fewer projections and filters."""
    if relation.inputs:
        relation = relation.with_inputs(*map(merged, relation.inputs))
    while True:
        found = _merged_once(relation)
        if found is relation:
            return relation
        relation = found


def _merged_once(relation: Relation) -> Relation:
    if isinstance(relation, Filter):
        return _filter(relation)
    return _projection(relation) if isinstance(relation, Project) else relation


def _filter(relation: Filter) -> Relation:
    below = relation.input
    if isinstance(below, Filter):
        both = all_of([below.condition, relation.condition])
        return relation if both is None else Filter(below.input, both)
    if not isinstance(below, Project) or not _can_be_read_through(below, [relation.condition], again=True):
        return relation
    return replace(below, input=merged(Filter(below.input, read_through(below, relation.condition))))


def _projection(relation: Project) -> Relation:
    below = relation.input
    if isinstance(below, Project) and _can_be_read_through(below, relation.expressions, again=False):
        return replace(relation, input=below.input, expressions=tuple(read_through(below, each) for each in relation.expressions))
    same = len(relation.expressions) == len(below.fields) and all(
        isinstance(each, InputRef) and each.index == index for index, each in enumerate(relation.expressions)
    )
    return below if same and relation.columns == below.fields else relation


def _can_be_read_through(below: Project, above: Sequence[Expression], *, again: bool) -> bool:
    """Return whether expressions may compute what they read themselves; ``again``: it is computed for the projection as well.

    Functions of users are called once per row, and what has another value each time is computed once.
    """
    reads = Counter(part.index for expression in above for part in walk(expression) if isinstance(part, InputRef))
    for index, count in reads.items():
        read = below.expressions[index]
        if isinstance(read, InputRef | Literal):
            continue
        if again and (not is_deterministic(read) or any(isinstance(part, Call) and is_user_call(part) for part in walk(read))):
            return False
        if not again and count > 1:
            return False
    return True
