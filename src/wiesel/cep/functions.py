"""Functions that convert matches to results.

A match is a dict: for each pattern with events its name, and the list of events in order. As in all process functions, results are returned
as an iterable (usually by ``yield``), and a result ``(OutputTag, value)`` goes to a side output.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, TypeAlias

from wiesel.spi.functions import Function

__all__ = [
    "EventComparator",
    "Match",
    "PatternFlatSelectFunction",
    "PatternFlatTimeoutFunction",
    "PatternProcessFunction",
    "PatternSelectFunction",
    "PatternTimeoutFunction",
    "TimedOutPartialMatchHandler",
]

Match: TypeAlias = "dict[str, list[Any]]"


class PatternProcessFunction(Function):
    """Returns any number of results for a match."""

    class Context(ABC):
        """The context of a call for a match."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the time (ms) of the event that completed the match, or at which a partial match timed out."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the clock in ms."""

    @abstractmethod
    def process_match(self, match: Match, ctx: PatternProcessFunction.Context) -> Iterable[Any] | None:
        """Return or yield the results for a match."""


class TimedOutPartialMatchHandler(ABC):
    """A second base of a :class:`PatternProcessFunction` that processes timed-out partial matches."""

    @abstractmethod
    def process_timed_out_match(self, match: Match, ctx: PatternProcessFunction.Context) -> Iterable[Any] | None:
        """Return or yield the results for a partial match, usually pairs of an output tag and a value."""


class PatternSelectFunction(Function):
    """Returns one result per match."""

    @abstractmethod
    def select(self, pattern: Match) -> Any:
        """Return the result for a match."""


class PatternFlatSelectFunction(Function):
    """Returns any number of results per match."""

    @abstractmethod
    def flat_select(self, pattern: Match) -> Iterable[Any] | None:
        """Return or yield the results for a match."""


class PatternTimeoutFunction(Function):
    """Returns one result per timed-out partial match."""

    @abstractmethod
    def timeout(self, pattern: Match, timeout_timestamp: int) -> Any:
        """Return the result for a partial match that timed out at that time (ms)."""


class PatternFlatTimeoutFunction(Function):
    """Returns any number of results per timed-out partial match."""

    @abstractmethod
    def timeout(self, pattern: Match, timeout_timestamp: int) -> Iterable[Any] | None:
        """Return or yield the results for a partial match that timed out at that time (ms)."""


class EventComparator(ABC):
    """Orders events of the same time."""

    @abstractmethod
    def compare(self, first: Any, second: Any) -> int:
        """Return a negative number if ``first`` is first, a positive one if ``second`` is, 0 to keep the order of arrival."""
