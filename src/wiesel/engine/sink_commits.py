"""Internal. The commits of an attempt: each sink's in a lane of its own, so that a slow one delays neither checkpoints nor other sinks.

The committables of a checkpoint are handed over when it is complete. Those of one sink are committed checkpoint by checkpoint; what is not
known to be committed goes into later checkpoints. The lane of a sink is the same in all attempts of the job: a commit of an earlier attempt
that still runs is never met by one of the next. Methods are called in the master's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol, TypeVar

from wiesel.checkpoint.committables import Committables, Uncommitted
from wiesel.checkpoint.messages import TaskKey
from wiesel.core.logs import get_logger
from wiesel.graph.job_graph import JobGraph
from wiesel.spi.sink import Committer

__all__ = ["CommitPort", "SinkCommits"]

T = TypeVar("T")
_log = get_logger("wiesel.job")


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

    def __init__(self, task: TaskKey, operator_id: str, committer: Committer, commits: SinkCommits) -> None:
        self.task = task
        self.committer = committer
        self.committables: Committables = {}
        """The committables that are not known to be committed."""
        self.running = False
        self._lane = f"commit-{operator_id}"
        self._commits = commits

    def add(self, committables: Committables) -> None:
        for checkpoint_id, values in committables.items():
            self.committables.setdefault(checkpoint_id, []).extend(values)
        self._go_on()

    def _go_on(self) -> None:
        commits = self._commits
        if self.running or commits.stopped or not self.committables:
            return
        self.running = True
        checkpoint_id = min(self.committables)
        committables = list(self.committables[checkpoint_id])

        def commit() -> None:
            # Whoever has replaced this attempt commits what it restores, this checkpoint or an older one.
            commits.port.check_fence(commits.attempt)
            self.committer.commit(committables)
            commits.port.reached("during-commit")

        def done(_: None, error: BaseException | None) -> None:
            self.running = False
            if commits.stopped:
                return
            if error is not None:
                commits.failed(error)
                return
            del self.committables[checkpoint_id]
            commits.port.reached("after-commit")
            self._go_on()
            commits.committed()

        commits.port.run_async(commit, done, self._lane)

    def close(self, closed: Callable[[], None]) -> None:
        def done(_: None, error: BaseException | None) -> None:
            if error is not None:
                _log.warning("a committer could not be closed: %s: %s", type(error).__name__, error)
            closed()

        self._commits.port.run_async(self.committer.close, done, self._lane)


class SinkCommits:
    """The commits of all sinks of one attempt.

    Args:
        job: The job.
        attempt: The number of the attempt, which must not have been replaced when a commit begins.
        port: The shell.
        failed: Called with what a committer has raised.
        committed: Called after each commit that succeeded.
    """

    def __init__(
        self, job: JobGraph, attempt: int, port: CommitPort, *, failed: Callable[[BaseException], None], committed: Callable[[], None]
    ) -> None:
        self.attempt = attempt
        self.port = port
        self.failed = failed
        self.committed = committed
        self.stopped = False
        self._closing = False
        self._sinks: dict[str, _SinkCommits] = {}
        for vertex in job.vertices:
            for operator in vertex.operators:
                committer = operator.node.operator.payload["sink"].create_committer() if operator.node.operator.kind == "sink" else None
                if committer is not None:
                    self._sinks[operator.operator_id] = _SinkCommits((vertex.index, 0), operator.operator_id, committer, self)

    def add(self, committables: Mapping[str, Committables]) -> bool:
        """Commit what a checkpoint has handed over, by operator id; return whether there is anything to commit."""
        of_sinks = {operator_id: of_sink for operator_id, of_sink in committables.items() if operator_id in self._sinks}
        for operator_id, of_sink in of_sinks.items():
            self._sinks[operator_id].add(of_sink)
        return bool(of_sinks)

    def uncommitted(self) -> dict[str, Uncommitted]:
        """Return what was handed over and is not known to be committed, by operator id."""
        return {
            operator_id: Uncommitted(sink.task, {n: list(values) for n, values in sink.committables.items()})
            for operator_id, sink in self._sinks.items()
            if sink.committables
        }

    @property
    def all_committed(self) -> bool:
        """Return whether all that was handed over is committed."""
        return not any(sink.committables for sink in self._sinks.values())

    @property
    def running(self) -> bool:
        """Return whether a commit is under way."""
        return any(sink.running for sink in self._sinks.values())

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
