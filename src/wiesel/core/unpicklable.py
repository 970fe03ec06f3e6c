"""Internal. Finds the part of a function or object that cannot be pickled, and the names that lead to it."""

from __future__ import annotations

import functools
import pickle
import types
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, NoReturn, SupportsIndex

from wiesel.core import code_pickling
from wiesel.core.errors import SerializationError

__all__ = ["StaysInProgram", "what_cannot_be_pickled", "why_not_pickled"]

_DEEPEST = 12
_MOST_PARTS = 1000


class StaysInProgram:
    """Base of objects that exist in the program only, as functions run in other processes; pickling one is rejected."""

    _use_instead: ClassVar[str] = "use its results outside of functions"

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise SerializationError(f"a {type(self).__name__} exists in the program alone, not in functions", hint=self._use_instead)


def what_cannot_be_pickled(value: Any) -> str | None:
    """Return a description such as ``global variable 'lock' of guarded is a _thread.lock``; None if nothing was found."""
    names, culprit = _search(value, [], set()) or ([], None)
    return f"{', in '.join(reversed(names))} is a {_kind(culprit)}" if names else None


def why_not_pickled(values: Iterable[Any], error: Exception) -> tuple[str, str]:
    """Return the part of some values that cannot be pickled, and a hint.

    Args:
        values: The values, one of which cannot be pickled.
        error: The error of pickling.
    """
    for value in values:
        try:
            code_pickling.dumps(value)
        except Exception as met:  # noqa: BLE001 - whatever pickling meets
            if isinstance(met, RecursionError) or "recursion" in str(met):
                return f"a {_kind(value)} is nested too deeply to be pickled", "emit flat values, with ids in place of references"
            found = _search(value, [], set())
            names, culprit = found if found is not None else ([], value)
            inside = "" if culprit is value else f" in a {_kind(value)}" + (f" ({', in '.join(reversed(names))})" if names else "")
            if isinstance(culprit, types.GeneratorType):
                return f"a generator{inside} cannot be pickled", "emit a list, list(...), in place of the generator"
            if culprit is value and not _is_refused(met):
                return f"pickling a {_kind(value)} raised {type(met).__name__}: {met}", "correct the class, or emit plain values"
            hint = "emit plain values; open files, locks and connections belong into the function, opened in its open()"
            return f"a {_kind(culprit)}{inside} cannot be pickled", hint
    return f"{type(error).__name__}: {error}", "emit plain values"


def _is_refused(error: Exception) -> bool:
    """Return whether pickling itself has rejected a value, not a method of the value's class."""
    return isinstance(error, pickle.PicklingError) or (isinstance(error, TypeError) and str(error).startswith("cannot pickle"))


def _kind(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"


def _search(value: Any, names: list[str], seen: set[int]) -> tuple[list[str], Any] | None:
    if id(value) in seen or len(seen) > _MOST_PARTS or len(names) > _DEEPEST or _is_picklable(value):
        return None
    seen.add(id(value))
    for name, part in _parts(value):
        found = _search(part, [*names, name] if name else names, seen)
        if found is not None:
            return found
    return names, value


def _is_picklable(value: Any) -> bool:
    try:
        code_pickling.dumps(value)
    except Exception:  # noqa: BLE001 - whatever pickling meets
        return False
    return True


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a value, with names known to the user; parts of Wiesel have none."""
    if isinstance(value, types.FunctionType):
        own = _is_own(value.__module__)
        yield from (("" if own else f"{name!r} of {value.__name__}", cell) for name, cell in _cells(value))
        globals_ = value.__globals__
        names = dict.fromkeys(name for name in _names(value.__code__) if name in globals_)
        yield from ((f"global variable {name!r} of {value.__name__}", globals_[name]) for name in names)
    elif isinstance(value, types.MethodType):
        yield "", value.__self__
        yield "", value.__func__
    elif isinstance(value, functools.partial):
        yield from (("", part) for part in (value.func, *value.args, *value.keywords.values()))
    elif isinstance(value, dict):
        yield from (("", part) for part in value.values())
    elif isinstance(value, list | tuple | set | frozenset):
        yield from (("", part) for part in value)
    else:
        slots = [name for each in type(value).__mro__ for name in getattr(each, "__slots__", ()) if isinstance(name, str)]
        held = {name: getattr(value, name) for name in slots if hasattr(value, name)} | getattr(value, "__dict__", {})
        own = _is_own(type(value).__module__)
        yield from (("" if own else f"attribute {name!r} of {type(value).__name__}", part) for name, part in held.items())


def _is_own(module: str | None) -> bool:
    return (module or "").partition(".")[0] == "wiesel"


def _cells(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue


def _names(code: types.CodeType) -> Iterator[str]:
    """Yield the names that a function, including nested ones, may look up among the globals."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
