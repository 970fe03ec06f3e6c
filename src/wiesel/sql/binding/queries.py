"""Internal. Binds queries: from trees of sqlglot to plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from sqlglot import exp

from wiesel.columnar.expressions import InputRef
from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogModel, ObjectIdentifier
from wiesel.sql.binding import aggregates, ordering, over, ranking, selection, set_operations, subqueries
from wiesel.sql.binding.expressions import ExpressionBinder
from wiesel.sql.binding.hints import (
    check_hints,
    parallelisms,
    state_ttls,
    table_options,
    with_join_hints,
    with_parallelism,
    with_ttls,
)
from wiesel.sql.binding.hive_names import HiveTables
from wiesel.sql.binding.join_queries import join_with_queries
from wiesel.sql.binding.lookups import with_lookup_hints
from wiesel.sql.binding.problems import at, problem
from wiesel.sql.binding.recursive import reads_itself, recursion
from wiesel.sql.binding.scope import Scope
from wiesel.sql.binding.selection import Selection
from wiesel.sql.binding.sources import from_clause, renamed
from wiesel.sql.binding.user_calls import with_user_aggregates
from wiesel.sql.catalog.user_functions import AnyFunction
from wiesel.sql.language.built_nodes import Stand
from wiesel.sql.language.hive.nodes import WITHIN_REDUCERS, HiveQuery
from wiesel.sql.plan.relations import JoinType, Project, Relation

__all__ = ["QueryBinder", "Tables"]


class Tables(Protocol):
    """Lookup of tables and functions."""

    @property
    def user_functions(self) -> Mapping[str, AnyFunction]:
        """Functions of users, by what they are called in capitals."""
        ...

    @property
    def in_batch(self) -> bool:
        """Return whether queries run in batch mode."""
        ...

    def relation(self, path: tuple[str, ...], options: Mapping[str, str]) -> Relation:
        """Return what a table is read by, with further options: its scan, with computed columns and watermark above it; the plan of a view.

        Raises:
            ProgramError: If there is no such table.
        """
        ...

    def spelled(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """Return the path of a table with its capitals, where the one given has others; itself if there is no such table."""
        ...

    def model(self, path: tuple[str, ...]) -> tuple[ObjectIdentifier, CatalogModel]:
        """Return the full name of a model, and the model.

        Raises:
            ProgramError: If there is none.
        """
        ...


# Flink's order of the parts of a SELECT.
_STEPS: tuple[Callable[[Selection], None], ...] = (
    aggregates.refuse_in_where,
    subqueries.where,
    subqueries.values_in_aggregates,
    subqueries.values_in_keys,
    aggregates.group_by,
    lambda state: subqueries.single_values(state, *filter(None, [state.node.args.get("having")])),
    selection.having,
    ranking.row_numbers,
    over.over_windows,
    lambda state: subqueries.single_values(state, *state.node.expressions, *filter(None, [state.node.args.get("order")])),
    selection.project,
    aggregates.distinct,
    ordering.ordered_selection,
)


class QueryBinder:
    """Binds the queries of one statement."""

    def __init__(self, sql: str, tables: Tables) -> None:
        self.sql = sql
        self._tables = tables
        self._named: dict[str, Relation] = {}
        """The queries of WITH that can be read here."""
        self.outer: Scope | None = None
        """The names of the query around the one that is bound, where it may read them."""
        self._sets_parallelism = "PARALLELISM" in sql.upper()
        """True if there may be such a hint: each SELECT then applies to its own operators only."""

    def table(self, node: exp.Table) -> Relation:
        """Return what a table, a view or a query of WITH is read by.

        Raises:
            SqlParseError: If there is none of the name, or it cannot have the options of its hints.
        """
        path = tuple(part.name for part in (node.args.get("catalog"), node.args.get("db"), node.this) if part)
        options = table_options(self.sql, node.args.get("hints") or (), node)
        named = self._named.get(path[0]) if len(path) == 1 else None
        with at(self.sql, node):
            if named is None:
                found = self._tables.relation(path, options)
                return with_parallelism(found, {}) if self._sets_parallelism else found
            if options:
                raise ProgramError("a query of WITH has no options", hint="give them to the tables that it reads")
            return named

    @property
    def user_functions(self) -> Mapping[str, AnyFunction]:
        """Functions of users, by what they are called in capitals."""
        return self._tables.user_functions

    @property
    def in_batch(self) -> bool:
        """Return whether the statement runs in batch mode."""
        return self._tables.in_batch

    def model(self, node: exp.Table) -> tuple[ObjectIdentifier, CatalogModel]:
        """Return the full name of a model, and the model.

        Raises:
            SqlParseError: If there is none of the name.
        """
        with at(self.sql, node):
            return self._tables.model(tuple(part.name for part in (node.args.get("catalog"), node.args.get("db"), node.this) if part))

    def expressions(self, scope: Scope) -> ExpressionBinder:
        """Return what binds expressions over a scope."""
        return ExpressionBinder(self.sql, scope, self._tables.user_functions)

    def bind(self, node: exp.Expr) -> Relation:
        """Return the plan of a query.

        Raises:
            SqlParseError: If a name is not known, types do not fit, or something is not supported; tells the place.
        """
        handler = _QUERIES.get(type(node))
        if handler is None:
            raise problem(self.sql, node, f"{type(node).__name__.upper()} is not supported in this version")
        outer = self._named
        try:
            self._named = self._with(node)
            return handler(self, node)
        finally:
            self._named = outer

    @contextmanager
    def within(self, scope: Scope | None) -> Iterator[None]:
        """Let queries that are bound here read the columns of another one."""
        outer, self.outer = self.outer, scope
        try:
            yield
        finally:
            self.outer = outer

    def join_with_queries(self, left: Relation, right: Relation, both: Scope, node: exp.Join, kind: JoinType) -> Relation:
        """Return a join whose ON condition contains queries; ``both`` are the names of both sides.

        Raises:
            SqlParseError: If the condition cannot be bound.
        """
        return join_with_queries(self, left, right, both, node, kind)

    def _with(self, node: exp.Expr) -> dict[str, Relation]:
        """Return the queries that can be read by name within a query."""
        with_ = node.args.get("with_")
        if with_ is None:
            return self._named
        self._named = dict(self._named)
        for each in with_.expressions:
            if with_.args.get("recursive") and reads_itself(each):
                self._named[each.alias] = recursion(self, each)
                continue
            relation = self.bind(each.this)
            fields = renamed(self.sql, each, relation.fields, [column.name for column in each.args["alias"].args.get("columns") or ()])
            if fields != relation.fields:
                refs = tuple(InputRef(field.data_type, index, field.name) for index, field in enumerate(fields))
                relation = Project(relation, refs, fields)
            self._named[each.alias] = relation
        return self._named

    def name(self, alias: str, relation: Relation) -> None:
        """Let a name stand for a relation in the queries of the WITH that is bound."""
        self._named[alias] = relation

    def select(self, node: exp.Select) -> Relation:
        """Return the plan of one SELECT."""
        check_hints(self, node)
        with_user_aggregates(self, node)
        relation, scope = from_clause(self, node)
        ttls = state_ttls(self, node, scope)
        relation = with_join_hints(self, node, scope, with_ttls(relation, scope, ttls))
        relation = with_lookup_hints(self, node, scope, relation)
        state = Selection(self, node, relation, scope, self.expressions(scope), lateral=self.outer is not None)
        if len(scope.sources) == 1:
            state.group_ttl = ttls.get(scope.sources[0].name or "")
        for step in _STEPS:
            step(state)
        return with_parallelism(state.relation, parallelisms(self, node)) if self._sets_parallelism else state.relation


def _subquery(binder: QueryBinder, node: Any) -> Relation:
    return ordering.ordered(binder.sql, node, binder.bind(node.this))


def _hive_query(binder: QueryBinder, node: Any) -> Relation:
    if not binder.in_batch:
        for select in node.this.find_all(exp.Select):
            order = select.args.get("order")
            if order is not None and order.meta.get(WITHIN_REDUCERS) and select.args.get("limit") is None:
                select.set("order", None)
    return QueryBinder(binder.sql, HiveTables(binder._tables)).bind(node.this)


_QUERIES: dict[type[exp.Expr], Callable[[QueryBinder, Any], Relation]] = {
    exp.Select: lambda binder, node: binder.select(node),
    exp.Subquery: _subquery,
    exp.Union: set_operations.union,
    exp.Intersect: set_operations.intersect_or_except,
    exp.Except: set_operations.intersect_or_except,
    exp.Values: set_operations.values,
    Stand: lambda binder, node: node.bound,
    HiveQuery: _hive_query,
}
