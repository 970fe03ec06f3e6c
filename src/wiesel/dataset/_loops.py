"""Internal. Assignment of operations to iterations, and aggregation in their rounds."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wiesel.core.user_location import program_error
from wiesel.dataset._plan import Node
from wiesel.dataset.functions import ConvergenceCriterion
from wiesel.spi.functions import AggregateFunction

__all__ = ["TERMINATION", "Criterion", "Registered", "RoundAggregates", "check_ends", "head_of"]

TERMINATION = "termination criterion"
"""The name of the count of records of a termination criterion."""

_RESULTS = ("iteration_result", "delta_result")


@dataclass
class Registered:
    """Aggregators and criteria registered with an iteration.

    Attributes:
        aggregators: By name.
        criterion: The name of an aggregator and the test of its aggregate, or None.
        terminates: An empty data set ends the iteration.
    """

    aggregators: dict[str, Any] = field(default_factory=dict)
    criterion: tuple[str, Any] | None = None
    terminates: bool = False

    @property
    def names(self) -> set[str]:
        """Return the names of all that is aggregated."""
        return {*self.aggregators, *({TERMINATION} if self.terminates else ())}


class RoundAggregates(AggregateFunction):
    """All aggregators of an iteration as one: of pairs ``(name, aggregate of a subtask)``."""

    def __init__(self, registered: Registered) -> None:
        self._aggregators = registered.aggregators
        self._names = registered.names

    def create_accumulator(self) -> dict[str, list[Any]]:
        """Return no aggregates."""
        return {}

    def add(self, value: tuple[str, Any], accumulator: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """Add the aggregate of a subtask."""
        accumulator.setdefault(value[0], []).append(value[1])
        return accumulator

    def get_result(self, accumulator: dict[str, list[Any]]) -> dict[str, Any]:
        """Return the aggregates of all subtasks, by name."""
        return {name: self._together(name, accumulator.get(name, [])) for name in sorted(self._names)}

    def _together(self, name: str, partials: list[Any]) -> Any:
        if name not in self._aggregators:
            return sum(partials)
        aggregator = copy.deepcopy(self._aggregators[name])
        aggregator.reset()
        for partial in partials:
            aggregator.aggregate(partial)
        return aggregator.get_aggregate()

    def merge(self, acc_a: dict[str, list[Any]], acc_b: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """Return both."""
        return {name: [*acc_a.get(name, []), *acc_b.get(name, [])] for name in {*acc_a, *acc_b}}


class Criterion:
    """Termination test of rounds: called with the round's number and the aggregates by name."""

    def __init__(self, registered: Registered) -> None:
        self._criterion = registered.criterion
        self._terminates = registered.terminates

    def __call__(self, number: int, value: Mapping[str, Any]) -> bool:
        if self._terminates and not value[TERMINATION]:
            return True
        if self._criterion is None:
            return False
        name, test = self._criterion
        return bool((test.is_converged if isinstance(test, ConvergenceCriterion) else test)(number, value[name]))


def head_of(node: Node, heads: Mapping[int, Node | None]) -> Node | None:
    """Return the head of the iteration in whose step an operation is, None if it is in none.

    Args:
        node: The operation.
        heads: The same for all before it, by id.
    """
    around = {head for source in (*node.inputs, *node.broadcast.values()) if (head := heads[source.id]) is not None}
    if node.kind in _RESULTS:
        _check_closed(node, heads)
        around.discard(node.params["head"])
    if around and (node.kind == "iteration_head" or node.kind in _RESULTS or len(around) > 1):
        places = " and ".join(sorted({head.location for head in around} | {node.params.get("head", node).location}))
        raise program_error(
            f"data of several iterations come together in {node.name!r}; of those at {places} one is inside the other",
            "an iteration can neither contain another one nor be part of one; let one follow the other",
            location=node.location,
        )
    return node if node.kind == "iteration_head" else next(iter(around), None)


def _check_closed(node: Node, heads: Mapping[int, Node | None]) -> None:
    head = node.params["head"]
    for source in node.inputs[:2]:
        if source is head or heads[source.id] is not head:
            raise program_error(
                f"the iteration at {head.location} is closed with {source.name!r}, which its step does not make of what a round has",
                "give close_with() the result of map(), join() or another operation on what iterate() or get_workset() returned",
                location=node.location,
            )


def check_ends(ends: list[Node], heads: Mapping[int, Node | None]) -> None:
    """Check that no result is inside of an iteration.

    Raises:
        ProgramError: If one is.
    """
    for end in ends:
        head = heads[end.id]
        if head is not None:
            raise program_error(
                f"{end.name!r} belongs to the step of the iteration at {head.location}, which nothing leaves but its result",
                "use what close_with() returns",
                location=end.location,
            )
