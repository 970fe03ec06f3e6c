"""Internal. Evaluation of JSON paths by the rules of the library Jayway JsonPath, which Flink uses.

A path is definite if it selects at most one value. As long as it is, a step that fails raises LookupError unless the path is lax; after an
indefinite step failing values are skipped.
"""

from __future__ import annotations

import decimal
import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = [
    "Children",
    "Condition",
    "Descendants",
    "Elements",
    "Filter",
    "Members",
    "Path",
    "Slice",
    "Step",
    "compared",
    "found_at",
    "is_there",
]

Value = Any
Condition = Callable[[Value, bool], bool]
"""Tests a value; the flag is true for a lax path."""
_NOTHING = object()


@dataclass(frozen=True)
class _Way:
    """The context of a step in its path.

    Attributes:
        definite: All previous steps are definite.
        is_last: No step follows.
        lax: Missing values are skipped.
        required: Members have to exist.
    """

    definite: bool
    is_last: bool
    lax: bool
    required: bool

    def missing(self, what: str) -> None:
        """Raise LookupError if the path must exist."""
        if self.definite and not self.lax:
            raise LookupError(what)


class Step(ABC):
    """A step of a path."""

    def is_definite(self, is_last: bool) -> bool:
        """Return whether the step selects one value."""
        return False

    @abstractmethod
    def take(self, value: Value, way: _Way) -> Iterator[Value]:
        """Apply the step to a value."""

    def can_begin(self, value: Value, way: _Way) -> bool:
        """Return whether the step applies to a value during a recursive descent."""
        return True


@dataclass(frozen=True)
class Members(Step):
    """Members of an object by their names; several of them form one object at the end of a path."""

    names: tuple[str, ...]

    def is_definite(self, is_last: bool) -> bool:
        return len(self.names) == 1 or is_last

    def take(self, value: Value, way: _Way) -> Iterator[Value]:
        if not isinstance(value, dict):
            way.missing("there is no object")
        elif len(self.names) > 1 and way.is_last:
            yield {name: value[name] for name in self.names if name in value}
        else:
            for name in self.names:
                if name in value:
                    yield value[name]
                elif not way.lax and (way.required or (not way.is_last and way.definite and len(self.names) == 1)):
                    raise LookupError(f"there is no member {name!r}")

    def can_begin(self, value: Value, way: _Way) -> bool:
        return isinstance(value, dict) and (not self.is_definite(way.is_last) or all(name in value for name in self.names))


class _OfArrays(Step):
    def take(self, value: Value, way: _Way) -> Iterator[Value]:
        if not isinstance(value, list):
            way.missing("there is no array")
            return
        size = len(value)
        yield from (value[place] for place in self._places(size) if -size <= place < size)

    @abstractmethod
    def _places(self, size: int) -> Sequence[int]: ...

    def can_begin(self, value: Value, way: _Way) -> bool:
        return isinstance(value, list)


@dataclass(frozen=True)
class Elements(_OfArrays):
    """Elements of an array by index; negative ones count from its end."""

    places: tuple[int, ...]

    def is_definite(self, is_last: bool) -> bool:
        return len(self.places) == 1

    def _places(self, size: int) -> Sequence[int]:
        return self.places


@dataclass(frozen=True)
class Slice(_OfArrays):
    """Elements of an array from an index up to another (exclusive)."""

    first: int | None
    last: int | None

    def _places(self, size: int) -> Sequence[int]:
        first, last = self.first or 0, size if self.last is None else self.last
        if self.first is None and last < 0:
            last += size
        elif self.last is None and first < 0:
            first = max(0, first + size)
        return range(first, min(size, last))


class Children(Step):
    """All members of an object and all elements of an array."""

    def take(self, value: Value, way: _Way) -> Iterator[Value]:
        yield from _children(value)


def _children(value: Value) -> Sequence[Value]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


class Descendants(Step):
    """A value and all nested objects and arrays."""

    def take(self, value: Value, way: _Way) -> Iterator[Value]:
        if isinstance(value, dict | list):
            yield value
            for child in _children(value):
                yield from self.take(child, way)


@dataclass(frozen=True)
class Filter(Step):
    """An object, or elements of an array, that satisfy a condition."""

    condition: Condition

    def take(self, value: Value, way: _Way) -> Iterator[Value]:
        if isinstance(value, dict | list):
            yield from (part for part in (value if isinstance(value, list) else [value]) if self.condition(part, way.lax))
        elif way.definite:
            raise ValueError("a filter cannot be applied to what is neither an object nor an array")

    def can_begin(self, value: Value, way: _Way) -> bool:
        return self.condition(value, way.lax)


def _followed(steps: Sequence[Step], value: Value, lax: bool, required: bool = False) -> tuple[bool, list[Value]]:
    """Return whether the path is definite, and the selected values."""
    found, definite, scanned = [value], True, False
    for place, step in enumerate(steps):
        way = _Way(definite, place == len(steps) - 1, lax, required)
        among = [one for one in found if step.can_begin(one, way)] if scanned else found
        found = [part for one in among for part in step.take(one, way)]
        definite = definite and step.is_definite(way.is_last)
        scanned = isinstance(step, Descendants)
    return definite, found


def found_at(steps: Sequence[Step], value: Value, lax: bool) -> Value:
    """Return the value at a path within a filter; a missing value is null on a lax path."""
    try:
        definite, found = _followed(steps, value, lax)
    except LookupError:
        return _NOTHING
    if not definite:
        return found
    return found[-1] if found else None if lax else _NOTHING


def is_there(steps: Sequence[Step], value: Value) -> bool:
    """Return whether a path within a filter exists; an indefinite path always exists."""
    try:
        definite, found = _followed(steps, value, lax=False, required=True)
    except LookupError:
        return False
    return bool(found) or not definite


@dataclass(frozen=True)
class Path:
    """A parsed path."""

    text: str
    strict: bool
    steps: tuple[Step, ...]

    def find(self, value: Value) -> Value:
        """Return the value at the path: a list if the path is indefinite; None if there is none.

        Raises:
            LookupError: If there is no value, and the path is strict.
            ValueError: If the path cannot be evaluated on the value.
        """
        if value is None:
            raise ValueError("there is null only")
        definite, found = _followed(self.steps, value, not self.strict)
        if not definite:
            return found
        if self.strict and (not found or found[-1] is None):
            raise LookupError(f"there is nothing at the path {self.text!r}")
        return found[-1] if found else None


_SIGNS: dict[str, Callable[[Any, Any], bool]] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def compared(value: Value, sign: str, wanted: Value) -> bool:
    """Return the result of a comparison within a filter; a missing value is unequal to all others."""
    if sign == "=~":
        return wanted.fullmatch(_text(value)) is not None
    if sign in ("==", "!="):
        return _is_same(value, wanted) == (sign == "==")
    both = (_is_number(value) and _is_number(wanted)) or (isinstance(value, str) and isinstance(wanted, str))
    return both and _SIGNS[sign](value, wanted)


def _is_same(value: Value, wanted: Value) -> bool:
    if _is_number(value) and isinstance(wanted, str):
        return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", wanted) is not None and decimal.Decimal(wanted) == value
    if isinstance(value, str) and _is_number(wanted):
        return value == str(wanted)
    return isinstance(value, bool) == isinstance(wanted, bool) and value == wanted


def _is_number(value: Value) -> bool:
    return isinstance(value, int | decimal.Decimal) and not isinstance(value, bool)


def _text(value: Value) -> str:
    """Return the string that a regular expression is matched against."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str) or _is_number(value) else ""
