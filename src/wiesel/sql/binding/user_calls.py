"""Internal. Functions of users that are no scalar ones: aggregates, and those that return tables in FROM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.columnar.aggregates.user_aggregates import UserAggregate
from wiesel.columnar.expressions import Expression
from wiesel.columnar.functions.user_functions import ModuleFunction, UserFunction, user_call
from wiesel.core.errors import ProgramError
from wiesel.runtime.table.process.spec import UserProcessFunction
from wiesel.sql.binding.problems import at, problem
from wiesel.sql.catalog.user_functions import UserTableFunction
from wiesel.sql.language.built_nodes import UserCall

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder
    from wiesel.sql.binding.scope import Scope
    from wiesel.sql.catalog.user_functions import AnyFunction

__all__ = ["scalar", "table_function_call", "with_user_aggregates"]


def with_user_aggregates(queries: QueryBinder, node: exp.Select) -> None:
    """Put calls of users' aggregates in the place of calls of their names, so that they are known for what they are."""
    known = queries.user_functions
    for call in list(node.find_all(exp.Anonymous)):
        function = known.get(call.name.upper())
        if not isinstance(function, UserAggregate):
            continue
        if function.of_tables:
            message = f"{call.name} returns tables of groups, which SQL has no place for"
            raise problem(queries.sql, call, message, "use Table.flat_aggregate()")
        made = UserCall(this=f"{function.name} {id(function)}", expressions=call.expressions)
        made.meta.update(call.meta)
        made.meta["function"] = function
        call.replace(made)


def table_function_call(queries: QueryBinder, scope: Scope, node: exp.Lateral) -> Expression:
    """Return the array of the rows that a table function returns.

    Raises:
        SqlParseError: If it is no call of one.
    """
    call: Any = node.this
    if not isinstance(call, exp.Anonymous | UserCall):
        raise problem(queries.sql, node, "LATERAL takes a query in brackets, or TABLE(f(x))", "write LATERAL (SELECT ...), or a function")
    function = _function(queries, call)
    listing: UserFunction | ModuleFunction
    if isinstance(function, UserTableFunction):
        listing = function.listing
    elif isinstance(function, ModuleFunction) and function.of_tables:
        listing = function
    else:
        raise problem(queries.sql, call, f"{call.name} is no table function", "make one with udtf(...)")
    operands = queries.expressions(scope).bind_all(call.expressions)
    with at(queries.sql, call):
        return user_call(listing, operands)


def _function(queries: QueryBinder, call: Any) -> AnyFunction:
    if isinstance(call, UserCall):
        return call.function  # type: ignore[no-any-return]
    found = queries.user_functions.get(call.name.upper())
    if found is None:
        raise problem(queries.sql, call, f"there is no function {call.name}", "name one of SHOW USER FUNCTIONS")
    return found


def scalar(function: AnyFunction) -> Any:
    """Return a function that may stand in an expression.

    Raises:
        ProgramError: If it returns tables.
    """
    if isinstance(function, UserTableFunction) or (isinstance(function, ModuleFunction) and function.of_tables):
        shown = f" {function.name!r}" if isinstance(function, UserTableFunction) else ""
        raise ProgramError(f"the function{shown} returns tables", hint="write LATERAL TABLE(...) in FROM, or join_lateral()")
    if isinstance(function, UserProcessFunction):
        raise ProgramError(f"the process table function {function.name!r} returns tables", hint="call it in FROM, with TABLE t as argument")
    if isinstance(function, UserAggregate):
        raise ProgramError(f"the aggregate function {function.name!r} cannot stand here", hint="use it over groups: SELECT, HAVING")
    return function
