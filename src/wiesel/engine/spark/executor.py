"""Internal. Starts jobs on Spark and runs their JobMaster in a thread of the driver."""

from __future__ import annotations

import os
import queue
import secrets
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from uuid import uuid4

from py4j.protocol import Py4JNetworkError
from pyspark import InheritableThread
from pyspark.sql import SparkSession

from wiesel.checkpoint.messages import CancelTask, FromTask, InputConnected, OpenOutput, RegisterTask, TaskFailed, TaskKey, ToTask
from wiesel.common.job_client import JobClient
from wiesel.common.job_execution_result import JobExecutionResult
from wiesel.common.job_id import JobID
from wiesel.common.job_status import JobStatus
from wiesel.core import code_pickling, hooks
from wiesel.core.clock import SystemClock
from wiesel.core.config import Configuration
from wiesel.core.errors import JobExecutionError, ResourceError, WieselError
from wiesel.core.logs import get_logger
from wiesel.core.temporary import make_directory, remove_directory
from wiesel.engine.base import JobSettings, job_settings
from wiesel.engine.code_shipping import program_classes
from wiesel.engine.dependencies import dependencies_of
from wiesel.engine.endpoint import JobEndpoint, open_endpoint
from wiesel.engine.fault_points import ENVIRONMENT_VARIABLE
from wiesel.engine.futures import Question, ask_later
from wiesel.engine.job_attempt import CHECKPOINTS
from wiesel.engine.job_master import JobMaster
from wiesel.engine.job_metrics import job_metrics
from wiesel.engine.registry import snapshot_key
from wiesel.engine.restart import restart_strategy
from wiesel.engine.shippable import check_shippable
from wiesel.engine.spark.control import ControlServer
from wiesel.engine.spark.driver_jvm import local_master
from wiesel.engine.spark.exchange import (
    ROW_SCHEMA,
    Materialized,
    cancel_group,
    exchange,
    free_slots,
    lacks_slots,
    materialize,
    use_in_this_thread,
)
from wiesel.engine.spark.failures import spark_failure
from wiesel.engine.spark.handshake import Handshake, not_connected
from wiesel.engine.spark.process_limits import Footprint, Limits, check_limits
from wiesel.engine.spark.session import job_session, jvm_is_gone, spark_session
from wiesel.engine.spark.shared_event_loops import channels, share_event_loops
from wiesel.engine.spark.slots import SlotRequest, in_this_process
from wiesel.engine.spark.worker import AttemptPayload, stage_function
from wiesel.engine.spark.worker_files import ship
from wiesel.engine.task_errors import task_name
from wiesel.engine.unaligned import check_unaligned
from wiesel.graph.execution_graph import build_execution_graph
from wiesel.graph.job_graph import build_job_graph
from wiesel.graph.specs import StreamGraph
from wiesel.graph.stage_plan import Region, StagePlan, build_stage_plan
from wiesel.runtime.descriptor import TaskDescriptor

T = TypeVar("T")
_log = get_logger("wiesel.spark")
_JVM_END_S = 2.0
_LEAST_WAIT_MS = 1000
_LAST_WORDS_S = 30.0
_LAST_WORDS_OF_FAILED_S = 0.5


class SparkExecutor:
    """The engine on Spark."""

    def execute(self, graph: StreamGraph, config: Configuration) -> JobClient:
        """Plan the job, ensure a Spark session, and start its JobMaster."""
        check_unaligned(graph, config)
        plan = build_stage_plan(build_execution_graph(build_job_graph(graph)))
        settings = replace(job_settings(config, plan.graph.job), snapshot_key=snapshot_key(config, make=True))
        modules = [*check_shippable(plan), *(name.partition(":")[0] for name in hooks.worker_initializers())]
        if in_this_process(local_master(config)) and plan.graph.job.runtime_mode != "BATCH":
            check_limits(Footprint(slots_needed(plan), channels(plan.regions)), Limits.of_this_machine())
        session = spark_session(config, slots_needed(plan), least=least_slots(plan, settings), modules=modules)
        job = SparkJob(session, plan, settings, config, ship(session, dependencies_of(config)))
        job.start()
        return JobClient(JobID(job.job_id), job)


def slots_needed(plan: StagePlan, regions: Sequence[Region] | None = None) -> int:
    """Return the number of concurrent tasks of these regions (or all): all tasks, or in BATCH mode the maximum over stages."""
    return 1 if plan.graph.job.runtime_mode == "BATCH" else sum(region.slots for region in (plan.regions if regions is None else regions))


def least_slots(plan: StagePlan, settings: JobSettings) -> int:
    """Return the minimal number of slots of the job: with one subtask per vertex for the adaptive scheduler."""
    return slots_needed(plan) if settings.adaptive is None else min(slots_needed(plan), len(plan.graph.job.vertices))


@dataclass
class _Launch:
    """The Spark jobs of a region: one per region of the plan, ``running`` of which have not ended."""

    attempt: int
    region: int
    plan: StagePlan
    regions: list[Region]
    tasks: dict[TaskKey, bytes]
    request: SlotRequest
    error: BaseException | None = None

    def __post_init__(self) -> None:
        self.running = len(self.regions)


class _Lane:
    """Runs work sequentially, in a thread that lives as long as there is some. Not awaited at exit: a client may hang in it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._work: deque[Callable[[], None]] = deque()

    def put(self, work: Callable[[], None]) -> None:
        """Queue work, which must not raise."""
        with self._lock:
            self._work.append(work)
            if len(self._work) > 1:
                return
        try:
            threading.Thread(target=self._run, name=f"wiesel-{self._name}", daemon=True).start()
        except RuntimeError:
            self._run()  # the program has ended without waiting for its job: no thread can start

    def _run(self) -> None:
        more = True
        while more:
            self._work[0]()
            with self._lock:
                self._work.popleft()
                more = bool(self._work)


class SparkJob:
    """A running job: its thread, its control service, its Spark jobs. Also the handle behind its JobClient."""

    def __init__(self, session: SparkSession, plan: StagePlan, settings: JobSettings, config: Configuration, bundle: str | None) -> None:
        strategy = restart_strategy(config, checkpointing=settings.checkpoints.interval_ms is not None)
        self.job_id = uuid4().hex
        self._bundle = bundle
        self._session = job_session(session)
        self._config = config
        self._endpoint: JobEndpoint | None = None
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._token = secrets.token_bytes(32)
        self._clock = SystemClock()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="wiesel-master-io")
        self._lanes: dict[str, _Lane] = {}
        self._local_dir = make_directory("wiesel-")
        if self._on_this_host:
            settings = replace(settings, local_backup=settings.local_backup.below(self._local_dir))
        self._settings = settings
        self._fault_plan = os.environ.get(ENVIRONMENT_VARIABLE, "")
        self._launches: dict[tuple[int, int], _Launch] = {}
        """Running launches by attempt and region."""
        self._handshakes: dict[tuple[int, TaskKey], Handshake] = {}
        # By region and level: the output of the previous level, in BATCH mode.
        self._kept: dict[int, dict[int, Materialized]] = {}
        self._classes = program_classes()
        self._control = self._start_control()
        self.master = JobMaster(
            plan,
            settings,
            strategy,
            job_id=self.job_id,
            launcher=self,
            background=self,
            clock=self._clock,
            fault_plan=self._fault_plan,
        )

    @property
    def _on_this_host(self) -> bool:
        """Return whether all tasks run on this process's host."""
        return in_this_process(str(self._session.sparkContext.master))

    def _start_control(self) -> ControlServer:
        host = bind = "127.0.0.1"
        if not str(self._session.sparkContext.master).startswith("local"):
            conf = self._session.sparkContext.getConf()
            host = str(conf.get("spark.driver.host", host))
            bind = str(conf.get("spark.driver.bindAddress", host))
        return ControlServer(
            bind,
            self._token,
            self._on_message,
            self._on_lost,
            heartbeat_s=self._heartbeat_s,
            patience_s=self._settings.heartbeat_timeout_ms / 1e3,
            known_as=host,
        )

    @property
    def _heartbeat_s(self) -> float:
        return min(1.0, self._settings.heartbeat_interval_ms / 1e3, self._settings.heartbeat_timeout_ms / 3e3)

    def start(self) -> None:
        """Start the first attempt; errors that a restart cannot cure are raised here."""
        try:
            self._endpoint = open_endpoint(self.master, self._ask, self._config)
            self.master.start()
        except BaseException:
            self._cleanup()
            raise
        self.job_id = self.master.job_id
        if self._endpoint is not None:
            self._endpoint.announce()
        threading.Thread(target=self._loop, name=f"wiesel-master-{self.job_id[:8]}", daemon=True).start()

    # The master's thread

    def _loop(self) -> None:
        while not self.master.result.done():
            deadline = self.master.next_deadline_ms()
            timeout_s = 0.5 if deadline is None else min(0.5, max(0.0, (deadline - self._clock.now_ms()) / 1e3))
            try:
                event = self._events.get(timeout=timeout_s)
            except queue.Empty:
                event = None
            try:
                if event is not None:
                    event()
                self.master.on_time(self._clock.now_ms())
            except Exception as error:  # noqa: BLE001 - a bug in the master must end the job, not hang it
                self._broken(error)
        self._cleanup()
        self._answer_the_rest()

    def _answer_the_rest(self) -> None:
        """Answer requests that arrived while the job ended, from its last state."""
        while True:
            try:
                self._events.get_nowait()()
            except queue.Empty:
                return
            except Exception as error:  # noqa: BLE001 - a late message of a job that has ended
                _log.debug("a late event had no effect: %s", error)

    def _broken(self, error: Exception) -> None:
        _log.error("the JobMaster failed", exc_info=error)
        for launch in list(self._launches.values()):
            self._cancel(launch)
        if not self.master.result.done():
            failure = JobExecutionError(f"the JobMaster failed: {type(error).__name__}: {error}")
            failure.__cause__ = error
            self.master.result.set_exception(failure)

    def _cleanup(self) -> None:
        if self._endpoint is not None:
            self._endpoint.close()
        self._control.close()
        self._pool.shutdown(wait=False)
        self._kept.clear()
        remove_directory(self._local_dir)

    def _on_message(self, attempt: int, message: FromTask) -> None:
        handshake = self._handshakes.get((attempt, message.task))
        if isinstance(message, InputConnected):
            if handshake is not None:
                handshake.on_connected(message.task)
            return
        if isinstance(message, RegisterTask) and handshake is not None:
            handshake.on_registered(message.task)
        self._events.put(lambda: self.master.on_message(attempt, message))

    def _on_lost(self, attempt: int, task: TaskKey) -> None:
        self._events.put(lambda: self.master.on_task_lost(attempt, task))

    # Background

    def run(self, work: Callable[[], T], done: Callable[[T | None, BaseException | None], None], lane: str = CHECKPOINTS) -> None:
        """Run blocking work of the master, sequentially in each lane."""

        def task() -> None:
            try:
                result = work()
            except Exception as error:  # noqa: BLE001 - handed to the master
                failure = error
                self._events.put(lambda: done(None, failure))
            else:
                self._events.put(lambda: done(result, None))

        if lane != CHECKPOINTS:
            if lane not in self._lanes:
                self._lanes[lane] = _Lane(lane)
            self._lanes[lane].put(task)
            return
        try:
            self._pool.submit(task)
        except RuntimeError:
            task()  # the program has ended without waiting for its job: pools accept no more work

    # Launcher

    def free_slots(self) -> int:
        """Return how many more tasks could run now, according to Spark.

        Raises:
            ResourceError: If Spark has stopped.
        """
        return free_slots(self._session)

    def launch(self, attempt: int, plan: StagePlan, regions: Mapping[int, dict[TaskKey, TaskDescriptor]]) -> None:
        """Start one Spark job per region of the plan, as soon as there are slots for all of them.

        Raises:
            ResourceError: If the JVM has ended since the last attempt.
        """
        gone = self._without_jvm()
        if gone is not None:
            raise gone
        launches = [self._prepare(attempt, plan, region, tasks) for region, tasks in regions.items()]
        for launch in launches:
            self._launches[attempt, launch.region] = launch
        InheritableThread(target=self._deploy, args=(launches,), name="wiesel-deploy", daemon=True).start()

    def _prepare(self, attempt: int, plan: StagePlan, region: int, tasks: dict[TaskKey, TaskDescriptor]) -> _Launch:
        places = {(s.vertex, s.index): stage_region.index for stage_region in plan.regions for s in stage_region.place}
        wanted = {places[key] for key in tasks}
        session, limits_ms = self._session, [self._settings.slot_request_timeout_ms]
        if self.master.adaptive is not None:
            # The slots have been checked. If they are lost, the check is repeated soon.
            limits_ms.append(max(_LEAST_WAIT_MS, self.master.adaptive.stable_before_start_ms))
        return _Launch(
            attempt,
            region,
            plan,
            [stage_region for stage_region in plan.regions if stage_region.index in wanted],
            {key: code_pickling.dumps(task) for key, task in tasks.items()},
            SlotRequest(lambda: free_slots(session), min(limits_ms) / 1e3, str(session.sparkContext.master)),
        )

    def kept_levels(self) -> dict[int, list[int]]:
        """Return by region the levels whose input is there from earlier attempts."""
        if self._without_jvm() is not None:
            return {}
        return {region: [level for level, kept in levels.items() if kept.is_there()] for region, levels in self._kept.items()}

    def _deploy(self, launches: list[_Launch]) -> None:
        left = [(launch, region) for launch in reversed(launches) for region in reversed(launch.regions)]
        try:
            launches[0].request.wait(slots_needed(launches[0].plan, [region for _, region in left]))
            if self._on_this_host:
                share_event_loops(self._session, channels([region for _, region in left if self._is_pipelined(region)]))
            while left:
                launch, region = left[-1]
                # Tasks that do not run again, as their results are retained, are missing.
                tasks = launch.tasks
                stages = [[tasks[key] for s in level if (key := (s.vertex, s.index)) in tasks] for level in region.levels]
                name = f"wiesel-region-{region.index}"
                InheritableThread(target=self._run_region, args=(launch, region, stages), name=name, daemon=True).start()
                left.pop()
        except Exception as failure:  # noqa: BLE001 - handed to the master
            error = self._cause(failure)
            for launch, _ in left:
                self._events.put(lambda launch=launch: self._region_ended(launch, error))  # type: ignore[misc]

    def _is_pipelined(self, region: Region) -> bool:
        return self.master.plan.graph.job.runtime_mode != "BATCH" and len(region.levels) > 1

    def _payload(self, attempt: int, region: Region) -> AttemptPayload:
        return AttemptPayload(
            attempt=attempt,
            address=self._control.address,
            token=self._token,
            checkpoint_dir=self._settings.checkpoint_dir if self._settings.checkpoints.interval_ms is not None else None,
            local_dir=self._local_dir if self._on_this_host else None,
            local_backup=self._settings.local_backup,
            region=region.index,
            pipelined=self._is_pipelined(region),
            hops=[len(level) for level in region.levels],
            relays=region.relays,
            initializers=hooks.worker_initializers(),
            classes=self._classes,
            bundle=self._bundle,
            fault_plan=self._fault_plan,
            heartbeat_s=self._heartbeat_s,
            heartbeat_timeout_s=self._settings.heartbeat_timeout_ms / 1e3,
            cancellation_timeout_s=self._settings.cancellation_timeout_ms / 1e3,
        )

    def _run_region(self, launch: _Launch, region: Region, stages: list[list[bytes]]) -> None:
        error: BaseException | None = None
        try:
            use_in_this_thread(self._session)
            description = f"{launch.plan.graph.job.job_name}, attempt {launch.attempt}"
            self._session.sparkContext.setJobGroup(self._group(launch), description, interruptOnCancel=True)
            with self._connecting(launch, region):
                while not self._collect(launch, region, stages):
                    # Another job was faster, or an executor was lost since the check.
                    launch.request.wait(region.slots, refused=True)
        except Exception as failure:  # noqa: BLE001 - handed to the master
            error = self._cause(failure)
        self._events.put(lambda: self._region_ended(launch, error))

    @contextmanager
    def _connecting(self, launch: _Launch, region: Region) -> Iterator[None]:
        """Let the tasks of a region of the plan send once all of them are connected, and fail the attempt after the timeout."""
        if not self._is_pipelined(region):
            yield
            return
        attempt, timeout_ms = launch.attempt, self._settings.partition_request_timeout_ms
        levels = [[(subtask.vertex, subtask.index) for subtask in level] for level in region.levels]
        handshake = Handshake(levels, lambda task: self._control.send(attempt, task, OpenOutput()))
        handshakes = {(attempt, task): handshake for level in levels for task in level}

        def watch() -> None:
            task = handshake.wait_for_stalled(timeout_ms / 1e3)
            if task is not None:
                vertex = launch.plan.graph.job.vertices[task[0]]
                name = task_name(vertex.name, task[1], vertex.parallelism)
                self._on_message(attempt, TaskFailed(task, not_connected(name, timeout_ms / 1e3)))

        self._handshakes.update(handshakes)
        threading.Thread(target=watch, name="wiesel-handshake", daemon=True).start()
        try:
            yield
        finally:
            handshake.end()
            for key in handshakes:
                del self._handshakes[key]

    def _collect(self, launch: _Launch, region: Region, stages: list[list[bytes]]) -> bool:
        """Run a region of the plan to its end; return False if Spark refused it for lack of slots."""
        payload = self._payload(launch.attempt, region)
        blocking, kept = launch.plan.graph.job.runtime_mode == "BATCH", self._kept.setdefault(region.index, {})
        first = next(level for level, tasks in enumerate(stages) if tasks)
        frame = kept[first].frame if first else self._session.range(0, len(stages[0]), 1, len(stages[0]))
        for level in range(first, len(stages)):
            if level > first and blocking:
                kept[level] = materialize(frame, len(stages[level - 1]), len(stages[level]))
                frame = kept[level].frame
            elif level > first:
                frame = exchange(frame, len(stages[level]), pipelined=True)
            frame = frame.mapInArrow(stage_function(payload, level, stages[level]), ROW_SCHEMA)
        try:
            frame.collect()
        except Exception as error:
            if not lacks_slots(error):
                raise
            return False
        return True

    def _cause(self, failure: Exception) -> BaseException:
        # A broken connection is noticed shortly before the end of the process.
        return self._without_jvm(wait_s=_JVM_END_S if isinstance(failure, (OSError, Py4JNetworkError)) else 0.0) or failure

    def _region_ended(self, launch: _Launch, error: BaseException | None) -> None:
        launch.running -= 1
        if error is not None and launch.error is None:
            launch.error = error if isinstance(error, WieselError) else spark_failure(error)
            if launch.running:
                self._cancel(launch)
        if launch.running == 0:
            del self._launches[launch.attempt, launch.region]
            threading.Thread(target=self._launch_ended, args=(launch,), name="wiesel-launch-end", daemon=True).start()

    def _launch_ended(self, launch: _Launch) -> None:
        """Notify the master once the last messages of the tasks, which may be in flight, have been delivered."""
        attempt, tasks, error = launch.attempt, launch.tasks.keys(), launch.error
        if error is not None:
            # Spark considers a task ended once it has released its worker, which may be blocked.
            self._tell_to_end(launch)
            # Some may never have started, others may not have noticed yet; the message of the failed one is the most specific.
            self._control.wait_until_heard(attempt, self._control.registered(attempt, tasks), _LAST_WORDS_OF_FAILED_S)
        elif not self._control.wait_until_heard(attempt, tasks, _LAST_WORDS_S):
            _log.warning("attempt %d has ended, but the connections of some of its tasks have not", attempt)
        self._control.forget(attempt, tasks)
        self._events.put(lambda: self.master.on_launch_ended(attempt, error, launch.region))

    def _without_jvm(self, *, wait_s: float = 0.0) -> ResourceError | None:
        """Return the error of an ended JVM, which no further attempt can cure, or None."""
        if not jvm_is_gone(self._session, wait_s=wait_s):
            return None
        return ResourceError(
            "Spark's JVM, a child of this process, has ended or was killed",
            hint="start the program again with execution.state-recovery.path; if memory was short, give Spark less or the machine more",
        )

    def _group(self, launch: _Launch) -> str:
        return f"wiesel-{self.master.job_id}-{launch.attempt}-{launch.region}"

    def _cancel(self, launch: _Launch) -> None:
        """Cancel the tasks, and let Spark cancel those that do not respond."""
        launch.request.cancel()
        self._tell_to_end(launch)
        threading.Thread(target=self._cancel_group, args=(self._group(launch),), daemon=True).start()

    def _tell_to_end(self, launch: _Launch) -> None:
        for task in launch.tasks:
            self._control.send(launch.attempt, task, CancelTask())

    def _cancel_group(self, group: str) -> None:
        try:
            cancel_group(self._session, group)
        except Exception as error:  # noqa: BLE001 - the session may be gone already, and its tasks with it
            _log.debug("the job group %s could not be cancelled: %s", group, error)

    def send(self, attempt: int, task: TaskKey, message: ToTask) -> None:
        """Send a message to a task."""
        self._control.send(attempt, task, message)

    # JobHandle

    def _ask(self, question: Callable[[], T]) -> Future[T]:
        """Answer in the master's thread."""
        asked = Question(question)
        self._events.put(asked)
        if self.master.result.done():
            asked()
        return asked.answer

    def status(self) -> Future[JobStatus]:
        """Return the state of the job."""
        answer: Future[JobStatus] = Future()
        answer.set_result(self.master.status)
        return answer

    def cancel(self, attempt: int | None = None, region: int = 0) -> Any:
        """Cancel the job (JobHandle), or the tasks of a region that an attempt has started (Launcher)."""
        if attempt is None:
            return self._ask(self.master.cancel)
        launch = self._launches.get((attempt, region))
        if launch is not None:
            self._cancel(launch)
        return None

    def stop_with_savepoint(self, advance_to_end_of_event_time: bool, savepoint_directory: str | None) -> Future[str]:
        """End the job with a savepoint."""
        return ask_later(self._ask, lambda: self.master.savepoint(savepoint_directory, stop=True, drain=advance_to_end_of_event_time))

    def trigger_savepoint(self, savepoint_directory: str | None) -> Future[str]:
        """Take a savepoint."""
        return ask_later(self._ask, lambda: self.master.savepoint(savepoint_directory))

    def accumulators(self) -> Future[dict[str, Any]]:
        """Return the counters of the running job."""
        return self._ask(self.master.total_metrics)

    def metrics(self) -> Future[dict[str, Any]]:
        """Return the metrics of the job."""
        answer: Future[dict[str, Any]] = Future()
        answer.set_result(job_metrics(self.master))
        return answer

    def result(self) -> Future[JobExecutionResult]:
        """Complete when the job has ended."""
        return self.master.result
