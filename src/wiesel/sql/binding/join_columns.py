"""Internal. The columns of joins, and which of them have time."""

from __future__ import annotations

from dataclasses import replace

from wiesel.sql.binding.selection import unique_names
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.interval_joins import interval_of
from wiesel.sql.plan.relations import Field, Join, JoinType, Relation
from wiesel.sql.plan.window_relations import windows_of_join

__all__ = ["join_columns", "timed"]


def join_columns(left: Relation, right: Relation, kind: JoinType) -> tuple[Field, ...]:
    """Return the columns of a join. None of them has time: rows may come late."""
    if kind in (JoinType.SEMI, JoinType.ANTI):
        return tuple(replace(field, time=None) for field in left.fields)
    sides = [
        (left, kind in (JoinType.RIGHT, JoinType.FULL)),
        (right, kind in (JoinType.LEFT, JoinType.FULL)),
    ]
    fields = [(field, may_miss) for side, may_miss in sides for field in side.fields]
    names = unique_names([field.name for field, _ in fields])
    return tuple(
        Field(name, field.data_type.nullable() if may_miss else field.data_type)
        for name, (field, may_miss) in zip(names, fields, strict=True)
    )


def timed(join: Join) -> Join:
    """Return a join of windows or within bounds of time with the times of its inputs: watermarks do not overtake its rows."""
    if windows_of_join(join) is None and not _is_within_bounds(join):
        return join
    if join.type in (JoinType.SEMI, JoinType.ANTI):
        return replace(join, columns=join.left.fields)
    width = len(join.left.fields)
    missing = {JoinType.LEFT: (False, True), JoinType.RIGHT: (True, False), JoinType.FULL: (True, True)}.get(join.type, (False, False))
    of = (*join.left.fields, *join.right.fields)
    columns = [
        field if missing[index >= width] else replace(field, time=each.time)
        for index, (field, each) in enumerate(zip(join.columns, of, strict=True))
    ]
    return replace(join, columns=tuple(columns))


def _is_within_bounds(join: Join) -> bool:
    return interval_of(join) is not None and changes_of(join.left).append_only and changes_of(join.right).append_only
