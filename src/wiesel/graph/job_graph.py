"""Internal. JobGraph: operators chained into vertices, edges between vertices.

Chaining follows Flink: the edge is forward, both ends have the same parallelism and slot sharing group, the target has no other
input, and neither the user nor the configuration forbids it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.graph.operator_ids import operator_ids, walk
from wiesel.graph.specs import (
    DEFAULT_SLOT_SHARING_GROUP,
    ITERATION_HEAD,
    ITERATION_TAIL,
    PartitionerSpec,
    StreamEdge,
    StreamGraph,
    StreamNode,
)
from wiesel.state.key_groups import default_max_parallelism


@dataclass(frozen=True)
class ChainedOperator:
    """An operator inside a vertex."""

    node_id: int
    operator_id: str
    node: StreamNode


@dataclass(frozen=True)
class ChainEdge:
    """A call from one operator of a chain to another."""

    source: int
    target: int
    side_tag: str | None


@dataclass
class JobVertex:
    """A chain: one head, its operators in topological order, and the calls between them."""

    id: str
    index: int
    name: str
    operators: list[ChainedOperator]
    edges: list[ChainEdge]
    parallelism: int
    max_parallelism: int
    slot_sharing_group: str
    is_source: bool
    bounded: bool
    max_parallelism_set: bool = True
    """True if the program, or the configuration, sets the maximum parallelism; else it is derived from the parallelism."""

    def fits(self, max_parallelism: int) -> bool:
        """Return whether the vertex can continue with state of this maximum parallelism.

        As in Flink, an unset maximum parallelism is taken from the state, if it is not below the parallelism.
        """
        return max_parallelism == self.max_parallelism or (not self.max_parallelism_set and self.parallelism <= max_parallelism)


@dataclass(frozen=True)
class JobEdge:
    """A stream between two vertices; ``index`` numbers the edges of the job."""

    index: int
    source_vertex: int
    target_vertex: int
    source_node: int
    partitioner: PartitionerSpec
    input_index: int
    side_tag: str | None
    exchange: str
    buffer_timeout_ms: int


@dataclass
class JobGraph:
    """The job as planned for execution."""

    job_name: str
    vertices: list[JobVertex]
    edges: list[JobEdge]
    runtime_mode: str
    buffer_timeout_ms: int = 100
    """Buffer timeout (ms) of the output of operators that have no timeout set."""
    config: dict[str, Any] = field(default_factory=dict)

    @property
    def of_bounded_data(self) -> bool:
        """True if the job is in BATCH mode, or has operators of bounded data: it takes no snapshots."""
        return self.runtime_mode == "BATCH" or any(o.node.operator.kind.startswith("batch_") for v in self.vertices for o in v.operators)

    def in_edges(self, vertex: int) -> list[JobEdge]:
        """Return the incoming edges of a vertex."""
        return [e for e in self.edges if e.target_vertex == vertex]

    def out_edges(self, vertex: int) -> list[JobEdge]:
        """Return the outgoing edges of a vertex."""
        return [e for e in self.edges if e.source_vertex == vertex]

    def describe(self) -> dict[str, Any]:
        """Return the graph as JSON-able data, without the user's code."""
        return {
            "name": self.job_name,
            "mode": self.runtime_mode,
            "vertices": [
                {
                    "id": v.id,
                    "name": v.name,
                    "parallelism": v.parallelism,
                    "maxParallelism": v.max_parallelism,
                    "slotSharingGroup": v.slot_sharing_group,
                    "operators": [{"id": o.operator_id, "name": o.node.name, "kind": o.node.operator.kind} for o in v.operators],
                }
                for v in self.vertices
            ],
            "edges": [
                {
                    "source": self.vertices[e.source_vertex].id,
                    "target": self.vertices[e.target_vertex].id,
                    "partitioner": e.partitioner.kind,
                    "input": e.input_index,
                    "sideOutput": e.side_tag,
                    "exchange": e.exchange,
                }
                for e in self.edges
            ],
        }


def build_job_graph(graph: StreamGraph) -> JobGraph:
    """Chain the operators of a stream graph.

    Raises:
        ProgramError: If a uid is used twice, a forward edge connects operators of different parallelism, parallelism exceeds the maximum
            parallelism, or an iteration is not closed.
    """
    _check_loops(graph)
    ids = operator_ids(graph)
    order = walk(graph)
    parallelism = {n: graph.nodes[n].parallelism or graph.default_parallelism for n in order}
    groups = _slot_sharing_groups(graph, order)
    chained = [e for e in graph.edges if _chainable(graph, e, parallelism, groups)]
    heads = _heads(order, chained)
    members: dict[int, list[int]] = {}
    for node in order:
        members.setdefault(heads[node], []).append(node)
    names, calls = {n.id: n.name for n in graph.nodes.values()}, [ChainEdge(e.source, e.target, e.side_tag) for e in chained]
    vertices = []
    for index, (head, nodes) in enumerate(members.items()):
        node_set = set(nodes)
        vertices.append(
            JobVertex(
                id=ids[head],
                index=index,
                name=chain_name(head, names, calls),
                operators=[ChainedOperator(n, ids[n], graph.nodes[n]) for n in nodes],
                edges=[call for call in calls if call.source in node_set],
                parallelism=parallelism[head],
                max_parallelism=_max_parallelism(graph, nodes, parallelism[head]),
                max_parallelism_set=bool(_given_maxima(graph, nodes)),
                slot_sharing_group=groups[head],
                is_source=graph.nodes[head].is_source,
                bounded=graph.nodes[head].bounded,
            )
        )
    vertex_of = {n: i for i, (_, nodes) in enumerate(members.items()) for n in nodes}
    edges = _job_edges(graph, chained, vertex_of)
    return JobGraph(graph.job_name, vertices, edges, graph.runtime_mode, graph.buffer_timeout_ms, dict(graph.config))


def _check_loops(graph: StreamGraph) -> None:
    closed = {n.operator.params["iteration"] for n in graph.nodes.values() if n.operator.kind == ITERATION_TAIL}
    for node in graph.nodes.values():
        if node.operator.kind == ITERATION_HEAD and node.id not in closed:
            raise ProgramError(
                f"the iteration at {node.user_location} has no feedback", hint="give close_with() the stream whose records come back"
            )


def _slot_sharing_groups(graph: StreamGraph, order: list[int]) -> dict[int, str]:
    """Return slot sharing groups; an operator without one takes that of all its inputs, else the default, as in Flink."""
    groups: dict[int, str] = {}
    for node in order:
        own = graph.nodes[node].slot_sharing_group
        inputs = {groups[e.source] for e in graph.in_edges(node)}
        groups[node] = own or (inputs.pop() if len(inputs) == 1 else DEFAULT_SLOT_SHARING_GROUP)
    return groups


def _chainable(graph: StreamGraph, edge: StreamEdge, parallelism: dict[int, int], groups: dict[int, str]) -> bool:
    source, target = graph.nodes[edge.source], graph.nodes[edge.target]
    return (
        graph.chaining_enabled
        and edge.partitioner.kind == "forward"
        and len(graph.in_edges(edge.target)) == 1
        and parallelism[edge.source] == parallelism[edge.target]
        and groups[edge.source] == groups[edge.target]
        and source.chaining != "never"
        and target.chaining == "always"
        and target.inputs == 1
    )


def _heads(order: list[int], chained: list[StreamEdge]) -> dict[int, int]:
    into = {e.target: e.source for e in chained}
    heads: dict[int, int] = {}
    for node in order:
        heads[node] = heads[into[node]] if node in into else node
    return heads


def chain_name(node: int, names: Mapping[int, str], calls: list[ChainEdge]) -> str:
    """Return the name of a chain from this node on."""
    below = [chain_name(call.target, names, calls) for call in calls if call.source == node]
    name = names[node]
    if not below:
        return name
    return f"{name} -> {below[0]}" if len(below) == 1 else f"{name} -> ({', '.join(below)})"


def _given_maxima(graph: StreamGraph, nodes: list[int]) -> list[int]:
    return [m for n in nodes if (m := graph.nodes[n].max_parallelism or graph.default_max_parallelism)]


def _max_parallelism(graph: StreamGraph, nodes: list[int], parallelism: int) -> int:
    given = _given_maxima(graph, nodes)
    result = min(given) if given else default_max_parallelism(parallelism)
    if parallelism > result:
        node = graph.nodes[nodes[0]]
        raise ProgramError(
            f"{node.name} ({node.user_location}) has parallelism {parallelism}, which is above its maximum parallelism {result}",
            hint="lower the parallelism, or raise the maximum with set_max_parallelism",
        )
    return result


def _job_edges(graph: StreamGraph, chained: list[StreamEdge], vertex_of: dict[int, int]) -> list[JobEdge]:
    inside = {id(e) for e in chained}
    edges: list[JobEdge] = []
    exchange = "blocking" if graph.runtime_mode == "BATCH" else "pipelined"
    for edge in graph.edges:
        if id(edge) in inside:
            continue
        timeout = graph.nodes[edge.source].buffer_timeout_ms
        edges.append(
            JobEdge(
                index=len(edges),
                source_vertex=vertex_of[edge.source],
                target_vertex=vertex_of[edge.target],
                source_node=edge.source,
                partitioner=edge.partitioner,
                input_index=edge.input_index,
                side_tag=edge.side_tag,
                exchange=exchange,
                buffer_timeout_ms=graph.buffer_timeout_ms if timeout is None else timeout,
            )
        )
    return edges
