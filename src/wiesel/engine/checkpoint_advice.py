"""Internal. Advice on checkpoints that are slow because their barriers wait behind records."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, TypeAlias

from wiesel.checkpoint.coordinator import Checkpoint, UnderWay
from wiesel.checkpoint.messages import TaskKey
from wiesel.checkpoint.snapshot import CheckpointStats
from wiesel.core import options as opt
from wiesel.core.logs import get_logger
from wiesel.graph.job_graph import JobGraph, JobVertex

__all__ = ["CheckpointAdvice", "longest_wait"]

_log = get_logger("wiesel.checkpoints")

Metrics: TypeAlias = Mapping[TaskKey, Mapping[str, Any]]

LONG_MS = 10_000.0
PENDING_MS = 30_000
BACKPRESSURE = "backPressuredTimeMsPerSecond"
_HELD_MS = 500.0
"""Backpressured time (ms per second) at which a task counts as backpressured, as in Flink's web UI."""
_LIMIT = f"'{opt.DEBLOAT.key}: true' limits the data in flight to slow tasks"
_OVERTAKE = f"'{opt.CHECKPOINT_UNALIGNED.key}: true' enables unaligned checkpoints"


def longest_wait(job: JobGraph, stats: Mapping[TaskKey, CheckpointStats]) -> tuple[float, JobVertex | None]:
    """Return the time (ms) that barriers waited for the slowest task behind the sources, and its subtask.

    Sources are notified of a checkpoint and do not wait for a barrier. The delay of the slowest of them is not included, as it may be busy
    otherwise.
    """
    delays = {key: each.start_delay_ms + each.alignment_ms for key, each in stats.items()}
    sources = [delay for (vertex, _), delay in delays.items() if job.vertices[vertex].is_source]
    behind = [(delay, vertex) for (vertex, _), delay in delays.items() if not job.vertices[vertex].is_source]
    delay, vertex = max(behind, default=(0.0, -1))
    wait = delay - max(sources, default=0.0)
    return (wait, job.vertices[vertex]) if wait > 0 else (0.0, None)


class CheckpointAdvice:
    """Warns once per job about barriers that wait long.

    Args:
        wanted: Barriers are aligned.
        limited: The data in flight to slow tasks is limited already.
    """

    def __init__(self, *, wanted: bool, limited: bool = False) -> None:
        self._wanted = wanted
        self._remedy = _OVERTAKE.replace(" it", " records") if limited else f"{_LIMIT}, {_OVERTAKE}"

    def look(self, job: JobGraph, checkpoint: Checkpoint, duration_ms: int) -> None:
        """A checkpoint or savepoint is complete."""
        if not self._wanted or duration_ms < LONG_MS:
            return
        wait_ms, vertex = longest_wait(job, {key: task.stats for key, task in checkpoint.tasks.items()})
        if vertex is None or wait_ms < LONG_MS:
            return
        self._wanted = False
        _log.warning(
            "%s %d took %.0f s, %.0f s of which its barriers waited behind records in front of '%s': %s",
            "savepoint" if checkpoint.savepoint else "checkpoint",
            checkpoint.checkpoint_id,
            duration_ms / 1e3,
            wait_ms / 1e3,
            vertex.name,
            self._remedy,
        )

    def look_at_late(self, job: JobGraph, late: Set[TaskKey], metrics: Metrics) -> None:
        """Handle an aborted checkpoint or savepoint; these tasks had not taken part in time (none: another reason)."""
        slowest = _slowest(job, late, metrics)
        if not self._wanted or slowest is None:
            return
        self._wanted = False
        _log.warning("its barriers may wait behind records in front of '%s': %s", slowest.name, self._remedy)

    def look_at_pending(self, job: JobGraph, under_way: UnderWay | None, now_ms: int, metrics: Metrics) -> None:
        """Handle the passage of time; ``under_way`` is the pending checkpoint or savepoint."""
        if not self._wanted or under_way is None or now_ms - under_way.timestamp_ms < PENDING_MS:
            return
        slowest = _slowest(job, under_way.waiting, metrics)
        if slowest is None:
            return
        self._wanted = False
        _log.warning(
            "checkpoint %d was triggered %.0f s ago, and its barriers may wait behind records in front of '%s': %s",
            under_way.checkpoint_id,
            (now_ms - under_way.timestamp_ms) / 1e3,
            slowest.name,
            self._remedy,
        )


def _slowest(job: JobGraph, late: Set[TaskKey], metrics: Metrics) -> JobVertex | None:
    """Return which of the late tasks barriers seem to wait for; None for another cause."""
    pressure = {key: float(metrics.get(key, {}).get(BACKPRESSURE, 0)) for key in late}
    sources = [key for key in late if job.vertices[key[0]].is_source]
    behind = sorted(late - set(sources))
    # A source waits for no barrier: unless it is backpressured it is busy otherwise, and the others wait for it.
    if not behind or any(pressure[key] < _HELD_MS for key in sources):
        return None
    return job.vertices[min(behind, key=lambda key: pressure[key])[0]]
