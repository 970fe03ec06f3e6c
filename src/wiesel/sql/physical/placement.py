"""Internal. Existing hash distribution of rows; avoids redundant shuffles."""

from __future__ import annotations

from collections.abc import Sequence

from wiesel.columnar.expressions import Expression, InputRef
from wiesel.sql.plan.equations import equi_keys
from wiesel.sql.plan.relations import Filter, Join, JoinType, Project, Relation, TopN

__all__ = ["lies_by"]

_Place = frozenset[int]
"""The columns with the value at a place of the key, which are equal: those of either side of a join."""
_LEFT = (JoinType.INNER, JoinType.LEFT, JoinType.SEMI, JoinType.ANTI)
_RIGHT = (JoinType.INNER, JoinType.RIGHT)


def lies_by(relation: Relation, columns: Sequence[int]) -> bool:
    """Return whether each row is in the subtask to which an exchange by these columns, in this order, would send it."""
    key = _key_of(relation)
    return key is not None and len(key) == len(columns) > 0 and all(column in place for column, place in zip(columns, key, strict=True))


def _key_of(relation: Relation) -> tuple[_Place, ...] | None:
    """Return the columns of the last hash distribution of rows; None if unknown."""
    if getattr(relation, "parallelism", None) is not None:
        return None  # what follows has another one, most likely
    if isinstance(relation, Filter):
        return _key_of(relation.input)
    if isinstance(relation, Project):
        below = _key_of(relation.input)
        return None if below is None else tuple(_seen(place, relation.expressions) for place in below)
    if isinstance(relation, TopN):
        return tuple(frozenset({column}) for column in relation.partition)
    return _key_of_join(relation) if isinstance(relation, Join) else None


def _seen(place: _Place, expressions: Sequence[Expression]) -> _Place:
    return frozenset(index for index, part in enumerate(expressions) if isinstance(part, InputRef) and part.index in place)


def _key_of_join(relation: Join) -> tuple[_Place, ...] | None:
    width = len(relation.left.fields)
    keys = equi_keys(relation.condition, width)
    found: list[_Place] = []
    for left, right in zip(keys.left, keys.right, strict=True):
        if not isinstance(left, InputRef) or not isinstance(right, InputRef):
            return None  # distributed by a generated column
        lefts = {left.index} if relation.type in _LEFT else set[int]()
        rights = {right.index + width} if relation.type in _RIGHT else set[int]()
        found.append(frozenset(lefts | rights))
    return tuple(found)
