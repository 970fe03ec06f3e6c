"""Internal. Rescaling of a job graph. Pure.

Ids and maximum parallelism stay unchanged, so state remains assigned to operators and keys to key groups. Chains are split where the
parallelism of neighbours differs; chains are never merged, as operators of one chain have one maximum parallelism.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from wiesel.core.errors import ConfigurationError
from wiesel.graph.job_graph import ChainEdge, ChainedOperator, JobEdge, JobGraph, JobVertex, chain_name
from wiesel.graph.specs import ITERATION_HEAD, ITERATION_TAIL, REBALANCE, StreamNode
from wiesel.state.key_groups import subtask_for_key_group


@dataclass(frozen=True)
class Bounds:
    """Lower and upper bound of the parallelism of an operator."""

    lower: int
    upper: int


def nodes_of(job: JobGraph) -> list[StreamNode]:
    """Return the operators of a job."""
    return [operator.node for vertex in job.vertices for operator in vertex.operators]


def present(job: JobGraph) -> dict[int, int]:
    """Return the parallelism of each operator, by node."""
    return {operator.node_id: vertex.parallelism for vertex in job.vertices for operator in vertex.operators}


def everywhere(job: JobGraph, parallelism: int) -> dict[int, int]:
    """Return the parallelism of each operator if all have ``parallelism`` except for those whose parallelism the program sets."""
    now = present(job)
    return {node.id: now[node.id] if node.parallelism_set else parallelism for node in nodes_of(job)}


def check_parallelism(job: JobGraph, wanted: Mapping[int, int]) -> None:
    """Check the parallelism of operators against their limits.

    Raises:
        ConfigurationError: If an operator cannot have its parallelism.
    """
    for vertex in job.vertices:
        for node in (operator.node for operator in vertex.operators):
            if wanted[node.id] < 1:
                raise ConfigurationError(f"{node.name} cannot have parallelism {wanted[node.id]}", hint="give a number from 1")
            if wanted[node.id] > vertex.max_parallelism:
                raise ConfigurationError(
                    f"{node.name} ({node.user_location}) cannot have parallelism {wanted[node.id]}: "
                    f"its maximum parallelism is {vertex.max_parallelism}",
                    hint="it is fixed as long as there is state: choose a larger one with set_max_parallelism before the first start",
                )
    for head, tail in _loops(job):
        if wanted[head.id] != wanted[tail.id]:
            raise ConfigurationError(
                f"{head.name} and {tail.name} are the ends of an iteration and need one parallelism, not {wanted[head.id]} and "
                f"{wanted[tail.id]}"
            )


def _loops(job: JobGraph) -> list[tuple[StreamNode, StreamNode]]:
    ends: dict[int, dict[str, StreamNode]] = {}
    for node in nodes_of(job):
        if node.operator.kind in (ITERATION_HEAD, ITERATION_TAIL):
            ends.setdefault(int(node.operator.params["iteration"]), {})[node.operator.kind] = node
    return [(found[ITERATION_HEAD], found[ITERATION_TAIL]) for found in ends.values()]


def rescaled(job: JobGraph, wanted: Mapping[int, int]) -> JobGraph:
    """Return the job with another parallelism of its operators.

    A forward edge between operators of now different parallelism becomes a rebalance.

    Raises:
        ConfigurationError: If an operator cannot have its parallelism.
    """
    check_parallelism(job, wanted)
    vertices: list[JobVertex] = []
    place: dict[int, int] = {}
    cut: list[ChainEdge] = []
    for vertex in job.vertices:
        cut += [edge for edge in vertex.edges if wanted[edge.source] != wanted[edge.target]]
        for operators in _parts(vertex, wanted):
            place |= {operator.node_id: len(vertices) for operator in operators}
            vertices.append(_vertex(vertex, operators, wanted, len(vertices)))
    edges = [
        replace(
            edge,
            source_vertex=place[edge.source_node],
            target_vertex=place[job.vertices[edge.target_vertex].operators[0].node_id],
        )
        for edge in job.edges
    ]
    edges = [replace(e, partitioner=REBALANCE) if _is_bent(e, vertices) else e for e in edges]
    edges += [_edge(job, edge, place, len(edges) + n) for n, edge in enumerate(cut)]
    return replace(job, vertices=vertices, edges=edges)


def _parts(vertex: JobVertex, wanted: Mapping[int, int]) -> list[list[ChainedOperator]]:
    """Return the operators of a chain that stay chained, ordered by their heads."""
    before = {edge.target: edge.source for edge in vertex.edges}
    part_of: dict[int, int] = {}
    parts: list[list[ChainedOperator]] = []
    for operator in vertex.operators:
        source = before.get(operator.node_id)
        if source is None or wanted[source] != wanted[operator.node_id]:
            part_of[operator.node_id] = len(parts)
            parts.append([operator])
        else:
            part_of[operator.node_id] = part_of[source]
            parts[part_of[source]].append(operator)
    return parts


def _vertex(vertex: JobVertex, operators: list[ChainedOperator], wanted: Mapping[int, int], index: int) -> JobVertex:
    head, inside = operators[0], {operator.node_id for operator in operators}
    edges = [edge for edge in vertex.edges if edge.source in inside and edge.target in inside]
    return replace(
        vertex,
        id=head.operator_id,
        index=index,
        name=chain_name(head.node_id, {o.node_id: o.node.name for o in operators}, edges),
        operators=operators,
        edges=edges,
        parallelism=wanted[head.node_id],
        is_source=head.node.is_source,
        bounded=head.node.bounded,
    )


def _is_bent(edge: JobEdge, vertices: list[JobVertex]) -> bool:
    return edge.partitioner.kind == "forward" and vertices[edge.source_vertex].parallelism != vertices[edge.target_vertex].parallelism


def _edge(job: JobGraph, edge: ChainEdge, place: Mapping[int, int], index: int) -> JobEdge:
    timeout_ms = next(node.buffer_timeout_ms for node in nodes_of(job) if node.id == edge.source)
    return JobEdge(
        index=index,
        source_vertex=place[edge.source],
        target_vertex=place[edge.target],
        source_node=edge.source,
        partitioner=REBALANCE,
        input_index=0,
        side_tag=edge.side_tag,
        exchange="pipelined",
        buffer_timeout_ms=job.buffer_timeout_ms if timeout_ms is None else timeout_ms,
    )


def fitting(job: JobGraph, bounds: Mapping[int, Bounds], slots: int) -> dict[int, int] | None:
    """Return the largest parallelism for which the slots suffice, None if they do not suffice for the lower bounds.

    All operators get the same parallelism within their bounds.
    """

    def at(level: int) -> dict[int, int]:
        return {node: min(max(level, b.lower), b.upper) for node, b in bounds.items()}

    for level in range(max(b.upper for b in bounds.values()), 0, -1):
        if slots_needed(job, at(level)) <= slots:
            return at(level)
    return None


def slots_needed(job: JobGraph, parallelism: Mapping[int, int]) -> int:
    """Return the number of tasks of the job with this parallelism of its operators."""
    return sum(vertex.parallelism for vertex in rescaled(job, parallelism).vertices)


def moved_groups(groups: int, before: int, after: int) -> int:
    """Return how many key groups move to another subtask when an operator is rescaled."""
    return sum(
        subtask_for_key_group(group, groups, before) != subtask_for_key_group(group, groups, after) for group in range(groups)
    )
