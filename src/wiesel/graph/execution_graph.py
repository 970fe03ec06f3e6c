"""Internal. ExecutionGraph: the subtasks of every vertex, the channels between them, and the key groups that each owns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.graph.job_graph import JobEdge, JobGraph

POINTWISE = frozenset({"forward", "rescale"})
ALIGNED = POINTWISE | {"broadcast"}
"""Partitioners over which barriers never overtake records, as in Flink: what came in order of a source stays with its subtask, and all
subtasks agree at a barrier on what was broadcast."""


@dataclass(frozen=True, order=True)
class SubtaskId:
    """Subtask ``index`` of vertex number ``vertex``."""

    vertex: int
    index: int


@dataclass(frozen=True)
class Channel:
    """One FIFO: from a source subtask to a target subtask along an edge."""

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
    """Return the target subtasks of a source subtask on a pointwise edge, shared out as Flink's rescale does."""
    if sources >= targets:
        # Several sources feed one target: source i of s goes to floor(i * t / s).
        target = source * targets // sources
        return range(target, target + 1)
    return range(-(-source * targets // sources), -(-(source + 1) * targets // sources))


def edge_targets(edge: JobEdge, source: int, sources: int, targets: int) -> range:
    """Return the target subtasks that a source subtask has channels to."""
    return pointwise_targets(source, sources, targets) if edge.partitioner.kind in POINTWISE else range(targets)


def build_execution_graph(job: JobGraph) -> ExecutionGraph:
    """Unfold the vertices into subtasks and the edges into channels.

    Raises:
        ProgramError: a forward edge joins vertices of different parallelism.
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
