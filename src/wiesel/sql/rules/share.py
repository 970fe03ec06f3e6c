"""Internal. Reuse of common sub-plans of a job.

From the tables upwards, relations that do the same to the same inputs become one object, of which the translator makes one operator. Names
of columns make no difference: operators know columns by their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal, walk
from wiesel.columnar.functions.registry import is_deterministic
from wiesel.sql.plan.relations import ArrowScan, Field, Relation, TableScan

__all__ = ["shared"]


def shared(roots: Sequence[Relation]) -> list[Relation]:
    """Return the relations of a job, in which equal ones are the same object."""
    known: dict[Any, Relation] = {}
    seen: dict[int, tuple[Relation, Relation]] = {}
    found = [_shared(root, known, seen) for root in roots]
    # Who reads a result may know its columns by their names.
    return [made if made.fields == root.fields else root.with_inputs(*made.inputs) for made, root in zip(found, roots, strict=True)]


def _shared(relation: Relation, known: dict[Any, Relation], seen: dict[int, tuple[Relation, Relation]]) -> Relation:
    if id(relation) in seen:
        return seen[id(relation)][1]
    inputs = [_shared(below, known, seen) for below in relation.inputs]
    made = relation
    if any(new is not old for new, old in zip(inputs, relation.inputs, strict=True)):
        made = relation.with_inputs(*inputs)
    key = _key(made)
    if key is not None:
        made = known.setdefault(key, made)
    seen[id(relation)] = (relation, made)  # the relation stays alive, and so its id
    return made


def _key(relation: Relation) -> Any:
    """Return what equal relations over the same inputs have in common; None if the relation is like no other."""
    if isinstance(relation, TableScan):
        table = relation.table
        return (
            TableScan,
            relation.identifier,
            frozenset(table.options.items()),
            str(table.schema),
            relation.columns,
            relation.filters,
            relation.limit,
        )
    if isinstance(relation, ArrowScan):
        return (ArrowScan, id(relation.rows), tuple(field.data_type for field in relation.columns))
    values = {each.name: getattr(relation, each.name) for each in fields(relation)}  # type: ignore[arg-type]
    for expression in _expressions(list(values.values())):
        if not is_deterministic(expression):
            return None
    parts = tuple(_part(value) for value in values.values())
    try:
        hash(parts)
    except TypeError:
        return None
    return (type(relation), *parts)


def _expressions(value: Any) -> list[Expression]:
    if isinstance(value, Expression):
        return [value]
    if isinstance(value, list | tuple):
        return [found for each in value for found in _expressions(each)]
    return []


def _part(value: Any) -> Any:
    """Return a part of a relation such that it is equal to the same part of another that does the same."""
    if isinstance(value, Relation):
        return id(value)
    if isinstance(value, Field):
        return value.data_type, value.time
    if isinstance(value, Expression):
        return tuple(_step(part) for part in walk(value))
    if isinstance(value, list | tuple):
        return tuple(_part(each) for each in value)
    return value


def _step(part: Expression) -> Any:
    """Return a part of an expression; with how many operands a call has, the parts in their order tell the expression."""
    if isinstance(part, Literal):
        return part.data_type, repr(part.value)
    if isinstance(part, InputRef):
        return part.data_type, part.index
    assert isinstance(part, Call)  # noqa: S101 - there are no others
    return part.data_type, part.function, len(part.operands), part.options
