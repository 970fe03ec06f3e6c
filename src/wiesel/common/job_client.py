"""Clients of submitted jobs."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Protocol

from wiesel.common.completable_future import CompletableFuture
from wiesel.common.job_execution_result import JobExecutionResult
from wiesel.common.job_id import JobID
from wiesel.common.job_status import JobStatus

__all__ = ["JobClient", "JobHandle"]


class JobHandle(Protocol):
    """The engine's handle of a running job. All methods return immediately; errors are set in the futures."""

    def status(self) -> Future[JobStatus]:
        """Return the state of the job."""
        ...

    def cancel(self) -> Future[None]:
        """Cancel the job; completes when the request is accepted."""
        ...

    def stop_with_savepoint(self, advance_to_end_of_event_time: bool, savepoint_directory: str | None) -> Future[str]:
        """End the job with a savepoint; the result is its path."""
        ...

    def trigger_savepoint(self, savepoint_directory: str | None) -> Future[str]:
        """Take a savepoint; the result is its path."""
        ...

    def accumulators(self) -> Future[dict[str, Any]]:
        """Return the accumulators as they are now."""
        ...

    def metrics(self) -> Future[dict[str, Any]]:
        """Return the metrics of the job, as described by ``JobClient.get_job_metrics``."""
        ...

    def result(self) -> Future[JobExecutionResult]:
        """Return a future of the job's result, or its JobExecutionError or JobCancelledError."""
        ...


class JobClient:
    """A submitted job. The job does not end with the client."""

    def __init__(self, job_id: JobID, handle: JobHandle) -> None:
        self._job_id = job_id
        self._handle = handle

    def get_job_id(self) -> JobID:
        """Return the id of the job."""
        return self._job_id

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """Return a future of the job's status."""
        return CompletableFuture(self._handle.status())

    def cancel(self) -> CompletableFuture[None]:
        """Cancel the job. Completes when the request is accepted, which is before the job has ended."""
        return CompletableFuture(self._handle.cancel())

    def stop_with_savepoint(self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        """Take a savepoint and end the job.

        Args:
            advance_to_end_of_event_time: Fire all timers and windows first (by the maximal watermark).
            savepoint_directory: The directory; None for the configured one.

        Returns:
            The path of the savepoint.
        """
        return CompletableFuture(self._handle.stop_with_savepoint(advance_to_end_of_event_time, savepoint_directory))

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        """Take a savepoint while the job continues; the result is its path.

        Args:
            savepoint_directory: The directory; None for the configured one.
        """
        return CompletableFuture(self._handle.trigger_savepoint(savepoint_directory))

    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        """Return a future of the accumulators of the running job."""
        return CompletableFuture(self._handle.accumulators())

    def get_job_metrics(self) -> CompletableFuture[dict[str, Any]]:
        """Return a future of the job's metrics; specific to Wiesel, as PyFlink uses the REST service.

        Returns:
            A dict of plain values: ``job_id``; ``status`` (name of a JobStatus); ``attempt`` (number of the newest attempt, never used
            twice) and ``restarts``, those of regions included; ``checkpoints`` with ``completed``, ``failed``, ``restored_id`` (what the
            newest attempt started from, 0 for nothing), ``last_id``, ``last_duration_ms``, ``last_written_bytes`` and
            ``last_state_bytes``; ``sources``, the metrics of enumerators (``unassignedSplits``) by the name of the source; ``tasks``, a
            list of dicts with ``name``, ``vertex``, ``subtask``, ``attempt`` (in which it runs: that of the job, or of its region if it
            was restarted alone), ``source`` (whether the task reads a source), ``pid`` and ``host`` (None before it runs) and
            ``metrics``. These have Flink's names (``numRecordsIn``, ``currentOutputWatermark``,
            ``busyTimeMsPerSecond``, ...), are about a second old and begin anew with each attempt.
        """
        return CompletableFuture(self._handle.metrics())

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """Wait for the end of the job."""
        return CompletableFuture(self._handle.result())
