"""Internal. Binds queries: from trees of sqlglot to plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from sqlglot import exp

from wiesel.columnar.expressions import Expression, InputRef
from wiesel.sql.binding.expressions import ExpressionBinder, name_of
from wiesel.sql.binding.problems import at, problem
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.plan import Field, Filter, Project, Relation, Union
from wiesel.types import logical as t

__all__ = ["QueryBinder", "Tables"]


class Tables(Protocol):
    """Where queries find tables."""

    def relation(self, path: tuple[str, ...]) -> Relation:
        """Return what a table is read by: its scan, with computed columns and watermark above it; the plan of a view.

        Raises:
            ProgramError: If there is no such table.
        """
        ...


class QueryBinder:
    """Binds the queries of one statement."""

    def __init__(self, sql: str, tables: Tables) -> None:
        self.sql = sql
        self.tables = tables

    def bind(self, node: exp.Expr) -> Relation:
        """Return the plan of a query.

        Raises:
            SqlParseError: If a name is not known, types do not fit, or something is not supported; tells the place.
        """
        handler = _QUERIES.get(type(node))
        if handler is None:
            raise problem(self.sql, node, f"{type(node).__name__.upper()} is not supported in this version")
        return handler(self, node)

    def select(self, node: exp.Select) -> Relation:
        """Return the plan of one SELECT."""
        relation, scope = self.from_clause(node)
        binder = ExpressionBinder(self.sql, scope)
        where = node.args.get("where")
        if where is not None:
            relation = Filter(relation, self.condition(binder, where.this))
        return self.projected(relation, binder, node.expressions)

    def condition(self, binder: ExpressionBinder, node: exp.Expr) -> Expression:
        """Return a bound condition."""
        bound = binder.bind(node)
        if not isinstance(bound.data_type, t.BooleanType | t.NullType):
            raise problem(self.sql, node, f"a condition must be BOOLEAN, this is {bound.data_type.as_summary_string()}")
        return bound

    def from_clause(self, node: exp.Select) -> tuple[Relation, Scope]:
        """Return what a SELECT reads, and the names of its columns."""
        from_ = node.args.get("from_")
        if from_ is None or node.args.get("joins"):
            raise problem(self.sql, node, "a SELECT from one table is all that this version supports")
        relation, name = self.table_item(from_.this)
        return relation, Scope([Source(name, relation.fields, 0)])

    def table_item(self, node: exp.Expr) -> tuple[Relation, str | None]:
        """Return the plan of an item of FROM, and its name."""
        alias = node.args.get("alias")
        if isinstance(node, exp.Subquery):
            return self.bind(node.this), alias.name if alias else None
        if not isinstance(node, exp.Table):
            raise problem(self.sql, node, f"{type(node).__name__.upper()} is not supported in FROM")
        path = tuple(part.name for part in (node.args.get("catalog"), node.args.get("db"), node.this) if part)
        with at(self.sql, node):
            return self.tables.relation(path), alias.name if alias else path[-1]

    def projected(self, relation: Relation, binder: ExpressionBinder, items: list[Any]) -> Relation:
        """Return a relation's columns as SELECT names them."""
        expressions: list[Expression] = []
        names: list[str] = []
        for place, item in enumerate(items):
            if isinstance(item, exp.Star):
                columns = [InputRef(field.data_type, index, field.name) for index, field in enumerate(relation.fields)]
                expressions += columns
                names += [column.name for column in columns]
                continue
            bound = binder.bind(item.this if isinstance(item, exp.Alias) else item)
            expressions.append(bound)
            names.append(item.alias if isinstance(item, exp.Alias) else name_of(bound) or f"EXPR${place}")
        columns_of = [self._field(name, bound, relation) for name, bound in zip(_unique(names), expressions, strict=True)]
        return Project(relation, tuple(expressions), tuple(columns_of))

    def _field(self, name: str, bound: Expression, relation: Relation) -> Field:
        time = relation.fields[bound.index].time if isinstance(bound, InputRef) else None
        return Field(name, bound.data_type, time)


def _unique(names: list[str]) -> list[str]:
    """Return names of which those that come again have a number behind them, as in Flink."""
    found: dict[str, None] = {}
    for name in names:
        fresh, number = name, 0
        while fresh in found:
            fresh, number = f"{name}{number}", number + 1
        found[fresh] = None
    return list(found)


def _union(binder: QueryBinder, node: Any) -> Relation:
    if node.args.get("distinct"):
        raise problem(binder.sql, node, "UNION without ALL is not supported in this version")
    left, right = binder.bind(node.this), binder.bind(node.expression)
    return Union((left, right), left.fields)


_QUERIES: dict[type[exp.Expr], Callable[[QueryBinder, Any], Relation]] = {
    exp.Select: lambda binder, node: binder.select(node),
    exp.Subquery: lambda binder, node: binder.bind(node.this),
    exp.Union: _union,
}
