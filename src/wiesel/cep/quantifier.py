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
    """The event that the pattern takes, and the one taken before it."""


class Contiguity(enum.Enum):
    """The events that may be skipped before the next one is taken."""

    STRICT = "strict"
    """None."""

    RELAXED = "relaxed"
    """Those that do not fit."""

    NON_DETERMINISTIC = "non-deterministic relaxed"
    """All: those that fit are both taken and passed over."""

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
        consuming: Contiguity with the pattern before.
        inner: Contiguity between the events of a pattern that occurs several times.
        kind: ``single``, ``times`` or ``looping``.
        minimum: How often at least.
        maximum: How often at most, None for any number.
        gap_ms: Time between events that was given with the number of times, or None.
        optional: Whether it may be left out.
        greedy: Whether it takes as many events as there are.
        text: How the program said it, for errors.
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
        """Return the quantifier for several occurrences."""
        self._refuse_not(text)
        if self.kind != "single":
            raise malformed(f"{text} follows {self.text}, but a pattern has one quantifier", "keep one of the two")
        kind = "looping" if maximum is None else "times"
        optional = self.optional or minimum == 0
        return replace(self, kind=kind, minimum=max(minimum, 1), maximum=maximum, gap_ms=gap_ms, optional=optional, text=text)

    def made_optional(self) -> Quantifier:
        """Return the quantifier of a pattern that may be left out."""
        self._refuse_not("optional()")
        if self.optional:
            raise malformed("the pattern is optional already", "leave the second optional() out")
        return replace(self, optional=True)

    def made_greedy(self) -> Quantifier:
        """Return the quantifier of a pattern that takes all it can."""
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
