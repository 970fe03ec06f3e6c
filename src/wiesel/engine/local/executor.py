"""Internal. Starts jobs on the local engine: a simulation in a thread of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, TypeVar
from uuid import uuid4

from wiesel.common.job_client import JobClient
from wiesel.common.job_execution_result import JobExecutionResult
from wiesel.common.job_id import JobID
from wiesel.common.job_status import JobStatus
from wiesel.core import options as opt
from wiesel.core.clock import ManualClock
from wiesel.core.config import Configuration
from wiesel.core.errors import JobExecutionError
from wiesel.core.temporary import make_directory, remove_directory
from wiesel.engine.base import job_settings
from wiesel.engine.dependencies import dependencies_of, use_in_this_process
from wiesel.engine.endpoint import JobEndpoint, open_endpoint
from wiesel.engine.futures import Question, ask_later
from wiesel.engine.job_master import JobMaster
from wiesel.engine.job_metrics import job_metrics
from wiesel.engine.local.simulation import Simulation
from wiesel.engine.registry import snapshot_key
from wiesel.engine.restart import restart_strategy
from wiesel.engine.shippable import check_shippable
from wiesel.engine.unaligned import check_unaligned
from wiesel.graph.execution_graph import build_execution_graph
from wiesel.graph.job_graph import build_job_graph
from wiesel.graph.specs import StreamGraph
from wiesel.graph.stage_plan import build_stage_plan

NEVER_MS = 1 << 62
T = TypeVar("T")


class LocalExecutor:
    """The engine in one process."""

    def execute(self, graph: StreamGraph, config: Configuration) -> JobClient:
        """Plan the job and start it."""
        check_unaligned(graph, config)
        plan = build_stage_plan(build_execution_graph(build_job_graph(graph)))
        check_shippable(plan)
        # Tasks in this process cannot be lost, so they send no heartbeats that could be missed.
        settings = replace(job_settings(config, plan.graph.job), heartbeat_timeout_ms=NEVER_MS, snapshot_key=snapshot_key(config))
        use_in_this_process(dependencies_of(config))
        local_dir = make_directory("wiesel-local-")
        settings = replace(settings, local_backup=settings.local_backup.below(local_dir))
        world = Simulation(
            plan,
            seed=config.get(opt.LOCAL_SEED),
            clock=ManualClock(config.get(opt.LOCAL_START_TIME)),
            checkpoint_dir=settings.checkpoint_dir if settings.checkpoints.interval_ms is not None else None,
            local_dir=local_dir,
            local_backup=settings.local_backup,
        )
        master = JobMaster(
            plan,
            settings,
            restart_strategy(config, checkpointing=settings.checkpoints.interval_ms is not None),
            job_id=uuid4().hex,
            launcher=world,
            background=world,
            clock=world.clock,
        )
        job = LocalJob(world, master, local_dir)
        try:
            if config.contains(opt.REST_ENABLED):
                job.endpoint = open_endpoint(master, job.ask, config)
            master.start()
        except BaseException:
            job.release()
            raise
        if job.endpoint is not None:
            job.endpoint.announce()
        threading.Thread(target=job.run, name="wiesel-local", daemon=True).start()
        return JobClient(JobID(master.job_id), job)


class LocalJob:
    """The handle of a job on the local engine."""

    def __init__(self, world: Simulation, master: JobMaster, local_dir: str) -> None:
        self._world = world
        self._master = master
        self._local_dir = local_dir
        self._over = threading.Event()
        self._ended: Future[JobExecutionResult] = Future()
        self._ended.set_running_or_notify_cancel()
        self.endpoint: JobEndpoint | None = None

    def run(self) -> None:
        """Run the job to its end."""
        try:
            self._world.run_job(self._master)
        except BaseException as error:  # noqa: BLE001 - a bug in the engine must end the job, not hang who waits for it
            if not self._master.result.done():
                failure = JobExecutionError(f"the local engine failed: {type(error).__name__}: {error}")
                failure.__cause__ = error
                self._master.result.set_exception(failure)
        finally:
            self._over.set()
            self._world.answer_the_rest()
            try:
                self.release()
            finally:
                self._tell_the_end()

    def _tell_the_end(self) -> None:
        """Release threads that wait for the end; this thread has no more work."""
        result = self._master.result
        error = result.exception() if result.done() else JobExecutionError("the thread of the local engine was ended")
        if error is not None:
            self._ended.set_exception(error)
        else:
            self._ended.set_result(result.result())

    def release(self) -> None:
        """Release the job's working files and its endpoint."""
        remove_directory(self._local_dir)
        if self.endpoint is not None:
            self.endpoint.close()

    def status(self) -> Future[JobStatus]:
        """Return the state of the job."""
        answer: Future[JobStatus] = Future()
        answer.set_result(self._master.status)
        return answer

    def ask(self, question: Callable[[], T]) -> Future[T]:
        """Execute a request in the thread of the job; after its end, immediately."""
        asked = Question(question)
        self._world.request(asked)
        if self._over.is_set():
            asked()
        return asked.answer

    def cancel(self) -> Future[None]:
        """Cancel the job."""
        return self.ask(self._master.cancel)

    def stop_with_savepoint(self, advance_to_end_of_event_time: bool, savepoint_directory: str | None) -> Future[str]:
        """End the job with a savepoint."""
        return ask_later(
            self.ask, lambda: self._master.savepoint(savepoint_directory, stop=True, drain=advance_to_end_of_event_time)
        )

    def trigger_savepoint(self, savepoint_directory: str | None) -> Future[str]:
        """Take a savepoint."""
        return ask_later(self.ask, lambda: self._master.savepoint(savepoint_directory))

    def accumulators(self) -> Future[dict[str, Any]]:
        """Return the counters of the job."""
        answer: Future[dict[str, Any]] = Future()
        answer.set_result(self._master.total_metrics())
        return answer

    def metrics(self) -> Future[dict[str, Any]]:
        """Return the metrics of the job."""
        answer: Future[dict[str, Any]] = Future()
        answer.set_result(job_metrics(self._master))
        return answer

    def result(self) -> Future[JobExecutionResult]:
        """Return a future set when the job has ended and released its resources."""
        return self._ended
