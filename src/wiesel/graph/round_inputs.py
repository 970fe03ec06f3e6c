"""Internal. Inputs of iterations in rounds: an operator before each translates event time to rounds."""

from __future__ import annotations

from dataclasses import replace

from wiesel.core.errors import ProgramError
from wiesel.graph.specs import FORWARD, ITERATION_INPUT, Loop, OperatorSpec, StreamEdge, StreamGraph, StreamNode

__all__ = ["add_round_inputs"]


def add_round_inputs(graph: StreamGraph) -> None:
    """Insert such an operator into all edges from outside to the step of an iteration in rounds.

    Raises:
        ProgramError: If an iteration in rounds is nested in another iteration, or contains one.
    """
    loops = graph.loops()
    for loop in loops:
        if loop.rounds:
            _check_alone(graph, loop, loops)
            _add(graph, loop)


def _check_alone(graph: StreamGraph, loop: Loop, loops: list[Loop]) -> None:
    for other in loops:
        if other is not loop and (other.head in loop.step or loop.head in other.step):
            raise ProgramError(
                f"of the iterations at {graph.nodes[loop.head].user_location} and at {graph.nodes[other.head].user_location} one is inside "
                "the other",
                hint="an iteration in rounds can neither contain another one nor be part of one; let one follow the other",
            )


def _add(graph: StreamGraph, loop: Loop) -> None:
    inside = {loop.head, *loop.step}
    made: dict[tuple[int, str | None], int] = {}
    for at, edge in enumerate(list(graph.edges)):
        if edge.target not in loop.step | {loop.tail} or edge.source in inside:
            continue
        key = (edge.source, edge.side_tag)
        if key not in made:
            made[key] = _add_node(graph, edge, loop)
        graph.edges[at] = replace(edge, source=made[key], side_tag=None)


def _add_node(graph: StreamGraph, edge: StreamEdge, loop: Loop) -> int:
    source = graph.nodes[edge.source]
    node = StreamNode(
        max(graph.nodes) + 1,
        "Iteration Input",
        OperatorSpec(ITERATION_INPUT),
        parallelism=source.parallelism,
        parallelism_set=source.parallelism_set,
        output_type=source.output_type,
        user_location=graph.nodes[loop.head].user_location,
    )
    graph.nodes[node.id] = node
    graph.edges.append(StreamEdge(edge.source, node.id, FORWARD, 0, edge.side_tag))
    return node.id
