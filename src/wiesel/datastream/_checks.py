"""Internal. Where in the user's program a call was made, and the checks of what it was called with.

Every check raises a :class:`~wiesel.core.errors.ProgramError` with the user's line in the message, because the traceback of an
error that is found when the job starts does not show the line that built the operator.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import wiesel
from wiesel.core.errors import ArgumentTypeError, ArgumentValueError, ProgramError
from wiesel.types import Types
from wiesel.types.typeinfo import RowTypeInfo, TypeInformation

__all__ = [
    "program_error",
    "require_built",
    "require_count",
    "require_function",
    "require_instance",
    "require_seconds",
    "require_type",
    "user_location",
]

_PACKAGE = os.path.dirname(os.path.abspath(wiesel.__file__)) + os.sep


def user_location() -> str:
    """Return ``file:line`` of the innermost call outside of Wiesel, or an empty text if there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_PACKAGE):
            if frame.f_globals.get("__name__", "").partition(".")[0] == "click":
                return ""  # the command line runs statements without a program
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def program_error(message: str, hint: str, kind: type[ProgramError] = ProgramError, *, location: str | None = None) -> ProgramError:
    """Return the error for something that the program must not do, with the line that does it.

    Args:
        message: What is wrong.
        hint: What to do instead.
        kind: Class of the error.
        location: ``file:line``; the current call if it is None.
    """
    where = user_location() if location is None else location
    return kind(f"{message} (at {where})" if where else message, hint=hint, location=where)


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


def require_type(output_type: Any, method: str) -> TypeInformation:
    """Return the declared type of a result: pickled objects if none is declared, a row if a list of types is given.

    Raises:
        ArgumentTypeError: If it is something else.
    """
    if output_type is None:
        return Types.PICKLED_BYTE_ARRAY()
    if isinstance(output_type, TypeInformation):
        return output_type
    if isinstance(output_type, list) and all(isinstance(t, TypeInformation) for t in output_type):
        return RowTypeInfo(output_type)
    hint = "give one of wiesel.common.Types, e.g. Types.STRING()"
    name = getattr(output_type, "__name__", "")
    if name and getattr(Types, name, None) is output_type:
        hint = f"call it: Types.{name}()"
    raise program_error(f"the type given to {method} must be a TypeInformation, got {describe(output_type)}", hint, ArgumentTypeError)
