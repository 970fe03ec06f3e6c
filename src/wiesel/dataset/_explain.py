"""Internal. The optimised plan as text and as JSON, without execution."""

from __future__ import annotations

import json
from typing import Any

from wiesel.core.memory_size import MemorySize
from wiesel.dataset._optimizer import PlannedNode

__all__ = ["plan_json", "plan_text"]

_BLOCKING = {"hash", "broadcast", "rebalance", "global", "range", "custom"}


def _operation(planned: PlannedNode) -> str:
    keys = " = ".join(map(str, planned.node.keys))
    return f"{planned.node.name} by {keys}" if keys else planned.node.name


def _shipped(planned: PlannedNode, index: int) -> str:
    ship = planned.ship[index]
    keys = planned.node.keys
    by = f" by {keys[min(index, len(keys) - 1)]}" if ship in ("hash", "range", "custom") else ""
    combined = ", combined before" if planned.combine else ""
    return f"{ship}{by}{combined}{' (blocking)' if ship in _BLOCKING and not _in_rounds(planned) else ''}"


def _in_rounds(planned: PlannedNode) -> bool:
    """Return whether an operation is part of an iteration, whose operators run concurrently."""
    return planned.head is not None or "head" in planned.node.params


def _part(planned: PlannedNode) -> str:
    """Return which part of an iteration an operation is, if it is one."""
    if planned.node.kind == "iteration_head":
        return f"  [head of an iteration of at most {planned.node.params['max_rounds']} rounds]"
    head = planned.node.params.get("head")
    if head is not None:
        return f"  [tail and result of iteration #{head.id}]"
    return "" if planned.head is None else f"  [step of iteration #{planned.head.id}]"


def _reads(planned: PlannedNode, index: int) -> str:
    """Return the inputs of an operation, and their role in an iteration."""
    node, source = planned.node, planned.node.inputs[index]
    part = ""
    if node.kind == "iteration_head":
        part = " (input of the iteration)"
    elif node.kind == "iteration_result":
        part = (f" (next partial solution, feedback to #{node.params['head'].id})", " (termination criterion)")[index]
    elif node.kind == "delta_result":
        part = (" (delta of the solution set", " (next workset", " (initial solution set)")[index]
        part += "" if index == 2 else f", feedback to #{node.params['head'].id})"
    return f"    reads #{source.id}{part}: {_shipped(planned, index)}"


def plan_text(plan: dict[int, PlannedNode], memory_bytes: int) -> str:
    """Return the plan as text, sources first."""
    lines = [f"Plan with {MemorySize(memory_bytes)} of memory per task"]
    for node_id, planned in plan.items():
        node = planned.node
        lines.append(f"#{node_id} {_operation(planned)}, parallelism {planned.parallelism}: {planned.estimate}{_part(planned)}")
        lines += [_reads(planned, i) for i in range(len(node.inputs))]
        lines += [f"    broadcast set {name!r} #{source.id}: broadcast (blocking)" for name, source in node.broadcast.items()]
        if planned.strategy:
            lines.append(f"    {planned.strategy}")
        lines += [f"    because {reason}" for reason in planned.reasons]
    return "\n".join(lines)


def plan_json(plan: dict[int, PlannedNode]) -> str:
    """Return the plan as JSON, in the form of Flink's: the step of an iteration is part of its result's node."""
    inside: dict[int, list[dict[str, Any]]] = {}
    for planned in plan.values():
        if planned.head is not None:
            inside.setdefault(planned.head.id, []).append(_node(planned))
    return json.dumps({"nodes": [_node(planned, inside) for planned in plan.values() if planned.head is None]}, indent=2)


def _node(planned: PlannedNode, inside: dict[int, list[dict[str, Any]]] | None = None) -> dict[str, Any]:
    node = planned.node
    result: dict[str, Any] = {"id": node.id, "type": node.kind}
    head = node.params.get("head")
    if head is not None:
        result |= {"step_function": (inside or {})[head.id], "partial_solution": head.id, "next_partial_solution": node.inputs[0].id}
        if node.kind == "delta_result":
            result |= {"workset": head.id, "next_workset": node.inputs[1].id, "solution_delta": node.inputs[0].id}
            del result["partial_solution"], result["next_partial_solution"]
    kinds = {
        "source": "Data Source",
        "sink": "Data Sink",
        "iteration_result": "Bulk Iteration",
        "delta_result": "Workset Iteration",
        "iteration_head": "Partial Solution",
        "solution_set": "Solution Set",
    }
    result |= {
        "pact": kinds.get(node.kind, "Operator"),
        "contents": _operation(planned),
        "parallelism": planned.parallelism,
        "estimates": [
            {"name": "Est. Output Size", "value": planned.estimate.bytes},
            {"name": "Est. Cardinality", "value": planned.estimate.records},
        ],
    }
    if planned.strategy:
        result["driver_strategy"] = planned.strategy
    if planned.reasons:
        result["reasons"] = planned.reasons
    sources = [(source, planned.ship[i]) for i, source in enumerate(node.inputs)] + [(s, "broadcast") for s in node.broadcast.values()]
    if sources:
        result["predecessors"] = [
            {"id": source.id, "ship_strategy": ship.upper(), "exchange_mode": "BATCH" if ship in _BLOCKING else "PIPELINED"}
            for source, ship in sources
        ]
    return result
