"""Internal. Upsert keys of a relation: sets of columns by which a later change finds the row that it changes.

Where ``-U`` rows are left out, ``+U`` and ``-D`` refer to the row of the same key. ``_KEYS`` has a line per kind of relation; one without
a line has no keys.

The changes of a key have to come in their order, so all of them have to come from one subtask. An operator that is partitioned by columns
keeps the keys that contain these columns only, as in Flink (FlinkRelMdUpsertKeys). Others are still unique, but the deletion of a row could
arrive behind the insertion of the one that replaces it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from wiesel.columnar.expressions import Call, InputRef, input_refs
from wiesel.sql.plan.equations import equi_keys
from wiesel.sql.plan.relations import JoinType, Relation
from wiesel.types.logical import BigIntType, CharType, IntType, SmallIntType, TinyIntType, VarCharType
from wiesel.types.row import RowKind

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


def _of_partitioned(relation: Any) -> Keys:
    return frozenset(key for key in upsert_keys(relation.input) if key >= set(relation.partition))


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
    return frozenset([frozenset(range(len(relation.keys)))]) if relation.grouping_sets is None else _NONE


def _of_join(relation: Any) -> Keys:
    width = len(relation.left.fields)
    keys = equi_keys(relation.condition, width)
    by_left = [frozenset(input_refs(one)) for one in keys.left]
    lefts = upsert_keys(relation.left)
    if relation.type in (JoinType.SEMI, JoinType.ANTI):
        return frozenset(key for key in lefts if all(columns <= key for columns in by_left))
    by_right = [frozenset(width + column for column in input_refs(other)) for other in keys.right]
    both = (left | frozenset(width + column for column in right) for left in lefts for right in upsert_keys(relation.right))
    # Rows that are padded with NULL are where the columns of their own side are.
    needs_left, needs_right = relation.type in (JoinType.LEFT, JoinType.FULL), relation.type in (JoinType.RIGHT, JoinType.FULL)
    return frozenset(
        key
        for key in both
        if all(
            (one <= key or not needs_left) and (other <= key or not needs_right) and (one <= key or other <= key)
            for one, other in zip(by_left, by_right, strict=True)
        )
    )


def _of_lookup(relation: Any) -> Keys:
    asked = {column for column, _ in relation.asked}
    return upsert_keys(relation.left) if any(key <= asked for key in upsert_keys(relation.scan)) else _NONE


def _of_top(relation: Any) -> Keys:
    place = relation.partition if relation.last == relation.first else (*relation.partition, len(relation.input.fields))
    keys = _of_partitioned(relation)
    return keys | {frozenset(place)} if relation.numbered or relation.last == relation.first else keys


def _of_process(relation: Any) -> Keys:
    """Return the columns of PARTITION BY, if rows that the function returns take the place of earlier ones of their key."""
    mode = relation.changelog_mode()
    if not mode.contains(RowKind.UPDATE_AFTER) or mode.contains(RowKind.UPDATE_BEFORE):
        return _NONE
    ends = list(itertools.accumulate(len(table.keys) for table in relation.tables))
    return frozenset(frozenset(range(end - len(table.keys), end)) for table, end in zip(relation.tables, ends, strict=True))


_KEYS: dict[str, Callable[[Any], Keys]] = {
    "TableScan": _of_scan,
    "WatermarkAssigner": _of_input,
    "Filter": _of_input,
    "Project": _of_projection,
    "Join": _of_join,
    "TemporalJoin": lambda relation: upsert_keys(relation.left),
    "LookupJoin": _of_lookup,
    "TopN": _of_top,
    "OverAggregate": _of_partitioned,
    "Aggregate": _of_groups,
    "ProcessTable": _of_process,
}
