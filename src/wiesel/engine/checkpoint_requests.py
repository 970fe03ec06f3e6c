"""Internal. Checkpoints, not savepoints, that users ask a running job for beside the periodic ones."""

from __future__ import annotations

from concurrent.futures import Future

from wiesel.core.errors import CheckpointError, JobCancelledError, WieselError
from wiesel.engine.job_attempt import AttemptState, JobAttempt


def what_ended(error: BaseException | None) -> str:
    """Return in words how an attempt ended, for those who have asked for what it cannot give any more."""
    if error is None:
        return "the job has finished"
    if isinstance(error, JobCancelledError):
        return error.message
    return f"the job failed: {text_of(error)}"


def text_of(error: BaseException) -> str:
    """Return what an error says; one that is not Wiesel's with its class."""
    return error.message if isinstance(error, WieselError) else f"{type(error).__name__}: {error}"


class CheckpointRequests:
    """Those who wait for a checkpoint. One that is taken anyway after they have asked serves them as well."""

    def __init__(self) -> None:
        self._attempt: JobAttempt | None = None
        self._waiting: list[tuple[int, Future[int]]] = []

    def attempt_started(self, attempt: JobAttempt) -> None:
        """A new attempt begins."""
        self._attempt = attempt

    def request(self) -> Future[int]:
        """Ask for a checkpoint; the answer is its number, when it is complete."""
        answer: Future[int] = Future()
        answer.set_running_or_notify_cancel()
        attempt = self._attempt
        if attempt is None or attempt.ended:
            answer.set_exception(CheckpointError("no checkpoint can be taken while the job does not run", hint="try again later"))
        else:
            # The one that may be under way began before it was asked for.
            self._waiting.append((attempt.coordinator.next_id, answer))
            self.start_next()
        return answer

    def start_next(self) -> None:
        """Trigger a checkpoint if somebody waits and it is possible now."""
        attempt = self._attempt
        if not self._waiting or attempt is None or attempt.state is not AttemptState.RUNNING:
            return
        if attempt.coordinator.pending_id is None:
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
        """A checkpoint was given up."""
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
