"""Internal. Everything a task needs to start, as one picklable value made by the JobMaster for each attempt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from wiesel.checkpoint.snapshot import OperatorRestore
from wiesel.graph.specs import PartitionerSpec
from wiesel.runtime.record_writer import ChannelTarget
from wiesel.state.backend import StateHandle


@dataclass(frozen=True)
class OperatorDescriptor:
    """One operator of the chain. ``state_backend``: its own, None if it is that of the job."""

    node_id: int
    operator_id: str
    name: str
    uid: str | None
    kind: str
    params: dict[str, Any]
    payload: Any
    user_location: str
    state_backend: str | None = None


@dataclass(frozen=True)
class OutputDescriptor:
    """One edge out of the task."""

    edge: int
    source_node: int
    side_tag: str | None
    partitioner: PartitionerSpec
    targets: tuple[ChannelTarget, ...]
    timeout_ms: int
    target_max_parallelism: int


@dataclass(frozen=True)
class InputEdge:
    """One edge into the task: the operator that it comes from, how it shares records out, and over how many source subtasks."""

    edge: int
    operator_id: str
    side_tag: str | None
    input_index: int
    kind: str
    sources: int


@dataclass(frozen=True)
class RestoredEdge:
    """Where buffers of a checkpoint belong now.

    ``rescaled``: the parallelism on one of the edge's sides has changed; ``by_key``: then, whether records are picked by their keys;
    ``columns``: where the records are batches of rows, the columns of the rows' keys.
    """

    edge: int
    sources: int
    rescaled: bool = False
    by_key: bool = False
    columns: tuple[int, ...] | None = None


@dataclass(frozen=True)
class RestoredInFlight:
    """Buffers that were on their way to an old subtask; ``edges``: index of the edge then -> where its buffers belong now."""

    handle: StateHandle
    edges: dict[int, RestoredEdge]


@dataclass(frozen=True)
class VertexDescriptor:
    """What all subtasks of a vertex share; pickled once per vertex, as it holds the user's code."""

    vertex: int
    name: str
    parallelism: int
    max_parallelism: int
    operators: tuple[OperatorDescriptor, ...]
    chain: tuple[tuple[int, int, str | None], ...]


@dataclass(frozen=True)
class TaskDescriptor:
    """One subtask of one attempt."""

    vertex: VertexDescriptor
    subtask: int
    attempt: int
    job_id: str
    job_name: str
    level: int
    partition: int
    inputs: dict[tuple[int, int], int]
    outputs: tuple[OutputDescriptor, ...]
    config: dict[str, Any]
    restore: dict[str, OperatorRestore] = field(default_factory=dict)
    restored_checkpoint_id: int = 0
    restarts: int = 0
    """Restarts of the task in this run of the job: what ``get_attempt_number`` tells; ``attempt`` also counts those of earlier masters."""
    input_edges: tuple[InputEdge, ...] = ()
    in_flight: tuple[RestoredInFlight, ...] = ()

    @property
    def key(self) -> tuple[int, int]:
        """Return the task's key in messages."""
        return self.vertex.vertex, self.subtask
