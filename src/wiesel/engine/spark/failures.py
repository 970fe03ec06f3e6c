"""Internal. Converts failures of Spark jobs to errors for the author of the program."""

from __future__ import annotations

import re

from wiesel.core.errors import JobExecutionError
from wiesel.engine.task_errors import process_ended

__all__ = ["spark_failure"]

_WHERE = r"\((?P<host>\S+) executor (?P<id>\S+)\): "
_EXECUTOR_LOST = re.compile(_WHERE + r"ExecutorLostFailure \([^)]*\) Reason: (?P<why>[^\n]*)")
_WORKER_DIED = re.compile(_WHERE + r"[^\n]*Python worker exited unexpectedly")
_LONGEST = 500


def spark_failure(error: BaseException) -> JobExecutionError:
    """Return a short error for a failed Spark job; the task's own message, if received, is more specific and precedes it."""
    text = str(error)
    lost = _EXECUTOR_LOST.search(text)
    if lost is not None:
        return JobExecutionError(f"executor {lost['id']} on {lost['host']} was lost: {lost['why']}")
    died = _WORKER_DIED.search(text)
    if died is not None:
        return process_ended("a task", died["host"])
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    return JobExecutionError("the Spark job failed: " + " ".join(lines[:3])[:_LONGEST])
