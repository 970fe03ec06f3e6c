"""Internal. Quantifiers of patterns, and the contiguity of their events."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

from wiesel.cep.errors import malformed

__all__ = ["Contiguity", "Quantifier", "WithinType"]


class WithinType(enum.Enum):
    """The two events of a match that a time interval refers to."""

    FIRST_AND_LAST = 0
    """The first and the last event of the match."""

    PREVIOUS_AND_CURRENT = 1
    """The event of the pattern, and the previously taken one."""


class Contiguity(enum.Enum):
    """The events that may be skipped before the next one is taken."""

    STRICT = "strict"
    """None."""

    RELAXED = "relaxed"
    """Non-matching events."""

    NON_DETERMINISTIC = "non-deterministic relaxed"
    """All events: matching ones are both taken and skipped."""

    NOT_NEXT = "not next"
    NOT_FOLLOW = "not followed by"

    @property
    def is_not(self) -> bool:
        """Return whether the pattern is negated."""
        return self in (Contiguity.NOT_NEXT, Contiguity.NOT_FOLLOW)


@dataclass(frozen=True)
class Quantifier:
    """Immutable; the methods return another one or raise MalformedPatternException.

    Attributes:
        consuming: Contiguity with the previous pattern.
        inner: Contiguity between the events of a repeated pattern.
        kind: ``single``, ``times`` or ``looping``.
        minimum: Minimal number of events.
        maximum: Maximal number of events, None for unbounded.
        gap_ms: Maximal time between events set with the number of times, or None.
        optional: The pattern is optional.
        greedy: It takes as many events as possible.
        text: The call in the program, for errors.
    """

    consuming: Contiguity
    inner: Contiguity = Contiguity.RELAXED
    kind: str = "single"
    minimum: int = 1
    maximum: int | None = 1
    gap_ms: int | None = None
    optional: bool = False
    greedy: bool = False
    text: str = ""

    def repeated(self, text: str, minimum: int, maximum: int | None, gap_ms: int | None) -> Quantifier:
        """Return the quantifier of a repeated pattern."""
        self._refuse_not(text)
        if self.kind != "single":
            raise malformed(f"{text} follows {self.text}, but a pattern has one quantifier", "keep one of the two")
        kind = "looping" if maximum is None else "times"
        optional = self.optional or minimum == 0
        return replace(self, kind=kind, minimum=max(minimum, 1), maximum=maximum, gap_ms=gap_ms, optional=optional, text=text)

    def made_optional(self) -> Quantifier:
        """Return the quantifier of an optional pattern."""
        self._refuse_not("optional()")
        if self.optional:
            raise malformed("the pattern is optional already", "leave the second optional() out")
        return replace(self, optional=True)

    def made_greedy(self) -> Quantifier:
        """Return the quantifier of a greedy pattern."""
        self._refuse_not("greedy()")
        if self.inner is Contiguity.NON_DETERMINISTIC:
            raise malformed("greedy() contradicts allow_combinations()", "keep one of the two")
        if self.kind == "single":
            raise malformed("greedy() is for patterns that occur several times", "call one_or_more(), times() or times_or_more() before")
        return replace(self, greedy=True)

    def made_consecutive(self) -> Quantifier:
        """Return the quantifier with strict contiguity inside."""
        return self._with_inner("consecutive()", Contiguity.STRICT)

    def made_combining(self) -> Quantifier:
        """Return the quantifier with non-deterministic relaxed contiguity inside."""
        return self._with_inner("allow_combinations()", Contiguity.NON_DETERMINISTIC)

    def _with_inner(self, call: str, inner: Contiguity) -> Quantifier:
        if self.kind == "single":
            raise malformed(f"{call} is for patterns that occur several times", "call one_or_more(), times() or times_or_more() before")
        if self.inner is inner:
            raise malformed(f"{call} was called already", "leave the second call out")
        if self.inner is not Contiguity.RELAXED:
            raise malformed("a pattern has either consecutive() or allow_combinations()", "keep one of the two")
        return replace(self, inner=inner)

    def _refuse_not(self, call: str) -> None:
        if self.consuming.is_not:
            raise malformed(f"{call} cannot be said of a pattern that must not occur", "leave it out, or use next() or followed_by()")
