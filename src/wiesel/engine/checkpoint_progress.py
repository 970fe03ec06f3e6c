"""Internal. Progress of the pending checkpoint or savepoint, task by task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from wiesel.checkpoint.messages import TaskKey, TaskProgress
from wiesel.engine.job_attempt import AttemptState, JobAttempt

if TYPE_CHECKING:
    from wiesel.engine.job_master import JobMaster

__all__ = ["checkpoint_progress", "remedy"]

_ASK_EVERY_MS = 1_000
_BUSY_S = 0.5
"""Calls shorter than this (s) are not reported."""

_STUCK_S = 30.0


def checkpoint_progress(master: JobMaster) -> dict[str, Any]:
    """Return the progress of the pending checkpoint, and request new reports. Called in the master's thread."""
    attempt = master.attempt
    if attempt is None or attempt.state is not AttemptState.RUNNING:
        return {"state": "STARTING", "waiting": []}
    under_way = attempt.coordinator.under_way
    if under_way is None:
        return {"state": "COMPLETING", "waiting": []}
    now_ms = master.now_ms()
    if now_ms - master.progress_asked_ms >= _ASK_EVERY_MS:
        master.progress_asked_ms = now_ms
        attempt.ask_for_progress()
    waiting = [_of_task(attempt, task, under_way.checkpoint_id) for task in sorted(under_way.waiting)]
    return {
        "state": "IN_PROGRESS" if waiting else "COMPLETING",
        "checkpoint-id": under_way.checkpoint_id,
        "elapsed": now_ms - under_way.timestamp_ms,
        "tasks": len(attempt.region_of),
        "unaligned": under_way.overtakes,
        "waiting": waiting,
    }


def _of_task(attempt: JobAttempt, task: TaskKey, checkpoint_id: int) -> dict[str, Any]:
    found = attempt.progress.get(task)
    answer: dict[str, Any] = {"task": attempt.name_of(task), "reason": "UNKNOWN", "in-flight-bytes": 0, "busy": 0}
    if found is None:
        return answer
    in_flight = _in_flight(attempt, found)
    reason = _reason(attempt, found, checkpoint_id)
    busy_ms = round(found.busy_s * 1e3) if found.busy_s >= _BUSY_S else 0
    return {**answer, "reason": reason, "in-flight-bytes": in_flight, "busy": busy_ms, "missing-barriers": found.missing}


def _reason(attempt: JobAttempt, found: TaskProgress, checkpoint_id: int) -> str:
    if found.passed >= checkpoint_id:
        return "RECORDING" if found.recording else "WRITING"
    if found.aligning == checkpoint_id:
        return "ALIGNING"
    return "SOURCE" if attempt.plan.graph.job.vertices[found.task[0]].is_source else "BARRIER"


def _in_flight(attempt: JobAttempt, found: TaskProgress) -> int:
    """Return the bytes in flight to a task or queued there, as far as they are counted."""
    job, (vertex, subtask) = attempt.plan.graph.job, found.task
    sent = 0
    for edge in job.in_edges(vertex):
        for source in range(job.vertices[edge.source_vertex].parallelism):
            producer = attempt.progress.get((edge.source_vertex, source))
            sent += producer.in_flight.get((edge.index, subtask), 0) if producer is not None else 0
    # Queued data was sent, and counts until it is consumed.
    return max(sent, found.waiting_bytes)


def remedy(attempt: JobAttempt | None, late: Iterable[TaskKey], command: str) -> str:
    """Return the remedy for a savepoint that expired because these tasks had not acknowledged it."""
    progress = [attempt.progress[task] for task in late if task in attempt.progress] if attempt is not None else []
    stuck = max(progress, key=lambda p: p.busy_s, default=None)
    if attempt is not None and stuck is not None and stuck.busy_s >= _STUCK_S:
        return (
            f"{attempt.name_of(stuck.task)} has been in one call of its function for {stuck.busy_s:.0f} s: no savepoint can be taken "
            "before it returns"
        )
    return (
        f"'{command} --alignedTimeout 10s' includes records in flight in the savepoint instead of waiting for them; or raise "
        "execution.checkpointing.timeout"
    )
