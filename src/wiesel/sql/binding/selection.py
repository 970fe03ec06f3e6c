"""Internal. A SELECT while it is bound: its steps, each in a module of its own, change what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from wiesel.columnar.expressions import Call, Expression, InputRef
from wiesel.core.errors import ProgramError
from wiesel.sql.binding.expressions import ExpressionBinder, name_of
from wiesel.sql.binding.problems import problem
from wiesel.sql.binding.scope import Scope
from wiesel.sql.plan.relations import Field, Relation, TimeAttribute
from wiesel.sql.rules.project import projected
from wiesel.sql.rules.push_down import filtered
from wiesel.types import logical as t

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["Selection", "bound_condition", "having", "project", "unique_names"]


@dataclass
class Selection:
    """Shared state of the steps of binding a SELECT.

    Attributes:
        queries: Binds queries in this one.
        node: The SELECT.
        relation: Its rows so far.
        scope: The names of the items of FROM.
        binder: Binds expressions over ``relation``; GROUP BY puts another in its place.
        items: Expressions and names of the columns that SELECT names, as soon as they are bound.
        correlated: Conditions that read the query around this one, too.
        read: What the projection reads, once there is one.
        lateral: Whether conditions that read the query around this one stay within it, instead of being ``correlated``.
        group_ttl: After which time (ms) groups are forgotten by the hint STATE_TTL; None for what the job says.
    """

    queries: QueryBinder
    node: exp.Select
    relation: Relation
    scope: Scope
    binder: ExpressionBinder
    items: list[tuple[Expression, str]] = field(default_factory=list)
    correlated: list[Expression] = field(default_factory=list)
    read: Relation | None = None
    group_ttl: int | None = None
    lateral: bool = False

    def refuse(self, node: exp.Expr, message: str, hint: str | None = None) -> ProgramError:
        """Return the error for a node."""
        return problem(self.queries.sql, node, message, hint)


def bound_condition(sql: str, binder: ExpressionBinder, node: exp.Expr) -> Expression:
    """Return a bound condition.

    Raises:
        SqlParseError: If it is not BOOLEAN.
    """
    bound = binder.bind(node)
    if not isinstance(bound.data_type, t.BooleanType | t.NullType):
        raise problem(sql, node, f"a condition must be BOOLEAN, this is {bound.data_type.as_summary_string()}")
    return bound


def having(selection: Selection) -> None:
    """Leave the groups for which HAVING is true."""
    node = selection.node.args.get("having")
    if node is not None:
        condition = bound_condition(selection.queries.sql, selection.binder, node.this)
        selection.relation = filtered(selection.relation, condition)


def project(selection: Selection) -> None:
    """Compute the columns that SELECT names."""
    for place, item in enumerate(selection.node.expressions):
        inner = item.this if isinstance(item, exp.Alias) else item
        if isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)):
            if inner is not item:
                raise selection.refuse(item, "* stands for several columns, and cannot have a name", "name the columns")
            selection.items += _star(selection, inner)
            continue
        bound = selection.binder.bind(inner)
        selection.items.append((bound, item.alias if isinstance(item, exp.Alias) else _name(inner, bound, place)))
    names = unique_names([name for _, name in selection.items])
    selection.items = [(bound, name) for (bound, _), name in zip(selection.items, names, strict=True)]
    columns = tuple(_field(name, bound, selection.relation) for bound, name in selection.items)
    selection.read = selection.relation
    selection.relation = projected(selection.relation, [bound for bound, _ in selection.items], columns)


def _name(written: exp.Expr, bound: Expression, place: int) -> str:
    """Return the name of a column without AS; one that USING made of two has theirs."""
    plain = isinstance(written, exp.Column) and not written.table
    return name_of(bound) or (written.name if plain else f"EXPR${place}")


def _star(selection: Selection, node: exp.Expr) -> list[tuple[Expression, str]]:
    qualifier = node.args.get("table")
    if qualifier is None:
        return selection.scope.columns()
    if selection.scope.source(qualifier.name) is None:
        error = selection.scope.unknown_source(qualifier.name)
        raise selection.refuse(qualifier, error.message, error.hint)
    return selection.scope.columns(qualifier.name)


def _field(name: str, bound: Expression, relation: Relation) -> Field:
    time = relation.fields[bound.index].time if isinstance(bound, InputRef) else None
    if isinstance(bound, Call) and bound.function == "PROCTIME":
        time = TimeAttribute.PROCTIME
    return Field(name, bound.data_type, time)


def unique_names(names: list[str]) -> list[str]:
    """Return names of which those that come again have a number behind them, as in Flink."""
    found: dict[str, None] = {}
    for name in names:
        fresh, number = name, 0
        while fresh in found:
            fresh, number = f"{name}{number}", number + 1
        found[fresh] = None
    return list(found)
