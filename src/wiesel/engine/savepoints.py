"""Internal. Savepoints requested by users: processed sequentially, each answered with its path or an error.

A request waits while the tasks are starting or a checkpoint is pending. When the attempt fails, all requests fail, and may be repeated. A
failed request leaves the job unchanged, even if it was to stop it; only drained sources require a restart.

A savepoint that stops the job is also its newest checkpoint: results committed with it must not be repeated if the job fails before it has
ended.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Set
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.messages import TaskKey
from wiesel.checkpoint.savepoint import Savepoint
from wiesel.core.errors import CheckpointError, ConfigurationError
from wiesel.core.logs import get_logger
from wiesel.engine.checkpoint_progress import remedy
from wiesel.engine.checkpoint_requests import text_of, what_ended
from wiesel.engine.deployment import without_uid
from wiesel.engine.job_attempt import JobAttempt
from wiesel.engine.recovery import Recovery
from wiesel.engine.unaligned import holds_in_flight
from wiesel.wire.events import SavepointOptions

if TYPE_CHECKING:
    from wiesel.engine.job_master import Background

_log = get_logger("wiesel.job")


@dataclass
class SavepointRequest:
    """A pending request for a savepoint."""

    options: SavepointOptions
    label: str
    answer: Future[str]
    overtake_after_ms: int | None = None
    """Alignment timeout of its barriers (ms); None: unlimited."""
    checkpoint_id: int | None = None
    """None until it has been triggered."""
    published: bool = False
    """Set in the thread that writes it."""


class Savepoints:
    """All requests of one job. Methods are called in the master's thread, but for ``publish``."""

    def __init__(
        self, recovery: Recovery, background: Background, default_directory: str | None, overtake_after_ms: int | None = None
    ) -> None:
        self._overtake_after_ms = overtake_after_ms
        self._recovery = recovery
        self._background = background
        self._default = default_directory
        self._open: dict[str, SavepointRequest] = {}
        self._waiting: deque[SavepointRequest] = deque()
        self._current: SavepointRequest | None = None
        self._attempt: JobAttempt | None = None
        self._stopping = False

    @property
    def stopping(self) -> bool:
        """Return whether the job is being stopped with a savepoint."""
        return self._stopping

    def request(
        self, directory: str | None, *, stop: bool, drain: bool, label: str, overtake_after_ms: int | None = None
    ) -> Future[str]:
        """Request a savepoint; the answer is its path, with ``stop`` after the job has ended.

        Args:
            directory: Parent directory; None for the configured one.
            stop: End the job with it.
            drain: Process all input to its end first.
            label: Shown in lists of savepoints.
            overtake_after_ms: Alignment timeout of its barriers (ms), None for the configured one.
        """
        answer: Future[str] = Future()
        answer.set_running_or_notify_cancel()
        target = directory or self._default
        if target is None:
            answer.set_exception(
                ConfigurationError("no directory is given for the savepoint", hint="give one, or set execution.checkpointing.savepoint-dir")
            )
        elif self._stopping:
            answer.set_exception(CheckpointError("the job is being stopped with a savepoint already"))
        else:
            self._stopping = stop
            after_ms = self._overtake_after_ms if overtake_after_ms is None else overtake_after_ms
            # A drained job has processed all records when its barriers arrive.
            self._prepare(target, stop, drain, label, None if drain else after_ms, answer)
        return answer

    def _prepare(self, target: str, stop: bool, drain: bool, label: str, overtake_after_ms: int | None, answer: Future[str]) -> None:
        """Check that the directory is writable, before all tasks take their snapshots in vain."""
        path = f"{target.rstrip('/')}/savepoint-{self._recovery.job_id[:6]}-{uuid4().hex[:12]}"
        savepoint = Savepoint(path)
        request = self._open[savepoint.path] = SavepointRequest(
            SavepointOptions(savepoint.path, stop, drain), label, answer, overtake_after_ms
        )

        def prepared(_: None, error: BaseException | None) -> None:
            if answer.done():
                self._delete(request)
            elif error is not None:
                self._fail(request, CheckpointError(f"no savepoint can be written to {target}: {text_of(error)}"))
            elif self._attempt is None or self._attempt.ended:
                self._fail(request, CheckpointError("no savepoint can be taken while the job is not running", hint="try again later"))
            else:
                self._waiting.append(request)
                self.start_next()

        self._background.run(savepoint.prepare, prepared)

    # Events of the job

    def attempt_started(self, attempt: JobAttempt) -> None:
        """Handle the start of a new attempt."""
        self._attempt = attempt

    def start_next(self) -> None:
        """Trigger the oldest request, if it is possible now."""
        attempt = self._attempt
        while self._waiting and self._current is None and attempt is not None and attempt.can_trigger:
            request = self._current = self._waiting.popleft()
            request.checkpoint_id = attempt.coordinator.next_id
            attempt.trigger(savepoint=request.options, overtake_after_ms=request.overtake_after_ms)
            if self._current is request and attempt.coordinator.next_id == request.checkpoint_id:
                self._end_current(CheckpointError("no savepoint can be taken: all tasks of the job have finished"))

    def completed(self, checkpoint_id: int) -> str | None:
        """Handle a complete checkpoint: return its path if it is the requested savepoint."""
        request = self._current
        if request is None or request.checkpoint_id != checkpoint_id:
            return None
        if not request.options.stop:
            self._current = None
            self._answer(request, None)
        return request.options.directory

    def aborted(self, checkpoint_id: int, reason: str, attempt: JobAttempt | None, late: Set[TaskKey]) -> bool:
        """Handle an expired checkpoint: return whether it was a savepoint."""
        if self._current is None or self._current.checkpoint_id != checkpoint_id:
            return False
        goes_on = "the job restarts, as its sources were drained already" if self._current.options.drain else "the job runs on"
        hint = None
        if late and self._current.overtake_after_ms is None and not self._current.options.drain:
            command = "wiesel stop" if self._current.options.stop else "wiesel savepoint trigger"
            hint = remedy(attempt, late, f"{command} {self._recovery.job_id[:8]}")
        self._end_current(CheckpointError(f"{self._told(reason)}; {goes_on}", hint=hint))
        return True

    def attempt_ended(self, error: BaseException | None) -> None:
        """Handle the end of an attempt, after which nothing can be triggered."""
        why = what_ended(error)
        if error is not None:
            published = self._current is not None and self._current.published
            self._end_current(CheckpointError(self._told(f"{why}; if the job is restarted, it goes on from there" if published else why)))
        while self._waiting:
            self._fail(self._waiting.popleft(), CheckpointError(f"no savepoint was taken: {why}"))

    def job_ended(self, error: BaseException | None) -> None:
        """Handle the end of the job, regular if there is no error: then the savepoint that stopped it is complete."""
        current, self._current = self._current, None
        if current is not None and error is None:
            self._answer(current, None)
        for request in list(self._open.values()):
            self._fail(request, CheckpointError(f"no savepoint was taken: {what_ended(error)}"))

    def _told(self, why: str) -> str:
        request = self._current
        if request is not None and request.published:
            return f"the savepoint is complete at {request.options.directory}, but {why}"
        return f"the savepoint failed: {why}"

    def _end_current(self, error: CheckpointError) -> None:
        request, self._current = self._current, None
        if request is not None:
            self._fail(request, error)

    def _fail(self, request: SavepointRequest, error: CheckpointError) -> None:
        if request.options.stop:
            self._stopping = False
        self._answer(request, error)
        self._delete(request)

    def _answer(self, request: SavepointRequest, error: CheckpointError | None) -> None:
        self._open.pop(request.options.directory, None)
        if error is None:
            request.answer.set_result(request.options.directory)
        else:
            request.answer.set_exception(error)

    def _delete(self, request: SavepointRequest) -> None:
        """Delete the partial savepoint, unless it has been published meanwhile: then the job may be restored from it."""
        savepoint = Savepoint(request.options.directory)
        self._background.run(lambda: None if request.published else savepoint.delete(), lambda _, __: None)

    # Elsewhere

    def publish(self, checkpoint: Checkpoint, options: SavepointOptions) -> None:
        """Complete the savepoint.

        Raises:
            FencedError: a newer attempt has begun.
            CheckpointStorageError: the storage failed.
        """
        self._recovery.check_fence(checkpoint.attempt)
        request = self._open.get(options.directory)
        if request is None:
            raise CheckpointError("nobody waits for this savepoint any more")
        for operator in without_uid(self._recovery.job, checkpoint):
            _log.warning("%s has state and no uid: a changed program may not find its state in the savepoint", operator)
        savepoint = Savepoint(options.directory)
        facts = self._facts(request, in_flight=holds_in_flight(checkpoint))
        savepoint.publish(checkpoint, facts, self._recovery.files, self._recovery.snapshot_key)
        # It is retained from here on: if writing the job's checkpoint fails, it may reference the files.
        request.published = True
        if options.stop:
            self._recovery.publish(savepoint.load_metadata()[0])

    def _facts(self, request: SavepointRequest, *, in_flight: bool) -> dict[str, Any]:
        options = request.options
        about = {"label": request.label, "stopped": options.stop, "drained": options.drain}
        if in_flight:
            about["unaligned"] = True
            _log.warning(
                "the savepoint at %s is unaligned: it has records in flight, and only starts programs with the same "
                "operators and connections there",
                options.directory,
            )
        return {**self._recovery.facts, "savepoint": about}
