"""Internal. One attempt of a job as its JobMaster sees it: tasks, enumerators, checkpoints, commits, the end.

No threads and no sockets here: messages and the time come in, and what has to be done goes out through a :class:`MasterPort`. Both
engines drive the same class.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar

from wiesel.checkpoint.committables import committables_by_operator
from wiesel.checkpoint.coordinator import (
    Aborted,
    Action,
    Checkpoint,
    CheckpointCoordinator,
    CheckpointSettings,
    Completed,
    Discard,
    FailJob,
    Overtake,
    Publish,
    TriggerSources,
)
from wiesel.checkpoint.messages import (
    AckCheckpoint,
    CancelTask,
    CheckpointAborted,
    CheckpointComplete,
    DeclineCheckpoint,
    EventFromOperator,
    FromTask,
    Heartbeat,
    InputTaken,
    LimitOutput,
    OvertakeBarriers,
    RegisterTask,
    ReportProgress,
    RequestCheckpoint,
    RequestSplit,
    TaskFailed,
    TaskFinished,
    TaskKey,
    TaskProgress,
    ToDriver,
    ToTask,
    TriggerCheckpoint,
)
from wiesel.checkpoint.snapshot import TaskSnapshot
from wiesel.core.clock import Clock
from wiesel.core.errors import CheckpointError, FencedError, InvariantError, ProgramError
from wiesel.engine.failover import FailoverRegion, restarts_alone
from wiesel.engine.operator_coordinators import OperatorEventRouter
from wiesel.engine.reuse import Finished
from wiesel.engine.sink_commits import CommitSettings, SinkCommits
from wiesel.engine.source_coordinator import SourceCoordinator
from wiesel.engine.task_errors import is_about_another_task, process_ended, task_name
from wiesel.graph.job_graph import JobGraph, JobVertex
from wiesel.graph.stage_plan import StagePlan
from wiesel.runtime.alignment import ReportWatermark
from wiesel.wire.events import SavepointOptions

T = TypeVar("T")
CHECKPOINTS = "checkpoints"
"""The lane in which checkpoints are published, one after the other."""
CLEANING = "cleaning"
"""The lane in which subsumed checkpoints are deleted."""


class AttemptState(enum.Enum):
    """The state of an attempt."""

    DEPLOYING = "DEPLOYING"
    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    FAILED = "FAILED"


class MasterPort(Protocol):
    """Services of the shell for an attempt. All methods return immediately."""

    def send(self, task: TaskKey, message: ToTask) -> None:
        """Send a message to a task, in order."""
        ...

    def run_async(self, work: Callable[[], T], done: Callable[[T | None, BaseException | None], None], lane: str = CHECKPOINTS) -> None:
        """Run ``work`` elsewhere, in each lane one after the other in the order of the calls; then ``done`` in the master's thread."""
        ...

    def running(self) -> None:
        """All tasks of the attempt run."""
        ...

    def publish(self, checkpoint: Checkpoint, savepoint: SavepointOptions | None) -> None:
        """Write the metadata (called inside ``run_async``). Raises when it could not."""
        ...

    def check_fence(self, attempt: int) -> None:
        """Raise if a newer attempt has begun, here or in another process (called inside ``run_async``)."""
        ...

    def discard(self, checkpoint: Checkpoint, keep: Sequence[Checkpoint]) -> None:
        """Delete a subsumed checkpoint (called inside ``run_async``)."""
        ...

    def to_driver(self, message: ToDriver) -> None:
        """Records of a driver sink."""
        ...

    def checkpoint_completed(self, checkpoint: Checkpoint, duration_ms: int) -> None:
        """A checkpoint is published. Its commits may not have ended, see ``CheckpointCoordinator``."""
        ...

    def savepoint_completed(self, checkpoint: Checkpoint, duration_ms: int) -> None:
        """A savepoint is published, after which the job runs on."""
        ...

    def checkpoint_aborted(self, checkpoint_id: int, reason: str, late: frozenset[TaskKey]) -> None:
        """A checkpoint was given up; ``late`` are the tasks that its time was too short for."""
        ...

    def attempt_ended(self, error: BaseException | None) -> None:
        """The attempt has finished, or failed with ``error``."""
        ...

    def region_failed(self, region: FailoverRegion, error: BaseException) -> None:
        """A region has failed, and the attempt goes on without it until it is restarted."""
        ...

    def reached(self, point: str) -> None:
        """A named point of the protocol is reached (fault injection)."""
        ...


def _tasks_before(plan: StagePlan) -> dict[TaskKey, set[TaskKey]]:
    before: dict[TaskKey, set[TaskKey]] = {}
    for channel in plan.graph.channels:
        before.setdefault((channel.target.vertex, channel.target.index), set()).add((channel.source.vertex, channel.source.index))
    return before


class JobAttempt:
    """Coordinates the tasks of one attempt."""

    def __init__(
        self,
        plan: StagePlan,
        port: MasterPort,
        clock: Clock,
        *,
        number: int,
        regions: Sequence[FailoverRegion],
        settings: CheckpointSettings,
        commits: CommitSettings,
        restore: Checkpoint | None = None,
        retained: Sequence[Checkpoint] = (),
        next_checkpoint_id: int = 1,
        finished: Finished | None = None,
        restarted: bool = False,
    ) -> None:
        self.plan = plan
        self.port = port
        self.clock = clock
        self.number = number
        self.state = AttemptState.DEPLOYING
        self.pids: dict[TaskKey, int] = {}
        self.hosts: dict[TaskKey, str] = {}
        self.regions = regions
        self.metrics: dict[TaskKey, dict[str, Any]] = {} if finished is None else dict(finished.metrics)
        self.last_heard_s: dict[TaskKey, float] = {}
        self.progress: dict[TaskKey, TaskProgress] = {}
        """Last progress reports of the tasks."""
        self._job: JobGraph = plan.graph.job
        self._tasks: list[TaskKey] = [(s.vertex, s.index) for s in plan.graph.subtasks]
        self.finished = Finished() if finished is None else finished
        self._before = len(self.finished.messages)
        self._requested = False
        self._last: Checkpoint | None = None
        """The published checkpoint with which the job ends, as soon as all is committed."""
        self.region_of = {task: region for region in self.regions for task in region.tasks}
        self._restore = restore
        self._restored_id = restore.checkpoint_id if restore is not None else 0
        for region in self.regions:
            region.number, region.restored_id, region.first_lost = number, self._restored_id, None
        self._commits = SinkCommits(self._job, number, port, clock, commits, failed=self.fail, committed=self._end_if_committed)
        sources = [t for t in self._tasks if self._job.vertices[t[0]].is_source]
        self.coordinator = CheckpointCoordinator(
            settings,
            tasks=self._tasks,
            sources=sources,
            attempt=number,
            next_id=max(next_checkpoint_id, (restore.checkpoint_id if restore else 0) + 1),
            retained=retained or ([restore] if restore else []),
            now_ms=clock.now_ms(),
            upstream=_tasks_before(plan),
            name_of=self.name_of,
            uncommitted=self._commits.uncommitted,
        )
        for message in self.finished.messages.values():
            self.coordinator.on_task_finished(message)
        self._sources: dict[str, SourceCoordinator] = {}
        self._source_of: dict[int, str] = {}
        self._make_sources(self._job.vertices, restore, restarted=restarted)
        self._operator_events = OperatorEventRouter(self._job, port.send)

    def name_of(self, task: TaskKey) -> str:
        """Return what a task is called for users."""
        vertex = self._job.vertices[task[0]]
        return f"'{vertex.name}' ({task[1] + 1}/{vertex.parallelism})"

    def _make_sources(self, vertices: Iterable[JobVertex], restore: Checkpoint | None, *, restarted: bool) -> None:
        """Make the coordinators of sources. The program waits for the first enumerators, so it is the program that their errors reach."""
        states = restore.enumerators if restore is not None else {}
        for vertex in vertices:
            head = vertex.operators[0]
            if head.node.operator.kind != "source":
                continue
            number, fail = self.number_of((vertex.index, 0)), partial(self._fail_task, (vertex.index, 0))
            source = SourceCoordinator(vertex, number, states.get(head.operator_id), self.port, self.clock, fail)
            if restarted:
                source.create_async()
            else:
                source.create()
            self._sources[head.operator_id] = source
            self._source_of[vertex.index] = head.operator_id

    # Life

    def start(self) -> None:
        """Commit again what the restored checkpoint committed (it may not have got so far), and start the enumerators."""
        if self._restore is not None:
            self._commits.add(committables_by_operator(self._restore.tasks, self._restore.checkpoint_id))
        for source in self._sources.values():
            source.start()

    def fail(self, error: BaseException) -> None:
        """End the attempt with an error; later ones have no effect."""
        if self.state in (AttemptState.FAILED, AttemptState.FINISHED):
            return
        self.state = AttemptState.FAILED
        self._commits.stop()
        self.port.attempt_ended(error)

    # Regions

    def _has_failed(self, task: TaskKey) -> bool:
        """Return whether the region of a task has failed and is to be restarted."""
        region = self.region_of.get(task)
        return region is not None and region.failure is not None

    def _fail_task(self, task: TaskKey, error: BaseException) -> None:
        region = self.region_of.get(task)
        if region is None:
            self.fail(error)
        else:
            self.fail_region(region, error)

    def source_metrics(self) -> dict[str, dict[str, Any]]:
        """Return the metrics of the enumerators by the names of their sources. Any thread may ask."""
        return {source.name: source.metrics() for source in list(self._sources.values())}

    def fail_region(self, region: FailoverRegion, error: BaseException) -> None:
        """End a region's tasks with an error, or the attempt if that concerns it as a whole; later ones have no effect."""
        if self.ended or region.failure is not None:
            return
        error = self._first_cause(region, error)
        ending = self._last is not None or self.coordinator.ends_job or self.coordinator.all_finished
        if len(self.regions) == 1 or ending or not restarts_alone(region, error, self.number):
            self.fail(error)
            return
        region.failure = error
        self.state = AttemptState.DEPLOYING
        for operator_id in [self._source_of[v] for v in region.vertices if v in self._source_of]:
            self._sources.pop(operator_id).close()
        for task in region.tasks:
            self.pids.pop(task, None)
            self.hosts.pop(task, None)
            self.last_heard_s.pop(task, None)
        self._act(self.coordinator.region_failed("tasks have failed"))
        self.port.region_failed(region, error)

    def _first_cause(self, region: FailoverRegion, error: BaseException) -> BaseException:
        """Return the end of the first process that exited silently, if the error is a consequence of it."""
        if region.first_lost is None or not is_about_another_task(error):
            return error
        vertex = self._job.vertices[region.first_lost[0]]
        return process_ended(task_name(vertex.name, region.first_lost[1], vertex.parallelism), self.hosts[region.first_lost])

    def restart_region(self, region: FailoverRegion, number: int, restore: Checkpoint | None) -> None:
        """The tasks of a region begin anew, as attempt ``number``. Call ``start_region`` when they have been launched."""
        region.number, region.failure, region.first_registered_s, region.first_lost = number, None, None, None
        region.restored_id = self._restored_id = restore.checkpoint_id if restore is not None else 0
        self.coordinator.region_restarts(region.tasks, number)
        for task in region.tasks:
            self.finished.messages.pop(task, None)
            self.finished.metrics.pop(task, None)
            self.metrics.pop(task, None)
        self._make_sources([v for v in self._job.vertices if v.index in region.vertices], restore, restarted=True)

    def start_region(self, region: FailoverRegion) -> None:
        """Start the enumerators of a region."""
        for vertex in region.vertices & self._source_of.keys():
            self._sources[self._source_of[vertex]].start()

    def runs(self, region: FailoverRegion) -> bool:
        """Return whether all tasks of a region have been there."""
        return region.failure is None and region.tasks <= self.pids.keys() | self.finished_tasks

    def has_finished(self, region: FailoverRegion) -> bool:
        """Return whether all tasks of a region have ended well."""
        return region.tasks <= self.finished.messages.keys()

    def close(self, closed: Callable[[], None] = lambda: None) -> None:
        """Close enumerators, and committers behind their commits under way; ``closed`` is called when that is done."""
        for source in self._sources.values():
            source.close()
        self._commits.close(closed)

    @property
    def restored_checkpoint_id(self) -> int:
        """Return the checkpoint that the attempt, or the region that was restarted last, started from; 0 if from none."""
        return self._restored_id

    @property
    def first_restored_id(self) -> int:
        """Return the checkpoint that all tasks of the attempt began with, 0 if with none."""
        return self._restore.checkpoint_id if self._restore is not None else 0

    @property
    def newest_number(self) -> int:
        """Return the attempt that began last: that of a region if one was restarted alone."""
        return max(region.number for region in self.regions)

    def number_of(self, task: TaskKey) -> int:
        """Return the attempt in which a task runs."""
        region = self.region_of.get(task)
        return self.number if region is None else region.number

    def hears(self, number: int, task: TaskKey) -> bool:
        """Return whether messages of a task of that attempt count."""
        return number == (self.newest_number if task not in self.region_of else self.region_of[task].number)

    @property
    def finished_tasks(self) -> Set[TaskKey]:
        """Return the tasks that have ended well, in this attempt or in one whose results are used."""
        return self.finished.messages.keys()

    @property
    def ended(self) -> bool:
        """Return whether the attempt has finished or failed."""
        return self.state in (AttemptState.FAILED, AttemptState.FINISHED)

    # Messages

    def on_task_lost(self, task: TaskKey) -> None:
        """The connection of a task has ended. What has become of it, the launcher or another task will say."""
        region = self.region_of.get(task)
        if region is not None and region.first_lost is None and task in self.hosts and task not in self.finished.messages:
            region.first_lost = task

    def on_message(self, message: FromTask) -> None:
        """Take a message of a task of this attempt."""
        if isinstance(message, Heartbeat | TaskProgress):
            self._on_report(message)
        if self.ended or self._has_failed(message.task):
            if isinstance(message, RegisterTask):
                # It was on its way when the others were told to end.
                self.port.send(message.task, CancelTask())
            return
        self.last_heard_s[message.task] = self.clock.monotonic_s()
        if isinstance(message, AckCheckpoint):
            self._act(self.coordinator.on_ack(replace(message, snapshot=self._received(message.snapshot))))
        elif isinstance(message, InputTaken):
            self._on_input_taken(message)
        elif isinstance(message, EventFromOperator):
            self._on_operator_event(message)
        elif isinstance(message, RequestSplit):
            self._sources[message.operator_id].handle_split_request(message.task[1])
        elif isinstance(message, ToDriver):
            self.port.to_driver(message)
        elif isinstance(message, RegisterTask):
            self._register(message)
        elif isinstance(message, TaskFinished):
            self._task_finished(message)
        elif isinstance(message, DeclineCheckpoint):
            self._act(self.coordinator.on_decline(message))
        elif isinstance(message, RequestCheckpoint):
            self._requested = True
            self._trigger_if_requested()
        elif isinstance(message, TaskFailed):
            self._fail_task(message.task, message.error)

    def _on_report(self, message: Heartbeat | TaskProgress) -> None:
        if isinstance(message, TaskProgress):
            self.progress[message.task] = message
        else:
            # Also of a job that has just finished: the last report of a task is the one with its final counts.
            self.metrics[message.task] = self.finished.metrics[message.task] = message.metrics

    def _on_input_taken(self, message: InputTaken) -> None:
        """Tell each producer what it has to know of it."""
        by_task: dict[TaskKey, dict[int, int]] = {}
        for (edge, source), taken in message.taken.items():
            by_task.setdefault((self._job.edges[edge].source_vertex, source), {})[edge] = taken
        for task, taken_by_edge in by_task.items():
            if task not in self.finished.messages:
                self.port.send(task, LimitOutput(message.place, taken_by_edge, message.window))

    def _on_operator_event(self, message: EventFromOperator) -> None:
        source = self._sources.get(message.operator_id)
        if source is not None and not isinstance(message.event, ReportWatermark):
            source.handle_source_event(message.task[1], message.event)
            return
        try:
            self._operator_events.on_event(message)
        except ProgramError as error:  # of the program's code that a coordinator calls
            self.fail(error)

    def iterations(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rounds of each iteration, by name."""
        return self._operator_events.iterations()

    def _register(self, message: RegisterTask) -> None:
        if message.task in self.pids:
            # Its records would come twice: what the first one has sent is under way already.
            attempt = self.number_of(message.task)
            self._fail_task(message.task, InvariantError(f"task {message.task} was started twice in attempt {attempt}"))
            return
        self.pids[message.task], self.hosts[message.task] = message.pid, message.host
        region = self.region_of[message.task]
        if region.first_registered_s is None:
            region.first_registered_s = self.clock.monotonic_s()
        self._operator_events.on_registered(message.task)
        vertex, subtask = message.task
        operator_id = self._source_of.get(vertex)
        if operator_id is not None:
            self._sources[operator_id].add_reader(subtask)
        # An enumerator that has raised has ended the attempt or the region.
        if not self.ended and len(self.pids) + self._before == len(self._tasks):
            self.state = AttemptState.RUNNING
            self.port.reached("running")
            self.port.running()
            self._trigger_if_requested()

    def _received(self, snapshot: TaskSnapshot) -> TaskSnapshot:
        return replace(snapshot, stats=replace(snapshot.stats, acked_ms=self.clock.now_ms()))

    def _task_finished(self, message: TaskFinished) -> None:
        message = replace(message, snapshot=self._received(message.snapshot))
        self.finished.messages[message.task] = message
        self._act(self.coordinator.on_task_finished(message))
        self._finish_if_done()

    def _finish_if_done(self) -> None:
        if any(region.failure is not None for region in self.regions):
            return  # also if its tasks had finished: they begin anew
        if self.coordinator.all_finished and self.coordinator.pending_id is None and not self.ended and self._last is None:
            enumerators = self._snapshot_enumerators()
            if not self.ended:  # no enumerator has raised
                self._act(self.coordinator.finish(self.clock.now_ms(), enumerators))

    # Time

    def next_deadline_ms(self) -> int | None:
        """Return when ``on_time`` has to be called next (ms), or None."""
        due = [self._commits.due_ms, *(source.due_ms for source in self._sources.values())]
        deadlines = [due_ms for due_ms in due if due_ms is not None]
        if self.state is AttemptState.RUNNING and (deadline := self.coordinator.next_deadline_ms()) is not None:
            deadlines.append(deadline)
        return min(deadlines, default=None)

    def on_time(self, now_ms: int) -> None:
        """Trigger and expire checkpoints, call enumerators that asked for it, try commits again."""
        if self.ended:
            return
        self._commits.on_time(now_ms)
        for source in list(self._sources.values()):
            source.on_time(now_ms)
        self._on_checkpoint_time(now_ms)

    def _on_checkpoint_time(self, now_ms: int) -> None:
        if self.ended:
            return  # an enumerator has raised
        self._act(self.coordinator.on_time(now_ms))
        if self.state is AttemptState.RUNNING and self.coordinator.trigger_due(now_ms):
            self.trigger()

    @property
    def can_trigger(self) -> bool:
        """Return whether a checkpoint can begin: all tasks are there, none is under way, and the last one of the job is not published."""
        return self.state is AttemptState.RUNNING and self.coordinator.pending_id is None and self._last is None

    @property
    def committing(self) -> bool:
        """Return whether a commit is under way."""
        return self._commits.running

    def trigger(self, *, savepoint: SavepointOptions | None = None, overtake_after_ms: int | None = None) -> None:
        """Start a checkpoint now, unless one is under way or tasks are still missing; see ``CheckpointCoordinator.trigger``."""
        if self.can_trigger:
            now_ms, enumerators = self.clock.now_ms(), self._snapshot_enumerators()
            if self.state is AttemptState.RUNNING:  # no enumerator has raised
                self._act(self.coordinator.trigger(now_ms, enumerators, savepoint=savepoint, overtake_after_ms=overtake_after_ms))

    def _trigger_if_requested(self) -> None:
        """A source waits for a checkpoint at its position; if one is under way that has begun elsewhere, for the next."""
        if self._requested and self.can_trigger:
            self._requested = False
            self.trigger()

    def _snapshot_enumerators(self) -> dict[str, Any]:
        # Taken in the same breath as the triggers are sent: splits assigned later reach their readers behind the trigger.
        next_id = self.coordinator.pending_id or 0
        return {operator_id: source.snapshot_state(next_id) for operator_id, source in self._sources.items()}

    # Actions of the coordinator

    def _act(self, actions: Sequence[Action]) -> None:
        for action in actions:
            if isinstance(action, TriggerSources):
                trigger = TriggerCheckpoint(action.checkpoint_id, action.timestamp_ms, action.savepoint)
                for task in action.tasks:
                    self.port.send(task, trigger)
            elif isinstance(action, Overtake):
                for task in action.tasks:
                    self.port.send(task, OvertakeBarriers(action.checkpoint_id, action.timestamp_ms, action.savepoint))
            elif isinstance(action, Publish):
                self._publish(action)
            elif isinstance(action, Completed):
                self._complete(action)
            elif isinstance(action, Aborted):
                for task in self._running():
                    self.port.send(task, CheckpointAborted(action.checkpoint_id))
                self.port.checkpoint_aborted(action.checkpoint_id, action.reason, action.late)
            elif isinstance(action, Discard):
                self._discard(action)
            elif isinstance(action, FailJob):
                self.fail(CheckpointError(action.reason, hint=action.hint))

        if any(isinstance(action, Aborted) for action in actions):
            # It may have been what the end of the job waited for.
            self._finish_if_done()
        if actions:
            self._trigger_if_requested()

    def ask_for_progress(self) -> None:
        """Have all tasks report how far they are with the checkpoint under way."""
        for task in self._running():
            self.port.send(task, ReportProgress())

    def _running(self) -> list[TaskKey]:
        return [t for t in self._tasks if t not in self.finished.messages]

    def _publish(self, action: Publish) -> None:
        checkpoint = action.checkpoint
        self.port.reached("before-publish")

        def done(_: None, error: BaseException | None) -> None:
            if self.ended:
                return
            if error is None:
                self.port.reached("after-publish")
                self._act(self.coordinator.on_published(checkpoint.checkpoint_id, self.clock.now_ms()))
            elif isinstance(error, FencedError):
                self.fail(error)
            else:
                self._act(self.coordinator.on_publish_failed(checkpoint.checkpoint_id, f"{type(error).__name__}: {error}"))

        self.port.run_async(lambda: self.port.publish(checkpoint, action.savepoint), done)

    def _complete(self, action: Completed) -> None:
        checkpoint = action.checkpoint
        if not action.commits:
            self.port.savepoint_completed(checkpoint, action.duration_ms)
            self._finish_if_done()
            return

        self._last = checkpoint if checkpoint.final or checkpoint.savepoint else None
        self.port.reached("before-commit")
        if self.ended:
            return
        commits = self._commits.add(action.committables)
        if self._last is None:
            self._notify_complete(checkpoint.checkpoint_id)
        self.port.checkpoint_completed(checkpoint, action.duration_ms)
        if not commits:
            self.port.reached("after-commit")
        self._end_if_committed()
        self._finish_if_done()

    def _end_if_committed(self) -> None:
        """The last checkpoint is published, and all is committed: the job has finished, or stops."""
        if self._last is not None and not self.ended and self._commits.all_committed:
            # Not before: tasks that stop with a savepoint end when they hear of it.
            self._notify_complete(self._last.checkpoint_id)
            self.state = AttemptState.FINISHED
            self.port.attempt_ended(None)

    def _notify_complete(self, checkpoint_id: int) -> None:
        # A region that has failed will begin with it.
        took_part = set().union(*(region.vertices for region in self.regions if region.failure is None))
        for vertex, operator_id in self._source_of.items():
            if vertex in took_part and operator_id in self._sources:
                self._sources[operator_id].notify_checkpoint_complete(checkpoint_id)
        for task in self._running():
            if task[0] in took_part:
                self.port.send(task, CheckpointComplete(checkpoint_id))

    def _discard(self, action: Discard) -> None:
        def done(_: None, error: BaseException | None) -> None:
            """A left-over file costs space, not correctness: the next sweep takes it."""

        self.port.run_async(lambda: self.port.discard(action.checkpoint, action.keep), done, CLEANING)
