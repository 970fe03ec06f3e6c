"""Internal. The commits of an attempt: each sink's in a lane of its own, so that a slow one delays neither checkpoints nor other sinks.

The committables of a checkpoint are handed over when it is complete. Those of one sink are committed checkpoint by checkpoint; what is not
known to be committed goes into later checkpoints. The lane of a sink is the same in all attempts of the job: a commit of an earlier attempt
that still runs is never met by one of the next. Requests that are to be retried come again after a back-off, before those of later
checkpoints. Methods are called in the master's thread.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

from wiesel.checkpoint.committables import Committables, Uncommitted
from wiesel.checkpoint.messages import TaskKey
from wiesel.core.clock import Clock
from wiesel.core.errors import ConnectorError, ProgramError, WieselError
from wiesel.core.logs import get_logger
from wiesel.graph.job_graph import ChainedOperator, JobGraph
from wiesel.runtime.user_code import locate
from wiesel.spi.sink import CommitRequest, Committer
from wiesel.spi.sink.committer import CommitOutcome

__all__ = ["CommitPort", "CommitSettings", "SinkCommits"]

T = TypeVar("T")
_log = get_logger("wiesel.job")
_WARN_AT = 10
"""The number of checkpoints that may wait for the commits of a sink without a warning."""


@dataclass(frozen=True)
class CommitSettings:
    """Number of retries of a request, and the back-off before them in ms: twice as long each time, from the first to the longest."""

    retries: int = 10
    first_backoff_ms: int = 100
    longest_backoff_ms: int = 10_000

    def backoff_ms(self, retry: int) -> int:
        """Return how long to wait before a retry, counted from 1."""
        return int(min(self.longest_backoff_ms, self.first_backoff_ms * 2 ** min(retry - 1, 30)))


class CommitPort(Protocol):
    """Services of the JobMaster for commits."""

    def run_async(self, work: Callable[[], T], done: Callable[[T | None, BaseException | None], None], lane: str) -> None:
        """Run ``work`` elsewhere, in the order of the calls of its lane; then ``done`` in the master's thread."""
        ...

    def check_fence(self, attempt: int) -> None:
        """Raise if a newer attempt has begun, here or in another process. Called elsewhere."""
        ...

    def reached(self, point: str) -> None:
        """A named point of the protocol is reached (fault injection)."""
        ...


class _SinkCommits:
    """The commits of one sink."""

    def __init__(self, task: TaskKey, operator: ChainedOperator, committer: Committer[Any], commits: SinkCommits) -> None:
        self.task = task
        self.committer = committer
        self.requests: list[CommitRequest[Any]] = []
        """The requests that are not known to be committed, in the order of the checkpoints."""
        self.running = False
        self.due_ms: int | None = None
        """The time of the next retry in ms, None if none is due."""
        self._name = f"sink {operator.node.name!r}" + (f" (made at {operator.node.user_location})" if operator.node.user_location else "")
        self._lane = f"commit-{operator.operator_id}"
        self._commits = commits
        self._warn_at = _WARN_AT

    def add(self, committables: Committables) -> None:
        self.requests += [CommitRequest(each, checkpoint_id) for checkpoint_id, values in committables.items() for each in values]
        waiting = len({request.checkpoint_id for request in self.requests})
        if waiting > self._warn_at:
            self._warn_at = 2 * waiting
            _log.warning(
                "%s commits more slowly than checkpoints are completed, and %d wait for it; lengthen execution.checkpointing.interval, or "
                "let its committer combine checkpoints",
                self._name,
                waiting,
            )
        self.go_on()

    def uncommitted(self) -> Committables:
        found: Committables = {}
        for request in self.requests:
            found.setdefault(request.checkpoint_id, []).append(request.committable)
        return found

    def go_on(self) -> None:
        """Begin the next commit if there is something to commit and it is time."""
        commits = self._commits
        if self.running or commits.stopped or not self.requests or self.due_ms is not None:
            return
        self.running = True
        oldest = self.requests[0].checkpoint_id
        requests = [r for r in self.requests if r.checkpoint_id == oldest or self.committer.combines_checkpoints]

        def commit() -> None:
            # Whoever has replaced this attempt commits what it restores, this checkpoint or an older one.
            commits.port.check_fence(commits.attempt)
            self.committer.commit(tuple(requests))
            commits.port.reached("during-commit")

        def done(_: None, error: BaseException | None) -> None:
            self.running = False
            if commits.stopped:
                return
            if error is not None:
                if isinstance(error, WieselError):
                    locate(error, self._name)
                commits.failed(error)
                return
            self._ended(requests)

        commits.port.run_async(commit, done, self._lane)

    def _ended(self, requests: Sequence[CommitRequest[Any]]) -> None:
        commits = self._commits
        left = [
            CommitRequest(request.committable, request.checkpoint_id, request.number_of_retries)
            for request in requests
            if request.outcome is CommitOutcome.RETRY
        ]
        self.requests[: len(requests)] = left
        if left:
            self._retry(max(request.number_of_retries for request in left), len(left))
            return
        commits.port.reached("after-commit")
        self.go_on()
        commits.committed()

    def _retry(self, retry: int, count: int) -> None:
        commits = self._commits
        if retry > commits.settings.retries:
            error = ConnectorError(
                f"{count} committables could not be committed after {commits.settings.retries} retries: {self.requests[0]}",
                hint="see what the committer has logged; sink.committer.retries is how often it is tried",
            )
            locate(error, self._name)
            commits.failed(error)
            return
        backoff_ms = commits.settings.backoff_ms(retry)
        _log.info("%s: %d committables are tried again in %d ms (retry %d)", self._name, count, backoff_ms, retry)
        self.due_ms = commits.clock.now_ms() + backoff_ms

    def close(self, closed: Callable[[], None]) -> None:
        def done(_: None, error: BaseException | None) -> None:
            if error is not None:
                _log.warning("the committer of %s could not be closed: %s: %s", self._name, type(error).__name__, error)
            closed()

        self._commits.port.run_async(self.committer.close, done, self._lane)


def _check_contract(committer: Committer[Any]) -> None:
    """Refuse a committer that was written for an older version, which handed over the committables themselves.

    Raises:
        ProgramError: Its ``commit`` takes ``committables``, and says nothing of requests.
    """
    first = next(iter(inspect.signature(committer.commit).parameters.values()), None)
    if first is not None and first.name == "committables" and "CommitRequest" not in str(first.annotation):
        raise ProgramError(
            f"{type(committer).__qualname__}.commit takes committables, and is called with requests to commit them",
            hint="name the parameter requests, and use request.committable of each: see wiesel.spi.sink.CommitRequest",
        )


class SinkCommits:
    """The commits of all sinks of one attempt.

    Args:
        job: The job.
        attempt: The number of the attempt, which must not have been replaced when a commit begins.
        port: The shell.
        clock: The time.
        settings: Of retries.
        failed: Called with what a committer has raised.
        committed: Called after each commit that succeeded.

    Raises:
        ProgramError: A committer follows the contract of an older version.
    """

    def __init__(
        self,
        job: JobGraph,
        attempt: int,
        port: CommitPort,
        clock: Clock,
        settings: CommitSettings,
        *,
        failed: Callable[[BaseException], None],
        committed: Callable[[], None],
    ) -> None:
        self.attempt = attempt
        self.port = port
        self.clock = clock
        self.settings = settings
        self.failed = failed
        self.committed = committed
        self.stopped = False
        self._closing = False
        self._sinks: dict[str, _SinkCommits] = {}
        for vertex in job.vertices:
            for operator in vertex.operators:
                committer = operator.node.operator.payload["sink"].create_committer() if operator.node.operator.kind == "sink" else None
                if committer is not None:
                    _check_contract(committer)
                    self._sinks[operator.operator_id] = _SinkCommits((vertex.index, 0), operator, committer, self)

    def add(self, committables: Mapping[str, Committables]) -> bool:
        """Commit what a checkpoint has handed over, by operator id; return whether there is anything to commit."""
        of_sinks = {operator_id: of_sink for operator_id, of_sink in committables.items() if operator_id in self._sinks}
        for operator_id, of_sink in of_sinks.items():
            self._sinks[operator_id].add(of_sink)
        return bool(of_sinks)

    def uncommitted(self) -> dict[str, Uncommitted]:
        """Return what was handed over and is not known to be committed, by operator id."""
        return {operator_id: Uncommitted(sink.task, sink.uncommitted()) for operator_id, sink in self._sinks.items() if sink.requests}

    @property
    def all_committed(self) -> bool:
        """Return whether all that was handed over is committed."""
        return not any(sink.requests for sink in self._sinks.values())

    @property
    def running(self) -> bool:
        """Return whether a commit is under way."""
        return any(sink.running for sink in self._sinks.values())

    @property
    def due_ms(self) -> int | None:
        """Return when ``on_time`` has to be called next (ms), or None."""
        return None if self.stopped else min((sink.due_ms for sink in self._sinks.values() if sink.due_ms is not None), default=None)

    def on_time(self, now_ms: int) -> None:
        """Try requests again whose back-off is over."""
        for sink in self._sinks.values():
            if sink.due_ms is not None and now_ms >= sink.due_ms:
                sink.due_ms = None
                sink.go_on()

    def stop(self) -> None:
        """Begin no more commits: what is not committed by now is in the newest checkpoint, and is committed at its restore."""
        self.stopped = True

    def close(self, closed: Callable[[], None] = lambda: None) -> None:
        """Stop, and close the committers once, each behind its commit under way; ``closed`` is called when that is done."""
        self.stop()
        if self._closing:
            return
        self._closing = True
        open_sinks = set(self._sinks)

        def one_closed(operator_id: str) -> None:
            open_sinks.discard(operator_id)
            if not open_sinks:
                closed()

        if not self._sinks:
            closed()
        for operator_id, sink in self._sinks.items():
            sink.close(partial(one_closed, operator_id))
