"""Internal. The logical plan of a program over bounded data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from wiesel.dataset._keys import KeySpec
from wiesel.dataset.functions import JoinHint
from wiesel.types.typeinfo import TypeInformation

__all__ = ["Hints", "Node", "reachable"]


@dataclass
class Hints:
    """Size hints of the user; None if not set.

    Attributes:
        records: Number of records.
        record_bytes: Their mean size.
    """

    records: float | None = None
    record_bytes: float | None = None


@dataclass(eq=False)
class Node:
    """One operation.

    Attributes:
        id: Its index in the order of the calls.
        kind: The kind of operation, known to the optimizer and the translation.
        name: Shown in plans.
        inputs: The inputs.
        output_type: The type of its results; pickled objects if undeclared.
        location: ``file:line`` of the call.
        function: The user's function.
        keys: The keys of its inputs, if any.
        sort: ``(key, ascending)`` for sorts.
        params: Further parameters.
        parallelism: Subtasks; None takes the environment's.
        broadcast: Broadcast sets by name.
        forwarded: Fields copied unchanged from the input to the results.
        hints: Size hints of the user.
        join_hint: Strategy of a join.
    """

    id: int
    kind: str
    name: str
    inputs: tuple[Node, ...]
    output_type: TypeInformation
    location: str
    function: Any = None
    keys: tuple[KeySpec, ...] = ()
    sort: tuple[tuple[KeySpec, bool], ...] = ()
    params: dict[str, Any] = field(default_factory=dict)
    parallelism: int | None = None
    broadcast: dict[str, Node] = field(default_factory=dict)
    forwarded: tuple[int | str, ...] = ()
    hints: Hints = field(default_factory=Hints)
    join_hint: JoinHint = JoinHint.OPTIMIZER_CHOOSES


def reachable(ends: Iterable[Node]) -> list[Node]:
    """Return these operations and all upstream ones, in topological order."""
    ordered: dict[int, Node] = {}
    waiting = [(end, False) for end in sorted(ends, key=lambda n: n.id, reverse=True)]
    while waiting:
        node, read = waiting.pop()
        if node.id in ordered:
            continue
        if read:
            ordered[node.id] = node
            continue
        waiting.append((node, True))
        waiting += [(source, False) for source in reversed((*node.inputs, *node.broadcast.values()))]
    return list(ordered.values())
