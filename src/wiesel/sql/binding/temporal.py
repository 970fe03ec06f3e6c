"""Internal. Joins FOR SYSTEM_TIME AS OF the time of the left side: event time here, processing time in ``lookups``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from wiesel.columnar.expressions import Call, Expression, InputRef, input_refs
from wiesel.sql.binding.lookups import lookup_join
from wiesel.sql.binding.problems import problem
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.binding.selection import bound_condition, unique_names
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.relations import Field, JoinType, Project, Relation, TimeAttribute, TopN, walk
from wiesel.sql.plan.temporal_relations import TemporalJoin
from wiesel.sql.plan.upsert_keys import upsert_keys
from wiesel.sql.rules.push_down import conjuncts
from wiesel.types.logical import quoted

if TYPE_CHECKING:
    from wiesel.sql.binding.joins import Item
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["is_temporal", "temporal_join"]


def is_temporal(node: exp.Expr) -> bool:
    """Return whether an item of FROM is a table as of a time."""
    return isinstance(node, exp.Table) and node.args.get("version") is not None


def temporal_join(queries: QueryBinder, left: Relation, scope: Scope, node: exp.Join, item: Item) -> tuple[Relation, Scope]:
    """Return rows beside the versions of the rows of a table that were there at their time.

    Raises:
        SqlParseError: If the time is none that rows can wait for, or the table has no versions.
    """
    kind = JoinType(node.args.get("side") or "INNER")
    if kind not in (JoinType.INNER, JoinType.LEFT):
        message = f"a {kind.value} JOIN with FOR SYSTEM_TIME AS OF is not possible"
        raise problem(queries.sql, node, message, "use JOIN or LEFT JOIN: rows of the left side ask for versions, not the other way")
    left_time = _left_time(queries, left, scope, node.this)
    table = node.this.copy()
    table.set("version", None)
    right, source = item(queries, table)
    if source.name is not None and scope.source(source.name) is not None:
        raise problem(queries.sql, node, f"there are two tables {quoted(source.name)}", "give one of them another name with AS")
    condition = _condition(queries, scope, source, len(left.fields), node)
    missing = kind is JoinType.LEFT
    fields = tuple(Field(field.name, field.data_type.nullable() if missing else field.data_type) for field in source.fields)
    labels = unique_names([field.name for field in (*left.fields, *right.fields)])
    columns = tuple(replace(field, name=label) for field, label in zip((*left.fields, *fields), labels, strict=True))
    if left_time is None:
        relation: Relation = lookup_join(queries, (left, right), kind, condition, columns, node)
    else:
        right_time = _right_time(queries, right, node.this)
        _check_times(queries, left.fields[left_time], right.fields[right_time], node)
        key = _key(queries, right, len(left.fields), condition, node)
        right = _every_version(queries, right, node)
        relation = TemporalJoin(left, right, kind, condition, left_time, right_time, key, columns)
    return relation, Scope([*scope.sources, Source(source.name, fields, len(left.fields))], scope.merged, scope.outer)


def _left_time(queries: QueryBinder, left: Relation, scope: Scope, table: exp.Expr) -> int | None:
    """Return the column with the time; None for processing time."""
    version = table.args["version"]
    node = version.args.get("expression")
    if version.args.get("kind") != "AS OF" or node is None:
        raise problem(queries.sql, table, "this clause on a table's versions is not supported", "write FOR SYSTEM_TIME AS OF and a column")
    bound = queries.expressions(scope).bind(node)
    time = left.fields[bound.index].time if isinstance(bound, InputRef) else None
    if isinstance(bound, InputRef) and time is TimeAttribute.ROWTIME:
        return bound.index
    if time is TimeAttribute.PROCTIME or (isinstance(bound, Call) and bound.function == "PROCTIME"):
        return None
    message = "FOR SYSTEM_TIME AS OF takes a column of the left side that has event time or processing time"
    hint = "declare a WATERMARK for the column, use a column AS PROCTIME(), or join without FOR SYSTEM_TIME"
    raise problem(queries.sql, node, message, hint)


def _right_time(queries: QueryBinder, right: Relation, table: exp.Expr) -> int:
    times = [index for index, field in enumerate(right.fields) if field.time is TimeAttribute.ROWTIME]
    if len(times) != 1:
        message = f"a versioned table needs one column with event time, this one has {len(times)}"
        raise problem(queries.sql, table, message, "declare a WATERMARK for the column from whose time on a row is valid")
    return times[0]


def _check_times(queries: QueryBinder, left: Field, right: Field, node: exp.Join) -> None:
    """Refuse to compare what clocks show with points in time."""
    if type(left.data_type) is not type(right.data_type):
        kinds = f"{left.data_type.as_summary_string()} and {right.data_type.as_summary_string()}"
        message = f"both sides of FOR SYSTEM_TIME AS OF must have event time of the same type, these are {kinds}"
        raise problem(queries.sql, node, message, "declare both as TIMESTAMP(3) or both as TIMESTAMP_LTZ(3)")


def _condition(queries: QueryBinder, scope: Scope, source: Source, width: int, node: exp.Join) -> Expression:
    on = node.args.get("on")
    if on is None:
        message = "a join with FOR SYSTEM_TIME AS OF needs a condition with ON"
        raise problem(queries.sql, node, message, "compare the primary key of the versioned table")
    both = Scope([*scope.sources, replace(source, start=width)], scope.merged, scope.outer)
    return bound_condition(queries.sql, queries.expressions(both), on)


def _key(queries: QueryBinder, right: Relation, width: int, condition: Expression, node: exp.Join) -> tuple[int, ...]:
    keys = upsert_keys(right)
    if not keys:
        message = "FOR SYSTEM_TIME AS OF needs a table with a primary key on its right side"
        raise problem(queries.sql, node, message, "declare PRIMARY KEY (...) NOT ENFORCED, or read a view that keeps the last row per key")
    compared = {
        column.index - width
        for part in conjuncts(condition)
        if isinstance(part, Call) and part.function == "="
        for column, value in (part.operands, part.operands[::-1])
        if isinstance(column, InputRef) and column.index >= width and 0 <= max(input_refs(value), default=-1) < width
    }
    fitting = [tuple(sorted(key)) for key in keys if key and key <= compared]
    if not fitting:
        names = ", ".join(quoted(right.fields[column].name) for column in min((sorted(key) for key in keys), key=len))
        message = f"the condition must compare the primary key of the versioned table ({names}) with =, as it is"
        raise problem(queries.sql, node, message, "add such equations to ON")
    return min(fitting, key=lambda key: (len(key), key))


def _every_version(queries: QueryBinder, right: Relation, node: exp.Join) -> Relation:
    """Return what has a row per version: of a view that keeps the last row in time per key, the rows that it reads.

    The view's own changes would not do: it leaves out a row that another one follows at once, and which those are would depend on how
    rows fell into batches. So a row also is a version that comes later than one with a later time.
    """
    if isinstance(right, Project):
        return replace(right, input=_every_version(queries, right.input, node))
    if isinstance(right, TopN) and right.deduplicates and not right.numbered:
        if right.keys[0].ascending:
            return right
        if changes_of(right.input).append_only and not any(isinstance(each, TopN) for each in walk(right.input)):
            return right.input
    if any(isinstance(each, TopN) for each in walk(right)):
        message = "this view cannot be the versioned table of FOR SYSTEM_TIME AS OF in this version"
        hint = "keep of each key the row with ROW_NUMBER 1, ordered by event time, without further conditions"
        raise problem(queries.sql, node, message, hint)
    return right
