"""Internal. Checks of the arguments of public methods.

Every check raises a :class:`~wiesel.core.errors.ProgramError` with the user's line in the message.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from wiesel.core.errors import ArgumentTypeError, ArgumentValueError
from wiesel.core.user_location import program_error

__all__ = ["describe", "require_built", "require_count", "require_function", "require_instance", "require_seconds"]


def describe(value: Any) -> str:
    """Return a value and its type in a few words, for messages."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} (a {type(value).__name__})"


def require_function(function: Any, interface: type | None, method: str, *, arguments: int = 1, callable_ok: bool = True) -> None:
    """Check a user's function.

    Args:
        function: What was given.
        interface: The abstract class it may be an instance of; None if only plain callables are taken.
        method: Name of the method that was called, for the message.
        arguments: Number of arguments which a plain callable will be called with.
        callable_ok: Whether a plain callable will do.

    Raises:
        ArgumentTypeError: If it is neither, or a callable that cannot be called with that many arguments.
    """
    if interface is not None and isinstance(function, interface):
        return
    wanted = _article(interface.__name__) if interface is not None else ""
    if callable_ok:
        wanted = f"{wanted} or a callable with {_arguments(arguments)}" if wanted else f"a callable with {_arguments(arguments)}"
    if isinstance(function, type) and interface is not None and issubclass(function, interface):
        raise program_error(
            f"{method} got the class {function.__name__} instead of an instance", f"write {function.__name__}(...)", ArgumentTypeError
        )
    if not callable_ok or not callable(function):
        raise program_error(
            f"{method} needs {wanted}, got {describe(function)}", _way_out(interface, method, callable_ok), ArgumentTypeError
        )
    if not _accepts(function, arguments):
        name = getattr(function, "__name__", type(function).__name__)
        raise program_error(
            f"{method} calls its function with {_arguments(arguments)}, but {name}{inspect.signature(function)} does not take that",
            f"give a function of {_arguments(arguments)}",
            ArgumentTypeError,
        )


def _way_out(interface: type | None, method: str, callable_ok: bool) -> str:
    if interface is None:
        return "give a function or a lambda"
    other = " or give a lambda" if callable_ok else ""
    keyed = interface.__name__.startswith("Keyed")
    return f"subclass wiesel.datastream.{interface.__name__}{other}" + ("; for other functions do not call key_by before" if keyed else "")


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def _arguments(count: int) -> str:
    return f"{count} argument" + ("" if count == 1 else "s")


def _accepts(function: Callable[..., Any], arguments: int) -> bool:
    try:
        # A wrapper made with functools.wraps may take other arguments than what it wraps: its own are those that count.
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return True  # a builtin that does not tell
    try:
        signature.bind(*[None] * arguments)
    except TypeError:
        return False
    return True


def require_instance(value: Any, expected: type | tuple[type, ...], what: str, hint: str) -> None:
    """Check the class of an argument.

    Raises:
        ArgumentTypeError: If ``value`` is not an instance of ``expected``.
    """
    if not isinstance(value, expected):
        names = " or ".join(t.__name__ for t in (expected if isinstance(expected, tuple) else (expected,)))
        raise program_error(f"{what} must be {_article(names)}, got {describe(value)}", hint, ArgumentTypeError)


def require_built(value: Any, expected: type, method: str) -> None:
    """Check a source or sink.

    Raises:
        ArgumentTypeError: If it is something else; says what to do if it is a builder.
    """
    if isinstance(value, expected):
        return
    name = expected.__name__
    hint = f"give a {name} of wiesel.datastream.connectors or your own (Flink's Java source and sink functions do not exist here)"
    if callable(getattr(value, "build", None)):
        hint = "call build() on it"
    raise program_error(f"{method} needs a {name}, got {describe(value)}", hint, ArgumentTypeError)


def require_count(value: Any, what: str, *, minimum: int = 1, maximum: int | None = None) -> int:
    """Check a whole number and return it.

    Raises:
        ProgramError: If it is not an int (a bool is none) or out of bounds.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise program_error(f"{what} must be an int, got {describe(value)}", f"give a whole number from {minimum} on", ArgumentTypeError)
    if value < minimum or (maximum is not None and value > maximum):
        bounds = f"at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        raise program_error(f"{what} must be {bounds}, got {value}", f"give a whole number that is {bounds}", ArgumentValueError)
    return value


def require_seconds(value: Any) -> float:
    """Check a number of seconds above 0 and return it.

    Raises:
        ProgramError: If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise program_error(f"seconds must be a number above 0, got {describe(value)}", "e.g. seconds=2", ArgumentValueError)
    return float(value)
