"""Internal. Joins in FROM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from wiesel.columnar.expressions import Expression
from wiesel.columnar.functions.registry import call
from wiesel.sql.binding.join_columns import join_columns, timed
from wiesel.sql.binding.lateral import lateral_joined
from wiesel.sql.binding.problems import at, problem
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.binding.selection import bound_condition
from wiesel.sql.binding.temporal import is_temporal, temporal_join
from wiesel.sql.binding.unnest import unnest_joined
from wiesel.sql.plan.relations import Join, JoinType, Relation
from wiesel.sql.rules.push_down import all_of, joined
from wiesel.types.logical import quoted

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["Item", "join"]

Item = Callable[["QueryBinder", exp.Expr], tuple[Relation, Source]]


def join(queries: QueryBinder, left: Relation, scope: Scope, node: exp.Join, item: Item) -> tuple[Relation, Scope]:
    """Return a relation joined with a further item of FROM, which ``item`` binds."""
    if isinstance(node.this, exp.Lateral) and isinstance(node.this.this, exp.Subquery):
        return lateral_joined(queries, left, scope, node)
    if isinstance(node.this, exp.Unnest | exp.Lateral):
        return unnest_joined(queries, left, scope, node)
    if is_temporal(node.this):
        return temporal_join(queries, left, scope, node, item)
    right, source = item(queries, node.this)
    kind = JoinType(node.args.get("side") or "INNER")
    _check_name(queries, scope, source, node)
    sources = [*scope.sources, replace(source, start=len(left.fields))]
    both = Scope(sources, scope.merged, scope.outer)
    on = node.args.get("on")
    if on is not None and on.find(exp.Query) is not None:
        merged, made = both.merged, queries.join_with_queries(left, right, both, node, kind)
    else:
        merged, condition = _condition(queries, both, node, kind)
        made = timed(joined(Join(left, right, kind, condition, join_columns(left, right, kind))))
    if kind in (JoinType.SEMI, JoinType.ANTI):
        return made, scope
    if kind in (JoinType.RIGHT, JoinType.FULL):
        sources[:-1] = [each.nullable() for each in sources[:-1]]
    if kind in (JoinType.LEFT, JoinType.FULL):
        sources[-1] = sources[-1].nullable()
    return made, Scope(sources, merged, scope.outer)


def _check_name(queries: QueryBinder, scope: Scope, source: Source, node: exp.Join) -> None:
    if source.name is not None and scope.source(source.name) is not None:
        raise problem(queries.sql, node, f"there are two tables {quoted(source.name)}", "give one of them another name with AS")


def _condition(queries: QueryBinder, both: Scope, node: exp.Join, kind: JoinType) -> tuple[dict[str, Expression], Expression | None]:
    """Return the columns that the join makes one of two, and its condition."""
    on = node.args.get("on")
    if on is not None:
        return both.merged, bound_condition(queries.sql, queries.expressions(both), on)
    left, right = Scope(both.sources[:-1], both.merged), Scope(both.sources[-1:])
    names = [column.name for column in node.args.get("using") or ()]
    if node.args.get("method") == "NATURAL":
        there = [field.name for field in right.fields]
        names = [name for name in dict.fromkeys(name for _, name in left.columns()) if name in there]
    merged = dict(both.merged)
    conditions = []
    for name in names:
        with at(queries.sql, node):
            pair = [left.resolve(name), right.resolve(name)]
            conditions.append(call("=", pair))
            merged[name] = _one_of(pair, kind)
    if not names and node.args.get("using") is None and (node.args.get("side") and node.args.get("method") != "NATURAL"):
        raise problem(queries.sql, node, f"a {kind.value} JOIN needs a condition", "write ON and a condition, or USING and columns")
    return merged, all_of(conditions)


def _one_of(pair: Sequence[Expression], kind: JoinType) -> Expression:
    if kind is JoinType.FULL:
        return call("COALESCE", [replace(each, data_type=each.data_type.nullable()) for each in pair])
    return pair[1] if kind is JoinType.RIGHT else pair[0]
