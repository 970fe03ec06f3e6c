"""Internal. FROM: tables, queries and VALUES with their aliases, side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from wiesel.runtime.table.process.spec import UserProcessFunction
from wiesel.sql.binding.changelogs import CHANGELOGS, changelog
from wiesel.sql.binding.joins import join
from wiesel.sql.binding.matching import match_recognize
from wiesel.sql.binding.models import ML_PREDICT, ml_predict
from wiesel.sql.binding.problems import meant, problem
from wiesel.sql.binding.process_calls import process_table
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.binding.unnest import unnest_first
from wiesel.sql.binding.windows import WINDOW_FUNCTIONS, window_table
from wiesel.sql.language import nodes
from wiesel.sql.language.built_nodes import Stand
from wiesel.sql.plan.relations import Field, Relation, Values

if TYPE_CHECKING:
    from wiesel.core.errors import ProgramError
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["from_clause", "table_item"]


def from_clause(queries: QueryBinder, node: exp.Select) -> tuple[Relation, Scope]:
    """Return what a SELECT reads, and the names of its columns; one row without columns where it reads nothing."""
    first = node.args.get("from_")
    if first is None:
        return Values(((),), ()), Scope([], outer=queries.outer)
    relation, source = table_item(queries, first.this)
    scope = Scope([source], outer=queries.outer)
    for each in node.args.get("joins") or ():
        relation, scope = join(queries, relation, scope, each, table_item)
    return relation, scope


def table_item(queries: QueryBinder, node: exp.Expr) -> tuple[Relation, Source]:
    """Return the plan of an item of FROM, and its names."""
    if isinstance(node, exp.Unnest | exp.Lateral) and not isinstance(node.this, exp.Subquery):
        return unnest_first(queries, node)
    relation, name = _item(queries, node)
    alias = node.args.get("alias")
    fields = relation.fields
    if alias is not None:
        name = alias.name or name
        fields = renamed(queries.sql, node, fields, [column.name for column in alias.args.get("columns") or ()])
    return relation, Source(name, fields, 0)


def renamed(sql: str, node: exp.Expr, fields: tuple[Field, ...], names: list[str]) -> tuple[Field, ...]:
    """Return columns with the names that an alias gives them.

    Raises:
        SqlParseError: If there are more or fewer names than columns.
    """
    if not names:
        return fields
    if len(names) != len(fields):
        raise problem(sql, node, f"the alias names {len(names)} columns, but there are {len(fields)}")
    return tuple(replace(field, name=name) for field, name in zip(fields, names, strict=True))


def _item(queries: QueryBinder, node: exp.Expr) -> tuple[Relation, str | None]:
    if isinstance(node, nodes.MatchRecognize):
        return match_recognize(queries, node, table_item(queries, node.this)[0]), None
    if isinstance(node, exp.Subquery | exp.Values | Stand):
        return queries.bind(node), None
    if isinstance(node, exp.Lateral):
        return queries.bind(node.this), None
    if not isinstance(node, exp.Table):
        raise problem(queries.sql, node, f"{type(node).__name__.upper()} is not supported in FROM")
    if isinstance(node.this, exp.Anonymous) and node.this.name.upper() in WINDOW_FUNCTIONS:
        return window_table(queries, node.this), None
    if isinstance(node.this, exp.Anonymous) and node.this.name.upper() in CHANGELOGS:
        return changelog(queries, node.this), None
    if isinstance(node.this, exp.Anonymous) and node.this.name.upper() == ML_PREDICT:
        return ml_predict(queries, node.this), None
    function = queries.user_functions.get(node.this.name.upper()) if isinstance(node.this, exp.Anonymous) else None
    if isinstance(function, UserProcessFunction):
        return process_table(queries, node.this, function), None
    if not isinstance(node.this, exp.Identifier):
        raise _no_table(queries, node)
    if node.args.get("version"):
        raise problem(queries.sql, node, "FOR SYSTEM_TIME AS OF is supported on the right side of a join only")
    return queries.table(node), node.this.name


def _no_table(queries: QueryBinder, node: exp.Table) -> ProgramError:
    """Return the error for a call in FROM that is none of the table functions there are."""
    near = meant(node.this.name.upper(), [*WINDOW_FUNCTIONS, *CHANGELOGS, ML_PREDICT]) if isinstance(node.this, exp.Anonymous) else None
    hint = near or "one of users is called as LATERAL TABLE(f(...)) AS t (a, b)"
    return problem(queries.sql, node, f"there is no table function {node.this.name or node.this.key!r} of SQL", hint)
