"""States of jobs."""

from __future__ import annotations

from enum import Enum

__all__ = ["JobStatus"]


class JobStatus(Enum):
    """The state of a job.

    CREATED, RUNNING, then FINISHED, or FAILING and FAILED, or CANCELLING and CANCELED; RESTARTING between two attempts of the
    job or of a region.
    SUSPENDED: stopped here, another process may take over. RECONCILING: a new JobMaster determines the running tasks.
    """

    CREATED = 0
    RUNNING = 1
    FAILING = 2
    FAILED = 3
    CANCELLING = 4
    CANCELED = 5
    FINISHED = 6
    RESTARTING = 7
    SUSPENDED = 8
    RECONCILING = 9

    def is_globally_terminal_state(self) -> bool:
        """Return whether the job has ended finally: FAILED, CANCELED or FINISHED."""
        return self in (JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED)

    def is_terminal_state(self) -> bool:
        """Return whether this process has finished its work on the job: also SUSPENDED."""
        return self is JobStatus.SUSPENDED or self.is_globally_terminal_state()
