"""Internal. Compiler from a pattern to its automaton, by Flink's rules of contiguity, quantifiers, groups and negation.

The sequence is compiled from its end: each pattern becomes states that lead to the entry of its successor, its *sink*.
"""

from __future__ import annotations

from dataclasses import dataclass

from wiesel.cep.automaton import IGNORE, TAKE, Automaton
from wiesel.cep.conditions import TRUE, Condition
from wiesel.cep.errors import malformed
from wiesel.cep.graph import PROCEED, State, to_automaton
from wiesel.cep.guards import conjunction
from wiesel.cep.pattern import END_NAME, GroupPattern, Pattern
from wiesel.cep.quantifier import Contiguity, WithinType

__all__ = ["compile_pattern"]


def compile_pattern(pattern: Pattern) -> Automaton:
    """Return the automaton of a sequence.

    Raises:
        MalformedPatternException: If the sequence as a whole is invalid.
    """
    everything = _all_patterns(pattern)
    _check_names(everything)
    _check_skip_strategy(pattern, everything)
    window_ms = min((p._window_ms[t] for p in everything if (t := WithinType.FIRST_AND_LAST) in p._window_ms), default=None)
    _check_end(pattern, everything, window_ms)
    _check_gaps(everything, window_ms)
    compiler = _Compiler()
    final = State(END_NAME, "final")
    start = compiler.sequence(pattern._sequence(), final, None, True, None)
    return to_automaton(start, window_ms)


def _all_patterns(pattern: Pattern) -> list[Pattern]:
    found: list[Pattern] = []
    for part in pattern._sequence():
        found.append(part)
        if isinstance(part, GroupPattern):
            found += _all_patterns(part._raw)
    return found


def _check_names(patterns: list[Pattern]) -> None:
    seen: set[str] = {END_NAME}
    for name in (p._name for p in patterns if not isinstance(p, GroupPattern)):
        if name in seen:
            raise malformed(f"two patterns of the sequence have the name {name!r}", "give each pattern a name of its own")
        seen.add(name)


def _check_skip_strategy(pattern: Pattern, patterns: list[Pattern]) -> None:
    name = pattern._skip_strategy.pattern_name
    if name is not None and all(p._name != name for p in patterns):
        raise malformed(
            f"the skip strategy names the pattern {name!r}, which the sequence does not have",
            f"give one of {', '.join(repr(p._name) for p in patterns if not isinstance(p, GroupPattern))}",
        )


def _check_end(pattern: Pattern, everything: list[Pattern], window_ms: int | None) -> None:
    if pattern._quantifier.consuming is Contiguity.NOT_FOLLOW and window_ms is None and not pattern._window_ms:
        raise malformed(
            f"the sequence ends with not_followed_by({pattern._name!r}), so that a match is never certain without a time limit",
            "call within(...) on it",
        )
    for group in everything:
        if isinstance(group, GroupPattern) and group._raw._quantifier.consuming is Contiguity.NOT_FOLLOW:
            raise malformed(
                f"a group ends with not_followed_by({group._raw._name!r}), but what ends its time lies outside of the group",
                "put not_followed_by(...) behind the group, or use not_next(...)",
            )


def _check_gaps(patterns: list[Pattern], window_ms: int | None) -> None:
    for pattern in patterns:
        gap_ms = pattern._window_ms.get(WithinType.PREVIOUS_AND_CURRENT)
        if gap_ms is not None and window_ms is not None and gap_ms > window_ms:
            raise malformed(
                f"the pattern {pattern._name!r} may come {gap_ms} ms after the event before it, but the whole match has {window_ms} ms",
                "give the whole match more time than its parts",
            )


@dataclass(frozen=True)
class _Place:
    """A pattern in its context.

    Attributes:
        patterns: The sequence it is part of.
        index: Its index in it.
        group: The group that the sequence is, if any.
        first_round: The states are those of the first iteration of the group.
        following: The next pattern, also after the group; None at the end.
    """

    patterns: list[Pattern]
    index: int
    group: GroupPattern | None
    first_round: bool
    following: Pattern | None

    @property
    def pattern(self) -> Pattern:
        return self.patterns[self.index]

    @property
    def heads_group(self) -> bool:
        return self.group is not None and self.index == 0

    @property
    def group_until(self) -> Condition | None:
        return None if self.group is None or self.group._until is None else self.group._until.negated()

    @property
    def passes(self) -> Condition:
        """Return the condition to skip the optional part or leave the loop: not for an event that ends the group."""
        return TRUE if self.group_until is None else self.group_until

    def take_condition(self) -> Condition:
        return conjunction(self.group_until, self.pattern._where())

    def ignore_condition(self) -> Condition | None:
        """Return the condition of events skipped before the pattern's first one; None if there are none."""
        if not self.heads_group or self.group is None:
            return self._passed_over(self.pattern._quantifier.consuming)
        quantifier = self.group._quantifier
        return self._passed_over(quantifier.consuming if self.first_round else quantifier.inner)

    def inner_ignore_condition(self) -> Condition | None:
        """Return the condition of events skipped between the pattern's events."""
        owner = self.group if self.heads_group and self.group is not None else self.pattern
        return self._passed_over(owner._quantifier.inner)

    def _passed_over(self, contiguity: Contiguity) -> Condition | None:
        if contiguity is Contiguity.STRICT:
            return None
        condition = self.pattern._where().negated() if contiguity is Contiguity.RELAXED else TRUE
        return conjunction(self.group_until, condition)

    def nots_before(self) -> list[Pattern]:
        """Return the negated patterns before this pattern, also across optional patterns."""
        nots = []
        for pattern in reversed(self.patterns[: self.index]):
            if pattern._quantifier.consuming is Contiguity.NOT_FOLLOW:
                nots.append(pattern)
            elif not pattern._quantifier.optional:
                break
        return nots


class _Compiler:
    def __init__(self) -> None:
        self._stops: dict[str, State] = {}
        self._named: set[str] = set()
        self._without_greed: dict[State, State] = {}

    def sequence(
        self, patterns: list[Pattern], sink: State, group: GroupPattern | None, first_round: bool, following: Pattern | None
    ) -> State:
        """Return the entry of the states of a sequence."""
        for index in reversed(range(len(patterns))):
            place = _Place(patterns, index, group, first_round, following)
            sink = self._entry(place, sink)
            following = patterns[index]
        return sink

    def _entry(self, place: _Place, sink: State) -> State:
        match place.pattern._quantifier.consuming:
            case Contiguity.NOT_FOLLOW:
                return self._not_at_the_end(place, sink) if sink.kind == "final" else sink
            case Contiguity.NOT_NEXT:
                return self._not_next(place, sink)
        entry = self._occurrences(place, sink)
        self._stop_by(entry, place.nots_before(), place)
        return entry

    # Negated patterns

    def _not_next(self, place: _Place, sink: State) -> State:
        state = self._new(place)
        condition = place.take_condition()
        # At the end an event must prove that the forbidden one did not occur.
        state.add(IGNORE if sink.kind == "final" else PROCEED, sink, condition.negated())
        state.add(PROCEED, self._stop(place.pattern), condition)
        return state

    def _not_at_the_end(self, place: _Place, sink: State) -> State:
        state = self._new(place, "pending")
        condition = place.take_condition()
        state.add(PROCEED, self._stop(place.pattern), condition)
        state.add(IGNORE, state, condition.negated())
        return state

    def _stop(self, pattern: Pattern) -> State:
        return self._stops.setdefault(pattern._name, State(pattern._name, "stop"))

    def _stop_by(self, state: State, nots: list[Pattern], place: _Place) -> None:
        for pattern in nots:
            state.add(PROCEED, self._stop(pattern), conjunction(place.group_until, pattern._where()))

    def _stop_by_following(self, state: State, place: _Place) -> None:
        """Add the STOP moves of negations between the events of a repeated pattern, too."""
        if place.following is not None and place.following._quantifier.consuming is Contiguity.NOT_FOLLOW:
            self._stop_by(state, [place.following], place)

    def _after_taking(self, place: _Place, sink: State) -> State:
        """Return the sink after an optional pattern has taken an event: preceding negations no longer apply."""
        nots = {p._name for p in place.nots_before()}
        return self._without(sink, nots) if nots and place.pattern._quantifier.optional else sink

    def _without(self, state: State, nots: set[str]) -> State:
        copy = State(state.name, state.kind)
        for edge in state.edges:
            target = copy if edge.target is state else edge.target
            if edge.action == PROCEED and target.kind == "stop" and target.name in nots:
                continue
            if edge.action == PROCEED and target.kind != "stop":
                target = self._without(target, nots)
            copy.add(edge.action, target, edge.condition)
        return copy

    # Positive patterns

    def _occurrences(self, place: _Place, sink: State) -> State:
        quantifier = place.pattern._quantifier
        if quantifier.kind == "single":
            return self._once(place, sink, sink, place.take_condition(), place.ignore_condition(), quantifier.optional, True)
        if quantifier.kind == "looping":
            return self._several(place, self._loop(place, self._after_taking(place, sink)), sink, quantifier.minimum)
        return self._several(place, sink, sink, quantifier.maximum or quantifier.minimum)

    def _several(self, place: _Place, sink: State, proceed: State, maximum: int) -> State:
        """Chain a number of occurrences; those beyond the minimum are optional."""
        quantifier, until = place.pattern._quantifier, place.pattern._until
        no_stop = None if until is None else until.negated()
        take = conjunction(no_stop, place.take_condition())
        inner = place.inner_ignore_condition()
        between = None if inner is None else conjunction(no_stop, inner)
        minimum = quantifier.minimum
        if quantifier.greedy and minimum != maximum:
            self._be_greedy(sink, take, until)
        last = sink
        for _ in range(minimum, maximum):
            last = self._once(place, last, proceed, take, between, True, False)
            self._stop_by_following(last, place)
        for _ in range(minimum - 1):
            last = self._once(place, last, None, take, between, False, False)
            self._stop_by_following(last, place)
        return self._once(place, last, proceed, take, place.ignore_condition(), quantifier.optional, True)

    def _once(
        self, place: _Place, sink: State, proceed: State | None, take: Condition, ignore: Condition | None, optional: bool, first: bool
    ) -> State:
        """Return the entry of the states that take the pattern once and continue to ``sink``; ``proceed`` skips it."""
        if isinstance(place.pattern, GroupPattern):
            entry = self.sequence(place.pattern._raw._sequence(), sink, place.pattern, first, place.following)
            if optional and proceed is not None:
                entry.add(PROCEED, proceed, place.passes)
            return entry
        state = self._new(place)
        behind = self._after_taking(place, sink)
        state.add(TAKE, behind, take)
        if optional and proceed is not None:
            self._leave_out(place, state, proceed)
        if ignore is None:
            return state
        waiting = state
        if optional or (place.heads_group and place.first_round and place.group is not None and place.group._quantifier.optional):
            # Once an event was skipped, the pattern (or the group) cannot be skipped by this run.
            waiting = State(place.pattern._name)
            waiting.add(TAKE, behind, take)
            waiting.add(IGNORE, waiting, ignore)
            self._stop_by(waiting, place.nots_before(), place)
        state.add(IGNORE, waiting, ignore)
        return state

    def _leave_out(self, place: _Place, state: State, proceed: State) -> None:
        until = place.pattern._until
        if not place.pattern._quantifier.greedy or until is None:
            state.add(PROCEED, proceed, place.passes)
            return
        state.add(PROCEED, self._without_greed.get(proceed, proceed), conjunction(place.group_until, until))
        state.add(PROCEED, proceed, conjunction(place.group_until, until.negated()))

    def _loop(self, place: _Place, sink: State) -> State:
        """Return a state that takes any number of events."""
        if isinstance(place.pattern, GroupPattern):
            return self._group_loop(place, place.pattern, sink)
        until = place.pattern._until
        no_stop = None if until is None else until.negated()
        take = conjunction(no_stop, place.take_condition())
        inner = place.inner_ignore_condition()
        state = self._new(place)
        if place.pattern._quantifier.greedy:
            greedless = self._be_greedy(sink, place.take_condition(), until)
            if greedless is not None and until is not None:
                state.add(PROCEED, greedless, conjunction(place.group_until, until))
            state.add(PROCEED, sink, place.passes if no_stop is None else conjunction(place.group_until, no_stop))
        else:
            state.add(PROCEED, sink, place.passes)
        state.add(TAKE, state, take)
        self._stop_by_following(state, place)
        if inner is not None:
            between = conjunction(no_stop, inner)
            waiting = State(place.pattern._name)
            waiting.add(TAKE, state, take)
            waiting.add(IGNORE, waiting, between)
            state.add(IGNORE, waiting, between)
            self._stop_by_following(waiting, place)
        return state

    def _group_loop(self, place: _Place, group: GroupPattern, sink: State) -> State:
        again = State(group._name)
        entry = self.sequence(group._raw._sequence(), again, group, False, place.following)
        entry.add(PROCEED, sink, place.passes)
        again.add(PROCEED, entry, place.passes)
        return entry

    def _be_greedy(self, sink: State, take: Condition, until: Condition | None) -> State | None:
        """Restrict the successor of a greedy pattern to events that the pattern does not take; return the sink without that."""
        original = None
        if until is not None:
            original = self._without_greed[sink] = sink.copied()
        for edge in sink.edges:
            edge.condition = conjunction(edge.condition, take.negated())
        return original

    def _new(self, place: _Place, kind: str = "normal") -> State:
        """Return a new state, with the maximal time before it is left.

        As in Flink, a time set with the number of occurrences applies to all of them except the last.
        """
        pattern = place.pattern
        gap_ms = pattern._window_ms.get(WithinType.PREVIOUS_AND_CURRENT) if pattern._quantifier.kind == "single" else None
        if pattern._quantifier.kind != "single" and pattern._name in self._named:
            gap_ms = pattern._quantifier.gap_ms
        self._named.add(pattern._name)
        return State(pattern._name, kind, gap_ms)
