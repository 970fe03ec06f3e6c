"""Internal. Progress messages of savepoints and stops."""

from __future__ import annotations

from typing import Any

__all__ = ["progress_lines"]

_NAMED = 4
_UNITS = ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB"))


def progress_lines(progress: dict[str, Any], waited_s: float) -> list[str]:
    """Return the lines that describe the progress of an operation after ``waited_s`` seconds."""
    waiting = progress["waiting"]
    if progress["state"] == "STARTING":
        return [f"waiting for {waited_s:.0f} s: the tasks of the job are starting"]
    if not waiting:
        return [f"waiting for {waited_s:.0f} s: all tasks have acknowledged, it is being completed"]
    unaligned = "; its barriers do not wait for records any more" if progress["unaligned"] else ""
    head = f"waiting for {waited_s:.0f} s: {len(waiting)} of {progress['tasks']} tasks have not acknowledged{unaligned}"
    # # Tasks that wait for the barriers of others are not the cause.
    waiting = sorted(waiting, key=lambda task: (-task["busy"], -task["in-flight-bytes"]))
    more = [f"  and {len(waiting) - _NAMED} more"] if len(waiting) > _NAMED else []
    return [head, *(f"  {task['task']}: {_why(task)}" for task in waiting[:_NAMED]), *more]


def _why(task: dict[str, Any]) -> str:
    size, missing = _size(task["in-flight-bytes"]), task.get("missing-barriers", 0)
    behind = f" behind {size} in flight" if task["in-flight-bytes"] else ""
    reasons = {
        "UNKNOWN": "it has not reported what it waits for",
        "WRITING": "writing its state",
        "RECORDING": f"collecting the records before {missing} barriers",
        "ALIGNING": f"aligning: {missing} barriers have not arrived{behind}",
        "SOURCE": "a source that has not begun",
        "BARRIER": f"its barrier has not arrived{behind}",
    }
    busy = f"; in one call of its function for {task['busy'] / 1e3:.1f} s" if task["busy"] else ""
    return reasons[task["reason"]] + busy


def _size(size: int) -> str:
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"
