"""Internal. Runs an automaton over the events of each key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from wiesel.cep.automaton import IGNORE, STOP, TAKE, Automaton, Guard, Move
from wiesel.cep.conditions import IterativeCondition
from wiesel.cep.functions import Match
from wiesel.cep.guards import atoms_of
from wiesel.cep.partial_matches import COUNTER, Group, PartialMatches, Run, Turn
from wiesel.cep.skip import AfterMatchSkipStrategy
from wiesel.cep.skipping import Skipper

__all__ = ["Matcher"]

Fired: TypeAlias = "tuple[tuple[Move, bool], ...] | None"
"""The moves of a run for an event, each with whether it completes the match; None: the run is unchanged."""

_NO_GROUPS: dict[int, Group] = {}


class _Context(IterativeCondition.Context):
    """The context of conditions; one object for all events."""

    def __init__(self, stages: tuple[str, ...], clock: Callable[[], int]) -> None:
        self._stages = {name: i for i, name in enumerate(stages)}
        self._clock = clock
        self._taken: dict[int, list[Any]] | None = None
        self.turn: Any = None
        self.node = 0
        self.time = 0

    def at(self, node: int) -> None:
        """Select the run that ends in this node."""
        self.node = node
        self._taken = None

    def get_events_for_pattern(self, name: str) -> list[Any]:
        if self._taken is None:
            self._taken = {}
            for stage, number in self.turn.path(self.node):
                self._taken.setdefault(stage, []).append(self.turn.event(number))
        return list(self._taken.get(self._stages.get(name, -1), ()))

    def timestamp(self) -> int:
        return self.time

    def current_processing_time(self) -> int:
        return self._clock()


class Matcher:
    """Finds the matches of a pattern, key by key.

    Args:
        automaton: The compiled pattern.
        strategy: The after-match skip strategy.
        tables: The tables of partial matches.
        clock: Returns the processing time.
        want_timeouts: Timed-out partial matches are processed.
    """

    def __init__(
        self,
        automaton: Automaton,
        strategy: AfterMatchSkipStrategy,
        tables: PartialMatches,
        clock: Callable[[], int],
        want_timeouts: bool,
    ) -> None:
        self._automaton = automaton
        self._stages = automaton.stages
        self._moves = automaton.moves
        self._start, self._final = automaton.start, automaton.final
        self._window_ms, self._gaps_ms = automaton.window_ms, automaton.gaps_ms
        self._tables = tables
        self._groups = tables.groups
        self._want_timeouts = want_timeouts
        self._context = _Context(automaton.stages, clock)
        self._skipper = Skipper(strategy, automaton.stages) if strategy.is_skip_strategy() else None
        self._functions = [a.function for a in automaton.atoms]
        self._iterative = [i for i, a in enumerate(automaton.atoms) if a.iterative]
        self._is_iterative = [a.iterative for a in automaton.atoms]
        self._plain = [self._is_plain(moves) for moves in automaton.moves]
        self._only_start = self._only_start_atom()

    def _is_plain(self, moves: Iterable[Move]) -> bool:
        """Return whether a run's moves in a state depend on the event alone."""
        guards = [g for m in moves for g in (m.guard, *m.finals)]
        return not any(self._is_iterative[atom] for g in guards for tree, _ in g for atom in atoms_of(tree))

    def _only_start_atom(self) -> int | None:
        """Return the necessary condition of the beginning of a match, if it depends on the event alone."""
        takes = [m for m in self._moves[self._start] if m.kind == TAKE]
        common = set.intersection(*({a for a, wanted in m.guard if wanted and isinstance(a, int)} for m in takes)) if takes else set()
        return min((a for a in common if not self._is_iterative[a]), default=None)

    def first_look(self, values: list[Any]) -> list[Any] | None:
        """Evaluate the necessary condition of the beginning of a match for each event; None if it cannot be evaluated in advance."""
        if self._only_start is None:
            return None
        try:
            looked = list(map(self._functions[self._only_start], values))
            return looked if len(looked) == len(values) else None  # a StopIteration of the condition ends the list
        except Exception:  # noqa: BLE001 - it will be raised again for the event that it is about
            return None

    def process(self, key: Any, value: Any, time: int, looked: Any = None) -> tuple[list[Match], list[int]]:
        """Process an event.

        Args:
            key: Its key.
            value: The event.
            time: Its time in ms.
            looked: Result of :meth:`first_look` for it.

        Returns:
            The completed matches; the timeouts of new or extended partial matches.

        Raises:
            Exception: Any exception of a condition; nothing has changed then.
        """
        groups = self._groups.get(key)
        memo: list[Any] = [None] * len(self._functions)
        if self._only_start is not None and looked is not None:
            memo[self._only_start] = bool(looked)
            if groups is None and not looked:
                return [], []
        return _Round(self, key, value, time, memo, _NO_GROUPS if groups is None else groups).run()

    def advance(self, key: Any, now: int) -> tuple[list[Match], list[tuple[Match, int]]]:
        """Advance time.

        Returns:
            The matches completed by that; the timed-out partial matches, with their timeouts.
        """
        if self._window_ms is None and not self._gaps_ms:
            return [], []
        groups = self._groups.get(key)
        if groups is None:
            return [], []
        starts = sorted(groups)
        if not self._gaps_ms and self._window_ms is not None and now - groups[starts[1]][0] < self._window_ms:
            return [], []
        return self._expire(key, now, groups, starts[1:])

    def _expire(self, key: Any, now: int, groups: dict[int, Group], starts: list[int]) -> tuple[list[Match], list[tuple[Match, int]]]:
        turn = Turn(self._tables, key, groups)
        turn.event_number = 0  # without an event
        found: list[int] = []
        timed_out: list[tuple[Match, int]] = []
        for start in starts:
            start_time, runs, complete = groups[start]
            left: list[Run] = []
            done: list[int] = []
            for run in runs:
                end = self._end(run, start_time, now)
                if end is None:
                    left.append(run)
                elif run[0] in self._automaton.pending:
                    done.append(run[1])
                else:
                    if self._want_timeouts:
                        timed_out.append((self._match(turn, run[1]), end))
                    turn.refer(run[1], -1)
            if len(left) != len(runs):
                self._settle_group(turn, start, (start_time, tuple(left), complete), done, found)
        matches = self._matches(turn, found)
        turn.commit()
        return matches, timed_out

    def _end(self, run: Run, start_time: int, now: int) -> int | None:
        """Return the timeout of a run, None if it has not timed out."""
        gap_ms = self._gaps_ms.get(run[0])
        if gap_ms is not None and now - run[2] >= gap_ms:
            return run[2] + gap_ms
        if self._window_ms is not None and now - start_time >= self._window_ms:
            return start_time + self._window_ms
        return None

    def _settle_group(self, turn: Turn, start: int, group: Group, done: list[int], found: list[int]) -> None:
        """Update a group after its runs were processed; ``done``: matches, which are already referenced."""
        start_time, runs, complete = group
        if self._skipper is None:
            found += done
            for node in done:
                turn.refer(node, -1)
            done = []
        complete = (*complete, *done)
        turn.changed[start] = (start_time, runs, complete) if runs or complete else None

    def _matches(self, turn: Turn, found: list[int]) -> list[Match]:
        if self._skipper is not None:
            found = self._skipper.release(turn)
        return [self._match(turn, node) for node in found]

    def _match(self, turn: Turn, node: int) -> Match:
        match: Match = {}
        stages = self._stages
        for stage, number in turn.path(node):
            match.setdefault(stages[stage], []).append(turn.event(number))
        return match


class _Round:
    """One event of one key."""

    def __init__(self, matcher: Matcher, key: Any, value: Any, time: int, memo: list[Any], groups: dict[int, Group]) -> None:
        self._matcher = matcher
        self._value = value
        self._time = time
        self._memo = memo
        self._groups = groups
        self._turn = Turn(matcher._tables, key, groups, value)
        self._fired: dict[int, Fired] = {}
        self._found: list[int] = []
        self._ends: list[int] = []

    def run(self) -> tuple[list[Match], list[int]]:
        """Do all that the event does."""
        matcher, turn = self._matcher, self._turn
        matcher._context.turn = turn
        matcher._context.time = self._time
        for start in sorted(self._groups):
            if start != COUNTER:
                self._run_group(start, self._groups[start])
        self._begin()
        if not turn.changed:
            return [], []
        matches = matcher._matches(turn, self._found)
        turn.commit()
        return matches, self._ends

    def _run_group(self, start: int, group: Group) -> None:
        fired = self._fired
        runs: list[Run] = []
        done: list[int] = []
        changed = False
        for run in group[1]:
            state = run[0]
            moves = fired[state] if state in fired else self._look(state, run[1])
            if moves is None:
                runs.append(run)
            else:
                changed = True
                self._go_on(run, moves, runs, done)
        if changed:
            self._matcher._settle_group(self._turn, start, (group[0], tuple(runs), group[2]), done, self._found)

    def _begin(self) -> None:
        matcher = self._matcher
        moves = self._look(matcher._start, 0)
        if not moves:
            return
        runs: list[Run] = []
        done: list[int] = []
        self._go_on((matcher._start, 0, self._time), tuple(m for m in moves if m[0].kind == TAKE), runs, done)
        if runs or done:
            if matcher._window_ms is not None:
                self._ends.append(self._time + matcher._window_ms)
            matcher._settle_group(self._turn, self._turn.event_number, (self._time, tuple(runs), ()), done, self._found)

    def _go_on(self, run: Run, moves: tuple[tuple[Move, bool], ...], runs: list[Run], done: list[int]) -> None:
        """Process the transitions of a run: add the resulting runs and matches."""
        turn, final = self._turn, self._matcher._final
        node = run[1]
        stopped = any(move.kind == STOP for move, _ in moves)
        for (kind, _, stage, target, _), complete in moves:
            if kind == STOP or (stopped and target != final and not complete):
                continue
            behind, time = (node, run[2]) if kind == IGNORE else (turn.take(stage, node), self._time)
            if target == final:
                turn.refer(behind)
                done.append(behind)
                continue
            if not stopped:
                turn.refer(behind)
                runs.append((target, behind, time))
                gap_ms = self._matcher._gaps_ms.get(target)
                if gap_ms is not None:
                    self._ends.append(time + gap_ms)
            if complete:
                turn.refer(behind)
                done.append(behind)
        turn.refer(node, -1)

    def _look(self, state: int, node: int) -> Fired:
        """Return the moves of a run, cached for all runs of the state if they depend on the event alone."""
        matcher, memo = self._matcher, self._memo
        plain = matcher._plain[state]
        if not plain:
            matcher._context.at(node)
            for atom in matcher._iterative:
                memo[atom] = None
        moves = tuple((m, any(map(self._holds, m.finals))) for m in matcher._moves[state] if self._holds(m.guard))
        stays = len(moves) == 1 and moves[0][0].kind == IGNORE and moves[0][0].target == state
        result: Fired = None if stays else moves
        if plain:
            self._fired[state] = result
        return result

    def _holds(self, guard: Guard) -> bool:
        memo = self._memo
        for atom, wanted in guard:
            known = memo[atom] if type(atom) is int else self._tree(atom)
            if known is None:
                known = self._ask(atom)
            if known is not wanted:
                return False
        return True

    def _ask(self, atom: int) -> bool:
        matcher = self._matcher
        function = matcher._functions[atom]
        answer = function(self._value, matcher._context) if matcher._is_iterative[atom] else function(self._value)
        self._memo[atom] = known = bool(answer)
        return known

    def _tree(self, tree: Any) -> bool:
        if type(tree) is int:
            known = self._memo[tree]
            return self._ask(tree) if known is None else known
        kind, parts = tree
        if kind == "not":
            return not self._tree(parts[0])
        return all(map(self._tree, parts)) if kind == "and" else any(map(self._tree, parts))
