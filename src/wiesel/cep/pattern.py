"""Patterns: definitions of event sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.cep.conditions import TRUE, Condition, IterativeCondition, as_condition
from wiesel.cep.errors import malformed
from wiesel.cep.quantifier import Contiguity, Quantifier, WithinType
from wiesel.cep.skip import AfterMatchSkipStrategy
from wiesel.core.argument_checks import describe, require_instance
from wiesel.core.durations import Duration, Time, to_millis
from wiesel.core.errors import ConfigurationError

__all__ = ["GroupPattern", "Pattern"]

END_NAME = "$endState$"
"""Reserved in Flink."""

ConditionLike = Callable[..., Any] | IterativeCondition | Condition


class Pattern:
    """One pattern of a sequence; it references its predecessor.

    A sequence starts with :meth:`begin`. The methods that configure a pattern return the pattern itself, those that append one return the
    new one, and that is applied to a stream: the last pattern represents the sequence.

    ::

        Pattern.begin("first").where(lambda e: e["sum"] < 1).followed_by("second").where(lambda e: e["sum"] > 500).within("1 min")

    Invalid calls raise :class:`~wiesel.cep.MalformedPatternException` with the line of the call.
    """

    def __init__(self, name: str, previous: Pattern | None, consuming: Contiguity, skip_strategy: AfterMatchSkipStrategy) -> None:
        """Internal: use :meth:`begin`, :meth:`next` and so on."""
        self._name = name
        self._previous = previous
        self._quantifier = Quantifier(consuming)
        self._condition: Condition | None = None
        self._until: Condition | None = None
        self._window_ms: dict[WithinType, int] = {}
        self._skip_strategy = skip_strategy

    # Sequences

    @staticmethod
    def begin(pattern: str | Pattern, after_match_skip_strategy: AfterMatchSkipStrategy | None = None) -> Pattern:
        """Return the first pattern of a new sequence.

        Args:
            pattern: Its name; or a sequence, which becomes a group.
            after_match_skip_strategy: Partial matches to discard after a match; by default none.
        """
        strategy = AfterMatchSkipStrategy.no_skip() if after_match_skip_strategy is None else after_match_skip_strategy
        require_instance(strategy, AfterMatchSkipStrategy, "the skip strategy", "e.g. AfterMatchSkipStrategy.skip_past_last_event()")
        return _make(pattern, None, Contiguity.STRICT, strategy, "begin()")

    @staticmethod
    def from_dict(document: Any) -> Pattern:
        """Return the sequence described by a document (of JSON or YAML, say); see the page on patterns for its structure.

        Raises:
            MalformedPatternException: With the path in the document.
        """
        from wiesel.cep.rules import pattern_from_dict

        return pattern_from_dict(document)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of this sequence, which :meth:`from_dict` reads. Its conditions must originate from a document."""
        from wiesel.cep.rules import pattern_to_dict

        return pattern_to_dict(self)

    def next(self, pattern: str | Pattern) -> Pattern:
        """Append a pattern whose event must directly follow the previous one (strict contiguity)."""
        return self._append(pattern, Contiguity.STRICT, "next()")

    def followed_by(self, pattern: str | Pattern) -> Pattern:
        """Append a pattern; non-matching events in between are skipped (relaxed contiguity)."""
        return self._append(pattern, Contiguity.RELAXED, "followed_by()")

    def followed_by_any(self, pattern: str | Pattern) -> Pattern:
        """Append a pattern; any events in between, including matching ones, may be skipped (non-deterministic relaxed contiguity)."""
        return self._append(pattern, Contiguity.NON_DETERMINISTIC, "followed_by_any()")

    def not_next(self, name: str) -> Pattern:
        """Append a pattern whose event must not directly follow the previous one."""
        return self._append_not(name, Contiguity.NOT_NEXT, "not_next()")

    def not_followed_by(self, name: str) -> Pattern:
        """Append a pattern whose event must not occur before that of the next pattern; or, at the end, within the time of the match."""
        return self._append_not(name, Contiguity.NOT_FOLLOW, "not_followed_by()")

    def _append(self, pattern: str | Pattern, consuming: Contiguity, call: str) -> Pattern:
        return _make(pattern, self, consuming, self._skip_strategy, call)

    def _append_not(self, name: str, consuming: Contiguity, call: str) -> Pattern:
        if isinstance(name, Pattern):
            raise malformed(f"{call} takes one pattern, not a group", "give a name, and a condition by where()")
        if self._quantifier.optional:
            raise malformed(
                f"{call} after the optional pattern {self._name!r}: what must not come would follow on a pattern that may be missing",
                "look for two sequences, one with and one without the optional pattern",
            )
        return self._append(name, consuming, call)

    # Properties of one pattern

    def where(self, condition: ConditionLike) -> Pattern:
        """Add a condition on the events; conditions of several calls must all hold.

        Args:
            condition: A function of the event; a function of event and context; or a condition object.
        """
        return self._constrain(as_condition(condition, "where()"), Condition.and_, "where()")

    def or_where(self, condition: ConditionLike) -> Pattern:
        """Add an alternative to the present conditions (``or`` in Java)."""
        return self._constrain(as_condition(condition, "or_where()"), Condition.or_, "or_where()")

    def subtype(self, subtype: type | tuple[type, ...]) -> Pattern:
        """Accept only events of a class."""
        given: Any = subtype if isinstance(subtype, tuple) else (subtype,)
        if not all(isinstance(t, type) for t in given):
            raise malformed(f"subtype() needs a class, got {describe(subtype)}", "give the class of the events")
        return self._constrain(as_condition(lambda event: isinstance(event, subtype), "subtype()"), Condition.and_, "subtype()")

    def _constrain(self, condition: Condition, combine: Callable[[Condition, Condition], Condition], call: str) -> Pattern:
        self._condition = condition if self._condition is None else combine(self._condition, condition)
        return self

    def until(self, condition: ConditionLike) -> Pattern:
        """End a looping pattern: once an event satisfies the condition no more events are taken for it."""
        stop = as_condition(condition, "until()")
        if self._until is not None:
            raise malformed("the pattern has an until() condition already", "combine the two in one function")
        if self._quantifier.kind != "looping":
            raise malformed("until() is for patterns that loop", "call one_or_more() or times_or_more() before")
        self._until = stop
        return self

    def within(self, window_time: Duration | Time | Any, within_type: WithinType = WithinType.FIRST_AND_LAST) -> Pattern:
        """Discard partial matches that take longer. Of several times in one sequence the smallest is used.

        Args:
            window_time: A Duration, timedelta, Time, number of ms or string such as ``5 min``.
            within_type: Between the first and the last event of the match; or between the event of this pattern and the previous one.
        """
        require_instance(within_type, WithinType, "the second argument of within()", "e.g. WithinType.PREVIOUS_AND_CURRENT")
        self._window_ms[within_type] = _millis(window_time, "within()")
        return self

    def optional(self) -> Pattern:
        """Make the pattern optional."""
        if self._previous is not None and self._previous._quantifier.greedy:
            raise malformed(
                f"the optional pattern {self._name!r} follows the greedy pattern {self._previous._name!r}",
                "drop one of greedy() and optional()",
            )
        self._quantifier = self._quantifier.made_optional()
        return self

    def one_or_more(self, window_time: Any = None) -> Pattern:
        """Take at least one event.

        Args:
            window_time: Time between the events; see :meth:`within` with ``PREVIOUS_AND_CURRENT``.
        """
        return self._repeat("one_or_more()", 1, None, window_time)

    def times(self, from_times: int, to_times: int | None = None, window_time: Any = None) -> Pattern:
        """Take a number of events.

        Args:
            from_times: The number; or, with ``to_times``, the minimum. 0 makes the pattern optional.
            to_times: The maximum.
            window_time: Time between the events.
        """
        call = f"times({from_times}{'' if to_times is None else f', {to_times}'})"
        minimum, maximum = from_times, from_times if to_times is None else to_times
        _count(minimum, call, 1 if to_times is None else 0)
        _count(maximum, call, max(minimum, 1))
        return self._repeat(call, minimum, maximum, window_time)

    def times_or_more(self, times: int, window_time: Any = None) -> Pattern:
        """Take at least a number of events.

        Args:
            times: The minimum.
            window_time: Time between the events.
        """
        _count(times, f"times_or_more({times})", 1)
        return self._repeat(f"times_or_more({times})", times, None, window_time)

    def _repeat(self, call: str, minimum: int, maximum: int | None, window_time: Any) -> Pattern:
        gap_ms = None if window_time is None else _millis(window_time, call)
        self._quantifier = self._quantifier.repeated(call, minimum, maximum, gap_ms)
        return self

    def greedy(self) -> Pattern:
        """Take as many events as possible: a longer match replaces the shorter ones. Not for groups."""
        self._quantifier = self._quantifier.made_greedy()
        return self

    def consecutive(self) -> Pattern:
        """Require strict contiguity of the events of this repeated pattern."""
        self._quantifier = self._quantifier.made_consecutive()
        return self

    def allow_combinations(self) -> Pattern:
        """Allow skipping any events between the events of this pattern, including matching ones."""
        self._quantifier = self._quantifier.made_combining()
        return self

    # Reading

    def get_name(self) -> str:
        """Return the name."""
        return self._name

    def get_previous(self) -> Pattern | None:
        """Return the pattern before this one."""
        return self._previous

    def get_quantifier(self) -> Quantifier:
        """Return the quantifier of the pattern."""
        return self._quantifier

    def get_window_size(self, within_type: WithinType = WithinType.FIRST_AND_LAST) -> Duration | None:
        """Return the time set by :meth:`within`."""
        millis = self._window_ms.get(within_type)
        return None if millis is None else Duration.of_millis(millis)

    def get_after_match_skip_strategy(self) -> AfterMatchSkipStrategy:
        """Return the skip strategy of the sequence."""
        return self._skip_strategy

    def _where(self) -> Condition:
        return TRUE if self._condition is None else self._condition

    def _sequence(self) -> list[Pattern]:
        """Return the patterns of the sequence from the first one to this one."""
        found: list[Pattern] = []
        pattern: Pattern | None = self
        while pattern is not None:
            found.append(pattern)
            pattern = pattern._previous
        return found[::-1]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({' > '.join(p._name for p in self._sequence())})"


class GroupPattern(Pattern):
    """A sequence used as a pattern; it can be repeated or optional, but has no condition."""

    def __init__(self, sequence: Pattern, previous: Pattern | None, consuming: Contiguity, skip_strategy: AfterMatchSkipStrategy) -> None:
        """Internal: give a sequence to :meth:`Pattern.begin`, :meth:`Pattern.next` and so on."""
        super().__init__(f"group of {sequence.get_name()}", previous, consuming, skip_strategy)
        self._raw = sequence

    def get_raw_pattern(self) -> Pattern:
        """Return the sequence."""
        return self._raw

    def _constrain(self, condition: Condition, combine: Callable[[Condition, Condition], Condition], call: str) -> Pattern:
        raise malformed(f"{call} cannot be said of a group of patterns", "set conditions on the patterns inside")

    def greedy(self) -> Pattern:
        """Not for groups.

        Raises:
            MalformedPatternException: Always.
        """
        raise malformed("greedy() cannot be said of a group of patterns", "set it on the patterns inside")


def _make(pattern: Any, previous: Pattern | None, consuming: Contiguity, strategy: AfterMatchSkipStrategy, call: str) -> Pattern:
    if isinstance(pattern, Pattern):
        return GroupPattern(pattern, previous, consuming, strategy)
    if not isinstance(pattern, str) or not pattern:
        raise malformed(f"{call} needs the name of a pattern or a sequence of patterns, got {describe(pattern)}", "give a text")
    return Pattern(pattern, previous, consuming, strategy)


def _count(value: Any, call: str, minimum: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise malformed(f"{call} must be at least {minimum} times", "give whole numbers, the smaller one first")


def _millis(value: Any, call: str) -> int:
    try:
        millis = to_millis(value)
    except (ConfigurationError, TypeError) as error:
        raise malformed(f"{call} got {describe(value)}, which is no length of time", "e.g. Duration.of_minutes(5), or '5 min'") from error
    if millis <= 0:
        raise malformed(f"{call} needs a time of at least 1 ms, got {value}", "give a longer time, or leave it out")
    return millis
