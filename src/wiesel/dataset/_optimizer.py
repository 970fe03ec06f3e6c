"""Internal. The optimizer: selects shipping strategies and algorithms, with reasons.

The choice is made on the client, operation by operation from the sources on, by the costs of the candidates: bytes over the network, bytes
written to and read from disk when memory is short, and work per byte (P. G. Selinger et al., "Access Path Selection in a Relational
Database Management System", SIGMOD 1979, for the idea). Costs are compared, not predicted. An input with a suitable partitioning is not
shuffled.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from wiesel.core.user_location import program_error
from wiesel.dataset._estimates import Estimate, estimate_of
from wiesel.dataset._keys import KeySpec
from wiesel.dataset._loops import check_ends, head_of
from wiesel.dataset._plan import Node, reachable
from wiesel.dataset.functions import JoinHint

__all__ = ["Partitioning", "PlannedNode", "optimize"]

FORWARD, HASH, BROADCAST, REBALANCE, GLOBAL = "forward", "hash", "broadcast", "rebalance", "global"
RANGE, CUSTOM = "range", "custom"

_RECORD_OVERHEAD = 250.0
"""Overhead of a record in a hash table, in bytes."""

_DISK = 1.5
_BUILD = 0.3
_PROBE = 0.2
_COMPARE = 0.05


@dataclass(frozen=True)
class Partitioning:
    """A partitioning of records by key over subtasks.

    Attributes:
        identity: The identity of the key.
        parallelism: The number of subtasks.
        by_range: The operation that determined the ranges; None for hash partitioning.
    """

    identity: tuple[object, ...]
    parallelism: int
    by_range: int | None = None


@dataclass
class PlannedNode:
    """An operation with its plan.

    Attributes:
        ship: Shipping strategy of each input: forward, hash, broadcast, rebalance or global.
        strategy: The algorithm in words; empty without alternatives.
        build: The build side or the stored input, None if there is none.
        combine: Records are combined before the exchange.
        reasons: Reasons of the choice.
        partitioned: Partitioning of the results, None if unknown.
        head: The head of the iteration that contains it, None if there is none.
        solution: The input that is the solution set of a delta iteration, None if there is none.
    """

    node: Node
    estimate: Estimate
    parallelism: int
    ship: list[str]
    strategy: str = ""
    build: int | None = None
    combine: bool = False
    reasons: list[str] = field(default_factory=list)
    partitioned: Partitioning | None = None
    head: Node | None = None
    solution: int | None = None


@dataclass(frozen=True)
class _Candidate:
    hint: JoinHint
    cost: float
    strategy: str
    ship: tuple[str, str]
    build: int | None


def optimize(ends: Iterable[Node], parallelism: int, memory_bytes: int) -> dict[int, PlannedNode]:
    """Return the plan of each operation by its id, in topological order.

    Args:
        ends: The operations whose results are requested.
        parallelism: The parallelism of the environment.
        memory_bytes: The memory budget of a task.
    """
    optimizer = _Optimizer(parallelism, memory_bytes)
    ends = list(ends)
    for node in reachable(ends):
        optimizer.plan(node)
    check_ends(ends, optimizer.heads)
    return optimizer.planned


class _Optimizer:
    def __init__(self, parallelism: int, memory_bytes: int) -> None:
        self._parallelism = parallelism
        self._memory = memory_bytes
        self.planned: dict[int, PlannedNode] = {}
        self.heads: dict[int, Node | None] = {}

    def plan(self, node: Node) -> None:
        inputs = [self.planned[i.id] for i in node.inputs]
        planned = PlannedNode(node, estimate_of(node, [i.estimate for i in inputs]), node.parallelism or self._parallelism, [])
        self.planned[node.id] = planned
        planned.head = self.heads[node.id] = head_of(node, self.heads)
        planned.solution = self._solution_input(node)
        plan = getattr(self, f"_plan_{node.kind}", self._plan_per_record)
        plan(planned, inputs)

    # One input.

    def _plan_per_record(self, planned: PlannedNode, inputs: list[PlannedNode]) -> None:
        """Plan map, filter, sort_partition and sinks: records stay on their subtask if the parallelism allows it."""
        planned.ship = [FORWARD if i.parallelism == planned.parallelism else REBALANCE for i in inputs]
        if planned.node.kind in ("filter", "sort_partition") or (
            inputs and inputs[0].partitioned is not None and self._forwards(planned.node, inputs[0].partitioned.identity)
        ):
            planned.partitioned = self._kept(planned, inputs[0])

    def _plan_partition(self, planned: PlannedNode, inputs: list[PlannedNode]) -> None:
        node = planned.node
        if node.params.get("by_range"):
            planned.ship = [RANGE]
            planned.strategy = "a sample of the keys gives the bounds; the records wait for them"
            planned.partitioned = Partitioning(node.keys[0].identity, planned.parallelism, node.id)
        elif "partitioner" in node.params:
            planned.ship = [CUSTOM]
        elif node.keys:
            # Consumers may rely on hash partitioning, so ranges are unsuitable.
            self._send_by_hash(planned, inputs, node.keys[0])
            planned.partitioned = Partitioning(node.keys[0].identity, planned.parallelism)
        else:
            planned.ship = [REBALANCE]

    def _send_by_hash(self, planned: PlannedNode, inputs: list[PlannedNode], key: KeySpec) -> None:
        there = self._is_partitioned(inputs[0], key, planned.parallelism)
        planned.ship = [FORWARD if there else HASH]
        if there:
            planned.reasons.append(f"the input is already partitioned by {key}")

    def _plan_union(self, planned: PlannedNode, inputs: list[PlannedNode]) -> None:
        self._plan_per_record(planned, inputs)
        first = inputs[0].partitioned
        same = all(i.partitioned == first and i.parallelism == planned.parallelism for i in inputs)
        planned.partitioned = first if same else None

    def _plan_first(self, planned: PlannedNode, inputs: list[PlannedNode]) -> None:
        planned.parallelism = 1
        planned.ship = [GLOBAL]
        planned.combine = inputs[0].parallelism > 1

    def _plan_reduce(self, planned: PlannedNode, inputs: list[PlannedNode]) -> None:
        node = planned.node
        planned.strategy = "hash table of the results, sorted in files when memory is short"
        if not node.keys:
            planned.parallelism = 1
            planned.ship = [GLOBAL]
            planned.combine = inputs[0].parallelism > 1
            return
        planned.combine = not self._gather(planned, inputs, node.keys[0])
        if planned.combine:
            planned.reasons.append("records are combined per key before they are sent")
        if node.params.get("keeps_key") or self._forwards(node, node.keys[0].identity):
            planned.partitioned = self._gathered(planned, inputs)

    def _plan_group_reduce(self, planned: PlannedNode, inputs: list[PlannedNode]) -> None:
        node = planned.node
        planned.strategy = "sort by key"
        if not node.keys:
            planned.parallelism = 1
            planned.ship = [GLOBAL]
            planned.combine = hasattr(node.function, "combine") and inputs[0].parallelism > 1
            return
        reused = self._gather(planned, inputs, node.keys[0])
        planned.combine = hasattr(node.function, "combine") and not reused
        if node.params.get("keeps_key") or self._forwards(node, node.keys[0].identity):
            planned.partitioned = self._gathered(planned, inputs)

    @staticmethod
    def _gathered(planned: PlannedNode, inputs: list[PlannedNode]) -> Partitioning | None:
        """Return the partitioning of groups: that of their records, or by the hash of the key."""
        return inputs[0].partitioned if planned.ship == [FORWARD] else Partitioning(planned.node.keys[0].identity, planned.parallelism)

    def _plan_group_combine(self, planned: PlannedNode, inputs: list[PlannedNode]) -> None:
        planned.parallelism = inputs[0].parallelism if planned.node.parallelism is None else planned.parallelism
        planned.strategy = "sort by key, as much as memory holds at a time"
        self._plan_per_record(planned, inputs)

    def _gather(self, planned: PlannedNode, inputs: list[PlannedNode], key: KeySpec) -> bool:
        """Partition records by key; return whether they already are."""
        known = inputs[0].partitioned
        in_ranges = known is not None and known == Partitioning(key.identity, planned.parallelism, known.by_range)
        reused = in_ranges and inputs[0].parallelism == planned.parallelism
        planned.ship = [FORWARD if reused else HASH]
        if reused:
            planned.reasons.append(f"the input is already partitioned by {key}")
        return reused

    # Two inputs.

    def _plan_join(self, planned: PlannedNode, inputs: list[PlannedNode]) -> None:
        if planned.solution is not None:
            self._plan_probe(planned, "join with the records of the solution set, which stay in memory where their keys are")
            return
        candidates = self._candidates(planned, inputs)
        node = planned.node
        chosen = candidates[0]
        static = [index for index, i in enumerate(inputs) if i.head is None] if planned.head is not None else []
        if len(static) == 1 and node.join_hint is JoinHint.OPTIMIZER_CHOOSES:
            wanted = (JoinHint.REPARTITION_HASH_FIRST, JoinHint.REPARTITION_HASH_SECOND)[static[0]]
            chosen = next(c for c in candidates if c.hint is wanted)
            planned.reasons.append(f"input {static[0] + 1} is the same in all rounds, and so is its hash table")
        elif node.join_hint is not JoinHint.OPTIMIZER_CHOOSES:
            chosen = next(c for c in candidates if c.hint is node.join_hint)
            planned.reasons.append(f"asked for by the hint {node.join_hint.name}")
        elif any(i.estimate.bytes is None for i in inputs):
            chosen = self._without_sizes(planned, inputs, candidates)
        else:
            chosen = min(candidates, key=lambda c: c.cost)
            others = "; ".join(f"{c.strategy}: {_cost(c.cost)}" for c in sorted(candidates, key=lambda c: c.cost) if c is not chosen)
            planned.reasons.append(f"it is the cheapest, at {_cost(chosen.cost)} ({others})")
        planned.strategy, planned.ship, planned.build = chosen.strategy, list(chosen.ship), chosen.build
        for index, (ship, key) in enumerate(zip(chosen.ship, node.keys, strict=True)):
            if ship == FORWARD and BROADCAST not in chosen.ship:
                planned.reasons.append(f"input {index + 1} is already partitioned by {key}")

    def _without_sizes(self, planned: PlannedNode, inputs: list[PlannedNode], candidates: list[_Candidate]) -> _Candidate:
        known = [i for i, p in enumerate(inputs) if p.estimate.bytes is not None]
        planned.reasons.append(
            f"the size of input {' and '.join(str(i + 1) for i in range(2) if i not in known)} is not known; "
            "with_hints(records=...) or join_with_tiny/join_with_huge tell it"
        )
        build = 0 if known == [0] else 1
        wanted = JoinHint.REPARTITION_HASH_FIRST if build == 0 else JoinHint.REPARTITION_HASH_SECOND
        return next(c for c in candidates if c.hint is wanted)

    def _candidates(self, planned: PlannedNode, inputs: list[PlannedNode]) -> list[_Candidate]:
        node, p = planned.node, planned.parallelism
        sizes = [i.estimate.bytes or 0.0 for i in inputs]
        counts = [i.estimate.records or 0.0 for i in inputs]
        there = [self._is_partitioned(i, key, p) for i, key in zip(inputs, node.keys, strict=True)]
        ship = (FORWARD if there[0] else HASH, FORWARD if there[1] else HASH)
        moved = sum(size for size, is_there in zip(sizes, there, strict=True) if not is_there)
        candidates = []
        for build, hint in enumerate((JoinHint.REPARTITION_HASH_FIRST, JoinHint.REPARTITION_HASH_SECOND)):
            cost = moved + self._hash_cost(sizes[build], counts[build], sizes[1 - build], tables=1, parallelism=p)
            candidates.append(_Candidate(hint, cost, f"hash join, hash table of input {build + 1}", ship, build))
        sort_cost = moved + sum(self._sort_cost(size, count, p) for size, count in zip(sizes, counts, strict=True))
        candidates.append(_Candidate(JoinHint.REPARTITION_SORT_MERGE, sort_cost, "sort-merge join", ship, None))
        # An unmatched record is only recognised where all of the other input is available: not on a replicated side.
        preserved = {"inner": (), "left": (0,), "right": (1,), "full": (0, 1)}[node.params["join"]]
        for build, hint in enumerate((JoinHint.BROADCAST_HASH_FIRST, JoinHint.BROADCAST_HASH_SECOND)):
            if build in preserved:
                continue
            stays = inputs[1 - build].parallelism == p
            cost = sizes[build] * p + (0.0 if stays else sizes[1 - build])
            cost += self._hash_cost(sizes[build], counts[build], sizes[1 - build], tables=p, parallelism=p)
            other = FORWARD if stays else REBALANCE
            ships = (BROADCAST, other) if build == 0 else (other, BROADCAST)
            candidates.append(_Candidate(hint, cost, f"hash join, hash table of input {build + 1} in every subtask", ships, build))
        return candidates

    def _hash_cost(self, build: float, build_count: float, probe: float, *, tables: int, parallelism: int) -> float:
        """Return the cost of a hash join: ``tables`` copies of the build side, distributed over the subtasks."""
        in_memory = (build + build_count * _RECORD_OVERHEAD) * tables / parallelism
        on_disk = max(0.0, 1 - self._memory / in_memory) if in_memory else 0.0
        return _BUILD * build * tables + _PROBE * probe + 2 * _DISK * on_disk * (build * tables + probe)

    def _sort_cost(self, size: float, count: float, parallelism: int) -> float:
        in_memory = size + count * _RECORD_OVERHEAD / 2
        spilled = 2 * _DISK * size if in_memory / parallelism > self._memory / 2 else 0.0
        return _COMPARE * size * math.log2(count + 2) + (_BUILD + _PROBE) * size + spilled

    def _plan_co_group(self, planned: PlannedNode, inputs: list[PlannedNode]) -> None:
        if planned.solution is not None:
            self._plan_probe(planned, "the records of the solution set stay in memory where their keys are")
            return
        planned.strategy = "sort of both inputs by key"
        for index, (planned_input, key) in enumerate(zip(inputs, planned.node.keys, strict=True)):
            reused = self._is_partitioned(planned_input, key, planned.parallelism)
            planned.ship.append(FORWARD if reused else HASH)
            if reused:
                planned.reasons.append(f"input {index + 1} is already partitioned by {key}")

    def _plan_cross(self, planned: PlannedNode, inputs: list[PlannedNode]) -> None:
        sizes = [i.estimate.bytes for i in inputs]
        build = planned.node.params.get("broadcast_input")
        if build is not None:
            planned.reasons.append(f"input {build + 1} is said to be the smaller one")
        elif sizes[0] is None or sizes[1] is None:
            build = 0 if sizes[0] is not None else 1
            planned.reasons.append("not all sizes are known; cross_with_tiny/cross_with_huge tell which input is the smaller one")
        else:
            build = 0 if sizes[0] < sizes[1] else 1
            planned.reasons.append(f"input {build + 1} is the smaller one")
        other = FORWARD if inputs[1 - build].parallelism == planned.parallelism else REBALANCE
        planned.ship = [BROADCAST, other] if build == 0 else [other, BROADCAST]
        planned.strategy, planned.build = f"all pairs, input {build + 1} in every subtask", build

    # Iterations.

    @staticmethod
    def _solution_input(node: Node) -> int | None:
        """Return the input that is a solution set, None if there is none; its uses are restricted."""
        sides = [index for index, source in enumerate(node.inputs) if source.kind == "solution_set"]
        if not sides and not any(source.kind == "solution_set" for source in node.broadcast.values()):
            return None
        if node.kind not in ("join", "co_group") or len(sides) != 1 or node.params.get("join", "inner") != "inner":
            raise program_error(
                f"{node.name!r} cannot use a solution set, of which only records with certain keys are looked up",
                "join it (inner) or co-group it with another data set of the step",
                location=node.location,
            )
        wanted, given = node.inputs[sides[0]].keys[0], node.keys[sides[0]]
        if wanted.identity != given.identity:
            raise program_error(
                f"{node.name!r} looks for records of the solution set by {given}, but its key is {wanted}",
                "use the key that iterate_delta() was given",
                location=node.location,
            )
        return sides[0]

    @staticmethod
    def _plan_probe(planned: PlannedNode, strategy: str) -> None:
        planned.strategy, planned.ship = strategy, [HASH, HASH]

    @staticmethod
    def _plan_solution_set(planned: PlannedNode, inputs: list[PlannedNode]) -> None:
        planned.parallelism = inputs[1].parallelism
        planned.ship = [HASH, FORWARD]

    def _plan_iteration_result(self, planned: PlannedNode, inputs: list[PlannedNode]) -> None:
        planned.parallelism = self.planned[planned.node.params["head"].id].parallelism
        planned.ship = [FORWARD if i.parallelism == planned.parallelism else REBALANCE for i in inputs]

    def _plan_delta_result(self, planned: PlannedNode, inputs: list[PlannedNode]) -> None:
        planned.parallelism = self.planned[planned.node.params["head"].id].parallelism
        planned.ship = [HASH, FORWARD if inputs[1].parallelism == planned.parallelism else REBALANCE, HASH]
        planned.partitioned = Partitioning(planned.node.keys[0].identity, planned.parallelism)

    # Properties of partitionings

    @staticmethod
    def _is_partitioned(planned: PlannedNode, key: KeySpec, parallelism: int) -> bool:
        return planned.partitioned == Partitioning(key.identity, parallelism) and planned.parallelism == parallelism

    @staticmethod
    def _kept(planned: PlannedNode, planned_input: PlannedNode) -> Partitioning | None:
        return planned_input.partitioned if planned_input.parallelism == planned.parallelism else None

    @staticmethod
    def _forwards(node: Node, identity: tuple[object, ...]) -> bool:
        return identity[0] == "fields" and set(identity[1:]) <= set(node.forwarded)


def _cost(cost: float) -> str:
    return f"{cost:,.0f}" if cost < 1e6 else f"{cost:.3g}"
