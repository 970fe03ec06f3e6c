"""Internal. The JobMaster: one per job, over all its attempts. Event-driven, without a thread of its own.

The shell around it (a thread on Spark, the scheduler of the local engine) calls the ``on_...`` methods from one thread and gives a
:class:`Launcher`, which runs the tasks of an attempt, and a :class:`Background`, which runs blocking work elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.messages import FromTask, TaskKey, ToDriver, ToTask
from wiesel.checkpoint.store import CheckpointStore
from wiesel.common.job_execution_result import JobExecutionResult
from wiesel.common.job_id import JobID
from wiesel.common.job_status import JobStatus
from wiesel.connectors.driver_sink import DriverReceiver, DriverSink
from wiesel.core.clock import Clock
from wiesel.core.errors import (
    CheckpointError,
    CheckpointStorageError,
    CorruptCheckpointError,
    FencedError,
    JobCancelledError,
    JobExecutionError,
    NoResourceAvailableError,
    OutputClosedError,
    ResourceError,
    WieselError,
    is_retryable,
)
from wiesel.core.logs import get_logger
from wiesel.engine.adaptive import AdaptiveScheduler
from wiesel.engine.base import JobSettings
from wiesel.engine.checkpoint_advice import CheckpointAdvice
from wiesel.engine.checkpoint_requests import CheckpointRequests
from wiesel.engine.deployment import task_descriptors
from wiesel.engine.failover import FailoverRegion, failover_regions
from wiesel.engine.fault_points import FaultPoints
from wiesel.engine.job_attempt import CHECKPOINTS, CLEANING, AttemptState, JobAttempt
from wiesel.engine.job_history import JobHistory
from wiesel.engine.late_records import LateRecords
from wiesel.engine.recovery import Recovery
from wiesel.engine.region_restarts import RegionRestarts
from wiesel.engine.rescaling import Rescaling, RescalingError
from wiesel.engine.restart import RestartStrategy
from wiesel.engine.reuse import Finished, reusable_tasks
from wiesel.engine.savepoints import Savepoints
from wiesel.engine.unaligned import obstacle_to_unaligned
from wiesel.graph.rescaling import Bounds
from wiesel.graph.stage_plan import StagePlan
from wiesel.rest.gateway import Rescaled
from wiesel.runtime.descriptor import TaskDescriptor
from wiesel.runtime.task_services import DEBLOAT
from wiesel.wire.events import SavepointOptions

T = TypeVar("T")
_log = get_logger("wiesel.job")


class Launcher(Protocol):
    """Runs the tasks of attempts. All methods return immediately."""

    def launch(self, attempt: int, plan: StagePlan, regions: Mapping[int, dict[TaskKey, TaskDescriptor]]) -> None:
        """Start these tasks of the plan; ``JobMaster.on_launch_ended`` is called for each region when all of its tasks have ended."""
        ...

    def free_slots(self) -> int | None:
        """Return how many more tasks could run now, None if unlimited. May block."""
        ...

    def kept_levels(self) -> dict[int, list[int]]:
        """Return by region the levels with input retained from earlier attempts: earlier levels need not run again."""
        ...

    def cancel(self, attempt: int, region: int) -> None:
        """Cancel all tasks of a region started by this attempt."""
        ...

    def send(self, attempt: int, task: TaskKey, message: ToTask) -> None:
        """Send a message to a task, in order."""
        ...


class Background(Protocol):
    """Runs blocking work sequentially in each lane; ``done`` is called in the master's thread."""

    def run(self, work: Callable[[], T], done: Callable[[T | None, BaseException | None], None], lane: str = CHECKPOINTS) -> None:
        """Queue the work."""
        ...


_NO_LIMIT = (
    "the number of restarts is not limited: 'restart-strategy.type' = 'fixed-delay' with 'restart-strategy.fixed-delay.attempts' limits it"
)


class JobMaster:
    """Runs a job to its end: attempts, restarts, checkpoints, results."""

    def __init__(
        self,
        plan: StagePlan,
        settings: JobSettings,
        strategy: RestartStrategy,
        *,
        job_id: str,
        launcher: Launcher,
        background: Background,
        clock: Clock,
        fault_plan: str = "",
        restore: tuple[Checkpoint, dict[str, Any]] | None = None,
    ) -> None:
        self.plan = plan
        self.settings = settings
        self.recovery = Recovery(plan.graph.job, settings, job_id, restore)
        self.history = JobHistory(clock)
        self._advice = CheckpointAdvice(
            wanted=settings.checkpoints.overtake_after_ms is None, limited=settings.task.get(DEBLOAT) is not None
        )
        self.checkpoint_requests = CheckpointRequests()
        self.savepoints = Savepoints(
            self.recovery, background, settings.savepoint_dir, settings.savepoint_overtake_after_ms
        )
        self.rescaling = Rescaling(self)
        self.adaptive = settings.adaptive if plan.graph.job.runtime_mode != "BATCH" else None
        """Settings of the adaptive scheduler, None if there is none."""
        self._adaptive = None if self.adaptive is None else AdaptiveScheduler(self, self.adaptive)
        self.status = JobStatus.CREATED
        self.result: Future[JobExecutionResult] = Future()
        self.attempt: JobAttempt | None = None
        self.restarts = 0
        self.last_checkpoint: Checkpoint | None = None
        self.completed_checkpoints = 0
        self.failed_checkpoints = 0
        self.last_checkpoint_duration_ms: int | None = None
        self.failures: list[BaseException] = []
        self.progress_asked_ms = 0
        """Time of the last request for progress of a checkpoint."""
        self.listeners: list[Callable[[JobMaster, str], None]] = [LateRecords()]
        self._strategy = strategy
        self._launcher = launcher
        self._background = background
        self._clock = clock
        self.region_restarts = RegionRestarts(self)
        self._whole_restarts = 0
        self._shown: tuple[str, Any] | None = None
        self._given_up = False
        self._restart_at_ms: int | None = None
        self._failure: BaseException | None = None
        self._cancelling = False
        self._started_ms = clock.now_ms()
        self._faults = FaultPoints(fault_plan, 0, "driver")
        self._receivers = self._make_receivers()

    @property
    def job_id(self) -> str:
        """Return the id of the job; a job that claims a checkpoint continues under the id of the writing job."""
        return self.recovery.job_id

    @property
    def _number(self) -> int:
        return self.recovery.number

    def _driver_sinks(self) -> Iterator[tuple[int, DriverSink]]:
        for vertex, node in ((v.index, o.node) for v in self.plan.graph.job.vertices for o in v.operators):
            sink = node.operator.payload.get("sink") if node.operator.kind == "sink" else None
            if isinstance(sink, DriverSink):
                yield vertex, sink

    def _make_receivers(self) -> dict[str, DriverReceiver]:
        receivers: dict[str, DriverReceiver] = {}
        for _, sink in self._driver_sinks():
            if sink.channel not in receivers:
                receivers[sink.channel] = sink.create_receiver()
        return receivers

    def _senders(self) -> dict[str, set[int]]:
        """Return by channel the vertices that send to the driver."""
        senders: dict[str, set[int]] = {}
        for vertex, sink in self._driver_sinks():
            senders.setdefault(sink.channel, set()).add(vertex)
        return senders

    # Start and restarts

    def start(self) -> None:
        """Find the snapshot to restore and start the first attempt.

        Raises:
            CorruptCheckpointError, StateMigrationError: If the given checkpoint cannot be restored into this program.
        """
        self.last_checkpoint = restore = self.recovery.first()
        if self._adaptive is not None:
            self._adaptive.wait()
        else:
            self._begin(restore)

    def _begin(self, restore: Checkpoint | None, before: Finished | None = None) -> None:
        self._faults.attempt_started(self._number)
        retained = self._clean_up(restore)
        together = self._adaptive is not None or self.settings.failover_strategy == "full"
        attempt = JobAttempt(
            self.plan,
            self,
            self._clock,
            number=self._number,
            regions=failover_regions(self.plan, together=together),
            settings=self.settings.checkpoints,
            commits=self.settings.commits,
            restore=restore,
            retained=retained,
            next_checkpoint_id=self.recovery.next_id(),
            finished=before,
            restarted=self._whole_restarts > 0,
        )
        self.attempt = attempt
        self.savepoints.attempt_started(attempt)
        self.checkpoint_requests.attempt_started(attempt)
        launches = self._restore(attempt, attempt.regions, restore, self.recovery.base_facts)
        self._set_status(JobStatus.RUNNING)
        self._launcher.launch(self._number, self.plan, launches)
        attempt.start()

    def _restore(
        self, attempt: JobAttempt, regions: Sequence[FailoverRegion], restore: Checkpoint | None, facts: dict[str, Any] | None
    ) -> dict[int, dict[TaskKey, TaskDescriptor]]:
        """Return the tasks of regions restored from a checkpoint with this job information, and announce records to receivers."""
        if restore is not None:
            self.history.restore(restore, self.recovery.origin_of(restore))
        number = max(region.number for region in regions)
        descriptors = task_descriptors(
            self.plan,
            attempt=number,
            job_id=self.job_id,
            config=self.settings.task,
            restore=restore,
            restored_facts=facts if restore is not None else None,
            restarts={v: self._whole_restarts + self.region_restarts.of(region) for region in regions for v in region.vertices},
        )
        vertices = set().union(*(region.vertices for region in regions))
        for channel, senders in self._senders().items():
            if senders & vertices:
                self._receivers[channel].restored(restore.checkpoint_id if restore else 0, number)
        launches = {}
        for region in regions:
            region.launched = True
            wanted = region.tasks - attempt.finished_tasks
            launches[region.index] = {key: task for key, task in descriptors.items() if key in wanted}
        return launches

    def start_region(self, attempt: JobAttempt, region: FailoverRegion, number: int, restore: Checkpoint | None) -> None:
        """Restart a region that has failed as attempt ``number``, from its part of a checkpoint."""
        own = restore is not None and restore.checkpoint_id > attempt.first_restored_id
        self._faults.attempt_started(number)
        if retained := attempt.coordinator.retained:
            self._sweep(lambda store: store.sweep(retained, vertices=region.vertices, before=number))
        self.restarts += region.counts
        attempt.restart_region(region, number, restore)
        launches = self._restore(attempt, [region], restore, self.recovery.facts if own else self.recovery.base_facts)
        if all(other.failure is None for other in attempt.regions):
            self._set_status(JobStatus.RUNNING)
        try:
            self._launcher.launch(number, self.plan, launches)
        except WieselError:
            region.launched = False
            raise
        attempt.start_region(region)

    def _clean_up(self, restore: Checkpoint | None) -> list[Checkpoint]:
        """Delete left-overs of earlier attempts in the background; return the retained checkpoints of the job."""
        retained = self.recovery.retained(restore)
        if retained:
            self._sweep(lambda store: store.sweep(retained))
        return retained

    def _sweep(self, sweep: Callable[[CheckpointStore], None]) -> None:
        store = self.recovery.store

        def swept(_: None, error: BaseException | None) -> None:
            if error is not None:
                _log.warning("left-overs of earlier attempts could not be deleted: %s", error)

        if store is not None:
            self._background.run(lambda: sweep(store), swept)

    # Events

    def on_message(self, attempt: int, message: FromTask) -> None:
        """Handle a message of a task; those of older attempts are ignored."""
        if self.attempt is not None and self.attempt.hears(attempt, message.task):
            self.attempt.on_message(message)

    def on_task_lost(self, attempt: int, task: TaskKey) -> None:
        """Handle a lost connection of a task. The launcher reports the end of the attempt; this only determines the first one."""
        _log.debug("task %s of attempt %d has closed its connection", task, attempt)
        if self.attempt is not None and self.attempt.hears(attempt, task):
            self.attempt.on_task_lost(task)

    def on_launch_ended(self, attempt: int, error: BaseException | None, region: int = 0) -> None:
        """Handle the end of all tasks of a region started by an attempt, because they finished or one failed."""
        current = self.attempt
        ended = None if current is None else next((r for r in current.regions if r.index == region and r.number == attempt), None)
        if current is None or ended is None:
            return
        ended.launched = False
        if current.ended:
            self._after_attempt()
        elif error is not None or not current.has_finished(ended):
            # Continues in attempt_ended or region_failed; a second time here would count the failure twice.
            current.fail_region(ended, error or JobExecutionError("all tasks ended before the job had finished"))

    def on_time(self, now_ms: int) -> None:
        """Restart after the delay; checkpoints and heartbeats of the attempt."""
        if self._adaptive is not None:
            self._adaptive.on_time(now_ms)
        if self._restart_at_ms is not None and now_ms >= self._restart_at_ms:
            self._restart_at_ms = None
            self._restart()
            return
        if self.attempt is not None and not self.attempt.ended:
            self.attempt.on_time(now_ms)
            self._advice.look_at_pending(self.recovery.job, self.attempt.coordinator.under_way, now_ms, self.attempt.metrics)
            self.region_restarts.on_time(self.attempt, now_ms)
            self._check_deployment()
            self._check_heartbeats()

    def _check_deployment(self) -> None:
        """Fail an attempt some of whose tasks do not start: an executor was lost, and has not been replaced."""
        attempt = self.attempt
        if attempt is None or attempt.state is not AttemptState.DEPLOYING or self.plan.graph.job.runtime_mode == "BATCH":
            return
        limit_s = max(self.settings.slot_request_timeout_ms, self.settings.heartbeat_timeout_ms) / 1e3
        for region in attempt.regions:
            since_s = region.first_registered_s
            if since_s is None or attempt.runs(region) or self._clock.monotonic_s() - since_s <= limit_s:
                continue
            attempt.fail_region(
                region,
                JobExecutionError(
                    f"only {len(region.tasks & attempt.pids.keys())} of {len(region.tasks)} tasks have started within {limit_s:.0f} s",
                    hint="see whether the cluster has lost executors; slot.request.timeout is how long they may take",
                ),
            )

    def _check_heartbeats(self) -> None:
        attempt = self.attempt
        if attempt is None or attempt.ended or (attempt.state is not AttemptState.RUNNING and len(attempt.regions) == 1):
            return
        now_s = self._clock.monotonic_s()
        limit_s = self.settings.heartbeat_timeout_ms / 1e3
        for task, heard_s in attempt.last_heard_s.items():
            if now_s - heard_s > limit_s and task not in attempt.finished_tasks and attempt.runs(region := attempt.region_of[task]):
                silent = f"task {task} (process {attempt.pids.get(task)}) has sent no heartbeat for {limit_s:.0f} s"
                attempt.fail_region(region, JobExecutionError(silent))
                return

    def next_deadline_ms(self) -> int | None:
        """Return the time (ms) of the next call of ``on_time``, or None."""
        deadlines = [self._restart_at_ms, self._adaptive.next_deadline_ms() if self._adaptive is not None else None]
        if self._restart_at_ms is None and self.attempt is not None and not self.attempt.ended:
            deadlines += [self.attempt.next_deadline_ms(), self.region_restarts.next_deadline_ms(self.attempt)]
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    def cancel(self) -> None:
        """End the job in state CANCELED."""
        if self.status.is_globally_terminal_state() or self._cancelling:
            return
        self._cancelling = True
        self._set_status(JobStatus.CANCELLING)
        self._restart_at_ms = None
        if self._adaptive is not None:
            self._adaptive.stop()
        if self.attempt is None:
            self._cancelled()
        elif not self.attempt.ended:
            self.attempt.fail(JobCancelledError("the job was cancelled"))
        else:
            self._after_attempt()

    def savepoint(
        self,
        directory: str | None,
        *,
        stop: bool = False,
        drain: bool = False,
        label: str = "",
        overtake_after_ms: int | None = None,
    ) -> Future[str]:
        """Take a savepoint, and with ``stop`` end the job with it, after a ``drain`` if requested. See ``Savepoints.request``.

        Raises:
            CheckpointError: If this job cannot take one now.
        """
        if self.plan.graph.job.of_bounded_data:
            raise CheckpointError("a job in BATCH mode or of wiesel.dataset takes no savepoints", hint="run it in STREAMING mode")
        if self.status.is_globally_terminal_state() or self._cancelling:
            raise CheckpointError(f"job {self.job_id} is {self.status.name} and takes no savepoints")
        if overtake_after_ms is not None:
            self._check_can_be_unaligned(drain=drain)
        return self.savepoints.request(directory, stop=stop, drain=drain, label=label, overtake_after_ms=overtake_after_ms)

    def _check_can_be_unaligned(self, *, drain: bool) -> None:
        obstacle = obstacle_to_unaligned(self.plan.graph.job)
        if drain:
            obstacle = "to drain the job, which processes all records before the savepoint,"
        if self.settings.task.get("execution.checkpointing.mode") == "AT_LEAST_ONCE":
            obstacle = "the mode AT_LEAST_ONCE"
        if obstacle is not None:
            hint = "take it without an alignment timeout"
            raise CheckpointError(f"{obstacle} does not go with an unaligned savepoint", hint=hint)

    def checkpoint(self) -> Future[int]:
        """Take a checkpoint now; the answer is its number.

        Raises:
            CheckpointError: If this job takes none.
        """
        if self.plan.graph.job.of_bounded_data:
            raise CheckpointError("a job in BATCH mode or of wiesel.dataset takes no checkpoints", hint="run it in STREAMING mode")
        return self.checkpoint_requests.request()

    def rescale(self, parallelism: int) -> Future[Rescaled]:
        """Rescale all operators whose parallelism the program does not set.

        Raises:
            ConfigurationError: If an operator cannot have it.
            CheckpointError: If the job cannot be rescaled now.
        """
        self._check_can_be_rescaled()
        return self.rescaling.everywhere(parallelism)

    def rescale_to(self, parallelism: Mapping[int, int]) -> Future[Rescaled]:
        """Rescale the operators to this parallelism, as there are slots for it; the bounds are unchanged. See ``rescale``."""
        try:
            self._check_can_be_rescaled()
            return self.rescaling.request(parallelism)
        except WieselError as refused:
            answer: Future[Rescaled] = Future()
            answer.set_exception(refused)
            return answer

    def require(self, bounds: Mapping[int, Bounds]) -> Future[None]:
        """Set the bounds of the parallelism of each operator (by node); the answer is set when they are accepted. See ``rescale``."""
        self._check_can_be_rescaled()
        return self.rescaling.require(bounds)

    def _check_can_be_rescaled(self) -> None:
        if self.plan.graph.job.runtime_mode == "BATCH":
            raise CheckpointError("a job in BATCH mode cannot be rescaled", hint="run it in STREAMING mode")
        if self.status.is_globally_terminal_state() or self._cancelling:
            raise CheckpointError(f"job {self.job_id} is {self.status.name} and cannot be rescaled")
        if self.savepoints.stopping:
            raise CheckpointError(f"job {self.job_id} is being stopped with a savepoint and cannot be rescaled")

    def free_slots(self) -> int | None:
        """Return how many more tasks could run now, None if unlimited. May block: not for the master's thread."""
        return self._launcher.free_slots()

    def slots_held(self) -> int:
        """Return the number of slots held by the tasks of the job."""
        attempt = self.attempt
        return 0 if attempt is None else sum(len(r.tasks - attempt.finished_tasks) for r in attempt.regions if r.launched)

    def now_ms(self) -> int:
        """Return the time of the job's clock."""
        return self._clock.now_ms()

    # The end of an attempt

    def _after_attempt(self) -> None:
        attempt = self.attempt
        if attempt is None or any(region.launched for region in attempt.regions):
            return
        if attempt.state is AttemptState.FINISHED:
            attempt.close(self._finish)
            return
        attempt.close()
        if self._cancelling:
            self._cancelled()
        elif isinstance(self._failure, RescalingError):
            self._restart_now(self.rescaling.next_plan())
        elif self._given_up:
            self._failed(self._failure or JobExecutionError("unknown failure"))
        else:
            self._decide_restart()

    def give_up(self, attempt: JobAttempt, error: BaseException) -> None:
        """Fail the job with a failure of a region, which has been counted already."""
        self._given_up = True
        attempt.fail(error)

    def _cancelled(self) -> None:
        error = JobCancelledError(f"job {self.job_id} was cancelled")
        self._end_with_checkpoints(JobStatus.CANCELED, error, retain=self.settings.retain_on_cancellation)

    def _failed(self, failure: BaseException) -> None:
        error = _job_failed(self.plan.graph.job.job_name, failure)
        # They belong to another master, or may be repaired or restored when the machine has the missing resource.
        not_ours_to_delete = isinstance(failure, (FencedError, CorruptCheckpointError, ResourceError))
        self._set_status(JobStatus.FAILING)
        self._end_with_checkpoints(JobStatus.FAILED, error, retain=self.settings.retain_on_failure or not_ours_to_delete)

    def _end_with_checkpoints(self, status: JobStatus, error: BaseException, *, retain: bool) -> None:
        """End the job finally, and delete its checkpoints unless they are retained."""
        if retain:
            self._end(status, error)
            return

        def cleared(_: None, problem: BaseException | None) -> None:
            if problem is not None:
                _log.warning("the checkpoints of the job could not be deleted: %s", problem)
            self._end(status, error)

        self._after_checkpoints(self.recovery.clear_own, cleared)

    def _after_checkpoints(self, work: Callable[[], None], done: Callable[[None, BaseException | None], None]) -> None:
        """Run work when nothing of a checkpoint is being published or deleted any more."""
        self._background.run(lambda: None, lambda _, __: self._background.run(work, done, CLEANING))

    def _decide_restart(self, *, begun: bool = True) -> None:
        """Restart, or fail the job, after an attempt has failed or could not be started."""
        failure = self._failure or JobExecutionError("unknown failure")
        self._note(failure)
        before = self.rescaling.go_back(failure)
        if before is not None:
            self._use(before)
            delay_ms: int | None = 0
        elif self._adaptive is not None and isinstance(failure, NoResourceAvailableError):
            delay_ms = 0  # slots were lost after the check: the strategy does not determine the delay
        else:
            delay_ms = None if self._hopeless(failure) else self._strategy.on_failure(self._clock.now_ms())
        if delay_ms is None:
            self._failed(failure)
            return
        what = f"attempt {self._number} failed" if begun else "another attempt could not begin"
        _log.warning("%s, restarting in %d ms: %s", what, delay_ms, self.shown(failure))
        self._set_status(JobStatus.RESTARTING)
        self._restart_at_ms = self._clock.now_ms() + delay_ms

    def shown(self, failure: BaseException) -> str:
        """Return the log message of a failure followed by a restart: only the first line if it is repeated."""
        first = (str(failure).splitlines() or [type(failure).__name__])[0]
        same = (first, failure.details.get("location") if isinstance(failure, WieselError) else None)
        if same == self._shown:
            return f"{first} (as before)"
        limit = "" if self._shown is not None or not self._strategy.unlimited else f"\n  {_NO_LIMIT}"
        self._shown = same
        return f"{failure}{limit}"

    def _note(self, failure: BaseException, vertices: Iterable[int] = ()) -> None:
        self.failures.append(failure)
        self.history.failure(failure, [self.plan.graph.job.vertices[v].name for v in sorted(vertices)])

    def delay_after(self, failure: BaseException, region: FailoverRegion) -> int | None:
        """Record the failure of a region, and return the delay (ms) of its restart; None for never."""
        self._note(failure, region.vertices)
        delay_ms = self._strategy.on_failure(self._clock.now_ms())
        region.counts = not self._strategy.merged
        return delay_ms

    def _hopeless(self, failure: BaseException) -> bool:
        """Return whether a restart cannot help."""
        if isinstance(failure, NoResourceAvailableError):
            # A job that has run before waits for replacements of its slots; one that has never had them fails immediately.
            return self.restarts == 0
        return not is_retryable(failure)

    def _restart(self) -> None:
        if self._adaptive is not None:
            self._adaptive.wait()
        else:
            self._restart_now(None)

    def start_with(self, parallelism: Mapping[int, int]) -> None:
        """Start the waiting attempt with this parallelism of the operators, as there are slots."""
        plan = self.rescaling.plan_with(parallelism)
        if self.attempt is not None:
            self._restart_now(plan)
        else:
            self._use(plan)
            self._begin(self.last_checkpoint)

    def cannot_start(self, error: BaseException) -> None:
        """Fail the attempt, as there are too few slots and no more are awaited."""
        self._note(error)
        self._end(JobStatus.FAILED, _job_failed(self.plan.graph.job.job_name, error))

    def _restart_now(self, plan: StagePlan | None) -> None:
        """Start another attempt, with another plan if one is given."""
        self.restarts += 1
        self._whole_restarts += 1
        try:
            # The previous attempt can publish nothing from here on, so the job information may change.
            self.last_checkpoint = restore = self.recovery.again()
            if plan is not None:
                self._use(plan)
            self._begin(restore, self._reusable() if restore is None and plan is None else None)
        except CheckpointStorageError as error:
            # The storage may recover: this counts as a failed attempt.
            self._failure = error
            self._decide_restart(begun=False)
        except WieselError as error:
            self._note(error)
            self._failed(error)

    def _use(self, plan: StagePlan) -> None:
        self.plan = plan
        self.recovery.use(plan.graph.job)

    def _reusable(self) -> Finished | None:
        """Return the tasks that need not run again: their results were complete when the last attempt failed, and are retained."""
        if self.attempt is None or self.plan.graph.job.runtime_mode != "BATCH":
            return None
        reusable = reusable_tasks(self.plan, self.attempt.finished, self._launcher.kept_levels())
        if reusable.messages:
            _log.warning("%d of %d tasks need not run again", len(reusable.messages), len(self.plan.graph.subtasks))
        return reusable

    def _finish(self) -> None:
        self._after_checkpoints(self.recovery.clear, lambda _, __: self._finished())

    def _finished(self) -> None:
        for receiver in self._receivers.values():
            receiver.finished()
        self._set_status(JobStatus.FINISHED)
        self.savepoints.job_ended(None)
        self.rescaling.job_ended(None)
        runtime_ms = self._clock.now_ms() - self._started_ms
        self.result.set_result(JobExecutionResult(JobID(self.job_id), runtime_ms, {}, self.total_metrics()))

    def _end(self, status: JobStatus, error: BaseException) -> None:
        for receiver in self._receivers.values():
            receiver.failed(error)
        self._set_status(status)
        self.savepoints.job_ended(error)
        self.rescaling.job_ended(error)
        self.result.set_exception(error)

    def _set_status(self, status: JobStatus) -> None:
        self.status = status
        self.history.status(status)
        self._tell(status.name)

    def _tell(self, event: str) -> None:
        for listener in self.listeners:
            listener(self, event)

    def total_metrics(self) -> dict[str, Any]:
        """Return the sums of additive counters over all tasks."""
        metrics = self.attempt.metrics if self.attempt is not None else {}
        names = ("numRecordsIn", "numRecordsOut", "numBytesOut", "numBuffersOut")
        totals: dict[str, Any] = {n: sum(int(m.get(n, 0)) for m in metrics.values()) for n in names}
        for name in ("spilledBytes", "decodedRecords"):  # of operators, whose names come before
            totals[name] = sum(int(v) for m in metrics.values() for k, v in m.items() if k == name or k.endswith(f".{name}"))
        iterations = self.attempt.iterations() if self.attempt is not None else {}
        if iterations:
            totals["iterations"] = iterations
        totals["numRestarts"] = self.restarts
        totals["numRescales"] = self.rescaling.completed
        totals["numberOfCompletedCheckpoints"] = self.completed_checkpoints
        return totals

    # MasterPort

    def send(self, task: TaskKey, message: ToTask) -> None:
        """See ``MasterPort``."""
        if self.attempt is not None:
            self._launcher.send(self.attempt.number_of(task), task, message)

    def run_async(self, work: Callable[[], T], done: Callable[[T | None, BaseException | None], None], lane: str = CHECKPOINTS) -> None:
        """See ``MasterPort``."""
        self._background.run(work, done, lane)

    def running(self) -> None:
        """See ``MasterPort``."""
        self.rescaling.running()
        if self._adaptive is not None:
            self._adaptive.running()
        self._start_requested()

    def _start_requested(self) -> None:
        self.savepoints.start_next()
        self.checkpoint_requests.start_next()

    def publish(self, checkpoint: Checkpoint, savepoint: SavepointOptions | None) -> None:
        """See ``MasterPort``."""
        if savepoint is not None:
            self.savepoints.publish(checkpoint, savepoint)
        else:
            self.recovery.publish(checkpoint)

    def check_fence(self, attempt: int) -> None:
        """See ``MasterPort``."""
        self.recovery.check_fence(attempt)

    def discard(self, checkpoint: Checkpoint, keep: Sequence[Checkpoint]) -> None:
        """See ``MasterPort``."""
        self.recovery.discard(checkpoint, keep)

    def to_driver(self, message: ToDriver) -> None:
        """See ``MasterPort``."""
        receiver = self._receivers.get(message.channel)
        if receiver is None:
            return
        try:
            receiver.receive(message.payload)
        except BrokenPipeError as error:
            closed = OutputClosedError("the output of the program was closed", hint="keep what reads it running as long as the job")
            closed.__cause__ = error
            if self.attempt is not None and not self.attempt.ended:
                self.attempt.fail(closed)

    def checkpoint_completed(self, checkpoint: Checkpoint, duration_ms: int) -> None:
        """See ``MasterPort``."""
        self.last_checkpoint = checkpoint
        self.completed_checkpoints += 1
        self.last_checkpoint_duration_ms = duration_ms
        for receiver in self._receivers.values():
            receiver.checkpoint_complete(checkpoint.checkpoint_id)
        self._tell("checkpoint")
        path = self.savepoints.completed(checkpoint.checkpoint_id) or self.recovery.path_of(checkpoint.checkpoint_id)
        self.history.completed_checkpoint(checkpoint, duration_ms, path)
        self._advice.look(self.recovery.job, checkpoint, duration_ms)
        self.checkpoint_requests.completed(checkpoint.checkpoint_id)
        self._start_requested()

    def savepoint_completed(self, checkpoint: Checkpoint, duration_ms: int) -> None:
        """See ``MasterPort``."""
        self._tell("savepoint")
        self.history.completed_checkpoint(checkpoint, duration_ms, self.savepoints.completed(checkpoint.checkpoint_id))
        self._advice.look(self.recovery.job, checkpoint, duration_ms)
        self._start_requested()

    def checkpoint_aborted(self, checkpoint_id: int, reason: str, late: frozenset[TaskKey]) -> None:
        """See ``MasterPort``."""
        self.failed_checkpoints += 1
        _log.warning("checkpoint %d was aborted: %s", checkpoint_id, reason)
        self._advice.look_at_late(self.recovery.job, late, self.attempt.metrics if self.attempt is not None else {})
        self._tell("checkpoint-aborted")
        was_savepoint = self.savepoints.aborted(checkpoint_id, reason, self.attempt, late)
        self.history.failed_checkpoint(checkpoint_id, reason, savepoint=was_savepoint)
        self.checkpoint_requests.aborted(checkpoint_id, reason)
        self._start_requested()

    def attempt_ended(self, error: BaseException | None) -> None:
        """See ``MasterPort``."""
        self._failure = error
        if self._adaptive is not None:
            self._adaptive.stop()
        self.savepoints.attempt_ended(error)
        self.checkpoint_requests.attempt_ended(error)
        if error is not None and not self._cancelling:
            self._set_status(JobStatus.RESTARTING if isinstance(error, RescalingError) else JobStatus.FAILING)
        for region in self.attempt.regions if self.attempt is not None and error is not None else ():
            self._stop(region)
        self._after_attempt()

    def region_failed(self, region: FailoverRegion, error: BaseException) -> None:
        """See ``MasterPort``."""
        if self.attempt is not None:
            self.region_restarts.failed(self.attempt, region, error)

    def region_stops(self, region: FailoverRegion) -> None:
        """End the tasks of a failed region, which is to be restarted."""
        self._set_status(JobStatus.RESTARTING)
        self._stop(region)

    def _stop(self, region: FailoverRegion) -> None:
        if region.launched:
            self._launcher.cancel(region.number, region.index)

    def reached(self, point: str) -> None:
        """See ``MasterPort``."""
        self._faults.reached(point)


def _job_failed(name: str, failure: BaseException) -> JobExecutionError:
    message = failure.message if isinstance(failure, WieselError) else f"{type(failure).__name__}: {failure}"
    error = JobExecutionError(f"job {name!r} failed: {message}", hint=failure.hint if isinstance(failure, WieselError) else None)
    error.__cause__ = failure
    return error
