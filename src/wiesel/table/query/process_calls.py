"""Internal. Calls of process table functions by programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.core.errors import ProgramError
from wiesel.runtime.table.process.spec import UserProcessFunction
from wiesel.sql.binding.process_calls import process_table
from wiesel.sql.binding.queries import QueryBinder
from wiesel.sql.language import nodes
from wiesel.sql.plan.relations import Relation
from wiesel.table.catalogs.functions import function_of
from wiesel.table.expression import Expression
from wiesel.table.query.ast_nodes import constant, literal, stand_of

if TYPE_CHECKING:
    from wiesel.table.table_environment import TableEnvironment

__all__ = ["process_call", "table_node"]


def table_node(plan: Relation, keys: Sequence[exp.Expr] = (), order: Sequence[exp.Ordered] = ()) -> exp.Expr:
    """Return the node of a table that is an argument."""
    return nodes.TableArgument(this=stand_of(plan), partition_by=list(keys), order=exp.Order(expressions=list(order)) if order else None)


def process_call(t_env: TableEnvironment, function: Any, arguments: Sequence[Any]) -> Relation:
    """Return the rows of a function that is called with nodes, expressions and constants.

    Raises:
        ProgramError: If it is no process table function, or cannot be called like that.
    """
    tables = t_env._tables()
    found = tables.user_functions.get(function.upper()) if isinstance(function, str) else function_of(function)
    if not isinstance(found, UserProcessFunction):
        raise ProgramError(f"{function!r} is no process table function", hint="make one with udptf(...), or name one that is registered")
    made = [_node(each) for each in arguments]
    return process_table(QueryBinder("", tables), exp.Anonymous(this=found.name, expressions=made), found)


def _node(given: Any) -> exp.Expr:
    if isinstance(given, exp.Expr):
        return given
    return given._node if isinstance(given, Expression) else constant(literal(given))
