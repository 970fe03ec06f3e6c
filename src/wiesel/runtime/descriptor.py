"""Internal. Task descriptors: picklable deployment information of a task, created by the JobMaster for each attempt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from wiesel.checkpoint.snapshot import OperatorRestore
from wiesel.graph.specs import PartitionerSpec
from wiesel.runtime.record_writer import ChannelTarget
from wiesel.state.backend import StateHandle


@dataclass(frozen=True)
class OperatorDescriptor:
    """One operator of the chain. ``state_backend``: the backend set for it, None for that of the job."""

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
    """An outgoing edge of the task."""

    edge: int
    source_node: int
    side_tag: str | None
    partitioner: PartitionerSpec
    targets: tuple[ChannelTarget, ...]
    timeout_ms: int
    target_max_parallelism: int


@dataclass(frozen=True)
class InputEdge:
    """An incoming edge of the task: its operator, partitioner and number of source subtasks."""

    edge: int
    operator_id: str
    side_tag: str | None
    input_index: int
    kind: str
    sources: int


@dataclass(frozen=True)
class RestoredEdge:
    """The present consumers of restored buffers.

    ``rescaled``: the parallelism on one of the edge's sides has changed; ``by_key``: in that case, records are selected by their keys;
    ``columns``: if the records are batches of rows, the key columns.
    """

    edge: int
    sources: int
    rescaled: bool = False
    by_key: bool = False
    columns: tuple[int, ...] | None = None


@dataclass(frozen=True)
class RestoredInFlight:
    """Buffers in flight to an old subtask; ``edges``: index of the old edge -> present consumers."""

    handle: StateHandle
    edges: dict[int, RestoredEdge]


@dataclass(frozen=True)
class VertexDescriptor:
    """Information shared by all subtasks of a vertex; pickled once per vertex, as it includes the user's code."""

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
    """Restarts of the task in this run of the job, returned by ``get_attempt_number``; ``attempt`` also counts those of earlier masters."""
    input_edges: tuple[InputEdge, ...] = ()
    in_flight: tuple[RestoredInFlight, ...] = ()

    @property
    def key(self) -> tuple[int, int]:
        """Return the task's key in messages."""
        return self.vertex.vertex, self.subtask
