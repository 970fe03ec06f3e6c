"""Internal. The execution plan as JSON in Flink's form: the result of ``get_execution_plan`` and the output of ``wiesel info``."""

from __future__ import annotations

import json
from typing import Any

from wiesel.graph.specs import Loop, StreamEdge, StreamGraph, StreamNode

__all__ = ["execution_plan_json"]


def execution_plan_json(graph: StreamGraph) -> str:
    """Return the plan; the same program has the same plan in every process."""
    loops = graph.loops()
    return json.dumps({"nodes": [_node(graph, node, loops) for node in graph.nodes.values()]}, indent=2)


def _node(graph: StreamGraph, node: StreamNode, loops: list[Loop]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "id": node.id,
        "type": node.name,
        "pact": "Data Source" if node.is_source else "Data Sink" if node.is_sink else "Operator",
        "contents": node.description or node.name,
        "parallelism": node.parallelism or graph.default_parallelism,
    }
    predecessors = [_predecessor(edge) for edge in graph.in_edges(node.id)]
    if predecessors:
        result["predecessors"] = predecessors
    parts = [part for loop in loops for part in _parts(loop, node.id)]
    if parts:
        result["iterations"] = parts
    return result


def _parts(loop: Loop, node: int) -> list[dict[str, Any]]:
    """Return the role of a node in a loop, named by its head. The feedback edge is omitted: plans are acyclic."""
    if node == loop.head:
        return [{"iteration": loop.head, "part": "head"}]
    if node == loop.tail:
        return [{"iteration": loop.head, "part": "tail", "feedback_to": loop.head}]
    return [{"iteration": loop.head, "part": "step"}] if node in loop.step else []


def _predecessor(edge: StreamEdge) -> dict[str, Any]:
    # Flink writes "second" for every stream edge, whichever input it is.
    return {"id": edge.source, "ship_strategy": edge.partitioner.kind.upper(), "side": "second"}
