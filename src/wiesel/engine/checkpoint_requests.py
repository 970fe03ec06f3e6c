"""Internal. Checkpoints requested by users, in addition to the periodic ones."""

from __future__ import annotations

from concurrent.futures import Future

from wiesel.core.errors import CheckpointError, JobCancelledError, WieselError
from wiesel.engine.job_attempt import JobAttempt


def what_ended(error: BaseException | None) -> str:
    """Return in words how an attempt ended, for unanswered requests."""
    if error is None:
        return "the job has finished"
    if isinstance(error, JobCancelledError):
        return error.message
    return f"the job failed: {text_of(error)}"


def text_of(error: BaseException) -> str:
    """Return the message of an error; with its class unless it is Wiesel's."""
    return error.message if isinstance(error, WieselError) else f"{type(error).__name__}: {error}"


class CheckpointRequests:
    """Pending requests for a checkpoint. A periodic one triggered after a request satisfies it as well."""

    def __init__(self) -> None:
        self._attempt: JobAttempt | None = None
        self._waiting: list[tuple[int, Future[int]]] = []

    def attempt_started(self, attempt: JobAttempt) -> None:
        """Handle the start of a new attempt."""
        self._attempt = attempt

    def request(self) -> Future[int]:
        """Request a checkpoint; the answer is its number, when it is complete."""
        answer: Future[int] = Future()
        answer.set_running_or_notify_cancel()
        attempt = self._attempt
        if attempt is None or attempt.ended:
            answer.set_exception(CheckpointError("no checkpoint can be taken while the job is not running", hint="try again later"))
        else:
            # A pending one may have begun before the request.
            self._waiting.append((attempt.coordinator.next_id, answer))
            self.start_next()
        return answer

    def start_next(self) -> None:
        """Trigger a checkpoint if there are requests and it is possible now."""
        attempt = self._attempt
        if self._waiting and attempt is not None and attempt.can_trigger:
            before = attempt.coordinator.next_id
            attempt.trigger()
            if attempt.coordinator.next_id == before:
                self._fail_all("all tasks of the job have finished")

    def completed(self, checkpoint_id: int) -> None:
        """A checkpoint is complete."""
        served = [answer for wanted, answer in self._waiting if wanted <= checkpoint_id]
        self._waiting = [(wanted, answer) for wanted, answer in self._waiting if wanted > checkpoint_id]
        for answer in served:
            answer.set_result(checkpoint_id)

    def aborted(self, checkpoint_id: int, reason: str) -> None:
        """Fail the requests of an aborted checkpoint."""
        failed = [answer for wanted, answer in self._waiting if wanted <= checkpoint_id]
        self._waiting = [(wanted, answer) for wanted, answer in self._waiting if wanted > checkpoint_id]
        for answer in failed:
            answer.set_exception(CheckpointError(f"checkpoint {checkpoint_id} failed: {reason}"))

    def attempt_ended(self, error: BaseException | None) -> None:
        """The attempt has failed or finished."""
        self._fail_all(what_ended(error))

    def _fail_all(self, why: str) -> None:
        waiting, self._waiting = self._waiting, []
        for _, answer in waiting:
            answer.set_exception(CheckpointError(f"no checkpoint was taken: {why}"))
