"""Internal. ExecutionGraph: the subtasks of every vertex with their key groups, and the channels between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.graph.job_graph import JobEdge, JobGraph

POINTWISE = frozenset({"forward", "rescale"})
ALIGNED = POINTWISE | {"broadcast"}
"""Partitioners that stay aligned in unaligned checkpoints, as in Flink: the order of a source's records is kept per subtask, and all
subtasks agree at a barrier on the broadcast records."""


@dataclass(frozen=True, order=True)
class SubtaskId:
    """Subtask ``index`` of vertex number ``vertex``."""

    vertex: int
    index: int


@dataclass(frozen=True)
class Channel:
    """A FIFO channel from a source subtask to a target subtask along an edge."""

    edge: int
    source: SubtaskId
    target: SubtaskId


@dataclass
class ExecutionGraph:
    """All subtasks and channels of a job."""

    job: JobGraph
    subtasks: list[SubtaskId]
    channels: list[Channel]

    def describe(self) -> dict[str, Any]:
        """Return the graph as JSON-able data."""
        return {
            "subtasks": [[s.vertex, s.index] for s in self.subtasks],
            "channels": [[c.edge, c.source.vertex, c.source.index, c.target.vertex, c.target.index] for c in self.channels],
        }


def pointwise_targets(source: int, sources: int, targets: int) -> range:
    """Return the target subtasks of a source subtask on a pointwise edge, distributed as by Flink's rescale."""
    if sources >= targets:
        # Several sources feed one target: source i of s goes to floor(i * t / s).
        target = source * targets // sources
        return range(target, target + 1)
    return range(-(-source * targets // sources), -(-(source + 1) * targets // sources))


def edge_targets(edge: JobEdge, source: int, sources: int, targets: int) -> range:
    """Return the target subtasks of the channels of a source subtask."""
    return pointwise_targets(source, sources, targets) if edge.partitioner.kind in POINTWISE else range(targets)


def build_execution_graph(job: JobGraph) -> ExecutionGraph:
    """Expand the vertices into subtasks and the edges into channels.

    Raises:
        ProgramError: If a forward edge connects vertices of different parallelism.
    """
    subtasks = [SubtaskId(v.index, i) for v in job.vertices for i in range(v.parallelism)]
    channels = []
    for edge in job.edges:
        source, target = job.vertices[edge.source_vertex], job.vertices[edge.target_vertex]
        if edge.partitioner.kind == "forward" and source.parallelism != target.parallelism:
            raise ProgramError(
                f"forward partitioning joins {source.name} (parallelism {source.parallelism}) and {target.name} (parallelism "
                f"{target.parallelism})",
                hint="give both the same parallelism, or use rebalance() or rescale() between them",
            )
        for i in range(source.parallelism):
            for j in edge_targets(edge, i, source.parallelism, target.parallelism):
                channels.append(Channel(edge.index, SubtaskId(source.index, i), SubtaskId(target.index, j)))
    return ExecutionGraph(job, subtasks, channels)
