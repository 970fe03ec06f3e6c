"""Internal. First rows of a table whose rows are updated and only move up, such as counts in descending order.

Of such a table only the rows in place need to be kept, by their keys, and ``-U`` is not needed; Flink calls it the strategy UpdateFast. It
is used where each row makes changes of its own, as the changes are others than those of rows that go and come again.
"""

from __future__ import annotations

from dataclasses import replace

from wiesel.columnar.expressions import InputRef
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.relations import Aggregate, Project, Relation, SortKey, TopN
from wiesel.sql.plan.upsert_keys import upsert_keys

__all__ = ["with_updated_tops"]

_SAME, _RISES, _FALLS = "same", "rises", "falls"
_MOVES = {"COUNT": _RISES, "MAX": _RISES, "MIN": _FALLS}


def with_updated_tops(relation: Relation) -> Relation:
    """Return a relation whose first rows are kept by the key of the rows where that can be."""
    if relation.inputs:
        relation = relation.with_inputs(*map(with_updated_tops, relation.inputs))
    if isinstance(relation, TopN) and relation.last is not None and relation.keys:
        key = _row_key(relation)
        return relation if key is None else replace(relation, row_key=key)
    return relation


def _row_key(relation: TopN) -> tuple[int, ...] | None:
    """Return the key by which rows are updated, if they only move up by that."""
    changes = changes_of(relation.input)
    if changes.deletes or not changes.updates:
        return None
    moves = _moves(relation.input)
    if not all(_moves_up(key, moves.get(key.index)) for key in relation.keys):
        return None
    keys = [tuple(sorted(key)) for key in upsert_keys(relation.input) if key >= set(relation.partition)]
    return min(keys, key=lambda key: (len(key), key), default=None)


def _moves_up(key: SortKey, move: str | None) -> bool:
    return move == _SAME or move == (_FALLS if key.ascending else _RISES)


def _moves(relation: Relation) -> dict[int, str]:
    """Return how the columns of a row change when it is updated; those of which it is not known are left out."""
    if isinstance(relation, Project):
        below = _moves(relation.input)
        refs = ((place, each.index) for place, each in enumerate(relation.expressions) if isinstance(each, InputRef))
        return {place: below[index] for place, index in refs if index in below}
    if isinstance(relation, Aggregate) and relation.grouping_sets is None and changes_of(relation.input).append_only:
        width = len(relation.keys)
        moves = {width + place: _MOVES[call.function] for place, call in enumerate(relation.calls) if call.function in _MOVES}
        return dict.fromkeys(range(width), _SAME) | moves
    return {}
