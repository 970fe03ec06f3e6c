"""Internal. State graph of a pattern during compilation, and its conversion to an :class:`~wiesel.cep.automaton.Automaton`."""

from __future__ import annotations

from dataclasses import dataclass, field

from wiesel.cep.automaton import IGNORE, STOP, TAKE, Automaton, Guard, Move
from wiesel.cep.conditions import Condition
from wiesel.cep.errors import malformed
from wiesel.cep.guards import Guards

__all__ = ["PROCEED", "Edge", "State", "to_automaton"]

PROCEED = -1


@dataclass(eq=False)
class Edge:
    """A transition; ``action`` is TAKE, IGNORE or PROCEED."""

    action: int
    target: State
    condition: Condition


@dataclass(eq=False)
class State:
    """A state of the pattern called ``name``; ``kind`` is normal, final, stop or pending."""

    name: str
    kind: str = "normal"
    gap_ms: int | None = None
    edges: list[Edge] = field(default_factory=list)

    def add(self, action: int, target: State, condition: Condition) -> None:
        """Add a transition."""
        self.edges.append(Edge(action, target, condition))

    def copied(self) -> State:
        """Return a copy of a state; transitions to itself lead to the copy."""
        copy = State(self.name, self.kind)
        copy.edges = [Edge(e.action, copy if e.target is self else e.target, e.condition) for e in self.edges]
        return copy


def _reachable(start: State) -> list[State]:
    found, todo = {id(start): start}, [start]
    while todo:
        for edge in todo.pop().edges:
            if id(edge.target) not in found:
                found[id(edge.target)] = edge.target
                todo.append(edge.target)
    return list(found.values())


class _Freezer:
    def __init__(self, start: State) -> None:
        states = [s for s in _reachable(start) if s.kind not in ("final", "stop")]
        self.states = states
        self.index = {id(s): i for i, s in enumerate(states)}
        self.final = len(states)
        self.guards = Guards()
        self.stages: dict[str, int] = {}

    def moves(self, state: State) -> tuple[Move, ...]:
        """Follow the transitions without an event and collect the subsequent moves."""
        moves: list[Move] = []
        stack: list[tuple[State, tuple[Condition, ...]]] = [(state, ())]
        while stack:
            current, path = stack.pop()
            for edge in current.edges:
                conditions = (*path, edge.condition)
                guard = self.guards.make(conditions)
                if guard is None:
                    continue
                if edge.action == PROCEED and edge.target.kind != "stop":
                    stack.append((edge.target, conditions))
                else:
                    moves.append(self._move(current, edge, guard))
        return tuple(moves)

    def _move(self, state: State, edge: Edge, guard: Guard) -> Move:
        if edge.target.kind == "stop":
            return Move(STOP, guard, -1, -1, ())
        target = self.final if edge.target.kind == "final" else self.index[id(edge.target)]
        if edge.action == IGNORE:
            return Move(IGNORE, guard, -1, target, ())
        stage = self.stages.setdefault(state.name, len(self.stages))
        return Move(TAKE, guard, stage, target, self._ways_to_the_end(edge.target))

    def _ways_to_the_end(self, state: State) -> tuple[Guard, ...]:
        ways: list[Guard] = []
        stack: list[tuple[State, tuple[Condition, ...]]] = [(state, ())]
        while stack:
            current, path = stack.pop()
            for edge in current.edges:
                if edge.action != PROCEED or edge.target.kind == "stop":
                    continue
                conditions = (*path, edge.condition)
                guard = self.guards.make(conditions)
                if guard is not None and edge.target.kind == "final":
                    ways.append(guard)
                elif guard is not None:
                    stack.append((edge.target, conditions))
        return tuple(ways)


def to_automaton(start: State, window_ms: int | None) -> Automaton:
    """Return the automaton of the states that can be reached from ``start``."""
    freezer = _Freezer(start)
    _refuse_endless(freezer.states)
    moves = tuple(freezer.moves(state) for state in freezer.states)
    return Automaton(
        stages=tuple(freezer.stages),
        moves=moves,
        start=0,
        final=freezer.final,
        pending=frozenset(i for i, s in enumerate(freezer.states) if s.kind == "pending"),
        atoms=tuple(freezer.guards.atoms),
        window_ms=window_ms,
        gaps_ms={i: s.gap_ms for i, s in enumerate(freezer.states) if s.gap_ms is not None},
    )


def _refuse_endless(states: list[State]) -> None:
    """Reject a loop without events: the repeated part could be skipped altogether."""
    state_of: dict[int, int] = {}  # 1: on the way, 2: done

    def visit(root: State) -> None:
        stack: list[tuple[State, int]] = [(root, 0)]
        state_of[id(root)] = 1
        while stack:
            state, position = stack.pop()
            targets = [e.target for e in state.edges if e.action == PROCEED]
            if position == len(targets):
                state_of[id(state)] = 2
                continue
            stack.append((state, position + 1))
            mark = state_of.get(id(targets[position]))
            if mark == 1:
                raise malformed(
                    f"a group that is repeated consists of optional patterns only (at {state.name!r}): it could be repeated without end",
                    "make one of its patterns mandatory, or the group optional instead",
                )
            if mark is None:
                state_of[id(targets[position])] = 1
                stack.append((targets[position], 0))

    for state in states:
        if id(state) not in state_of:
            visit(state)
