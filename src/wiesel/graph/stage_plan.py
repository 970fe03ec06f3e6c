"""Internal. StagePlan: regions, levels and partitions, i.e. the Spark stage and partition of each subtask.

A region is a connected component of the job graph and becomes one Spark job. Within a region a vertex has the level 1 + max(level of its
inputs); all vertices of a level share one Spark stage, whose partitions are numbered over their subtasks. A pipelined producer in Spark has
exactly one consumer stage, so an edge that skips levels is relayed: at each level between, one partition receives the buffers and forwards
them unopened, independent of its own subtask. The relay of a channel is fixed, which keeps the channel FIFO.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from wiesel.graph.execution_graph import ExecutionGraph, SubtaskId
from wiesel.graph.job_graph import JobGraph


@dataclass
class Region:
    """One Spark job: ``levels[l][p]`` is the subtask in partition ``p`` of stage ``l``; ``relays`` are the levels that edges skip."""

    index: int
    vertices: list[int]
    levels: list[list[SubtaskId]]
    relays: frozenset[int]
    place: dict[SubtaskId, tuple[int, int]] = field(default_factory=dict)

    @property
    def slots(self) -> int:
        """Return the number of tasks that run concurrently."""
        return sum(len(level) for level in self.levels)

    def next_hop(self, at_level: int, target_level: int, target_partition: int) -> int:
        """Return the partition of level ``at_level + 1`` to which a buffer for that target is forwarded."""
        if at_level + 1 == target_level:
            return target_partition
        return target_partition % len(self.levels[at_level + 1])


@dataclass
class StagePlan:
    """All regions of a job."""

    graph: ExecutionGraph
    regions: list[Region]

    def describe(self) -> dict[str, Any]:
        """Return the plan as JSON-able data."""
        return {
            "regions": [
                {"index": r.index, "slots": r.slots, "levels": [[[s.vertex, s.index] for s in level] for level in r.levels]}
                for r in self.regions
            ]
        }


def _components(job: JobGraph) -> list[list[int]]:
    parent = list(range(len(job.vertices)))

    def root(v: int) -> int:
        while parent[v] != v:
            v = parent[v]
        return v

    for edge in job.edges:
        a, b = root(edge.source_vertex), root(edge.target_vertex)
        parent[max(a, b)] = min(a, b)
    groups: dict[int, list[int]] = {}
    for v in range(len(job.vertices)):
        groups.setdefault(root(v), []).append(v)
    return list(groups.values())


def _levels(job: JobGraph) -> dict[int, int]:
    level: dict[int, int] = {}
    # Vertices are numbered in topological order, so one pass is enough.
    for vertex in range(len(job.vertices)):
        level[vertex] = max((level[e.source_vertex] + 1 for e in job.in_edges(vertex)), default=0)
    return level


def has_relays(job: JobGraph) -> bool:
    """Return whether some tasks relay buffers for others, because an edge skips a level."""
    return bool(_relays(job, _levels(job), range(len(job.vertices))))


def _relays(job: JobGraph, level: dict[int, int], vertices: Iterable[int]) -> frozenset[int]:
    """Return the levels skipped by the edges into these vertices."""
    edges = [edge for vertex in vertices for edge in job.in_edges(vertex)]
    return frozenset(at for e in edges for at in range(level[e.source_vertex] + 1, level[e.target_vertex]))


def build_stage_plan(graph: ExecutionGraph) -> StagePlan:
    """Assign the subtasks to stages and partitions."""
    job = graph.job
    level = _levels(job)
    regions = []
    for index, vertices in enumerate(_components(job)):
        depth = 1 + max(level[v] for v in vertices)
        levels: list[list[SubtaskId]] = [[] for _ in range(depth)]
        for v in vertices:
            levels[level[v]].extend(SubtaskId(v, i) for i in range(job.vertices[v].parallelism))
        region = Region(index, vertices, levels, _relays(job, level, vertices))
        for at, subtasks in enumerate(levels):
            for partition, subtask in enumerate(subtasks):
                region.place[subtask] = (at, partition)
        regions.append(region)
    return StagePlan(graph, regions)
