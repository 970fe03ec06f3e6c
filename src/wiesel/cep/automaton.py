"""Internal. The automaton of a pattern, as data.

A *run* is a partial match: the state it waits in, and the events it has taken. For an event a run looks at the *moves* out of its state:

* ``TAKE``: the event becomes part of the match, as one of the events of the move's stage, and the run goes on in the move's target;
* ``IGNORE``: the event is passed over;
* ``STOP``: something came that must not come, the run ends.

All moves whose guards hold are made, so that a run may become several. The states also know transitions without an event (PROCEED, as
in the NFA with a buffer of SASE+, on which Flink's matching is built as well); these are followed beforehand, so that the moves of a
state are those that can be reached by them.
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
    """A way out of a state for an event."""

    kind: int
    guard: Guard
    stage: int
    target: int
    finals: tuple[Guard, ...]
    """Of a TAKE: when one of these holds as well, the match is complete."""


@dataclass(frozen=True)
class Atom:
    """A condition of the user's."""

    function: Callable[..., Any]
    iterative: bool
    owner: Any


@dataclass(frozen=True)
class Automaton:
    """All that the operator needs of a pattern.

    Attributes:
        stages: Names of the patterns, as they stand in matches.
        moves: The moves out of each state.
        start: The state of a match that has not begun.
        final: The state of a match that is complete.
        pending: States in which a run is a match once its time has passed.
        atoms: The conditions.
        window_ms: Longest time from the first to the last event, or None.
        gaps_ms: For some states the longest time since the event taken last.
    """

    stages: tuple[str, ...]
    moves: tuple[tuple[Move, ...], ...]
    start: int
    final: int
    pending: frozenset[int]
    atoms: tuple[Atom, ...]
    window_ms: int | None
    gaps_ms: dict[int, int]
