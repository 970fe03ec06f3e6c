"""Internal. The gateway of a job whose JobMaster runs in this process, and the view of the job that it takes in the master's thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from wiesel.common.job_status import JobStatus
from wiesel.engine.checkpoint_progress import checkpoint_progress
from wiesel.engine.futures import Ask, ask_later
from wiesel.engine.job_master import JobMaster
from wiesel.graph.job_graph import JobVertex
from wiesel.graph.rescaling import Bounds
from wiesel.rest.gateway import Rescaled
from wiesel.rest.views import CheckpointsView, JobView, VertexInput, VertexView

__all__ = ["MasterGateway", "job_view"]

_ENDED_TASKS = {JobStatus.FINISHED: "FINISHED", JobStatus.FAILED: "FAILED", JobStatus.CANCELED: "CANCELED"}


class MasterGateway:
    """Implements :class:`~wiesel.rest.gateway.JobGateway` for a JobMaster.

    Args:
        master: The job.
        ask: Runs a question in the master's thread.
    """

    def __init__(self, master: JobMaster, ask: Ask) -> None:
        self._master = master
        self._ask = ask

    @property
    def job_id(self) -> str:
        """Return the id of the job."""
        return self._master.job_id

    @property
    def status(self) -> JobStatus:
        """Return the state of the job."""
        return self._master.status

    def view(self) -> Future[JobView]:
        """Return the job at this moment."""
        return self._ask(lambda: job_view(self._master))

    def checkpoint_progress(self) -> Future[dict[str, Any]]:
        """Return the state of the checkpoint under way, and have the tasks report anew."""
        return self._ask(lambda: checkpoint_progress(self._master))

    def cancel(self) -> Future[None]:
        """Cancel the job."""
        return self._ask(self._master.cancel)

    def savepoint(
        self, directory: str | None, *, stop: bool = False, drain: bool = False, label: str = "", aligned_timeout_ms: int | None = None
    ) -> Future[str]:
        """Take a savepoint; see ``JobGateway``."""
        take: Callable[[], Future[str]] = lambda: self._master.savepoint(  # noqa: E731
            directory, stop=stop, drain=drain, label=label, overtake_after_ms=aligned_timeout_ms
        )
        return ask_later(self._ask, take)

    def checkpoint(self) -> Future[int]:
        """Take a checkpoint."""
        return ask_later(self._ask, self._master.checkpoint)

    def rescale(self, parallelism: int) -> Future[Rescaled]:
        """Change the parallelism."""
        return ask_later(self._ask, lambda: self._master.rescale(parallelism))

    def require(self, bounds: Mapping[str, Bounds]) -> Future[None]:
        """Set the bounds of the parallelism of each vertex."""

        def require() -> Future[None]:
            vertices = self._master.plan.graph.job.vertices
            return self._master.require({o.node_id: bounds[vertex_id(vertex)] for vertex in vertices for o in vertex.operators})

        return ask_later(self._ask, require)


def vertex_id(vertex: JobVertex) -> str:
    """Return the id of a vertex in Flink's sense."""
    return vertex.operators[0].operator_id


def job_view(master: JobMaster) -> JobView:
    """Return a job at this moment. Called in the master's thread."""
    job, history = master.plan.graph.job, master.history
    return JobView(
        job_id=master.job_id,
        name=job.job_name,
        status=master.status,
        runtime_mode=job.runtime_mode,
        started_ms=history.started_ms,
        ended_ms=history.ended_ms,
        now_ms=master.now_ms(),
        status_since_ms=dict(history.status_since_ms),
        vertices=tuple(_vertex(master, vertex) for vertex in job.vertices),
        failures=tuple(history.failures),
        lost_failures=history.lost_failures,
        checkpoints=_checkpoints(master),
        config=job.config,
    )


def _vertex(master: JobMaster, vertex: JobVertex) -> VertexView:
    job, attempt, ended = master.plan.graph.job, master.attempt, _ENDED_TASKS.get(master.status)

    def state(subtask: int) -> str:
        task = (vertex.index, subtask)
        if attempt is None:
            return "CREATED"
        if task in attempt.finished_tasks:
            return "FINISHED"
        if ended is not None:
            return ended
        return "RUNNING" if task in attempt.pids else "DEPLOYING"

    metrics = attempt.metrics if attempt is not None else {}
    edges = job.in_edges(vertex.index)
    return VertexView(
        index=vertex.index,
        vertex_id=vertex_id(vertex),
        name=vertex.name,
        max_parallelism=vertex.max_parallelism,
        task_states=tuple(map(state, range(vertex.parallelism))),
        metrics=tuple(metrics.get((vertex.index, subtask), {}) for subtask in range(vertex.parallelism)),
        inputs=tuple(VertexInput(vertex_id(job.vertices[edge.source_vertex]), edge.partitioner.kind.upper()) for edge in edges),
        bounds=master.rescaling.bounds[vertex.operators[0].node_id],
    )


def _checkpoints(master: JobMaster) -> CheckpointsView:
    history, attempt, settings = master.history, master.attempt, master.settings
    return CheckpointsView(
        history=tuple(history.checkpoints),
        latest=dict(history.latest),
        restored=history.restored,
        restores=history.restores,
        completed=history.completed,
        failed=history.failed,
        in_progress=attempt is not None and not attempt.ended and attempt.coordinator.pending_id is not None,
        settings=settings.checkpoints,
        directory=settings.checkpoint_dir,
        retain_on_cancellation=settings.retain_on_cancellation,
    )
