"""Internal. Process-wide switches, set by the command line before a program runs and read by the facades and engines.

- *Plan only*: ``execute()`` raises its plan and ends the program instead of running the job.
- *Job listener*: the function that receives the lines for the terminal about each started job.
- *Waits for execute*: operators were added that no job has run.
- *Worker initializers*: functions, named ``module:function``, that each worker process calls before it unpickles data of the program.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = [
    "PlanReady",
    "add_worker_initializer",
    "job_started",
    "operator_added",
    "plan_only",
    "run_worker_initializers",
    "set_plan_only",
    "tell_of_jobs",
    "waits_for_execute",
    "worker_initializers",
]


class PlanReady(BaseException):
    """Ends a program at its first ``execute()`` if only its plan is requested.

    Not an ``Exception``: a program's own ``except Exception`` must not handle it as a failure of the job.

    Args:
        plan: The execution plan as a JSON string.
        graph: Its origin (a ``StreamGraph``).
    """

    def __init__(self, plan: str, graph: Any) -> None:
        super().__init__(plan)
        self.plan = plan
        self.graph = graph


_plan_only = False
_told_of_jobs: Callable[[Sequence[str]], None] | None = None
_worker_initializers: list[str] = []
_waits_for_execute = False


def plan_only() -> bool:
    """Return True if ``execute()`` has to raise :class:`PlanReady` instead of running the job."""
    return _plan_only


def set_plan_only(value: bool) -> None:
    """Switch between running jobs (the default) and handing out their plans."""
    global _plan_only
    _plan_only = value


def tell_of_jobs(told: Callable[[Sequence[str]], None] | None) -> None:
    """Have a function called with the lines about each job that is started from now on; None for the default."""
    global _told_of_jobs
    _told_of_jobs = told


def job_started(lines: Sequence[str], *, endless: bool) -> None:
    """Report that a job was started.

    Args:
        lines: Lines to print about it. Without a function set by :func:`tell_of_jobs` they are printed to standard error if that is a
            terminal and the job is unbounded.
        endless: It has an unbounded source.
    """
    global _waits_for_execute
    _waits_for_execute = False
    if _told_of_jobs is not None:
        _told_of_jobs(lines)
    elif endless and sys.stderr.isatty():
        print(*lines, sep="\n", file=sys.stderr)


def operator_added() -> None:
    """Record that a program has added an operator, which runs with the next job."""
    global _waits_for_execute
    _waits_for_execute = True


def waits_for_execute() -> bool:
    """Return True if operators were added and no job was started since."""
    return _waits_for_execute


def add_worker_initializer(name: str) -> None:
    """Register a function that every worker process of subsequent jobs calls at its start.

    Args:
        name: ``module:function``; the function takes no arguments and may be called more than once.
    """
    if name not in _worker_initializers:
        _worker_initializers.append(name)


def worker_initializers() -> tuple[str, ...]:
    """Return the arguments of :func:`run_worker_initializers` for worker processes; an engine ships them with the tasks."""
    return tuple(_worker_initializers)


def run_worker_initializers(names: Iterable[str]) -> None:
    """Call the named functions in order. Called in worker processes before data of the program is unpickled."""
    for name in names:
        module, _, function = name.partition(":")
        getattr(importlib.import_module(module), function)()
