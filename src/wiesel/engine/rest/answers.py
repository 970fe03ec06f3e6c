"""Internal. Information on a job, as JSON in the form of Flink's REST API. Called in the master's thread."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

from wiesel.checkpoint.snapshot import CheckpointStats
from wiesel.common.job_status import JobStatus
from wiesel.core.errors import WieselError, failure_labels
from wiesel.engine.job_history import CheckpointRecord, Failure, JobHistory
from wiesel.engine.job_master import JobMaster
from wiesel.engine.rescaling import Rescaled
from wiesel.graph.job_graph import JobGraph, JobVertex
from wiesel.graph.rescaling import Bounds

_TASK_STATES = (
    "CREATED SCHEDULED DEPLOYING INITIALIZING RUNNING FINISHED CANCELING CANCELED FAILED RECONCILING".split()
)
_PERCENTILES = (("50", 0.5), ("90", 0.9), ("95", 0.95), ("99", 0.99), ("999", 0.999))
_SUMMARY = ("checkpointed_size", "state_size", "end_to_end_duration", "alignment_buffered", "processed_data", "persisted_data")
_ENDED_TASKS = {JobStatus.FINISHED: "FINISHED", JobStatus.FAILED: "FAILED", JobStatus.CANCELED: "CANCELED"}


def jobs(master: JobMaster) -> dict[str, Any]:
    """``/jobs``."""
    return {"jobs": [{"id": master.job_id, "status": master.status.name}]}


def overview(master: JobMaster) -> dict[str, Any]:
    """``/jobs/overview``."""
    states = Counter(state for states in _task_states(master).values() for state in states)
    job = {
        "jid": master.job_id,
        "name": master.plan.graph.job.job_name,
        "start-time": master.history.started_ms,
        "end-time": _or_minus_one(master.history.ended_ms),
        "duration": _duration(master),
        "state": master.status.name,
        "last-modification": max(master.history.status_since_ms.values()),
        "tasks": {"total": states.total(), **_counts(states)},
    }
    return {"jobs": [job]}


def details(master: JobMaster) -> dict[str, Any]:
    """``/jobs/:jobid``."""
    job, states = master.plan.graph.job, _task_states(master)
    by_vertex = {v.index: Counter(states[v.index]) for v in job.vertices}
    return {
        "jid": master.job_id,
        "name": job.job_name,
        "isStoppable": False,
        "state": master.status.name,
        "job-type": job.runtime_mode,
        "start-time": master.history.started_ms,
        "end-time": _or_minus_one(master.history.ended_ms),
        "duration": _duration(master),
        "maxParallelism": max((v.max_parallelism for v in job.vertices), default=-1),
        "now": master.now_ms(),
        "timestamps": {status.name: master.history.status_since_ms.get(status, 0) for status in JobStatus},
        "vertices": [_vertex(master, vertex, by_vertex[vertex.index]) for vertex in job.vertices],
        "status-counts": _counts(sum(by_vertex.values(), Counter()), upper=True),
        "plan": {"jid": master.job_id, "name": job.job_name, "type": job.runtime_mode, "nodes": _plan(master)},
    }


def _vertex_id(vertex: JobVertex) -> str:
    return vertex.operators[0].operator_id


def _vertex(master: JobMaster, vertex: JobVertex, states: Counter[str]) -> dict[str, Any]:
    metrics = master.attempt.metrics if master.attempt is not None else {}
    own = [metrics.get((vertex.index, subtask), {}) for subtask in range(vertex.parallelism)]

    def total(name: str) -> int:
        return sum(int(m.get(name, 0)) for m in own)

    return {
        "id": _vertex_id(vertex),
        "name": vertex.name,
        "maxParallelism": vertex.max_parallelism,
        "parallelism": vertex.parallelism,
        "status": next((s for s in ("FAILED", "CANCELED", "DEPLOYING", "CREATED", "RUNNING", "FINISHED") if states[s]), "CREATED"),
        "tasks": _counts(states, upper=True),
        "metrics": {
            "read-records": total("numRecordsIn"),
            "write-records": total("numRecordsOut"),
            "write-bytes": total("numBytesOut"),
            **_task_metrics(own),
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


def _task_metrics(own: list[dict[str, Any]]) -> dict[str, int]:
    """Return the metrics aggregated over the subtasks of a vertex that have reported: the minimal watermark, mean time shares."""
    found = {}
    for name, combined in _OVER_SUBTASKS.items():
        # A subtask has the metrics, without values, before it has received any: a watermark arrives with records.
        values = [int(m[name]) for m in own if m.get(name) is not None]
        if values:
            found[name] = combined(values)
    return found


def _plan(master: JobMaster) -> list[dict[str, Any]]:
    job = master.plan.graph.job
    ids = {v.index: _vertex_id(v) for v in job.vertices}
    return [
        {
            "id": ids[vertex.index],
            "parallelism": vertex.parallelism,
            "description": vertex.name,
            "inputs": [
                {"num": n, "id": ids[edge.source_vertex], "ship_strategy": edge.partitioner.kind.upper(), "exchange": "pipelined_bounded"}
                for n, edge in enumerate(job.in_edges(vertex.index))
            ],
        }
        for vertex in job.vertices
    ]


def _task_states(master: JobMaster) -> dict[int, list[str]]:
    attempt, ended = master.attempt, _ENDED_TASKS.get(master.status)

    def state(task: tuple[int, int]) -> str:
        if attempt is None:
            return "CREATED"
        if task in attempt.finished_tasks:
            return "FINISHED"
        if ended is not None:
            return ended
        return "RUNNING" if task in attempt.pids else "DEPLOYING"

    return {v.index: [state((v.index, subtask)) for subtask in range(v.parallelism)] for v in master.plan.graph.job.vertices}


def _counts(states: Counter[str], *, upper: bool = False) -> dict[str, int]:
    return {name if upper else name.lower(): states[name] for name in _TASK_STATES}


def _duration(master: JobMaster) -> int:
    ended_ms = master.history.ended_ms
    return (master.now_ms() if ended_ms is None else ended_ms) - master.history.started_ms


def _or_minus_one(value: int | None) -> int:
    return -1 if value is None else value


# Checkpoints


def checkpoints(master: JobMaster) -> dict[str, Any]:
    """``/jobs/:jobid/checkpoints``."""
    history = master.history
    pending = master.attempt.coordinator.pending_id if master.attempt is not None and not master.attempt.ended else None
    latest = {kind: _checkpoint(history.latest[kind]) if kind in history.latest else None for kind in ("completed", "savepoint", "failed")}
    return {
        "counts": {
            "restored": history.restores,
            "total": history.completed + history.failed + (pending is not None),
            "in_progress": int(pending is not None),
            "completed": history.completed,
            "failed": history.failed,
        },
        "summary": _summary(history),
        "latest": {**latest, "restored": _restored(history)},
        "history": [_checkpoint(record) for record in reversed(history.checkpoints)],
    }


def checkpoint(master: JobMaster, checkpoint_id: int) -> dict[str, Any] | None:
    """``/jobs/:jobid/checkpoints/details/:checkpointid``: with the parts of the tasks; None if it is unknown."""
    record = _record(master, checkpoint_id)
    return None if record is None else {**_checkpoint(record), "tasks": _checkpoint_tasks(master, record)}


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


def _checkpoint_tasks(master: JobMaster, record: CheckpointRecord) -> dict[str, Any]:
    return {} if record.failure else {_vertex_id(v): _checkpoint_task(record, v) for v in master.plan.graph.job.vertices}


def checkpoint_task(master: JobMaster, checkpoint_id: int, vertex_id: str) -> dict[str, Any] | None:
    """``/jobs/:jobid/checkpoints/details/:checkpointid/subtasks/:vertexid``; None if one of them is unknown."""
    record = _record(master, checkpoint_id)
    vertex = next((v for v in master.plan.graph.job.vertices if _vertex_id(v) == vertex_id), None)
    if record is None or vertex is None or record.failure:
        return None
    return {**_checkpoint_task(record, vertex), "summary": _subtask_summary([s for _, s in _stats_of(record, vertex)], record)}


def _record(master: JobMaster, checkpoint_id: int) -> CheckpointRecord | None:
    known = (*master.history.checkpoints, *master.history.latest.values())
    return next((record for record in known if record.checkpoint_id == checkpoint_id), None)


def _stats_of(record: CheckpointRecord, vertex: JobVertex) -> list[tuple[int, CheckpointStats]]:
    return sorted((subtask, stats) for (index, subtask), stats in record.stats.items() if index == vertex.index)


def _checkpoint_task(record: CheckpointRecord, vertex: JobVertex) -> dict[str, Any]:
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


def _summary(history: JobHistory) -> dict[str, Any]:
    done = [_checkpoint(record) for record in history.checkpoints if not record.failure]

    return {name: _spread([int(record[name]) for record in done]) for name in _SUMMARY}


def _restored(history: JobHistory) -> dict[str, Any] | None:
    restored = history.restored
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


def requirements(master: JobMaster) -> dict[str, Any]:
    """``/jobs/:jobid/resource-requirements``."""
    return {
        _vertex_id(vertex): {"parallelism": {"lowerBound": bounds.lower, "upperBound": bounds.upper}}
        for vertex in master.plan.graph.job.vertices
        for bounds in [master.rescaling.bounds[vertex.operators[0].node_id]]
    }


def requirements_of(job: JobGraph, body: dict[str, Any]) -> dict[int, Bounds]:
    """Parse the body of that request, by the operators of the vertices.

    Raises:
        ValueError: If its form is invalid, or a vertex is missing.
    """
    vertices = {_vertex_id(vertex): vertex for vertex in job.vertices}
    if body.keys() != vertices.keys():
        wrong = sorted(body.keys() ^ vertices.keys())
        raise ValueError(f"the body has to name each vertex of the job and no other; this is not so of {', '.join(wrong)}")
    bounds = {vertex_id: _bounds(vertex_id, given) for vertex_id, given in body.items()}
    return {o.node_id: bounds[vertex_id] for vertex_id, vertex in vertices.items() for o in vertex.operators}


def _bounds(vertex_id: str, given: Any) -> Bounds:
    match given:
        case {"parallelism": {"lowerBound": int(lower), "upperBound": int(upper)}} if 1 <= lower <= upper:
            return Bounds(lower, upper)
    raise ValueError(
        f'vertex {vertex_id} has to have {{"parallelism": {{"lowerBound": n, "upperBound": m}}}} with 1 <= n <= m, got {given!r}'
    )


# Failures


def exceptions(master: JobMaster) -> dict[str, Any]:
    """``/jobs/:jobid/exceptions``."""
    entries = [_failure(failure) for failure in reversed(master.history.failures)]
    return {"exceptionHistory": {"entries": entries, "truncated": master.history.lost_failures > 0}}


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
