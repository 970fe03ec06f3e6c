"""Internal. A job at one moment, as its REST API shows it: plain values that can be sent to other threads and processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wiesel.checkpoint.coordinator import CheckpointSettings
from wiesel.checkpoint.messages import TaskKey
from wiesel.checkpoint.snapshot import CheckpointStats
from wiesel.common.job_status import JobStatus
from wiesel.graph.rescaling import Bounds

__all__ = ["CheckpointRecord", "CheckpointsView", "Failure", "JobView", "Restored", "VertexInput", "VertexView"]


@dataclass(frozen=True)
class CheckpointRecord:
    """A checkpoint or savepoint that is complete or was given up.

    Attributes:
        checkpoint_id: Its number.
        path: Its directory; None if it is in memory or was given up.
        ended_ms: The time at which it was complete or given up, in ms since the epoch.
        duration_ms: Its duration; None if it was given up.
        triggered_ms: The time at which it was triggered; None if it was given up.
        stats: The statistics of each task.
        savepoint: Whether it is a savepoint.
        failure: The reason for giving it up, empty if it is complete.
    """

    checkpoint_id: int
    path: str | None
    ended_ms: int
    duration_ms: int | None = None
    triggered_ms: int | None = None
    stats: dict[TaskKey, CheckpointStats] = field(default_factory=dict)
    savepoint: bool = False
    failure: str = ""


@dataclass(frozen=True)
class Restored:
    """The checkpoint that an attempt has been restored from."""

    checkpoint_id: int
    at_ms: int
    savepoint: bool
    path: str | None = None


@dataclass(frozen=True)
class Failure:
    """A failure of an attempt, of a region of it, or of the job; ``region`` has the names of the vertices that alone were restarted."""

    error: BaseException
    at_ms: int
    region: tuple[str, ...] = ()


@dataclass(frozen=True)
class VertexInput:
    """An input of a vertex: the id of the vertex that it comes from, and its partitioning (``HASH``, ``FORWARD``, ...)."""

    vertex_id: str
    ship_strategy: str


@dataclass(frozen=True)
class VertexView:
    """A vertex of the job graph.

    Attributes:
        index: Its position in the graph.
        vertex_id: Its id in Flink's sense: that of its first operator.
        name: Its name.
        max_parallelism: Its number of key groups.
        task_states: The state of each subtask, in Flink's terms.
        metrics: The last reported metrics of each subtask; empty for one that has not reported.
        inputs: Its inputs.
        bounds: The bounds of its parallelism.
    """

    index: int
    vertex_id: str
    name: str
    max_parallelism: int
    task_states: tuple[str, ...]
    metrics: tuple[Mapping[str, Any], ...]
    inputs: tuple[VertexInput, ...]
    bounds: Bounds

    @property
    def parallelism(self) -> int:
        """Return the number of subtasks."""
        return len(self.task_states)


@dataclass(frozen=True)
class CheckpointsView:
    """The checkpoints of a job.

    Attributes:
        history: The latest ones, oldest first.
        latest: The newest ``completed`` checkpoint, ``savepoint`` and ``failed`` one, as far as there are any.
        restored: The checkpoint that the newest restored attempt has begun with.
        restores: The number of restores.
        completed: The number of complete checkpoints and savepoints.
        failed: The number of those that were given up.
        in_progress: Whether one is under way.
        settings: The intervals and limits.
        directory: The directory of checkpoints; None if they are kept in memory.
        retain_on_cancellation: Whether they stay when the job is cancelled.
    """

    history: tuple[CheckpointRecord, ...]
    latest: Mapping[str, CheckpointRecord]
    restored: Restored | None
    restores: int
    completed: int
    failed: int
    in_progress: bool
    settings: CheckpointSettings
    directory: str | None
    retain_on_cancellation: bool


@dataclass(frozen=True)
class JobView:
    """A job at one moment. Times are in ms since the epoch.

    Attributes:
        job_id: Its id.
        name: Its name.
        status: Its state.
        runtime_mode: ``STREAMING`` or ``BATCH``.
        started_ms: The time of its start.
        ended_ms: The time of its end; None while it runs.
        now_ms: The time of the view.
        status_since_ms: The times at which it entered its states.
        vertices: The vertices of its graph, sources first.
        failures: Its latest failures, oldest first.
        lost_failures: The number of failures that were dropped since.
        checkpoints: Its checkpoints.
        config: Its options, by key.
    """

    job_id: str
    name: str
    status: JobStatus
    runtime_mode: str
    started_ms: int
    ended_ms: int | None
    now_ms: int
    status_since_ms: Mapping[JobStatus, int]
    vertices: tuple[VertexView, ...]
    failures: tuple[Failure, ...]
    lost_failures: int
    checkpoints: CheckpointsView
    config: Mapping[str, Any]
