"""After-match skip strategies: selection of the partial matches discarded after a match."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from wiesel.cep.errors import malformed

__all__ = ["AfterMatchSkipStrategy"]


@dataclass(frozen=True)
class AfterMatchSkipStrategy:
    """Selects the matches discarded when one is found; matches are found in the order of their first events.

    Created by the static methods.
    """

    kind: str
    pattern_name: str | None = None
    throws_on_miss: bool = False

    @staticmethod
    def no_skip() -> AfterMatchSkipStrategy:
        """Emit every possible match."""
        return AfterMatchSkipStrategy("no_skip")

    @staticmethod
    def skip_to_next() -> AfterMatchSkipStrategy:
        """Discard partial matches that began with the same event."""
        return AfterMatchSkipStrategy("skip_to_next")

    @staticmethod
    def skip_past_last_event() -> AfterMatchSkipStrategy:
        """Discard partial matches that began after the match began and before it ended."""
        return AfterMatchSkipStrategy("skip_past_last_event")

    @staticmethod
    def skip_to_first(pattern_name: str) -> AfterMatchSkipStrategy:
        """Discard partial matches that began before the first event of the match mapped to ``pattern_name``."""
        return AfterMatchSkipStrategy("skip_to_first", _named(pattern_name, "skip_to_first()"))

    @staticmethod
    def skip_to_last(pattern_name: str) -> AfterMatchSkipStrategy:
        """Discard partial matches that began before the last event of the match mapped to ``pattern_name``."""
        return AfterMatchSkipStrategy("skip_to_last", _named(pattern_name, "skip_to_last()"))

    def throw_exception_on_miss(self) -> AfterMatchSkipStrategy:
        """Return a strategy that fails the job when a match has no event of the pattern, or skips to its own first event.

        Only for :meth:`skip_to_first` and :meth:`skip_to_last`; without it such a match skips nothing.
        """
        if self.pattern_name is None:
            raise malformed(f"{self.kind} cannot miss", "call throw_exception_on_miss() on skip_to_first(...) or skip_to_last(...)")
        return replace(self, throws_on_miss=True)

    def is_skip_strategy(self) -> bool:
        """Return whether matches are ever discarded."""
        return self.kind != "no_skip"


def _named(name: Any, method: str) -> str:
    if not isinstance(name, str) or not name:
        raise malformed(f"{method} needs the name of a pattern, got {name!r}", "give the name of one of the patterns of the sequence")
    return name
