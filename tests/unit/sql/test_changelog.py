"""Which changes relations emit and need, and their keys."""

from __future__ import annotations

import pytest

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal
from wiesel.core.errors import ProgramError
from wiesel.sql.plan.changelog import ALL_CHANGES, APPEND, UPSERTS, ChangelogPlan, changes_of, require_append
from wiesel.sql.plan.relations import Aggregate, AggregateCall, Field, Filter, Join, JoinType, Project, Relation, Union, Values
from wiesel.sql.plan.upsert_keys import smallest_key, upsert_keys
from wiesel.types.data_types import DataTypes
from wiesel.types.row import RowKind

ROWS = Values((), (Field("a", DataTypes.INT()), Field("b", DataTypes.INT())))
TRUE = Literal(DataTypes.BOOLEAN(False), True)


def counted(below: Relation, *keys: int) -> Aggregate:
    count = AggregateCall("COUNT", (), DataTypes.BIGINT(False))
    return Aggregate(below, keys, (count,), (*(below.fields[key] for key in keys), Field("n", DataTypes.BIGINT(False))))


def columns(below: Relation, *places: int) -> Project:
    taken: tuple[Expression, ...] = tuple(InputRef(below.fields[place].data_type, place) for place in places)
    return Project(below, taken, tuple(below.fields[place] for place in places))


def test_what_relations_emit() -> None:
    once = counted(ROWS, 0)
    assert changes_of(columns(ROWS, 1)) == APPEND
    assert changes_of(once) == changes_of(Filter(once, TRUE)) == UPSERTS
    assert changes_of(counted(once, 1)) == ALL_CHANGES
    assert changes_of(Union((ROWS, once), ROWS.fields)) == UPSERTS
    assert changes_of(Aggregate(ROWS, (0,), (), ROWS.fields[:1])) == APPEND
    assert ALL_CHANGES.kinds(update_before=False) == (RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.DELETE)


def test_old_rows_are_sent_where_they_are_needed() -> None:
    below = counted(ROWS, 0)
    above = columns(counted(below, 1), 0)
    changes = ChangelogPlan()
    changes.add(above, update_before=False)
    assert changes.sends_before(below)
    assert not changes.sends_before(above)
    assert not changes.sends_before(above.input)
    changes.add(Filter(above, TRUE), update_before=False)
    assert changes.sends_before(above), "a filter takes back what passed before"
    assert changes.sends_before(above.input)


def test_keys() -> None:
    count = counted(ROWS, 0, 1)
    assert upsert_keys(ROWS) == frozenset()
    assert upsert_keys(columns(count, 2, 1, 0)) == {frozenset({1, 2})}
    assert upsert_keys(columns(count, 2, 1)) == frozenset()
    # The two other columns are unique as well, but changes of one row come from the subtasks of all counts, in any order.
    assert upsert_keys(counted(count, 2, 1, 0)) == {frozenset({0, 1, 2})}
    assert smallest_key(counted(count, 2, 1, 0)) == (0, 1, 2)
    assert smallest_key(counted(ROWS)) == ()


@pytest.mark.parametrize(
    ("kind", "on", "keys"),
    [
        ("INNER", (0, 0), {frozenset({0, 2})}),  # the groups of both sides
        ("INNER", (0, 1), {frozenset({0, 2})}),  # the group of the left side is what rows are partitioned by
        ("INNER", (1, 1), set()),  # counts: a group moves from subtask to subtask
        ("LEFT", (0, 1), {frozenset({0, 2})}),
        ("LEFT", (1, 0), set()),  # rows without a match are where their counts are
        ("RIGHT", (1, 0), {frozenset({0, 2})}),
        ("FULL", (0, 1), set()),
        ("FULL", (0, 0), {frozenset({0, 2})}),
        ("SEMI", (0, 1), {frozenset({0})}),
        ("ANTI", (1, 0), set()),
    ],
)
def test_keys_of_joins_contain_what_rows_are_partitioned_by(kind: str, on: tuple[int, int], keys: set[frozenset[int]]) -> None:
    left = counted(ROWS, 0)
    condition = Call(DataTypes.BOOLEAN(), "=", tuple(InputRef(left.fields[c].data_type, c + side * 2) for side, c in enumerate(on)))
    fields = left.fields if kind in ("SEMI", "ANTI") else (*left.fields, *left.fields)
    assert upsert_keys(Join(left, left, JoinType(kind), condition, fields)) == keys


def test_readers_of_new_rows_refuse_others() -> None:
    require_append(ROWS, "to_data_stream()")
    with pytest.raises(ProgramError, match="to_data_stream\\(\\) takes new rows only"):
        require_append(counted(ROWS, 0), "to_data_stream()")
