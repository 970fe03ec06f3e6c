"""Internal. LATERAL (SELECT ...) in FROM: a query that reads columns of the items before it, computed for each of their rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from wiesel.columnar.expressions import InputRef
from wiesel.sql.binding.decorrelation import correlated_columns, decorrelated
from wiesel.sql.binding.join_columns import join_columns
from wiesel.sql.binding.problems import at, problem
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.binding.selection import bound_condition, unique_names
from wiesel.sql.plan.relations import Field, Join, JoinType, Project, Relation
from wiesel.sql.rules.push_down import all_of, joined
from wiesel.types.logical import quoted

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["lateral_joined"]


def lateral_joined(queries: QueryBinder, left: Relation, scope: Scope, node: exp.Join) -> tuple[Relation, Scope]:
    """Return rows beside those of a query that reads their columns.

    Raises:
        SqlParseError: If rows are asked for that there cannot be, or the query cannot be computed like that.
    """
    kind = JoinType(node.args.get("side") or "INNER")
    if kind not in (JoinType.INNER, JoinType.LEFT):
        raise problem(queries.sql, node, f"a {kind.value} JOIN cannot have LATERAL on its right side", "use CROSS JOIN or LEFT JOIN")
    if node.args.get("using") is not None or node.args.get("method") == "NATURAL":
        raise problem(queries.sql, node, "LATERAL cannot be joined by columns", "write the condition in the query, or ON")
    on = node.args.get("on")
    if kind is JoinType.LEFT and on is None:
        raise problem(queries.sql, node, "a LEFT JOIN needs a condition", "write LEFT JOIN LATERAL (...) ON TRUE")
    with queries.within(scope):
        rows = queries.bind(node.this.this)
    source = _source(queries, scope, node.this, rows)
    width, read = len(left.fields), 0
    conditions = []
    if correlated_columns(rows):
        with at(queries.sql, node.this):
            found = decorrelated(rows, left, complete=kind is JoinType.LEFT)
        rows, conditions, read = found.relation, found.conditions(left), len(found.read)
    sources = [*scope.sources, replace(source, start=width + read)]
    if on is not None:
        conditions.append(bound_condition(queries.sql, queries.expressions(Scope(sources, scope.merged, scope.outer)), on))
    pairs = joined(Join(left, rows, kind, all_of(conditions), join_columns(left, rows, kind)))
    wanted = [*range(width), *range(width + read, len(pairs.fields))]
    names = unique_names([field.name for field in (*left.fields, *source.fields)])
    columns = tuple(Field(name, pairs.fields[index].data_type) for index, name in zip(wanted, names, strict=True))
    refs = tuple(InputRef(column.data_type, index, column.name) for index, column in zip(wanted, columns, strict=True))
    sources[-1] = replace(source.nullable() if kind is JoinType.LEFT else source, start=width)
    return Project(pairs, refs, columns), Scope(sources, scope.merged, scope.outer)


def _source(queries: QueryBinder, scope: Scope, node: exp.Expr, rows: Relation) -> Source:
    """Return the names of the query's columns."""
    alias = node.args.get("alias")
    name = alias.name or None if alias is not None else None
    if name is not None and scope.source(name) is not None:
        raise problem(queries.sql, node, f"there are two tables {quoted(name)}", "give one of them another name with AS")
    names = [column.name for column in alias.args.get("columns") or ()] if alias is not None else []
    if names and len(names) != len(rows.fields):
        raise problem(queries.sql, node, f"the alias names {len(names)} columns, but there are {len(rows.fields)}")
    named = zip(names or [field.name for field in rows.fields], rows.fields, strict=True)
    return Source(name, tuple(replace(field, name=name, time=None) for name, field in named), 0)
