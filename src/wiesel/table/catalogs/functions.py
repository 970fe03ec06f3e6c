"""Internal. Functions of users, found where statements name them."""

from __future__ import annotations

import importlib
from typing import Any

from wiesel.core.errors import ArgumentTypeError, ProgramError
from wiesel.sql.catalog.catalogs import FunctionDefinition
from wiesel.sql.catalog.user_functions import AnyFunction
from wiesel.sql.language import statements as s
from wiesel.table.process_functions import UserDefinedProcessTableFunctionWrapper
from wiesel.table.udf import AggregateFunction, TableAggregateFunction, UserDefinedFunctionWrapper, udaf, udtaf

__all__ = ["function_in", "function_of", "loaded_function"]


def function_of(given: Any) -> AnyFunction:
    """Return what expressions call for a function that a user gives.

    Raises:
        ProgramError: If it was not made by ``udf`` or its like.
    """
    if isinstance(given, AggregateFunction):
        given = udaf(given)
    elif isinstance(given, TableAggregateFunction):
        given = udtaf(given)
    if isinstance(given, UserDefinedProcessTableFunctionWrapper):
        return given.function
    if not isinstance(given, UserDefinedFunctionWrapper):
        raise ArgumentTypeError(
            f"{given!r} is no function of SQL", hint="wrap it: udf(f, result_type=DataTypes.BIGINT()), or @udf(result_type='BIGINT')"
        )
    return given.function  # type: ignore[no-any-return]


def loaded_function(statement: s.CreateFunction) -> AnyFunction:
    """Return the function that CREATE FUNCTION names: ``AS 'module.name' LANGUAGE PYTHON``.

    Raises:
        ProgramError: If there is no such module or name, or it was not made by ``udf`` or its like.
    """
    return function_in(FunctionDefinition(statement.identifier, statement.language))


def function_in(definition: FunctionDefinition) -> AnyFunction:
    """Return the function of a definition.

    Raises:
        ProgramError: If there is no such module or name, or it was not made by ``udf``.
    """
    if definition.language != "PYTHON":
        hint = "write it in Python: AS 'module.name' LANGUAGE PYTHON"
        raise ProgramError(f"functions in {definition.language} cannot be called", hint=hint)
    module, _, name = definition.identifier.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, ValueError, AttributeError) as error:
        raise ProgramError(
            f"function {definition.identifier!r} cannot be loaded: {error}", hint="write 'module.name', of a module that Python finds"
        ) from error
    return function_of(found)
