"""Internal. ``wiesel info JOB`` as text."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from wiesel.platform.cli._output import as_table

__all__ = ["described"]

_HEADS = ("task", "parallelism", "state", "in", "out", "busy", "idle", "backpressured", "waiting", "watermark", "lag")
_NO_WATERMARK = -(2**63)
_END_OF_TIME = 2**63 - 1


def described(job: dict[str, Any]) -> str:
    """Return the description of a job as lines: the job, its tasks and its checkpoints.

    Args:
        job: ``/jobs/:jobid`` with ``/jobs/:jobid/checkpoints`` under ``checkpoints``.
    """
    rows: list[tuple[str, ...]] = [_HEADS, *(_vertex(vertex, int(job["now"])) for vertex in job["vertices"])]
    lines = [
        f"job {job['jid']} {job['name']!r}: {job['state']} since {_time(job['timestamps'].get(job['state']) or job['start-time'])},"
        f" started {_time(job['start-time'])}",
        *as_table(rows),
        *_checkpoints(job["checkpoints"]),
    ]
    return "\n".join(lines)


def _vertex(vertex: dict[str, Any], now_ms: int) -> tuple[str, ...]:
    metrics = vertex["metrics"]

    def share(name: str) -> str:
        return f"{metrics[name] / 10:.0f}%" if name in metrics else "-"

    watermark = metrics.get("currentOutputWatermark", _NO_WATERMARK)
    has_time = _NO_WATERMARK < watermark < _END_OF_TIME
    return (
        vertex["name"],
        str(vertex["parallelism"]),
        vertex["status"],
        str(metrics["read-records"]),
        str(metrics["write-records"]),
        share("busyTimeMsPerSecond"),
        share("idleTimeMsPerSecond"),
        share("backPressuredTimeMsPerSecond"),
        str(metrics.get("Shuffle.Netty.Input.Buffers.inputQueueLength", "-")),
        _time(watermark) if has_time else "end of input" if watermark == _END_OF_TIME else "-",
        f"{(now_ms - watermark) / 1e3:.1f} s" if has_time else "-",
    )


def _checkpoints(found: dict[str, Any]) -> list[str]:
    counts = found["counts"]
    lines = [f"checkpoints: {counts['completed']} completed, {counts['failed']} failed, {counts['in_progress']} in progress"]
    latest = found["latest"]
    for name, title in (("completed", "last"), ("savepoint", "last savepoint")):
        if done := latest.get(name):
            duration_s, size = done["end_to_end_duration"] / 1e3, done["state_size"]
            taken = f"{done['id']} at {_time(done['trigger_timestamp'])}"
            lines.append(f"  {title}: {taken}, {duration_s:.1f} s, {size} bytes, {done['external_path']}")
    if failed := latest.get("failed"):
        lines.append(f"  last failure: {failed['id']} at {_time(failed['failure_timestamp'])}: {failed['failure_message']}")
    if restored := latest.get("restored"):
        lines.append(f"  restored: {restored['id']} at {_time(restored['restore_timestamp'])}, {restored['external_path']}")
    return lines


def _time(ms: int) -> str:
    try:
        return datetime.fromtimestamp(ms / 1e3, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    except (OverflowError, ValueError, OSError):  # event time may be any number
        return f"{ms} ms"
