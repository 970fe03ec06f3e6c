"""Scalar functions of users: ``@udf(result_type=DataTypes.BIGINT())``, under the names of ``pyflink.table.udf``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from wiesel.columnar.functions.user_functions import UserFunction
from wiesel.core.errors import ProgramError
from wiesel.types.logical import DataType
from wiesel.types.logical_parser import parse_data_type

__all__ = ["ScalarFunction", "UserDefinedFunction", "UserDefinedScalarFunctionWrapper", "udf"]

_KINDS = ("general", "pandas", "arrow")


class UserDefinedFunction:
    """A function of the user with a life of its own."""

    def open(self, function_context: Any) -> None:
        """Prepare for calls; called once in each process that calls the function. ``function_context`` is None in this version."""

    def close(self) -> None:
        """End the function. It is not called in this version: what must be let go of is let go of with the process."""

    def is_deterministic(self) -> bool:
        """Return whether the function returns the same for the same arguments."""
        return True


class ScalarFunction(UserDefinedFunction):
    """A function that returns one value for the values of a row."""

    def eval(self, *args: Any) -> Any:
        """Return the value for arguments."""
        raise NotImplementedError


class UserDefinedScalarFunctionWrapper:
    """What :func:`udf` returns: a function with its types.

    Attributes:
        function: What expressions call.
    """

    def __init__(
        self,
        func: Any,
        input_types: Any = None,
        result_type: Any = None,
        func_type: str = "general",
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> None:
        if func_type not in _KINDS:
            raise ProgramError(f"the kind of function is {func_type!r}", hint=f"give one of {', '.join(map(repr, _KINDS))}")
        scalar = func() if inspect.isclass(func) else func
        compute = scalar.eval if isinstance(scalar, ScalarFunction) else scalar
        if not callable(compute):
            raise ProgramError(f"{func!r} is no function", hint="give a function, or a ScalarFunction")
        if inspect.iscoroutinefunction(compute):
            raise ProgramError("asynchronous functions are not supported in this version", hint="give a function without async")
        self.function = UserFunction(
            name or _name_of(scalar),
            compute,
            _type_of(result_type, "the result type"),
            None if input_types is None else tuple(_type_of(of, "an input type") for of in _listed(input_types)),
            func_type,  # type: ignore[arg-type]
            _is_deterministic(scalar, deterministic),
            functools.partial(scalar.open, None) if isinstance(scalar, UserDefinedFunction) else None,
        )


def _name_of(scalar: Any) -> str:
    return str(getattr(scalar, "__name__", type(scalar).__name__))


def _listed(input_types: Any) -> Sequence[Any]:
    return input_types if isinstance(input_types, list | tuple) else [input_types]


def _type_of(given: Any, what: str) -> DataType:
    if isinstance(given, str):
        return parse_data_type(given)
    if not isinstance(given, DataType):
        raise ProgramError(f"{what} of a function is {given!r}", hint="give a data type, such as DataTypes.BIGINT() or 'BIGINT'")
    return given


def _is_deterministic(scalar: Any, given: bool | None) -> bool:
    own = scalar.is_deterministic() if isinstance(scalar, UserDefinedFunction) else True
    if given is not None and isinstance(scalar, UserDefinedFunction) and given != own:
        raise ProgramError(f"deterministic is {given}, the function itself says {own}", hint="leave deterministic out")
    return own if given is None else given


def udf(
    f: Any = None,
    input_types: Any = None,
    result_type: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> UserDefinedScalarFunctionWrapper | Callable[[Any], UserDefinedScalarFunctionWrapper]:
    """Return a function or :class:`ScalarFunction` with its types; without ``f`` a decorator.

    Args:
        f: The function.
        input_types: The types of its arguments; without them it gets what comes.
        result_type: The type of what it returns, as a data type or in the notation of SQL.
        deterministic: Whether it returns the same for the same arguments; True unless the function says something else.
        name: What it is called in messages.
        func_type: ``general`` calls it with the values of each row, ``pandas`` with a ``pandas.Series`` per argument for many rows at once,
            ``arrow`` with a ``pyarrow.Array`` (which PyFlink has not).
    """
    make = functools.partial(
        UserDefinedScalarFunctionWrapper,
        input_types=input_types,
        result_type=result_type,
        func_type=func_type,
        deterministic=deterministic,
        name=name,
    )
    return make if f is None else make(f)
