"""Internal. Temporary system functions in expressions of programs: they replace built-in functions and operators of their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from wiesel.columnar.functions.user_functions import UserFunction
from wiesel.sql.language.built_nodes import UserCall
from wiesel.table.query.columns import rebuilt
from wiesel.table.query.expression_printer import JAVA_OPERATORS, named_call

__all__ = ["with_system_functions"]

_PAIR = 2


def with_system_functions(node: exp.Expr, functions: Mapping[str, Any]) -> exp.Expr:
    """Return an expression or query whose operators and calls are those of temporary system functions of the same names, as in Flink.

    Args:
        node: What a program has built.
        functions: The temporary system functions, by their names in capitals.
    """

    def change(part: exp.Expr) -> exp.Expr | None:
        name = part.name.upper() if isinstance(part, exp.Anonymous) and part.meta.get("by_name") else ""
        if name in JAVA_OPERATORS and name not in functions and len(part.expressions) == _PAIR:
            left, right = (rebuilt(each, change) for each in part.expressions)
            return JAVA_OPERATORS[name](this=left, expression=right)
        found = named_call(part)
        function = functions.get(found[0].upper()) if found is not None else None
        if found is None or not isinstance(function, UserFunction):
            return None
        made = UserCall(this=f"{function.name} {id(function)}", expressions=[rebuilt(each, change) for each in found[1]])
        made.meta["function"] = function
        return made

    by_name = (part.name.upper() for part in node.find_all(exp.Anonymous) if part.meta.get("by_name"))
    return rebuilt(node, change) if functions or any(name in JAVA_OPERATORS for name in by_name) else node
