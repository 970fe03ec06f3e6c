"""Internal. The automaton of a pattern, as data.

A *run* is a partial match: its state, and the events it has taken. For an event a run evaluates the *moves* of its state:

* ``TAKE``: the event becomes part of the match, as one of the events of the move's stage, and the run continues in the move's target;
* ``IGNORE``: the event is skipped;
* ``STOP``: a forbidden event ends the run.

All moves whose guards hold are executed, so a run may fork. Transitions without an event (PROCEED, as in the NFA with a buffer of SASE+, on
which Flink's matching is also based) are resolved at compile time, so that the moves of a state include those reachable by them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["IGNORE", "STOP", "TAKE", "Atom", "Automaton", "Guard", "Move"]

TAKE, IGNORE, STOP = 0, 1, 2

Guard = tuple[Any, ...]
"""Literals that must all hold: ``(atom, wanted)``, where the atom is an index or a tree ``("and" | "or" | "not", parts)`` of indexes."""


class Move(NamedTuple):
    """A transition of a state for an event."""

    kind: int
    guard: Guard
    stage: int
    target: int
    finals: tuple[Guard, ...]
    """Of a TAKE: if one of these holds as well, the match is complete."""


@dataclass(frozen=True)
class Atom:
    """A condition of the user's."""

    function: Callable[..., Any]
    iterative: bool
    owner: Any


@dataclass(frozen=True)
class Automaton:
    """The compiled form of a pattern for the operator.

    Attributes:
        stages: Names of the patterns, as used in matches.
        moves: The moves out of each state.
        start: The initial state of a match.
        final: The state of a complete match.
        pending: States in which a run becomes a match when its time has expired.
        atoms: The conditions.
        window_ms: Maximal time from the first to the last event, or None.
        gaps_ms: For some states the maximal time since the last taken event.
    """

    stages: tuple[str, ...]
    moves: tuple[tuple[Move, ...], ...]
    start: int
    final: int
    pending: frozenset[int]
    atoms: tuple[Atom, ...]
    window_ms: int | None
    gaps_ms: dict[int, int]
