"""Internal. The checkpoint coordinator: pure decision logic without I/O or threads.

Events are passed to the ``on_...`` methods, which return actions; the JobMaster executes them in order. The protocol:

    Step 1. Trigger: enumerators are snapshotted, all source tasks are triggered (``TriggerSources``).
    Step 2. Every task acknowledges when its state is durable; for finished tasks their last state is used.
    Step 3. ``Publish``: the JobMaster writes ``chk-n/_metadata`` by an atomic conditional create.
    Step 4. Published: ``Completed`` (tasks are notified, sinks begin to commit), older checkpoints are subsumed (``Discard``).

A crash before step 3 is complete leaves no valid checkpoint. A crash after it repeats step 4 at the restore. The next checkpoint does not
wait for the commits: committables that are not known to be committed when it is published are part of it as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from wiesel.checkpoint.committables import Committables, Uncommitted, committables_by_operator, with_uncommitted, without_handed_over
from wiesel.checkpoint.messages import AckCheckpoint, DeclineCheckpoint, TaskFinished, TaskKey
from wiesel.checkpoint.snapshot import TaskSnapshot
from wiesel.wire.events import SavepointOptions


@dataclass(frozen=True)
class CheckpointSettings:
    """Times in ms; ``interval_ms`` None means no periodic checkpoints.

    ``overtake_after_ms``: time after which an incomplete checkpoint becomes unaligned, None for never.
    """

    interval_ms: int | None = None
    timeout_ms: int = 600_000
    min_pause_ms: int = 0
    tolerable_failures: int = 0
    num_retained: int = 1
    overtake_after_ms: int | None = None


@dataclass(frozen=True)
class Checkpoint:
    """A complete checkpoint."""

    checkpoint_id: int
    attempt: int
    timestamp_ms: int
    tasks: dict[TaskKey, TaskSnapshot]
    enumerators: dict[str, Any]
    finished: frozenset[TaskKey] = frozenset()
    savepoint: bool = False
    final: bool = False


@dataclass(frozen=True)
class TriggerSources:
    """Trigger checkpoint ``checkpoint_id`` in these tasks."""

    checkpoint_id: int
    timestamp_ms: int
    tasks: tuple[TaskKey, ...]
    savepoint: SavepointOptions | None = None


@dataclass(frozen=True)
class Overtake:
    """Let these tasks take part in the checkpoint without waiting for its barriers."""

    checkpoint_id: int
    timestamp_ms: int
    tasks: tuple[TaskKey, ...]
    savepoint: SavepointOptions | None = None


@dataclass(frozen=True)
class Publish:
    """Write the metadata; answer with ``on_published`` or ``on_publish_failed``."""

    checkpoint: Checkpoint
    savepoint: SavepointOptions | None = None


@dataclass(frozen=True)
class Completed:
    """Notify the tasks, commit the sinks' committables: those that earlier checkpoints have not handed over, by operator id.

    Except for a savepoint after which the job runs on: a failure restores the checkpoint before it, so results covered by the savepoint
    only must not become visible. Sinks include them again in the next checkpoint.
    """

    checkpoint: Checkpoint
    duration_ms: int
    savepoint: SavepointOptions | None = None
    committables: Mapping[str, Committables] = field(default_factory=dict)

    @property
    def commits(self) -> bool:
        """Return True if sinks commit."""
        return self.savepoint is None or self.savepoint.stop


@dataclass(frozen=True)
class Aborted:
    """The checkpoint was aborted; notify the tasks. ``late``: the tasks that exceeded its timeout."""

    checkpoint_id: int
    reason: str
    late: frozenset[TaskKey] = frozenset()


@dataclass(frozen=True)
class Discard:
    """The checkpoint is subsumed: delete its metadata, then the files that are not referenced by ``keep``."""

    checkpoint: Checkpoint
    keep: tuple[Checkpoint, ...]


@dataclass(frozen=True)
class FailJob:
    """Fail the job: too many checkpoints failed in a row, or one to drain the job with."""

    reason: str
    hint: str | None = None


Action: TypeAlias = TriggerSources | Overtake | Publish | Completed | Aborted | Discard | FailJob


class UnderWay(NamedTuple):
    """A pending checkpoint: the time of its trigger, and the tasks that have not taken part yet.

    ``overtakes``: the checkpoint is unaligned.
    """

    checkpoint_id: int
    timestamp_ms: int
    waiting: frozenset[TaskKey]
    overtakes: bool = False


@dataclass
class _Pending:
    checkpoint_id: int
    timestamp_ms: int
    enumerators: dict[str, Any]
    savepoint: SavepointOptions | None
    final: bool
    waiting: set[TaskKey]
    acked: dict[TaskKey, TaskSnapshot] = field(default_factory=dict)
    published: Checkpoint | None = None
    """The checkpoint that is being published."""
    committables: dict[str, Committables] = field(default_factory=dict)
    """The committables that it hands over, by operator id."""
    triggered: set[TaskKey] = field(default_factory=set)
    overtake_ms: int | None = None
    overtaken: bool = False

    @property
    def publishing(self) -> bool:
        return self.published is not None


_NAMED = 4
"""Maximal number of tasks named in the message about missing acknowledgements."""


class CheckpointCoordinator:
    """Checkpoints of one attempt of one job."""

    def __init__(
        self,
        settings: CheckpointSettings,
        *,
        tasks: Iterable[TaskKey],
        sources: Iterable[TaskKey],
        attempt: int,
        next_id: int,
        retained: Iterable[Checkpoint] = (),
        now_ms: int = 0,
        upstream: Mapping[TaskKey, Set[TaskKey]] | None = None,
        name_of: Callable[[TaskKey], str] = str,
        uncommitted: Callable[[], Mapping[str, Uncommitted]] = dict,
    ) -> None:
        """Initialise the coordinator.

        Args:
            settings: Times and limits.
            tasks: All tasks of the job.
            sources: Tasks without input channels.
            attempt: Number of the attempt.
            next_id: Id of the first checkpoint.
            retained: Older existing checkpoints.
            now_ms: The present time.
            upstream: The tasks before each task. A running task is triggered like a source once all of these have finished.
            name_of: Returns the display name of a task.
            uncommitted: Returns by operator what was handed over to the committers and is not known to be committed.
        """
        self.settings = settings
        self._name_of = name_of
        self._tasks = set(tasks)
        self._sources = sorted(sources)
        self._upstream = dict(upstream or {})
        self._attempt = attempt
        self._next_id = next_id
        self._retained = list(retained)
        self._uncommitted = uncommitted
        self._handed_over = self._retained[-1].checkpoint_id if self._retained else 0
        """The newest checkpoint whose committables are the committers'."""
        self._finished: dict[TaskKey, TaskSnapshot] = {}
        self._missing: dict[TaskKey, str] = {}
        self._pending: _Pending | None = None
        self._failures = 0
        self._next_trigger_ms = None if settings.interval_ms is None else now_ms + settings.interval_ms
        self._reported_final: set[TaskKey] = set()

    # State for the JobMaster

    @property
    def pending_id(self) -> int | None:
        """Return the id of the pending checkpoint, or None."""
        return self._pending.checkpoint_id if self._pending else None

    @property
    def all_finished(self) -> bool:
        """Return whether every task has finished."""
        return len(self._finished) == len(self._tasks)

    @property
    def next_id(self) -> int:
        """Return the id of the checkpoint that will be triggered next."""
        return self._next_id

    @property
    def ends_job(self) -> bool:
        """Return whether the pending checkpoint is the job's last one, or the savepoint to stop it with."""
        pending = self._pending
        return pending is not None and (pending.final or (pending.savepoint is not None and pending.savepoint.stop))

    @property
    def retained(self) -> tuple[Checkpoint, ...]:
        """Return the retained checkpoints, oldest first."""
        return tuple(self._retained)

    @property
    def latest(self) -> Checkpoint | None:
        """Return the newest checkpoint that a failure restores, or None."""
        return self._retained[-1] if self._retained else None

    def trigger_due(self, now_ms: int) -> bool:
        """Return whether a periodic checkpoint should be triggered now."""
        return (
            self._next_trigger_ms is not None
            and self._pending is None
            and now_ms >= self._next_trigger_ms
            and not self.all_finished
        )

    @property
    def under_way(self) -> UnderWay | None:
        """Return the checkpoint that has been triggered and is neither complete nor aborted."""
        pending = self._pending
        if pending is None:
            return None
        return UnderWay(pending.checkpoint_id, pending.timestamp_ms, frozenset(pending.waiting), pending.overtaken)

    def next_deadline_ms(self) -> int | None:
        """Return the time (ms) when ``on_time`` or ``trigger`` is due next, or None."""
        if self._pending is not None:
            if self._pending.publishing:
                return None
            expires_ms = self._pending.timestamp_ms + self.settings.timeout_ms
            return expires_ms if self._pending.overtake_ms is None else min(expires_ms, self._pending.overtake_ms)
        return self._next_trigger_ms

    # Events

    def trigger(
        self,
        now_ms: int,
        enumerators: dict[str, Any],
        *,
        savepoint: SavepointOptions | None = None,
        overtake_after_ms: int | None = None,
    ) -> list[Action]:
        """Step 1. No effect while a checkpoint is pending.

        Args:
            now_ms: The present time.
            enumerators: Their state at this moment.
            savepoint: Kind of the savepoint; None for a checkpoint.
            overtake_after_ms: Time after which the savepoint becomes unaligned, None for never.
        """
        if self._pending is not None or self.all_finished:
            return []
        running = self._tasks - self._finished.keys()
        pending = self._start(now_ms, enumerators, running, savepoint=savepoint, final=False)
        if self._missing:
            return self._abort(_state_is_missing(*next(iter(self._missing.items()))))
        if savepoint is None:
            overtake_after_ms = self.settings.overtake_after_ms
        if overtake_after_ms is not None:
            pending.overtake_ms = now_ms + overtake_after_ms
        return [self._trigger_roots(pending), *self._overtake(now_ms), *self._publish_if_complete()]

    def _overtake(self, now_ms: int) -> list[Action]:
        """Switch to unaligned, as the alignment timeout has passed."""
        pending = self._pending
        if pending is None or pending.overtake_ms is None or now_ms < pending.overtake_ms or pending.publishing:
            return []
        pending.overtake_ms = None
        tasks = tuple(sorted(pending.waiting.difference(self._sources)))
        pending.overtaken = bool(tasks)
        return [Overtake(pending.checkpoint_id, pending.timestamp_ms, tasks, pending.savepoint)] if tasks else []

    def _trigger_roots(self, pending: _Pending) -> TriggerSources:
        """Trigger the tasks that no barrier will reach: sources, and tasks whose inputs have all finished."""
        finished = self._finished.keys()
        roots = {s for s in self._sources if s not in finished}
        roots |= {task for task in pending.waiting if (before := self._upstream.get(task)) and before <= finished}
        roots -= pending.triggered
        pending.triggered |= roots
        return TriggerSources(pending.checkpoint_id, pending.timestamp_ms, tuple(sorted(roots)), pending.savepoint)

    def _start(
        self,
        now_ms: int,
        enumerators: dict[str, Any],
        waiting: set[TaskKey],
        *,
        savepoint: SavepointOptions | None = None,
        final: bool,
    ) -> _Pending:
        pending = _Pending(self._next_id, now_ms, enumerators, savepoint, final, set(waiting))
        self._next_id += 1
        if self.settings.interval_ms is not None:
            self._next_trigger_ms = now_ms + self.settings.interval_ms
        self._pending = pending
        return pending

    def on_ack(self, message: AckCheckpoint) -> list[Action]:
        """Step 2. Ignore acknowledgements of other checkpoints (late ones, older attempts)."""
        pending = self._pending
        if pending is None or message.checkpoint_id != pending.checkpoint_id or message.task not in pending.waiting:
            return []
        pending.waiting.discard(message.task)
        pending.acked[message.task] = message.snapshot
        return self._publish_if_complete()

    def on_task_finished(self, message: TaskFinished) -> list[Action]:
        """Use the last state of a finished task for all later checkpoints, and for the pending one if the task has not taken part in it.

        If it has, its last state includes records behind the barrier, and only its acknowledgement is valid, which is late or lost.
        """
        if message.task in self._finished:
            return []
        self._finished[message.task] = message.snapshot
        if message.missing:
            self._missing[message.task] = message.missing
        pending = self._pending
        if pending is not None and message.task in pending.waiting and message.epoch < pending.checkpoint_id:
            if message.missing:
                return self._abort(_state_is_missing(message.task, message.missing))
            pending.waiting.discard(message.task)
        return self._trigger_what_goes_on() + self._publish_if_complete()

    def _trigger_what_goes_on(self) -> list[Action]:
        """Trigger tasks whose inputs have all finished without having seen the barrier of the pending checkpoint."""
        if self._pending is None or self._pending.publishing:
            return []
        trigger = self._trigger_roots(self._pending)
        return [trigger] if trigger.tasks else []

    def on_decline(self, message: DeclineCheckpoint) -> list[Action]:
        """Abort the checkpoint, as a task cannot take part."""
        if self._pending is None or message.checkpoint_id != self._pending.checkpoint_id:
            return []
        return self._abort(f"declined by {self._name_of(message.task)}: {message.reason}")

    def on_time(self, now_ms: int) -> list[Action]:
        """Switch to unaligned when due, and abort a checkpoint that exceeds its timeout."""
        pending = self._pending
        if pending is None or pending.publishing:
            return []
        if now_ms < pending.timestamp_ms + self.settings.timeout_ms:
            return self._overtake(now_ms)
        named = [self._name_of(task) for task in sorted(pending.waiting)]
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        reason = f"expired after {self.settings.timeout_ms} ms; no acknowledgement from {', '.join(named[:_NAMED])}{more}"
        return self._abort(reason, frozenset(pending.waiting))

    def finish(self, now_ms: int, enumerators: dict[str, Any]) -> list[Action]:
        """Take the last checkpoint, as all tasks have finished; it commits the sinks. Call again until it has completed."""
        if not self.all_finished or self._pending is not None:
            return []
        self._start(now_ms, enumerators, set(), final=True)
        return self._publish_if_complete()

    def on_published(self, checkpoint_id: int, now_ms: int) -> list[Action]:
        """Step 4. The metadata is durable."""
        pending = self._pending
        if pending is None or pending.published is None or pending.checkpoint_id != checkpoint_id:
            return []
        checkpoint, self._pending = pending.published, None
        completed = Completed(checkpoint, now_ms - pending.timestamp_ms, pending.savepoint, pending.committables)
        actions: list[Action] = [completed]
        if completed.commits:
            self._handed_over = checkpoint_id
            self._reported_final |= checkpoint.finished
        if pending.savepoint is not None and pending.savepoint.stop:
            self._next_trigger_ms = None
        if not checkpoint.savepoint:
            self._failures = 0
            self._retained.append(checkpoint)
            while len(self._retained) > max(1, self.settings.num_retained):
                old = self._retained.pop(0)
                actions.append(Discard(old, tuple(self._retained)))
        if self._next_trigger_ms is not None:
            self._next_trigger_ms = max(self._next_trigger_ms, now_ms + self.settings.min_pause_ms)
        return actions

    def on_publish_failed(self, checkpoint_id: int, reason: str) -> list[Action]:
        """Abort the checkpoint, as the metadata could not be written."""
        if self._pending is None or self._pending.checkpoint_id != checkpoint_id:
            return []
        return self._abort(f"the metadata could not be written: {reason}")

    # Regions

    def region_failed(self, reason: str) -> list[Action]:
        """Abort the pending checkpoint, as tasks failed that are restarted while the others run on.

        The abort does not count as a failed checkpoint. A checkpoint that is being published is complete and continues.
        """
        if self._pending is None or self._pending.publishing:
            return []
        failures = self._failures
        actions = self._abort(reason)
        self._failures = failures
        return [action for action in actions if isinstance(action, Aborted)]

    def region_restarts(self, tasks: Iterable[TaskKey], attempt: int) -> None:
        """Discard the final state of these restarted tasks. Later checkpoints belong to ``attempt``."""
        for task in tasks:
            self._finished.pop(task, None)
            self._missing.pop(task, None)
            self._reported_final.discard(task)
        self._attempt = max(self._attempt, attempt)

    # Implementation

    def _publish_if_complete(self) -> list[Action]:
        pending = self._pending
        if pending is None or pending.waiting or pending.publishing:
            return []
        pending.published = self._checkpoint(pending)
        return [Publish(pending.published, pending.savepoint)]

    def _checkpoint(self, pending: _Pending) -> Checkpoint:
        # A task may have acknowledged and finished later: the acknowledgement belongs to this checkpoint.
        finished = frozenset(t for t in self._finished if t not in pending.acked)
        tasks = {task: without_handed_over(part, pending.checkpoint_id, self._handed_over) for task, part in pending.acked.items()}
        for task in finished:
            snapshot = without_handed_over(self._finished[task], pending.checkpoint_id, self._handed_over)
            # Committables of a finished task are handed over once: by the first checkpoint that completes after its end.
            tasks[task] = snapshot if task not in self._reported_final else _without_committables(snapshot)
        pending.committables = committables_by_operator(tasks, pending.checkpoint_id)
        tasks = with_uncommitted(tasks, pending.checkpoint_id, self._uncommitted())
        return Checkpoint(
            pending.checkpoint_id,
            self._attempt,
            pending.timestamp_ms,
            dict(sorted(tasks.items())),
            pending.enumerators,
            finished,
            pending.savepoint is not None,
            pending.final,
        )

    def _abort(self, reason: str, late: frozenset[TaskKey] = frozenset()) -> list[Action]:
        pending = self._pending
        if pending is None:
            return []
        self._pending = None
        actions: list[Action] = [Aborted(pending.checkpoint_id, reason, late)]
        if pending.savepoint is not None:
            if pending.savepoint.drain and pending.triggered:
                # Sources have ended their input and windows have fired: only a restart can continue the job.
                actions.append(FailJob(f"the savepoint to drain and stop the job with failed: {reason}"))
            return actions
        self._failures += 1
        if pending.final or self._failures > self.settings.tolerable_failures:
            hint = "raise execution.checkpointing.tolerable-failed-checkpoints to tolerate more failures"
            actions.append(FailJob(f"checkpoint {pending.checkpoint_id} failed: {reason}", hint))
        return actions


def _state_is_missing(task: TaskKey, reason: str) -> str:
    return f"task {task} has finished and its last state could not be stored: {reason}"


def _without_committables(snapshot: TaskSnapshot) -> TaskSnapshot:
    return TaskSnapshot({k: replace(v, committables=[]) for k, v in snapshot.operators.items()}, snapshot.stats)
