"""A job under the control of a test: it only proceeds when the test lets it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Any, NoReturn
from uuid import uuid4

from wiesel.checkpoint.messages import TaskKey
from wiesel.common.job_execution_result import JobExecutionResult
from wiesel.common.job_status import JobStatus
from wiesel.core import options as opt
from wiesel.core.argument_checks import require_count
from wiesel.core.clock import ManualClock
from wiesel.core.config import Configuration
from wiesel.core.errors import CheckpointError, JobCancelledError, JobExecutionError
from wiesel.core.metrics import merge_counts
from wiesel.core.temporary import make_directory, remove_directory
from wiesel.core.user_location import program_error
from wiesel.engine.base import JobSettings, job_settings
from wiesel.engine.job_attempt import AttemptState
from wiesel.engine.local.executor import NEVER_MS
from wiesel.engine.local.simulation import Simulation
from wiesel.engine.restart import restart_strategy
from wiesel.engine.shippable import check_shippable
from wiesel.graph.execution_graph import build_execution_graph
from wiesel.graph.job_graph import JobGraph, build_job_graph
from wiesel.graph.specs import StreamGraph
from wiesel.graph.stage_plan import StagePlan, build_stage_plan
from wiesel.rest.gateway import Rescaled
from wiesel.testing._failures import MASTER_POINTS, TASK_POINTS, InjectedFailure, InjectedRestart, PlannedFailure, WatchedMaster
from wiesel.testing._inputs import checked_timestamp
from wiesel.testing.snapshots import NO_LIMIT_BYTES, JobSnapshot
from wiesel.testing.source import manual_sources

__all__ = ["PipelineJob"]


_MOST_STEPS, _MOST_STEPS_OF_OTHERS = 1_000_000, 100_000
"""Limits of the number of steps at one time; lower with sources that read by themselves, up to a thousand records per step."""

_MOST_RESTARTS = 1_000


class PipelineJob:
    """A running job; created by ``LocalEnvironment.start``. It only proceeds in the calls of these methods, in the test's thread.

    As a context manager it cancels the job at the end if it is still running.

    Raises:
        JobExecutionError: From any method that lets the job proceed, if it has failed; with its cause.
    """

    _steps_to_end_max = 100_000_000
    """The number of single things that a job may do until its end."""

    def __init__(self, graph: StreamGraph, config: Configuration, restore_from: JobSnapshot | None, *, settles: bool = True) -> None:
        plan = build_stage_plan(build_execution_graph(build_job_graph(graph)))
        check_shippable(plan)
        self._graph = graph
        # A separate one, as names that sinks derive from it must be unique.
        job_id = uuid4().hex
        self._sources = manual_sources(graph)
        others = [n for n in graph.nodes.values() if n.is_source and n.name not in self._sources]
        self._endless = [n.name for n in others if not n.bounded]
        self._most_steps = _MOST_STEPS_OF_OTHERS if others else _MOST_STEPS
        self._planned: list[PlannedFailure] = []
        self._closed = False
        self._local_dir = make_directory("wiesel-testing-")
        self._clock = ManualClock(config.get(opt.LOCAL_START_TIME))
        self._world = Simulation(
            plan,
            seed=config.get(opt.LOCAL_SEED),
            clock=self._clock,
            checkpoint_dir=self._settings(config).checkpoint_dir,
            memory_limit_bytes=NO_LIMIT_BYTES,
            local_dir=self._local_dir,
            local_backup=self._settings(config).local_backup,
            faults=self._on_task_point,
        )
        self._master = self._make_master(plan, config, job_id, restore_from)
        self._world.master = self._master
        try:
            self._master.start()
            self._until(self._running, "start")
            if settles:
                self.settle()
        except BaseException:
            self._release()
            raise

    def _settings(self, config: Configuration) -> JobSettings:
        # Checkpoints stay in memory; tasks in this thread cannot be lost.
        return replace(job_settings(config), checkpoint_dir=None, restore_path=None, heartbeat_timeout_ms=NEVER_MS)

    def _make_master(self, plan: StagePlan, config: Configuration, job_id: str, restore_from: JobSnapshot | None) -> WatchedMaster:
        strategy = InjectedRestart(restart_strategy(config, checkpointing=True))
        master = WatchedMaster(
            plan,
            self._settings(config),
            strategy,
            job_id=job_id,
            launcher=self._world,
            background=self._world,
            clock=self._clock,
            restore=None if restore_from is None else (restore_from.checkpoint, restore_from.facts),
        )
        master.strategy = strategy
        master.on_point = self._on_master_point
        return master

    # Progress of the job

    def settle(self) -> None:
        """Let the job proceed as far as possible without time passing: pushed records are processed, messages are delivered."""
        self._check_open()
        left = self._most_steps
        while left > 0:
            quiet = self._world.wake_sources()
            steps = self._steps(left)
            # Only the sources were polled, and none of them had records.
            if steps <= quiet:
                return
            left -= steps
        self._too_busy()

    def step(self, count: int = 1) -> int:
        """Execute single steps, chosen by the seed, without time passing; for stopping the job in the middle of its work.

        Args:
            count: Maximal number of steps.

        Returns:
            The number of executed steps; fewer than ``count`` if there were no more.
        """
        self._check_open()
        require_count(count, "count")
        self._world.wake_sources()
        return self._steps(count)

    def advance_processing_time(self, by: int) -> None:
        """Let this many ms pass; see :meth:`set_processing_time`."""
        self.set_processing_time(self.processing_time + by)

    def set_processing_time(self, now: int) -> None:
        """Advance the clock to ``now`` (ms since the epoch), with all due events on the way, in order.

        Timers of processing time fire, periodic watermarks are emitted (every ``pipeline.auto-watermark-interval``), buffers are
        flushed, periodic checkpoints are taken.
        """
        self._check_open()
        checked_timestamp(now, "a processing time")
        if now < self.processing_time:
            raise program_error(f"the processing time cannot go back from {self.processing_time} to {now}", "give a later time")
        self.settle()
        while not self._ended and (due := self._world.next_deadline()) is not None and due <= now:
            self._world.pass_time(max(due, self.processing_time))
            self._quiet()
        self._clock.set(now)
        self.settle()

    @property
    def processing_time(self) -> int:
        """The clock, in ms since the epoch."""
        return self._clock.now_ms()

    def finish(self) -> JobExecutionResult:
        """End the sources written by the test and run the job to its end, letting time pass as needed.

        Raises:
            ProgramError: If another source is unbounded.
            AssertionError: If a failure was planned with :meth:`fail_at` and its point was never passed.
        """
        self._check_open()
        if self._endless:
            raise program_error(f"the source {self._endless[0]!r} never ends", "leave the `with`, or call cancel(), to end the job")
        for source in self._sources.values():
            source.end()
        self._world.wake_sources()
        left = self._steps_to_end_max
        while not self._ended:
            self._world.step()
            left -= 1
            if self.restarts > _MOST_RESTARTS:
                raise JobExecutionError(f"the job was restarted {self.restarts} times", hint="limit the attempts of its restart strategy")
            if left == 0:
                hint = "see whether a timer or an iteration never ends"
                raise JobExecutionError(f"the job has not ended after {self._steps_to_end_max} steps", hint=hint)
        result = self._master.result.result()
        self._check_planned()
        return result

    def cancel(self) -> None:
        """Cancel the job, as by its client."""
        self._check_open()
        self._master.cancel()
        while not self._ended:
            self._world.step()

    # Checkpoints and failures.

    def checkpoint(self) -> JobSnapshot:
        """Take a checkpoint now, with records in flight anywhere, and return it when it is complete and its commits have ended.

        Call :meth:`settle` before for one without records in flight. A job can be restored from it: ``env.start(restore_from=...)``.

        Raises:
            CheckpointError: If it could not be taken.
            InjectedFailure: If a failure planned with :meth:`fail_at` happened; the job has recovered from it.
        """
        self._check_open()
        if self._graph.runtime_mode == "BATCH":
            raise program_error("there are no checkpoints in BATCH mode", "run the job in STREAMING mode")
        self._check_can_go_on("take a checkpoint")
        master = self._master
        failures = len(master.failures)
        self._until(lambda: self._pending() is None or len(master.failures) > failures, "complete the checkpoint under way")
        completed, failed = master.completed_checkpoints, master.failed_checkpoints
        if master.attempt is not None:
            master.attempt.trigger()

        def over() -> bool:
            committed = master.attempt is not None and not master.attempt.committing
            given_up = master.failed_checkpoints > failed or len(master.failures) > failures
            return given_up or (master.completed_checkpoints > completed and committed)

        self._until(over, "complete the checkpoint")
        if master.attempt is not None and master.attempt.state is AttemptState.FAILED:
            # It failed in the same moment.
            self._until(lambda: len(master.failures) > failures, "fail")
        self._after_failure(failures)
        if master.completed_checkpoints == completed or master.last_checkpoint is None:
            cause = master.failures[failures] if len(master.failures) > failures else None
            why = "a task failed" if cause is not None else "a task could not store its part"
            raise CheckpointError(f"the checkpoint was aborted: {why}", hint="the log has the reason") from cause
        return JobSnapshot(master.last_checkpoint, master.recovery.facts)

    def _pending(self) -> int | None:
        return self._master.attempt.coordinator.pending_id if self._master.attempt is not None else None

    def _after_failure(self, failures_before: int) -> None:
        """Raise the failure of the job, or an injected failure after the job has recovered from it."""
        if self._master.status is JobStatus.FAILING:
            self._until(lambda: self._master.status is not JobStatus.FAILING, "fail")
        self._raise_failure()
        failures = self._master.failures[failures_before:]
        if failures and isinstance(failures[0], InjectedFailure):
            self._until(self._running, "recover")
            raise failures[0]

    def fail(self, reason: str = "injected by the test") -> None:
        """Fail all tasks now, and let the job recover from the newest checkpoint (or restart, if there is none)."""
        self._check_open()
        self._check_can_go_on("fail")
        if self._master.attempt is not None:
            self._master.attempt.fail(InjectedFailure(reason))
        self._until(self._running, "recover")

    def fail_at(self, point: str, *, operator: str | None = None, subtask: int | None = None, nth: int = 1) -> None:
        """Plan a failure at a point of a checkpoint. The job recovers from it.

        At a point of a task its region fails (``jobmanager.execution.failover-strategy``), at one of the JobMaster the whole job.

        Args:
            point: ``before-barrier``, ``before-snapshot``, ``before-ack`` or ``after-ack`` (a task's), or ``before-publish``,
                ``after-publish``, ``before-commit`` or ``after-commit`` (the JobMaster's).
            operator: Name or uid of an operator whose tasks are affected. None for any task.
            subtask: Only this subtask of the operator is affected.
            nth: Number of the passage, counted from 1.
        """
        self._check_open()
        require_count(nth, "nth")
        if point not in TASK_POINTS + MASTER_POINTS:
            raise program_error(f"there is no point {point!r}", f"use one of {', '.join(TASK_POINTS + MASTER_POINTS)}")
        if point in MASTER_POINTS and (operator is not None or subtask is not None):
            raise program_error(f"the JobMaster passes the point {point!r}, not a task", "leave operator and subtask out")
        self._planned.append(PlannedFailure(point, self._tasks_of(operator, subtask) if point in TASK_POINTS else None, nth))

    def _tasks_of(self, operator: str | None, subtask: int | None) -> frozenset[TaskKey]:
        vertices = [v for v in self._job.vertices if operator is None or any(operator in (o.node.name, o.node.uid) for o in v.operators)]
        if not vertices:
            known = ", ".join(o.node.name for v in self._job.vertices for o in v.operators)
            raise program_error(f"the job has no operator {operator!r}", f"use a name or uid; it has {known}")
        tasks = frozenset((v.index, i) for v in vertices for i in range(v.parallelism) if subtask in (None, i))
        if not tasks:
            raise program_error(f"the operator has no subtask {subtask}", f"its parallelism is {vertices[0].parallelism}")
        return tasks

    def _on_task_point(self, point: str, task: TaskKey) -> None:
        if self._is_hit(point, task):
            raise InjectedFailure(f"planned at {point} of {self._job.vertices[task[0]].name} ({task[1] + 1})")

    def _on_master_point(self, point: str) -> None:
        if self._is_hit(point, None) and self._master.attempt is not None:
            self._master.attempt.fail(InjectedFailure(f"planned at {point}"))

    def _is_hit(self, point: str, task: TaskKey | None) -> bool:
        hit = [p for p in self._planned if p.hit(point, task)]
        self._planned = [p for p in self._planned if p not in hit]
        return bool(hit)

    def rescale(self, parallelism: int) -> Rescaled:
        """Rescale the job, as ``wiesel rescale`` does; return the results for its vertices.

        Args:
            parallelism: The parallelism of all operators for which the program does not set one.

        Raises:
            ConfigurationError: If it is above the maximum parallelism of an operator.
            CheckpointError: If the job could not be rescaled; it continues unchanged.
            InjectedFailure: If a failure planned with :meth:`fail_at` happened; the job has recovered from it.
        """
        self._check_open()
        self._check_can_go_on("be rescaled")
        failures = len(self._master.failures)
        answer = self._master.rescale(parallelism)
        self._until(answer.done, "be rescaled")
        if answer.exception() is not None:
            self._until(lambda: self._running() or self._ended, "go on")
            self._after_failure(failures)
        return answer.result()

    @property
    def _job(self) -> JobGraph:
        return self._master.plan.graph.job

    # Observation

    @property
    def status(self) -> JobStatus:
        """The state of the job."""
        return self._master.status

    @property
    def restarts(self) -> int:
        """Return the number of restarts of the job."""
        return self._master.restarts

    @property
    def completed_checkpoints(self) -> int:
        """Return the number of complete checkpoints."""
        return self._master.completed_checkpoints

    def metric(self, name: str) -> Any:
        """Return a metric of the running tasks, aggregated over all subtasks: ``<operator's name>.<metric>``, or one of the tasks.

        Args:
            name: Its name, e.g. ``TumblingEventTimeWindows.numLateRecordsDropped``.
        """
        self._check_open()
        found = merge_counts([task.task.metrics() for task in self._world.tasks.values()])
        if name not in found:
            raise program_error(f"the running tasks have no metric {name!r}", f"they have {', '.join(sorted(found)) or 'none'}")
        return found[name]

    # End

    def close(self) -> None:
        """Cancel the job if it is still running, and close its tasks."""
        if self._closed:
            return
        try:
            if not self._ended:
                self.cancel()
        finally:
            self._release()

    def _release(self) -> None:
        self._closed = True
        remove_directory(self._local_dir)

    def __enter__(self) -> PipelineJob:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
        if error is None:
            self._check_planned()

    # Inside.

    @property
    def _ended(self) -> bool:
        return self._master.result.done()

    def _running(self) -> bool:
        attempt = self._master.attempt
        return self._master.status is JobStatus.RUNNING and attempt is not None and attempt.state is AttemptState.RUNNING

    def _steps(self, most: int) -> int:
        """Execute at most this number of possible steps; return their number."""
        done = 0
        while done < most and not self._ended and self._world.step_now():
            done += 1
        self._raise_failure()
        return done

    def _quiet(self) -> None:
        if self._steps(self._most_steps) == self._most_steps:
            self._too_busy()

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        for _ in range(self._most_steps):
            if condition():
                return
            if not self._ended and self._world.step_now():
                continue
            self._raise_failure()
            if self._ended:
                raise JobExecutionError(f"the job ended before it could {what}")
            raise JobExecutionError(
                f"the job cannot {what} now: it is {self._master.status.name} and waits for time to pass",
                hint="call advance_processing_time()",
            )
        self._too_busy()

    def _raise_failure(self) -> None:
        result = self._master.result
        if result.done() and (error := result.exception()) is not None and not isinstance(error, JobCancelledError):
            raise error

    def _too_busy(self) -> NoReturn:
        raise JobExecutionError(
            f"the job has not come to rest after {self._most_steps} steps",
            hint="limit the rate of its sources, or use step()",
        )

    def _check_planned(self) -> None:
        if self._planned:
            points = ", ".join(p.point for p in self._planned)
            raise AssertionError(f"failures were planned at points that were never passed: {points}")

    def _check_open(self) -> None:
        if self._closed:
            raise program_error("the job is closed", "use it inside the `with`, or before close()")

    def _check_can_go_on(self, what: str) -> None:
        self._raise_failure()
        if self._ended:
            raise program_error(f"the job is {self.status.name} and cannot {what}", "do it before the job ends")
        self._until(self._running, what)
