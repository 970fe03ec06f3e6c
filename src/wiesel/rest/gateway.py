"""Internal. The interface through which the REST API and others control a job, wherever its JobMaster runs."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from wiesel.common.job_status import JobStatus
from wiesel.graph.rescaling import Bounds
from wiesel.rest.views import JobView

__all__ = ["JobGateway", "Rescaled", "RescaledVertex"]


@dataclass(frozen=True)
class RescaledVertex:
    """The change of a vertex by rescaling.

    Attributes:
        name: Its name.
        before: Its parallelism before.
        after: Its parallelism now.
        key_groups: The number of its key groups, 0 if its input has no keys.
        moved: The number of key groups that belong to another subtask now.
    """

    name: str
    before: int
    after: int
    key_groups: int = 0
    moved: int = 0


@dataclass(frozen=True)
class Rescaled:
    """The result of rescaling: the checkpoint that the job went on from (0 if nothing had to be done), and its vertices."""

    checkpoint_id: int
    vertices: tuple[RescaledVertex, ...]


class JobGateway(Protocol):
    """A job as others control it. All methods return at once and may be called from any thread; answers come as futures.

    A future fails with a ``WieselError`` where the job refuses what it is asked for.
    """

    @property
    def job_id(self) -> str:
        """Return the id of the job."""
        ...

    @property
    def status(self) -> JobStatus:
        """Return the state of the job as known last."""
        ...

    def view(self) -> Future[JobView]:
        """Return the job at this moment."""
        ...

    def checkpoint_progress(self) -> Future[dict[str, Any]]:
        """Return the state of the checkpoint under way, task by task, as JSON."""
        ...

    def cancel(self) -> Future[None]:
        """Cancel the job."""
        ...

    def savepoint(
        self, directory: str | None, *, stop: bool = False, drain: bool = False, label: str = "", aligned_timeout_ms: int | None = None
    ) -> Future[str]:
        """Take a savepoint; return its path.

        Args:
            directory: The directory to create it in; None for the default of the job.
            stop: Whether the job ends with it.
            drain: Whether event time is advanced to its end before, so that all windows and timers fire.
            label: The user's note about it.
            aligned_timeout_ms: The time after which it becomes unaligned, in ms; None for the setting of the job.
        """
        ...

    def checkpoint(self) -> Future[int]:
        """Take a checkpoint; return its number."""
        ...

    def rescale(self, parallelism: int) -> Future[Rescaled]:
        """Change the parallelism of all operators whose own the program does not set."""
        ...

    def require(self, bounds: Mapping[str, Bounds]) -> Future[None]:
        """Set the bounds of the parallelism of each vertex, by its id; the answer comes when they are accepted."""
        ...
