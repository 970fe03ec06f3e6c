"""Internal. Injected failures of tests, and the restarts after them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wiesel.checkpoint.messages import TaskKey
from wiesel.core.errors import WieselError
from wiesel.engine.failover import FailoverRegion
from wiesel.engine.job_master import JobMaster
from wiesel.engine.restart import RestartStrategy

__all__ = ["MASTER_POINTS", "TASK_POINTS", "InjectedFailure", "InjectedRestart", "PlannedFailure", "WatchedMaster"]

TASK_POINTS = ("before-barrier", "before-snapshot", "before-ack", "after-ack")
"""Stages of a checkpoint in a task, in order."""

MASTER_POINTS = ("before-publish", "after-publish", "before-commit", "after-commit")
"""Subsequent stages in the JobMaster."""


class InjectedFailure(WieselError):
    """A failure injected by a test. The job has recovered from it, or is about to, when this is raised."""


@dataclass
class PlannedFailure:
    """A failure planned at a point.

    Attributes:
        point: The point.
        tasks: The affected tasks; None for points of the JobMaster.
        passages: Number of passages until the failure, including it.
    """

    point: str
    tasks: frozenset[TaskKey] | None
    passages: int

    def hit(self, point: str, task: TaskKey | None) -> bool:
        """Count a passage of a point: return whether the failure happens now."""
        if point != self.point or (self.tasks is not None and task not in self.tasks):
            return False
        self.passages -= 1
        return self.passages == 0


class InjectedRestart(RestartStrategy):
    """Restarts immediately after an injected failure; for others the job's own strategy applies."""

    def __init__(self, own: RestartStrategy) -> None:
        self._own = own
        self.failure: BaseException | None = None

    def on_failure(self, now_ms: int) -> int | None:
        """Return the delay in ms, None for no restart."""
        self.merged = False
        if isinstance(self.failure, InjectedFailure):
            return 0
        delay_ms = self._own.on_failure(now_ms)
        self.merged = self._own.merged
        return delay_ms


class WatchedMaster(JobMaster):
    """A JobMaster that reports its points, and the cause of a failed attempt to its restart strategy."""

    strategy: InjectedRestart
    on_point: Callable[[str], None]

    def reached(self, point: str) -> None:
        """See ``MasterPort``."""
        super().reached(point)
        self.on_point(point)

    def attempt_ended(self, error: BaseException | None) -> None:
        """See ``MasterPort``."""
        self.strategy.failure = error
        super().attempt_ended(error)

    def region_failed(self, region: FailoverRegion, error: BaseException) -> None:
        """See ``MasterPort``."""
        self.strategy.failure = error
        super().region_failed(region, error)
