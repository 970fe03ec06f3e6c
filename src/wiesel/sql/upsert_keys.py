"""Internal. Keys of the rows of a relation: sets of columns by which a later change finds the row that it changes.

Where ``-U`` rows are left out, ``+U`` and ``-D`` refer to the row of the same key. ``_KEYS`` has a line per kind of relation; one without
a line has no keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.columnar.expressions import Call, InputRef
from wiesel.sql.plan import Relation
from wiesel.types.logical import BigIntType, CharType, IntType, SmallIntType, TinyIntType, VarCharType

__all__ = ["Keys", "smallest_key", "upsert_keys"]

Keys = frozenset[frozenset[int]]
_NONE: Keys = frozenset()
_INTEGERS = (TinyIntType, SmallIntType, IntType, BigIntType)


def upsert_keys(relation: Relation) -> Keys:
    """Return the keys of a relation: indexes of its columns. The empty set is the key of a relation with one row at most."""
    find = _KEYS.get(type(relation).__name__)
    return _NONE if find is None else find(relation)


def smallest_key(relation: Relation) -> tuple[int, ...] | None:
    """Return the key with the fewest columns, None if there is none."""
    keys = [tuple(sorted(key)) for key in upsert_keys(relation)]
    return min(keys, key=lambda key: (len(key), key), default=None)


def _of_input(relation: Any) -> Keys:
    return upsert_keys(relation.input)


def _of_scan(relation: Any) -> Keys:
    key = relation.table.schema.primary_key
    if key is None:
        return _NONE
    places = {field.name: index for index, field in enumerate(relation.fields)}
    return frozenset([frozenset(places[name] for name in key.columns)]) if all(name in places for name in key.columns) else _NONE


def _of_projection(relation: Any) -> Keys:
    places: dict[int, int] = {}
    for index, expression in enumerate(relation.expressions):
        if isinstance(expression, InputRef):
            places.setdefault(expression.index, index)
        elif _is_lossless(expression):
            places.setdefault(expression.operands[0].index, index)
    kept = [key for key in upsert_keys(relation.input) if key <= places.keys()]
    return frozenset(frozenset(places[column] for column in key) for key in kept)


def _is_lossless(expression: Any) -> bool:
    """Return whether an expression is a column as a wider type: different values stay different."""
    if not isinstance(expression, Call) or expression.function != "CAST" or not isinstance(expression.operands[0], InputRef):
        return False
    source, wanted = expression.operands[0].data_type, expression.data_type
    if isinstance(wanted, VarCharType):
        return isinstance(source, CharType | VarCharType) and source.length <= wanted.length
    kinds = [_INTEGERS.index(type(each)) if type(each) in _INTEGERS else None for each in (source, wanted)]
    return None not in kinds and kinds[0] <= kinds[1]  # type: ignore[operator]


def _of_groups(relation: Any) -> Keys:
    groups = range(len(relation.keys))
    places = {column: index for index, column in reversed(list(enumerate(relation.keys)))}
    below = [frozenset(places[column] for column in key) for key in upsert_keys(relation.input) if key <= places.keys()]
    return frozenset([frozenset(groups), *below]) if relation.grouping_sets is None else _NONE


def _of_join(relation: Any) -> Keys:
    if relation.type.value in ("SEMI", "ANTI"):
        return upsert_keys(relation.left)
    width = len(relation.left.fields)
    rights = [frozenset(width + column for column in key) for key in upsert_keys(relation.right)]
    return frozenset(left | right for left in upsert_keys(relation.left) for right in rights)


def _of_lookup(relation: Any) -> Keys:
    asked = {column for column, _ in relation.asked}
    return upsert_keys(relation.left) if any(key <= asked for key in upsert_keys(relation.scan)) else _NONE


def _of_top(relation: Any) -> Keys:
    place = relation.partition if relation.last == relation.first else (*relation.partition, len(relation.input.fields))
    keys = upsert_keys(relation.input)
    return keys | {frozenset(place)} if relation.numbered or relation.last == relation.first else keys


_KEYS: dict[str, Callable[[Any], Keys]] = {
    "TableScan": _of_scan,
    "WatermarkAssigner": _of_input,
    "Filter": _of_input,
    "Project": _of_projection,
    "Join": _of_join,
    "TemporalJoin": lambda relation: upsert_keys(relation.left),
    "LookupJoin": _of_lookup,
    "TopN": _of_top,
    "OverAggregate": _of_input,
    "Aggregate": _of_groups,
}
