"""Internal. The optimised plan as text and as JSON, made without running anything."""

from __future__ import annotations

import json
from typing import Any

from wiesel.core.memory_size import MemorySize
from wiesel.dataset._optimizer import PlannedNode

__all__ = ["plan_json", "plan_text"]

_BLOCKING = {"hash", "broadcast", "rebalance", "global"}


def _operation(planned: PlannedNode) -> str:
    keys = " = ".join(map(str, planned.node.keys))
    return f"{planned.node.name} by {keys}" if keys else planned.node.name


def _shipped(planned: PlannedNode, index: int) -> str:
    ship = planned.ship[index]
    by = f" by {planned.node.keys[index]}" if ship == "hash" else ""
    combined = ", combined before" if planned.combine else ""
    return f"{ship}{by}{combined}{' (blocking)' if ship in _BLOCKING else ''}"


def plan_text(plan: dict[int, PlannedNode], memory_bytes: int) -> str:
    """Return the plan as text, sources first."""
    lines = [f"Plan with {MemorySize(memory_bytes)} of memory per task"]
    for node_id, planned in plan.items():
        node = planned.node
        lines.append(f"#{node_id} {_operation(planned)}, parallelism {planned.parallelism}: {planned.estimate}")
        lines += [f"    reads #{source.id}: {_shipped(planned, i)}" for i, source in enumerate(node.inputs)]
        lines += [f"    broadcast set {name!r} #{source.id}: broadcast (blocking)" for name, source in node.broadcast.items()]
        if planned.strategy:
            lines.append(f"    {planned.strategy}")
        lines += [f"    because {reason}" for reason in planned.reasons]
    return "\n".join(lines)


def plan_json(plan: dict[int, PlannedNode]) -> str:
    """Return the plan as JSON, in the form of Flink's."""
    return json.dumps({"nodes": [_node(planned) for planned in plan.values()]}, indent=2)


def _node(planned: PlannedNode) -> dict[str, Any]:
    node = planned.node
    kinds = {"source": "Data Source", "sink": "Data Sink"}
    result: dict[str, Any] = {
        "id": node.id,
        "type": node.kind,
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
