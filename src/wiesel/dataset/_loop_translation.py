"""Internal. Translation of iterations to operators: head, step, tail and, for delta iterations, the solution set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from wiesel.core.errors import invariant
from wiesel.dataset._keys import declared
from wiesel.dataset._loops import TERMINATION, Criterion, Registered, RoundAggregates
from wiesel.dataset._optimizer import PlannedNode
from wiesel.dataset._plan import Node
from wiesel.graph.specs import FORWARD, ITERATION_HEAD, ITERATION_TAIL, REBALANCE, OperatorSpec, PartitionerSpec
from wiesel.graph.transformations import (
    OperatorTransformation,
    PartitionTransformation,
    SideOutputTransformation,
    Transformation,
    UnionTransformation,
)
from wiesel.runtime.operators.batch.rounds import PARTIALS_TAG
from wiesel.runtime.operators.rounds import CARRIED_TAG, VALUE_TAG
from wiesel.spi.functions import Function
from wiesel.types import Types
from wiesel.types.typeinfo import TypeInformation

__all__ = ["LoopTranslation", "partitioned"]

_Add: TypeAlias = Callable[[PlannedNode, OperatorSpec, Sequence[Transformation]], OperatorTransformation]


def partitioned(source: Transformation, partitioner: PartitionerSpec, location: str) -> Transformation:
    """Return the records partitioned by a partitioner."""
    if partitioner is FORWARD and isinstance(source, UnionTransformation):
        return source  # it has a partitioner for each of its inputs
    return PartitionTransformation(source.output_type, location, source, partitioner)


class LoopTranslation:
    """Creates the operators of iterations.

    Args:
        add: Adds an operator for a node.
        plan: The plan of each operation.
    """

    def __init__(self, add: _Add, plan: dict[int, PlannedNode]) -> None:
        self._add = add
        self._plan = plan
        self._heads: dict[int, OperatorTransformation] = {}
        self._aggregating: dict[int, list[OperatorTransformation]] = {}

    # The step.

    def static(self, planned: PlannedNode, inputs: int) -> list[int]:
        """Return which of the first inputs of an operation come from outside of its iteration."""
        return [index for index, source in enumerate(planned.node.inputs[:inputs]) if self._plan[source.id].head is None]

    def in_rounds(self, planned: PlannedNode, spec: OperatorSpec, static: Sequence[int]) -> tuple[OperatorSpec, list[Transformation]]:
        """Return the operator in the step of an iteration, and its additional inputs.

        Args:
            planned: The operation.
            spec: The operator.
            static: Its inputs from outside, except broadcast sets.
        """
        if planned.head is None:
            return spec, []
        node, first = planned.node, spec.params["inputs"]
        outside = [first + i for i, source in enumerate(node.broadcast.values()) if self._plan[source.id].head is None]
        aggregators = self._aggregators_of(planned)
        params = {
            "kind": spec.kind,
            "inner": spec.params,
            "static": [*static, *outside],
            "value_input": first + len(node.broadcast) if aggregators else None,
        }
        more: list[Transformation] = []
        if aggregators:
            value = self._side(planned.head, VALUE_TAG, Types.PICKLED_BYTE_ARRAY(), node.location)
            more.append(partitioned(value, PartitionerSpec("broadcast"), node.location))
        return OperatorSpec("batch_rounds", params, {"inner": spec.payload, "aggregators": aggregators}), more

    @staticmethod
    def _aggregators_of(planned: PlannedNode) -> dict[str, Any]:
        head = planned.head
        return head.params["registered"].aggregators if head is not None and isinstance(planned.node.function, Function) else {}

    def joined(self, planned: PlannedNode, operator: OperatorTransformation) -> None:
        """Note an operator of the step."""
        if planned.head is not None and self._aggregators_of(planned):
            self._aggregating[planned.head.id].append(operator)

    def changes(self, planned: PlannedNode, solution_set: Node) -> Transformation:
        """Return the changes of a solution set in the round before."""
        return self._side(solution_set.inputs[1], CARRIED_TAG, solution_set.output_type, planned.node.location)

    def _side(self, head: Node, tag: str, output_type: TypeInformation, location: str) -> SideOutputTransformation:
        operator = self._heads[head.id]
        operator.side_types.setdefault(tag, output_type)
        return SideOutputTransformation(output_type, location, operator, tag)

    # Its ends.

    def head(self, planned: PlannedNode, initial: Transformation) -> OperatorTransformation:
        """Add the head."""
        node = planned.node
        registered: Registered = node.params["registered"]
        head = self._add(planned, OperatorSpec(ITERATION_HEAD), [initial])
        head.node.name = f"{node.name}: Head"
        params = {
            "iteration": head.node.id,
            "rounds": True,
            "max_rounds": node.params["max_rounds"],
            "name": node.name,
            "tells_value": bool(registered.aggregators),
        }
        aggregates = _aggregates(registered)
        payload = {"aggregator": aggregates, "converged": None if aggregates is None else Criterion(registered)}
        head.node.operator = OperatorSpec(ITERATION_HEAD, params, payload)
        self._heads[node.id] = head
        self._aggregating[node.id] = []
        return head

    def bulk_result(self, planned: PlannedNode, inputs: list[Transformation]) -> OperatorTransformation:
        """Add the tail of a bulk iteration, which has its result."""
        return self._tail(planned, {"records": inputs[0]}, inputs[1] if len(inputs) > 1 else None, emits_result=True)

    def delta_result(self, planned: PlannedNode, inputs: list[Transformation]) -> OperatorTransformation:
        """Add the tail of a delta iteration, and the operator that emits the solution set at the end."""
        changes, workset, initial = inputs
        assert isinstance(changes, PartitionTransformation)  # noqa: S101 - it is sent by key
        carried = partitioned(changes.input, REBALANCE, planned.node.location)
        self._tail(planned, {"records": workset, "carried": carried}, None, emits_result=False)
        key = planned.node.keys[0]
        payload = {
            "solution_key": key.selector,
            "key_type": key.key_type,
            "solution_type": declared(planned.node.output_type),
            "output_type": planned.node.output_type,
        }
        return self._add(planned, OperatorSpec("batch_solution_set", {"inputs": 2}, payload), [initial, changes])

    def _tail(
        self, planned: PlannedNode, streams: dict[str, Transformation], termination: Transformation | None, *, emits_result: bool
    ) -> OperatorTransformation:
        node = planned.node.params["head"]
        head = self._heads[node.id]
        aggregates = _aggregates(node.params["registered"])
        criterion = self._criterion(planned, node, termination)
        if criterion is not None:
            streams = {**streams, "criterion": partitioned(criterion, REBALANCE, planned.node.location)}
        params = {
            "iteration": head.node.operator.params["iteration"],
            "rounds": True,
            "emits_result": emits_result,
            "roles": tuple(streams),
        }
        tail = self._add(planned, OperatorSpec(ITERATION_TAIL, params, {"aggregator": aggregates}), list(streams.values()))
        tail.node.name = f"{node.name}: Tail"
        tail.node.parallelism = head.node.parallelism
        head.feedback = tail
        return tail

    def _criterion(self, planned: PlannedNode, head: Node, termination: Transformation | None) -> Transformation | None:
        """Return the stream of pairs of a name and a subtask's aggregate."""
        location = planned.node.location
        streams: list[Transformation] = []
        for operator in self._aggregating[head.id]:
            operator.side_types[PARTIALS_TAG] = Types.PICKLED_BYTE_ARRAY()
            side = SideOutputTransformation(Types.PICKLED_BYTE_ARRAY(), location, operator, PARTIALS_TAG)
            streams.append(partitioned(side, REBALANCE, location))
        if termination is not None:
            params: dict[str, Any] = {"kind": "batch_count", "inner": {"inputs": 1}, "static": [], "value_input": None}
            count = self._add(planned, OperatorSpec("batch_rounds", params, {"inner": {}, "aggregators": {}}), [termination])
            count.node.name = "Termination Criterion"
            count.output_type = count.node.output_type = Types.PICKLED_BYTE_ARRAY()
            named = self._add(planned, OperatorSpec("map", payload={"function": _named}), [partitioned(count, FORWARD, location)])
            named.node.name = "Termination Criterion"
            named.output_type = named.node.output_type = Types.PICKLED_BYTE_ARRAY()
            streams.append(partitioned(named, REBALANCE, location))
        if not streams:
            return None
        invariant(_aggregates(head.params["registered"]) is not None, "there are aggregates, but no aggregator")
        return UnionTransformation(Types.PICKLED_BYTE_ARRAY(), location, tuple(streams))


def _aggregates(registered: Registered) -> RoundAggregates | None:
    return RoundAggregates(registered) if registered.names else None


def _named(count: int) -> tuple[str, int]:
    return TERMINATION, count
