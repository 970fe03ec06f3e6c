"""Internal. From the optimised plan to the operators that run it, in BATCH mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wiesel.dataset._builtin import Everything, FieldKey
from wiesel.dataset._keys import KeySpec, declared
from wiesel.dataset._optimizer import PlannedNode
from wiesel.datastream._transformations import OperatorTransformation, PartitionTransformation, Transformation, UnionTransformation
from wiesel.graph.specs import FORWARD, REBALANCE, OperatorSpec, PartitionerSpec
from wiesel.spi.watermark import WatermarkStrategy
from wiesel.types import Types

if TYPE_CHECKING:
    from wiesel.datastream import StreamExecutionEnvironment

__all__ = ["Translation"]

_PER_RECORD = ("map", "flat_map", "filter")
_ONE_TO_ONE = {"map_partition": "batch_map_partition", "count": "batch_count", "first": "batch_first", "sort_partition": "batch_sort"}


class Translation:
    """Makes the operators of a plan in a stream environment, which only holds them and the settings.

    Args:
        environment: The environment.
        plan: How each operation is done.
    """

    def __init__(self, environment: StreamExecutionEnvironment, plan: dict[int, PlannedNode]) -> None:
        self._environment = environment
        self._plan = plan
        self._done: dict[int, Transformation] = {}
        for planned in plan.values():
            self._done[planned.node.id] = self._translate(planned)

    def operator(self, node_id: int) -> OperatorTransformation:
        """Return what an operation became."""
        transformation = self._done[node_id]
        assert isinstance(transformation, OperatorTransformation)  # noqa: S101 - sinks always are
        return transformation

    def _translate(self, planned: PlannedNode) -> Transformation:
        node = planned.node
        match node.kind:
            case "source":
                return self._source(planned)
            case "union":
                inputs = tuple(self._shipped(planned, i) for i in range(len(node.inputs)))
                return UnionTransformation(node.output_type, node.location, inputs)
            case "partition":
                # A node of its own, so that whatever reads it finds the records where they are said to be.
                return self._add(planned, OperatorSpec("map", payload={"function": _same}), [self._shipped(planned, 0)])
            case "sink":
                return self._sink(planned)
            case "reduce" | "group_reduce" | "group_combine":
                return self._grouped(planned)
            case "join" | "co_group":
                return self._paired(planned)
            case "cross":
                return self._operation(planned, "batch_cross", {"build": planned.build}, {}, self._inputs(planned))
            case "first":
                return self._first(planned)
        return self._per_subtask(planned)

    # How records get to an operation.

    def _shipped(self, planned: PlannedNode, index: int, behind: Transformation | None = None) -> Transformation:
        source = self._done[planned.node.inputs[index].id] if behind is None else behind
        ship = planned.ship[index]
        keys = planned.node.keys
        return self._partitioned(source, _partitioner(ship, keys[index] if index < len(keys) else None), planned)

    @staticmethod
    def _partitioned(source: Transformation, partitioner: PartitionerSpec, planned: PlannedNode) -> Transformation:
        if partitioner is FORWARD and isinstance(source, UnionTransformation):
            return source  # it says for each of its inputs how that gets there
        return PartitionTransformation(source.output_type, planned.node.location, source, partitioner)

    def _inputs(self, planned: PlannedNode) -> list[Transformation]:
        return [self._shipped(planned, i) for i in range(len(planned.node.inputs))]

    # Operations.

    def _source(self, planned: PlannedNode) -> OperatorTransformation:
        node = planned.node
        stream = self._environment._add_source(node.params["source"], WatermarkStrategy.no_watermarks(), node.name, node.output_type)
        operator = stream._transformation
        assert isinstance(operator, OperatorTransformation)  # noqa: S101 - a source always is
        return self._placed(operator, planned)

    def _sink(self, planned: PlannedNode) -> OperatorTransformation:
        spec = OperatorSpec("sink", payload={"sink": planned.node.params["sink"], "input_type": planned.node.inputs[0].output_type})
        operator = self._add(planned, spec, self._inputs(planned))
        operator.node.is_sink = True
        return operator

    def _per_subtask(self, planned: PlannedNode) -> OperatorTransformation:
        node = planned.node
        if node.kind in _PER_RECORD and not node.broadcast:
            output_type = None if node.kind == "filter" else node.output_type
            return self._add(
                planned, OperatorSpec(node.kind, payload={"function": node.function, "output_type": output_type}), self._inputs(planned)
            )
        if node.kind in _PER_RECORD:
            return self._operation(planned, "batch_apply", {"method": node.kind}, {}, self._inputs(planned))
        payload = {"sort": _sort(planned), "input_type": declared(node.inputs[0].output_type)}
        return self._operation(planned, _ONE_TO_ONE[node.kind], {}, payload, self._inputs(planned))

    def _first(self, planned: PlannedNode) -> OperatorTransformation:
        params = {"n": planned.node.params["n"]}
        behind = self._before(planned, "batch_first", params, {}) if planned.combine else None
        return self._operation(planned, "batch_first", params, {}, [self._shipped(planned, 0, behind)])

    def _grouped(self, planned: PlannedNode) -> OperatorTransformation:
        node = planned.node
        key = node.keys[0] if node.keys else None
        payload = {
            "key": Everything() if key is None else key.selector,
            "key_type": None if key is None else key.key_type,
            "input_type": declared(node.inputs[0].output_type),
            "sort": _sort(planned),
        }
        if node.kind == "reduce" and planned.combine and key is not None:
            return self._reduced_in_pairs(planned, payload)
        before = {"reduce": "batch_combine", "group_reduce": "batch_group_combine"}
        behind = self._before(planned, before[node.kind], {}, payload) if planned.combine else None
        return self._operation(planned, f"batch_{node.kind}", {}, payload, [self._shipped(planned, 0, behind)])

    def _reduced_in_pairs(self, planned: PlannedNode, payload: dict[str, Any]) -> OperatorTransformation:
        """Add a reduce in two parts, between which each value has its key with it."""
        behind = self._before(planned, "batch_combine", {"paired": True}, payload)
        behind.output_type = behind.node.output_type = Types.PICKLED_BYTE_ARRAY()
        behind.node.operator.payload["output_type"] = None
        by_key = self._partitioned(behind, PartitionerSpec("hash", FieldKey((0,))), planned)
        return self._operation(planned, "batch_reduce", {"paired": True}, payload, [by_key])

    def _before(self, planned: PlannedNode, kind: str, params: dict[str, Any], payload: dict[str, Any]) -> OperatorTransformation:
        """Add the part of an operation that comes before its records are sent; its results are of the type of its input."""
        source = planned.node.inputs[0]
        payload = {**payload, "function": planned.node.function, "output_type": source.output_type}
        operator = self._environment._new_operator(
            f"Combine ({planned.node.name})",
            OperatorSpec(kind, params, payload),
            (self._partitioned(self._done[source.id], FORWARD, planned), *self._broadcast_inputs(planned)),
            source.output_type,
            "{}",
        )
        if planned.node.broadcast:
            operator.node.operator = OperatorSpec(kind, {**params, "broadcast": list(planned.node.broadcast)}, payload)
        return self._placed(operator, planned, self._plan[source.id].parallelism)

    def _paired(self, planned: PlannedNode) -> OperatorTransformation:
        node = planned.node
        kind = "batch_co_group" if node.kind == "co_group" else "batch_merge_join" if planned.build is None else "batch_hash_join"
        params = {key: value for key, value in (("join", node.params.get("join")), ("build", planned.build)) if value is not None}
        if node.params.get("flat"):
            params["flat"] = True
        first, second = node.keys
        payload = {
            "keys": [first.selector, second.selector],
            # Both sides have to write a key in the same way: by its type only where that is one.
            "key_type": first.key_type if first.key_type == second.key_type else None,
            "input_types": [declared(i.output_type) for i in node.inputs],
        }
        return self._operation(planned, kind, params, payload, self._inputs(planned))

    def _operation(
        self, planned: PlannedNode, kind: str, params: dict[str, Any], payload: dict[str, Any], inputs: Sequence[Transformation]
    ) -> OperatorTransformation:
        node = planned.node
        params = {**params, "inputs": len(inputs)}
        if node.broadcast:
            params["broadcast"] = list(node.broadcast)
        payload = {**payload, "function": node.function, "output_type": node.output_type}
        return self._add(planned, OperatorSpec(kind, params, payload), [*inputs, *self._broadcast_inputs(planned)])

    def _broadcast_inputs(self, planned: PlannedNode) -> list[Transformation]:
        return [self._partitioned(self._done[n.id], PartitionerSpec("broadcast"), planned) for n in planned.node.broadcast.values()]

    def _add(self, planned: PlannedNode, spec: OperatorSpec, inputs: Sequence[Transformation]) -> OperatorTransformation:
        operator = self._environment._new_operator(planned.node.name, spec, tuple(inputs), planned.node.output_type, "{}")
        return self._placed(operator, planned)

    @staticmethod
    def _placed(operator: OperatorTransformation, planned: PlannedNode, parallelism: int | None = None) -> OperatorTransformation:
        operator.location = operator.node.user_location = planned.node.location
        operator.node.parallelism = parallelism or planned.parallelism
        return operator


def _same(value: Any) -> Any:
    return value


def _partitioner(ship: str, key: KeySpec | None) -> PartitionerSpec:
    if ship == "forward":
        return FORWARD
    if ship == "rebalance":
        return REBALANCE
    return PartitionerSpec("hash", key.selector) if ship == "hash" and key is not None else PartitionerSpec(ship)


def _sort(planned: PlannedNode) -> list[tuple[Any, Any, bool]]:
    return [(key.selector, key.key_type, ascending) for key, ascending in planned.node.sort]
