"""Internal. Translation of the optimised plan to operators in BATCH mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wiesel.dataset._builtin import Everything, FieldKey
from wiesel.dataset._keys import KeySpec, declared
from wiesel.dataset._loop_translation import LoopTranslation, partitioned
from wiesel.dataset._optimizer import PlannedNode
from wiesel.graph.specs import FORWARD, REBALANCE, OperatorSpec, PartitionerSpec
from wiesel.graph.transformations import OperatorTransformation, Transformation, UnionTransformation
from wiesel.runtime.operators.batch.ranges import BOUNDS
from wiesel.spi.functions import Function
from wiesel.spi.watermark import WatermarkStrategy
from wiesel.types import Types

if TYPE_CHECKING:
    from wiesel.datastream import StreamExecutionEnvironment

__all__ = ["Translation"]

_PER_RECORD = ("map", "flat_map", "filter")
_ONE_TO_ONE = {"map_partition": "batch_map_partition", "count": "batch_count", "first": "batch_first", "sort_partition": "batch_sort"}


class Translation:
    """Creates the operators of a plan in a stream environment, which only holds them and the settings.

    Args:
        environment: The environment.
        plan: The plan of each operation.
    """

    def __init__(self, environment: StreamExecutionEnvironment, plan: dict[int, PlannedNode]) -> None:
        self._environment = environment
        self._plan = plan
        self._done: dict[int, Transformation] = {}
        self._loops = LoopTranslation(self._add, plan)
        for planned in plan.values():
            self._done[planned.node.id] = self._translate(planned)

    def operator(self, node_id: int) -> OperatorTransformation:
        """Return the operator of an operation."""
        transformation = self._done[node_id]
        assert isinstance(transformation, OperatorTransformation)  # noqa: S101 - sinks always are
        return transformation

    def _translate(self, planned: PlannedNode) -> Transformation:
        node = planned.node
        match node.kind:
            case "source":
                return self._source(planned)
            case "iteration_head":
                return self._loops.head(planned, self._shipped(planned, 0))
            case "solution_set":
                return self._done[node.inputs[0].id]
            case "iteration_result":
                return self._loops.bulk_result(planned, self._inputs(planned))
            case "delta_result":
                return self._loops.delta_result(planned, self._inputs(planned))
            case "union":
                return self._union(planned)
            case "partition":
                return self._partition(planned)
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

    # Shipping of records

    def _shipped(self, planned: PlannedNode, index: int, behind: Transformation | None = None) -> Transformation:
        source = self._done[planned.node.inputs[index].id] if behind is None else behind
        ship = planned.ship[index]
        keys = planned.node.keys
        return partitioned(source, _partitioner(ship, keys[min(index, len(keys) - 1)] if keys else None), planned.node.location)

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

    def _partition(self, planned: PlannedNode) -> OperatorTransformation:
        # A separate operator, so that the partitioning holds for all of its consumers.
        node = planned.node
        if planned.ship[0] == "range":
            return self._by_range(planned)
        if planned.ship[0] == "custom":
            spec = PartitionerSpec("custom", (node.params["partitioner"], node.keys[0].selector))
            shipped = partitioned(self._done[node.inputs[0].id], spec, node.location)
        else:
            shipped = self._shipped(planned, 0)
        return self._add(planned, OperatorSpec("map", payload={"function": _same}), [shipped])

    def _by_range(self, planned: PlannedNode) -> OperatorTransformation:
        node, behind = planned.node, self._plan[planned.node.inputs[0].id]
        records = partitioned(self._done[node.inputs[0].id], FORWARD, node.location)
        params = {"inputs": 1, "ranges": planned.parallelism}
        payload = {"sort": [(node.keys[0].selector, node.keys[0].key_type, True)]}
        sample = self._part(planned, "Sample", OperatorSpec("batch_sample", params, payload), [records], behind.parallelism)
        to_one = partitioned(sample, PartitionerSpec("global"), node.location)
        bounds = self._part(planned, "Bounds", OperatorSpec("batch_bounds", params, {}), [to_one], 1)
        to_all = partitioned(bounds, PartitionerSpec("broadcast"), node.location)
        spec = OperatorSpec("batch_ranges", {"inputs": 1, "broadcast": [BOUNDS]}, payload)
        ranges = self._part(planned, "Ranges", spec, [records, to_all], behind.parallelism)
        shipped = partitioned(ranges, PartitionerSpec("custom", (_its_range, FieldKey((0,)))), node.location)
        return self._add(planned, OperatorSpec("map", payload={"function": FieldKey((1,))}), [shipped])

    def _part(
        self, planned: PlannedNode, name: str, spec: OperatorSpec, inputs: Sequence[Transformation], parallelism: int
    ) -> OperatorTransformation:
        """Add a separate operator for a part of an operation."""
        spec, _ = self._loops.in_rounds(planned, spec, [])
        operator = self._environment._new_operator(f"{planned.node.name}: {name}", spec, tuple(inputs), Types.PICKLED_BYTE_ARRAY(), "{}")
        return self._placed(operator, planned, parallelism)

    def _union(self, planned: PlannedNode) -> Transformation:
        node, inputs = planned.node, self._inputs(planned)
        if planned.head is not None and self._loops.static(planned, len(inputs)):
            # Some of the records arrive once, and are part of the result in each round.
            return self._operation(planned, "batch_union", {}, {}, inputs)
        return UnionTransformation(node.output_type, node.location, tuple(inputs))

    def _per_subtask(self, planned: PlannedNode) -> OperatorTransformation:
        node = planned.node
        # In an iteration function objects are opened in each round.
        plain = not node.broadcast and not (planned.head is not None and isinstance(node.function, Function))
        if node.kind in _PER_RECORD and plain:
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
        return self._operation(planned, "batch_first", params, {}, [self._shipped(planned, 0, behind)], combined=planned.combine)

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
        return self._operation(planned, f"batch_{node.kind}", {}, payload, [self._shipped(planned, 0, behind)], combined=planned.combine)

    def _reduced_in_pairs(self, planned: PlannedNode, payload: dict[str, Any]) -> OperatorTransformation:
        """Add a reduce in two parts, between which each value has its key with it."""
        behind = self._before(planned, "batch_combine", {"paired": True}, payload, typed=False)
        behind.output_type = behind.node.output_type = Types.PICKLED_BYTE_ARRAY()
        by_key = partitioned(behind, PartitionerSpec("hash", FieldKey((0,))), planned.node.location)
        return self._operation(planned, "batch_reduce", {"paired": True}, payload, [by_key], combined=True)

    def _before(
        self, planned: PlannedNode, kind: str, params: dict[str, Any], payload: dict[str, Any], *, typed: bool = True
    ) -> OperatorTransformation:
        """Add the part of an operation before the exchange; its results have the type of its input."""
        source = planned.node.inputs[0]
        payload = {**payload, "function": planned.node.function, "output_type": source.output_type if typed else None}
        params = {**params, "inputs": 1, "broadcast": list(planned.node.broadcast)}
        inputs = [partitioned(self._done[source.id], FORWARD, planned.node.location), *self._broadcast_inputs(planned)]
        spec, more = self._loops.in_rounds(planned, OperatorSpec(kind, params, payload), self._loops.static(planned, 1))
        operator = self._environment._new_operator(f"Combine ({planned.node.name})", spec, (*inputs, *more), source.output_type, "{}")
        self._loops.joined(planned, operator)
        return self._placed(operator, planned, self._plan[source.id].parallelism)

    def _paired(self, planned: PlannedNode) -> OperatorTransformation:
        node = planned.node
        if planned.solution is not None:
            return self._with_solution_set(planned, planned.solution)
        kind = "batch_co_group" if node.kind == "co_group" else "batch_merge_join" if planned.build is None else "batch_hash_join"
        params = {key: value for key, value in (("join", node.params.get("join")), ("build", planned.build)) if value is not None}
        if node.params.get("flat"):
            params["flat"] = True
        first, second = node.keys
        payload = {
            "keys": [first.selector, second.selector],
            # Both sides have to encode keys in the same way: by type only if both have the same.
            "key_type": first.key_type if first.key_type == second.key_type else None,
            "input_types": [declared(i.output_type) for i in node.inputs],
        }
        return self._operation(planned, kind, params, payload, self._inputs(planned))

    def _with_solution_set(self, planned: PlannedNode, side: int) -> OperatorTransformation:
        node = planned.node
        probe, solution = node.keys[1 - side], node.keys[side]
        by_key = PartitionerSpec("hash", solution.selector)
        inputs = [
            self._shipped(planned, 1 - side),
            self._shipped(planned, side),
            partitioned(self._loops.changes(planned, node.inputs[side]), by_key, node.location),
        ]
        payload = {
            "key": probe.selector,
            "solution_key": solution.selector,
            "key_type": probe.key_type if probe.key_type == solution.key_type else None,
            "solution_type": declared(node.inputs[side].output_type),
        }
        params = {
            "side": side,
            **({"co_group": True} if node.kind == "co_group" else {}),
            **({"flat": True} if node.params.get("flat") else {}),
        }
        return self._operation(planned, "batch_solution_join", params, payload, inputs, static=[1])

    def _operation(
        self,
        planned: PlannedNode,
        kind: str,
        params: dict[str, Any],
        payload: dict[str, Any],
        inputs: Sequence[Transformation],
        *,
        combined: bool = False,
        static: Sequence[int] | None = None,
    ) -> OperatorTransformation:
        """Add an operator of bounded data.

        Args:
            planned: The operation.
            kind: The operator.
            params: Its parameters.
            payload: Its payload in addition to the function.
            inputs: Its inputs except broadcast sets.
            combined: There is a combiner before it, which has the operation's own input.
            static: Inputs that are constant in all rounds of an iteration, if they differ from those of the operation.
        """
        node = planned.node
        params = {**params, "inputs": len(inputs), **({"broadcast": list(node.broadcast)} if node.broadcast else {})}
        spec = OperatorSpec(kind, params, {**payload, "function": node.function, "output_type": node.output_type})
        of_inputs = static if static is not None else [] if combined else self._loops.static(planned, len(inputs))
        spec, more = self._loops.in_rounds(planned, spec, of_inputs)
        operator = self._add(planned, spec, [*inputs, *self._broadcast_inputs(planned), *more])
        self._loops.joined(planned, operator)
        return operator

    def _broadcast_inputs(self, planned: PlannedNode) -> list[Transformation]:
        location = planned.node.location
        return [partitioned(self._done[n.id], PartitionerSpec("broadcast"), location) for n in planned.node.broadcast.values()]

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


def _its_range(number: int, _: int) -> int:
    return number


def _partitioner(ship: str, key: KeySpec | None) -> PartitionerSpec:
    if ship == "forward":
        return FORWARD
    if ship == "rebalance":
        return REBALANCE
    return PartitionerSpec("hash", key.selector) if ship == "hash" and key is not None else PartitionerSpec(ship)


def _sort(planned: PlannedNode) -> list[tuple[Any, Any, bool]]:
    return [(key.selector, key.key_type, ascending) for key, ascending in planned.node.sort]
