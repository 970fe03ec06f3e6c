"""Internal. History of a job: its states, its failures, its latest checkpoints."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.common.job_status import JobStatus
from wiesel.core.clock import Clock
from wiesel.rest.views import CheckpointRecord, Failure, Restored

_KEPT_CHECKPOINTS = 10
_KEPT_FAILURES = 16


class JobHistory:
    """The history, used in the JobMaster's thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.started_ms = clock.now_ms()
        self.ended_ms: int | None = None
        self.status_since_ms = {JobStatus.CREATED: self.started_ms}
        self.failures: deque[Failure] = deque(maxlen=_KEPT_FAILURES)
        self.lost_failures = 0
        self.checkpoints: deque[CheckpointRecord] = deque(maxlen=_KEPT_CHECKPOINTS)
        self.latest: dict[str, CheckpointRecord] = {}
        """``completed`` (checkpoint), ``savepoint`` and ``failed`` -> the newest of them."""
        self.restored: Restored | None = None
        self.restores = 0
        self.completed = 0
        self.failed = 0

    def status(self, status: JobStatus) -> None:
        """Record a change of the job's state."""
        now_ms = self._clock.now_ms()
        self.status_since_ms[status] = now_ms
        if status.is_globally_terminal_state():
            self.ended_ms = now_ms

    def failure(self, error: BaseException, region: Sequence[str] = ()) -> None:
        """An attempt, the region with these vertices, or the job has failed."""
        self.lost_failures += len(self.failures) == _KEPT_FAILURES
        self.failures.append(Failure(error, self._clock.now_ms(), tuple(region)))

    def restore(self, checkpoint: Checkpoint, path: str | None) -> None:
        """Record that an attempt was restored from this checkpoint at a path; None: in memory."""
        self.restores += 1
        self.restored = Restored(checkpoint.checkpoint_id, self._clock.now_ms(), checkpoint.savepoint, path)

    def completed_checkpoint(self, checkpoint: Checkpoint, duration_ms: int, path: str | None) -> None:
        """A checkpoint or savepoint is complete."""
        self.completed += 1
        # Not the checkpoint itself, which may contain state.
        record = CheckpointRecord(
            checkpoint.checkpoint_id,
            path,
            self._clock.now_ms(),
            duration_ms,
            checkpoint.timestamp_ms,
            {key: task.stats for key, task in checkpoint.tasks.items()},
            checkpoint.savepoint,
        )
        self.latest["savepoint" if checkpoint.savepoint else "completed"] = record
        self.checkpoints.append(record)

    def failed_checkpoint(self, checkpoint_id: int, reason: str, *, savepoint: bool) -> None:
        """Record an aborted checkpoint or savepoint."""
        self.failed += 1
        record = self.latest["failed"] = CheckpointRecord(
            checkpoint_id, None, self._clock.now_ms(), savepoint=savepoint, failure=reason
        )
        self.checkpoints.append(record)
