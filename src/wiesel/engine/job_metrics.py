"""Internal. Metrics of a running job: its state, its checkpoints, and the last reported metrics of its tasks."""

from __future__ import annotations

from typing import Any

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.engine.job_master import JobMaster


def job_metrics(master: JobMaster) -> dict[str, Any]:
    """Return the metrics described by ``JobClient.get_job_metrics``.

    Thread-safe: values are only read, and dicts are copied before iteration.
    """
    attempt = master.attempt
    tasks: list[dict[str, Any]] = []
    if attempt is not None:
        pids, hosts, metrics = attempt.pids.copy(), attempt.hosts.copy(), attempt.metrics.copy()
        graph = attempt.plan.graph
        for subtask in graph.subtasks:
            key = (subtask.vertex, subtask.index)
            tasks.append(
                {
                    "name": graph.job.vertices[subtask.vertex].name,
                    "vertex": subtask.vertex,
                    "subtask": subtask.index,
                    "attempt": attempt.number_of(key),
                    "source": graph.job.vertices[subtask.vertex].is_source,
                    "pid": pids.get(key),
                    "host": hosts.get(key),
                    "metrics": dict(metrics.get(key, {})),
                }
            )
    return {
        "job_id": master.job_id,
        "status": master.status.name,
        "attempt": attempt.newest_number if attempt is not None else 0,
        "restarts": master.restarts,
        "rescales": master.rescaling.completed,
        "checkpoints": _checkpoints(master),
        "sources": {} if attempt is None else attempt.source_metrics(),
        "tasks": tasks,
    }


def _checkpoints(master: JobMaster) -> dict[str, Any]:
    attempt, last = master.attempt, master.last_checkpoint
    restored = attempt.restored_checkpoint_id if attempt is not None else 0
    return {
        "completed": master.completed_checkpoints,
        "failed": master.failed_checkpoints,
        "restored_id": restored,
        "last_id": last.checkpoint_id if last is not None else 0,
        "last_duration_ms": master.last_checkpoint_duration_ms,
        "last_written_bytes": _sum(last, "checkpointed_bytes"),
        "last_state_bytes": _sum(last, "state_bytes"),
    }


def _sum(checkpoint: Checkpoint | None, what: str) -> int:
    return 0 if checkpoint is None else sum(int(getattr(task.stats, what)) for task in checkpoint.tasks.values())
