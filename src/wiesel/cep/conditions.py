"""Conditions of patterns: whether an event is accepted."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from wiesel.cep.errors import malformed
from wiesel.core.argument_checks import describe
from wiesel.spi.functions import Function

__all__ = ["Condition", "IterativeCondition", "RichIterativeCondition", "SimpleCondition", "as_condition"]


class IterativeCondition(ABC):
    """A condition on an event and the events accepted earlier by the partial match.

    It is evaluated for every partial match that could take the event, so a :class:`SimpleCondition`, which is evaluated once per event, is
    much cheaper if sufficient.
    """

    class Context(ABC):
        """The context of a condition."""

        @abstractmethod
        def get_events_for_pattern(self, name: str) -> list[Any]:
            """Return the events accepted for a pattern so far, in order; the caller owns the list."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the event's time in ms; in processing time, its arrival time."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the clock in ms."""

    @abstractmethod
    def filter(self, value: Any, ctx: IterativeCondition.Context) -> bool:
        """Return whether the event is accepted."""


class SimpleCondition(IterativeCondition):
    """A condition on an event alone."""

    @staticmethod
    def of(function: Callable[[Any], Any]) -> SimpleCondition:
        """Return the condition defined by a function of the event."""
        return _FunctionCondition(function)

    @abstractmethod
    def filter(self, value: Any, ctx: IterativeCondition.Context | None = None) -> bool:
        """Return whether the event is accepted. Called with the event alone: ``ctx`` is optional."""


class RichIterativeCondition(IterativeCondition, Function):
    """An iterative condition with ``open`` and ``close``; its runtime context has no state."""


class _FunctionCondition(SimpleCondition):
    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def filter(self, value: Any, ctx: IterativeCondition.Context | None = None) -> bool:
        return bool(self.function(value))


class Condition:
    """Internal. Conditions of patterns: single ones, combined by ``and``, ``or`` and ``not``.

    Args:
        kind: ``atom``, ``and``, ``or``, ``not`` or ``true``.
        parts: The combined conditions.
        function: Of an atom: called with the event, or with event and context if ``iterative``.
        iterative: The atom needs the context.
        owner: Of an atom: the user's object; opened and closed if it is a Function.
        text: The expression of an atom given as a string, else None.
    """

    __slots__ = ("function", "iterative", "kind", "owner", "parts", "text")

    def __init__(
        self,
        kind: str,
        parts: tuple[Condition, ...] = (),
        *,
        function: Callable[..., Any] | None = None,
        iterative: bool = False,
        owner: Any = None,
        text: str | None = None,
    ) -> None:
        self.kind = kind
        self.parts = parts
        self.function = function
        self.iterative = iterative
        self.owner = owner
        self.text = text

    def and_(self, other: Condition) -> Condition:
        """Return the conjunction of both conditions."""
        if self.kind == "true":
            return other
        return self if other.kind == "true" else Condition("and", (self, other))

    def or_(self, other: Condition) -> Condition:
        """Return the disjunction of both conditions."""
        return Condition("or", (self, other))

    def negated(self) -> Condition:
        """Return the negation of this condition."""
        return self.parts[0] if self.kind == "not" else Condition("not", (self,))


TRUE = Condition("true")


def as_condition(given: Any, method: str) -> Condition:
    """Convert the user's argument to a condition.

    Args:
        given: A condition object, or a function of the event or of event and context.
        method: The method it was given to, for errors.

    Raises:
        MalformedPatternException: If it is neither.
    """
    if isinstance(given, Condition):
        return given
    if isinstance(given, type) and issubclass(given, IterativeCondition):
        raise malformed(f"{method} got the class {given.__name__} instead of an instance", f"write {given.__name__}(...)")
    if isinstance(given, SimpleCondition):
        function = given.function if type(given) is _FunctionCondition else given.filter
        return Condition("atom", function=function, owner=given)
    if isinstance(given, IterativeCondition):
        return Condition("atom", function=given.filter, iterative=True, owner=given)
    if not callable(given):
        raise malformed(f"{method} needs a condition, got {describe(given)}", "give a function of the event, or of event and context")
    return Condition("atom", function=given, iterative=_wants_context(given, method), owner=given)


def _wants_context(function: Callable[..., Any], method: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False  # a builtin without signature
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    keywords = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if len(required) == 2 and not keywords:
        return True
    if len(required) > 2 or keywords or (not positional and not any(p.kind is p.VAR_POSITIONAL for p in parameters)):
        name = getattr(function, "__name__", type(function).__name__)
        raise malformed(
            f"{method} calls its condition with event, or event and context, which {name}{inspect.signature(function)} does not take",
            "give a function of one or two arguments",
        )
    return False
