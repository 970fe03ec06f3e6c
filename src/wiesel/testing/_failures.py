"""Internal. Failures that a test injects, and the restarts after them."""

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
    """A failure that a test has asked for. The job has recovered from it, or is about to, when this is raised."""


@dataclass
class PlannedFailure:
    """A failure at a point that will be passed.

    Attributes:
        point: The point.
        tasks: The tasks that count; None for points of the JobMaster.
        passages: How often it is still to be passed, this one included.
    """

    point: str
    tasks: frozenset[TaskKey] | None
    passages: int

    def hit(self, point: str, task: TaskKey | None) -> bool:
        """A point is passed: return whether the failure happens now."""
        if point != self.point or (self.tasks is not None and task not in self.tasks):
            return False
        self.passages -= 1
        return self.passages == 0


class InjectedRestart(RestartStrategy):
    """Restarts at once after an injected failure; after others the job's own strategy decides."""

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
    """A JobMaster that tells which points it passes, and its restart strategy why an attempt failed."""

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
