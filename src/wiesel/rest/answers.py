"""Internal. JSON of views of jobs, in the form of Flink's REST API."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wiesel.checkpoint.snapshot import CheckpointStats
from wiesel.common.job_status import JobStatus
from wiesel.core.errors import WieselError, failure_labels
from wiesel.graph.rescaling import Bounds
from wiesel.rest.gateway import Rescaled
from wiesel.rest.views import CheckpointRecord, CheckpointsView, Failure, JobView, Restored, VertexView

_TASK_STATES = (
    "CREATED SCHEDULED DEPLOYING INITIALIZING RUNNING FINISHED CANCELING CANCELED FAILED RECONCILING".split()
)
_PERCENTILES = (("50", 0.5), ("90", 0.9), ("95", 0.95), ("99", 0.99), ("999", 0.999))
_SUMMARY = ("checkpointed_size", "state_size", "end_to_end_duration", "alignment_buffered", "processed_data", "persisted_data")


def jobs(job: JobView) -> dict[str, Any]:
    """``/jobs``."""
    return {"jobs": [{"id": job.job_id, "status": job.status.name}]}


def overview(job: JobView) -> dict[str, Any]:
    """``/jobs/overview``."""
    states = Counter(state for vertex in job.vertices for state in vertex.task_states)
    answer = {
        "jid": job.job_id,
        "name": job.name,
        "start-time": job.started_ms,
        "end-time": _or_minus_one(job.ended_ms),
        "duration": _duration(job),
        "state": job.status.name,
        "last-modification": max(job.status_since_ms.values()),
        "tasks": {"total": states.total(), **_counts(states)},
    }
    return {"jobs": [answer]}


def details(job: JobView) -> dict[str, Any]:
    """``/jobs/:jobid``."""
    states = Counter(state for vertex in job.vertices for state in vertex.task_states)
    return {
        "jid": job.job_id,
        "name": job.name,
        "isStoppable": False,
        "state": job.status.name,
        "job-type": job.runtime_mode,
        "start-time": job.started_ms,
        "end-time": _or_minus_one(job.ended_ms),
        "duration": _duration(job),
        "maxParallelism": max((v.max_parallelism for v in job.vertices), default=-1),
        "now": job.now_ms,
        "timestamps": {status.name: job.status_since_ms.get(status, 0) for status in JobStatus},
        "vertices": list(map(_vertex, job.vertices)),
        "status-counts": _counts(states, upper=True),
        "plan": {"jid": job.job_id, "name": job.name, "type": job.runtime_mode, "nodes": _plan(job)},
    }


def _vertex(vertex: VertexView) -> dict[str, Any]:
    states = Counter(vertex.task_states)

    def total(name: str) -> int:
        return sum(int(m.get(name, 0)) for m in vertex.metrics)

    return {
        "id": vertex.vertex_id,
        "name": vertex.name,
        "maxParallelism": vertex.max_parallelism,
        "parallelism": vertex.parallelism,
        "status": next((s for s in ("FAILED", "CANCELED", "DEPLOYING", "CREATED", "RUNNING", "FINISHED") if states[s]), "CREATED"),
        "tasks": _counts(states, upper=True),
        "metrics": {
            "read-records": total("numRecordsIn"),
            "write-records": total("numRecordsOut"),
            "write-bytes": total("numBytesOut"),
            **_task_metrics(vertex.metrics),
        },
    }


def _mean(values: list[int]) -> int:
    return sum(values) // len(values)


_OVER_SUBTASKS: dict[str, Callable[[list[int]], int]] = {
    "currentInputWatermark": min,
    "currentOutputWatermark": min,
    "busyTimeMsPerSecond": _mean,
    "idleTimeMsPerSecond": _mean,
    "backPressuredTimeMsPerSecond": _mean,
    "Shuffle.Netty.Input.Buffers.inputQueueLength": sum,
    "Shuffle.Netty.Input.Buffers.inputQueueSize": sum,
}


def _task_metrics(own: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the metrics aggregated over the subtasks of a vertex that have reported: the minimal watermark, mean time shares."""
    found = {}
    for name, combined in _OVER_SUBTASKS.items():
        # A subtask has the metrics, without values, before it has received any: a watermark arrives with records.
        values = [int(m[name]) for m in own if m.get(name) is not None]
        if values:
            found[name] = combined(values)
    return found


def _plan(job: JobView) -> list[dict[str, Any]]:
    return [
        {
            "id": vertex.vertex_id,
            "parallelism": vertex.parallelism,
            "description": vertex.name,
            "inputs": [
                {"num": n, "id": each.vertex_id, "ship_strategy": each.ship_strategy, "exchange": "pipelined_bounded"}
                for n, each in enumerate(vertex.inputs)
            ],
        }
        for vertex in job.vertices
    ]


def _counts(states: Counter[str], *, upper: bool = False) -> dict[str, int]:
    return {name if upper else name.lower(): states[name] for name in _TASK_STATES}


def _duration(job: JobView) -> int:
    ended_ms = job.ended_ms
    return (job.now_ms if ended_ms is None else ended_ms) - job.started_ms


def _or_minus_one(value: int | None) -> int:
    return -1 if value is None else value


# Checkpoints


def checkpoints(job: JobView) -> dict[str, Any]:
    """``/jobs/:jobid/checkpoints``."""
    given = job.checkpoints
    latest = {kind: _checkpoint(given.latest[kind]) if kind in given.latest else None for kind in ("completed", "savepoint", "failed")}
    return {
        "counts": {
            "restored": given.restores,
            "total": given.completed + given.failed + given.in_progress,
            "in_progress": int(given.in_progress),
            "completed": given.completed,
            "failed": given.failed,
        },
        "summary": _summary(given),
        "latest": {**latest, "restored": _restored(given.restored)},
        "history": [_checkpoint(record) for record in reversed(given.history)],
    }


def checkpoint(job: JobView, checkpoint_id: int) -> dict[str, Any] | None:
    """``/jobs/:jobid/checkpoints/details/:checkpointid``: with the parts of the tasks; None if it is unknown."""
    record = _record(job, checkpoint_id)
    return None if record is None else {**_checkpoint(record), "tasks": _checkpoint_tasks(job, record)}


def _checkpoint(record: CheckpointRecord) -> dict[str, Any]:
    common = {
        "className": "failed" if record.failure else "completed",
        "id": record.checkpoint_id,
        "status": "FAILED" if record.failure else "COMPLETED",
        "is_savepoint": record.savepoint,
        "savepointFormat": "CANONICAL" if record.savepoint else None,
        "checkpoint_type": "SAVEPOINT" if record.savepoint else "CHECKPOINT",
        "latest_ack_timestamp": record.ended_ms,
    }
    if record.failure:
        return {**common, "failure_timestamp": record.ended_ms, "failure_message": record.failure}
    return {
        **common,
        "checkpoint_type": "UNALIGNED_CHECKPOINT" if any(s.unaligned for s in record.stats.values()) else common["checkpoint_type"],
        "trigger_timestamp": record.triggered_ms,
        "end_to_end_duration": record.duration_ms,
        **_sizes(list(record.stats.values())),
        "num_subtasks": len(record.stats),
        "num_acknowledged_subtasks": len(record.stats),
        "external_path": record.path,
        "discarded": False,
    }


def _sizes(stats: list[CheckpointStats]) -> dict[str, int]:
    return {
        "checkpointed_size": sum(s.checkpointed_bytes for s in stats),
        "state_size": sum(s.state_bytes for s in stats),
        "alignment_buffered": sum(s.aligned_bytes for s in stats),
        "processed_data": sum(s.processed_bytes for s in stats),
        "persisted_data": sum(s.persisted_bytes for s in stats),
    }


def _checkpoint_tasks(job: JobView, record: CheckpointRecord) -> dict[str, Any]:
    return {} if record.failure else {v.vertex_id: _checkpoint_task(record, v) for v in job.vertices}


def checkpoint_task(job: JobView, checkpoint_id: int, vertex_id: str) -> dict[str, Any] | None:
    """``/jobs/:jobid/checkpoints/details/:checkpointid/subtasks/:vertexid``; None if one of them is unknown."""
    record = _record(job, checkpoint_id)
    vertex = next((v for v in job.vertices if v.vertex_id == vertex_id), None)
    if record is None or vertex is None or record.failure:
        return None
    return {**_checkpoint_task(record, vertex), "summary": _subtask_summary([s for _, s in _stats_of(record, vertex)], record)}


def _record(job: JobView, checkpoint_id: int) -> CheckpointRecord | None:
    known = (*job.checkpoints.history, *job.checkpoints.latest.values())
    return next((record for record in known if record.checkpoint_id == checkpoint_id), None)


def _stats_of(record: CheckpointRecord, vertex: VertexView) -> list[tuple[int, CheckpointStats]]:
    return sorted((subtask, stats) for (index, subtask), stats in record.stats.items() if index == vertex.index)


def _checkpoint_task(record: CheckpointRecord, vertex: VertexView) -> dict[str, Any]:
    own = _stats_of(record, vertex)
    latest_ms = max((stats.acked_ms for _, stats in own), default=0)
    return {
        "id": record.checkpoint_id,
        "status": "COMPLETED",
        "latest_ack_timestamp": latest_ms,
        "end_to_end_duration": max(0, latest_ms - (record.triggered_ms or 0)),
        **_sizes([stats for _, stats in own]),
        "num_subtasks": vertex.parallelism,
        "num_acknowledged_subtasks": len(own),
        "subtasks": [_checkpoint_subtask(subtask, stats, record) for subtask, stats in own],
    }


def _checkpoint_subtask(subtask: int, stats: CheckpointStats, record: CheckpointRecord) -> dict[str, Any]:
    return {
        "index": subtask,
        "status": "completed",
        "ack_timestamp": stats.acked_ms,
        "end_to_end_duration": _until_acked(stats, record),
        "checkpointed_size": stats.checkpointed_bytes,
        "state_size": stats.state_bytes,
        "checkpoint": {"sync": round(stats.sync_ms), "async": round(stats.async_ms)},
        "alignment": {
            "buffered": stats.aligned_bytes,
            "processed": stats.processed_bytes,
            "persisted": stats.persisted_bytes,
            "duration": round(stats.alignment_ms),
        },
        "start_delay": round(stats.start_delay_ms),
        "unaligned_checkpoint": stats.unaligned,
        "aborted": False,
    }


def _until_acked(stats: CheckpointStats, record: CheckpointRecord) -> int:
    """Return the duration of the task's part, in ms; 0 for one that had finished before the checkpoint."""
    return max(0, stats.acked_ms - (record.triggered_ms or 0))


def _subtask_summary(stats: list[CheckpointStats], record: CheckpointRecord) -> dict[str, Any]:
    def spread(of: Callable[[CheckpointStats], float]) -> dict[str, int]:
        return _spread([round(of(s)) for s in stats])

    return {
        "checkpointed_size": spread(lambda s: s.checkpointed_bytes),
        "state_size": spread(lambda s: s.state_bytes),
        "end_to_end_duration": spread(lambda s: _until_acked(s, record)),
        "checkpoint_duration": {"sync": spread(lambda s: s.sync_ms), "async": spread(lambda s: s.async_ms)},
        "alignment": {
            "buffered": spread(lambda s: s.aligned_bytes),
            "processed": spread(lambda s: s.processed_bytes),
            "persisted": spread(lambda s: s.persisted_bytes),
            "duration": spread(lambda s: s.alignment_ms),
        },
        "start_delay": spread(lambda s: s.start_delay_ms),
    }


def _spread(values: list[int]) -> dict[str, int]:
    """Return minimum, maximum, mean and percentiles (nearest rank)."""
    ordered = sorted(values) or [0]
    percentiles = {f"p{name}": ordered[min(len(ordered) - 1, int(part * len(ordered)))] for name, part in _PERCENTILES}
    return {"min": ordered[0], "max": ordered[-1], "avg": sum(ordered) // len(ordered), **percentiles}


def _summary(checkpoints: CheckpointsView) -> dict[str, Any]:
    done = [_checkpoint(record) for record in checkpoints.history if not record.failure]
    return {name: _spread([int(record[name]) for record in done]) for name in _SUMMARY}


def _restored(restored: Restored | None) -> dict[str, Any] | None:
    if restored is None:
        return None
    return {
        "id": restored.checkpoint_id,
        "restore_timestamp": restored.at_ms,
        "is_savepoint": restored.savepoint,
        "external_path": restored.path,
    }


# Rescaling


def rescaled(done: Rescaled) -> dict[str, Any]:
    """``/jobs/:jobid/rescaling/:triggerid``: the results for the vertices."""
    vertices = [
        {"name": v.name, "before": v.before, "parallelism": v.after, "key-groups": v.key_groups, "moved-key-groups": v.moved}
        for v in done.vertices
    ]
    return {"checkpointId": done.checkpoint_id, "vertices": vertices}


def requirements(job: JobView) -> dict[str, Any]:
    """``/jobs/:jobid/resource-requirements``."""
    return {
        vertex.vertex_id: {"parallelism": {"lowerBound": vertex.bounds.lower, "upperBound": vertex.bounds.upper}} for vertex in job.vertices
    }


def requirements_of(job: JobView, body: dict[str, Any]) -> dict[str, Bounds]:
    """Return the bounds of a body of that form, by the ids of the vertices.

    Raises:
        ValueError: It has another form, or does not name each vertex.
    """
    vertices = {vertex.vertex_id for vertex in job.vertices}
    if body.keys() != vertices:
        wrong = sorted(body.keys() ^ vertices)
        raise ValueError(f"the body has to name each vertex of the job and no other; this is not so of {', '.join(wrong)}")
    return {vertex_id: _bounds(vertex_id, given) for vertex_id, given in body.items()}


def _bounds(vertex_id: str, given: Any) -> Bounds:
    match given:
        case {"parallelism": {"lowerBound": int(lower), "upperBound": int(upper)}} if 1 <= lower <= upper:
            return Bounds(lower, upper)
    raise ValueError(
        f'vertex {vertex_id} has to have {{"parallelism": {{"lowerBound": n, "upperBound": m}}}} with 1 <= n <= m, got {given!r}'
    )


# Failures


def exceptions(job: JobView) -> dict[str, Any]:
    """``/jobs/:jobid/exceptions``."""
    entries = [_failure(failure) for failure in reversed(job.failures)]
    return {"exceptionHistory": {"entries": entries, "truncated": job.lost_failures > 0}}


def _failure(failure: Failure) -> dict[str, Any]:
    error = failure.error
    details = getattr(error, "details", None) or {}
    return {
        "exceptionName": type(error).__name__,
        "stacktrace": "".join(traceback.format_exception(error)),
        "timestamp": failure.at_ms,
        "taskName": str(details["task"]) if "task" in details else None,
        "failureLabels": failure_labels(error),
        # Not in Flink: the vertices restarted by a failure, None for all.
        "restartedVertices": list(failure.region) or None,
        "concurrentExceptions": [],
    }


def cause(error: BaseException) -> dict[str, Any]:
    """Return the cause of a failed operation."""
    text = str(error) if isinstance(error, WieselError) else f"{type(error).__name__}: {error}"
    return {"class": type(error).__name__, "stack-trace": text}
