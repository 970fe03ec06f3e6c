"""Committers of two-phase sinks, and the requests that they answer."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, NoReturn, TypeVar

from wiesel.core.errors import UnknownOutcomeError
from wiesel.core.logs import get_logger

__all__ = ["CommitOutcome", "CommitRequest", "Committer"]

CommT = TypeVar("CommT")
_log = get_logger("wiesel.sink")


class CommitOutcome(enum.Enum):
    """The outcome of a request in the present call of ``commit``."""

    COMMITTED = "committed"
    ALREADY_COMMITTED = "already committed"
    RETRY = "retry"
    FAILED = "failed"


class CommitRequest(Generic[CommT]):
    """A request to commit one committable. One that gets no signal until ``commit`` returns is committed.

    Args:
        committable: What is to be committed.
        checkpoint_id: The checkpoint that it was prepared for.
        number_of_retries: How often it has been tried again.
    """

    __slots__ = ("_checkpoint_id", "_committable", "_number_of_retries", "_outcome")

    def __init__(self, committable: CommT, checkpoint_id: int = 0, number_of_retries: int = 0) -> None:
        self._committable = committable
        self._checkpoint_id = checkpoint_id
        self._number_of_retries = number_of_retries
        self._outcome = CommitOutcome.COMMITTED

    @property
    def committable(self) -> CommT:
        """Return what is to be committed."""
        return self._committable

    @property
    def checkpoint_id(self) -> int:
        """Return the checkpoint that the committable was prepared for."""
        return self._checkpoint_id

    @property
    def number_of_retries(self) -> int:
        """Return how often the request has been tried again since the job was started or restarted."""
        return self._number_of_retries

    @property
    def outcome(self) -> CommitOutcome:
        """Return what has been signalled; COMMITTED if nothing has."""
        return self._outcome

    def retry_later(self) -> None:
        """Signal a temporary failure: the request comes again after a back-off, until ``sink.committer.retries`` are used up."""
        self._outcome = CommitOutcome.RETRY
        self._number_of_retries += 1

    def update_and_retry_later(self, committable: CommT) -> None:
        """Signal that a part has been committed: the request comes again with ``committable``, which is what is left."""
        self._committable = committable
        self.retry_later()

    def signal_already_committed(self) -> None:
        """Signal that an earlier attempt has committed it: nothing was done."""
        self._outcome = CommitOutcome.ALREADY_COMMITTED

    def signal_failed_with_known_reason(self, error: BaseException) -> None:
        """Signal that it can never be committed: the error is logged, the committable is given up, and the job goes on."""
        self._outcome = CommitOutcome.FAILED
        _log.error("%r cannot be committed, and is given up: %s: %s", self._committable, type(error).__name__, error)

    def signal_failed_with_unknown_reason(self, error: BaseException) -> NoReturn:
        """Fail the job, which restarts from its newest checkpoint and commits again.

        Raises:
            UnknownOutcomeError: Always; let it pass.
        """
        self._outcome = CommitOutcome.FAILED
        raise UnknownOutcomeError(f"{self._committable!r} could not be committed: {type(error).__name__}: {error}") from error

    def __repr__(self) -> str:
        return f"CommitRequest({self._committable!r})"

    def __iter__(self) -> NoReturn:
        raise TypeError("a CommitRequest cannot be iterated: what is to be committed is request.committable")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a CommitRequest has no attribute {name!r}: what is to be committed is request.committable")


class Committer(ABC, Generic[CommT]):
    """Makes committables visible. Runs in the JobMaster's process, in a thread of the sink's own, one call at a time.

    Attributes:
        combines_checkpoints: Whether ``commit`` takes the requests of several checkpoints in one call, in the order of the checkpoints,
            where commits take longer than checkpoints. By default it gets those of one checkpoint, and those of the next one when all of
            them are committed, as in Flink. A committer whose calls cost about the same whatever their size should combine them.
    """

    combines_checkpoints: ClassVar[bool] = False

    @abstractmethod
    def commit(self, requests: Sequence[CommitRequest[CommT]]) -> None:
        """Commit all, in order; signal on a request what became of it if it was not committed.

        Must be idempotent: after a recovery the same committables come again, also those that were committed. An exception fails the
        job, which restarts and commits again; for what may go well soon use ``retry_later``.
        """

    def close(self) -> None:
        """Release resources. Called once, behind the last call of ``commit``."""
