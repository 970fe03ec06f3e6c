"""What restarts when a task fails: the JobMaster of two pipelines that share nothing, with tasks that do nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.faults.test_fencing import INTERVAL_MS, JOB, TallySink
from wiesel.checkpoint.messages import AckCheckpoint, CancelTask, CheckpointComplete, RegisterTask, TaskFailed, TaskFinished, TaskKey
from wiesel.checkpoint.snapshot import OperatorStateSnapshot, TaskSnapshot
from wiesel.checkpoint.store import CheckpointStore
from wiesel.common import Configuration
from wiesel.common.job_status import JobStatus
from wiesel.core.clock import ManualClock
from wiesel.core.errors import (
    CheckpointStorageError,
    ConfigurationError,
    CorruptCheckpointError,
    FencedError,
    JobExecutionError,
    NoResourceAvailableError,
    ProgramError,
    UserFunctionError,
)
from wiesel.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.engine.base import job_settings
from wiesel.engine.failover import failover_regions
from wiesel.engine.gateway import job_view
from wiesel.engine.job_master import JobMaster
from wiesel.engine.restart import ExponentialDelayRestart, FixedDelayRestart, RestartStrategy
from wiesel.engine.task_errors import broken_exchange
from wiesel.graph.execution_graph import build_execution_graph
from wiesel.graph.job_graph import build_job_graph
from wiesel.graph.stage_plan import StagePlan, build_stage_plan
from wiesel.rest.answers import exceptions

DELAY_MS = 100
LEFT, RIGHT = 0, 1


def environment(**settings: str) -> StreamExecutionEnvironment:
    named = {"parallelism.default": "1"} | {key.replace("__", "-").replace("_", "."): value for key, value in settings.items()}
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(named))


def plan_of(env: StreamExecutionEnvironment) -> StagePlan:
    return build_stage_plan(build_execution_graph(build_job_graph(env._generate_stream_graph())))


def numbers(env: StreamExecutionEnvironment, name: str = "numbers") -> Any:
    return env.from_collection([1, 2]).uid(name).key_by(lambda n: n).map(lambda n: n).uid(f"{name} map")


# What a region is


def regions_of(env: StreamExecutionEnvironment, *, together: bool = False) -> list[int]:
    """Return how many vertices each region has."""
    plan = plan_of(env)
    regions = failover_regions(plan, together=together)
    assert sorted(v for region in regions for v in region.vertices) == [v.index for v in plan.graph.job.vertices]
    assert sorted(t for region in regions for t in region.tasks) == sorted((s.vertex, s.index) for s in plan.graph.subtasks)
    return [len(region.vertices) for region in regions]


def test_pipelines_that_share_no_edge_are_regions() -> None:
    env = environment(parallelism_default="2")
    for name in ("one", "two", "three"):
        numbers(env, name).print()
    assert regions_of(env) == [2, 2, 2]


def test_full_is_one_region() -> None:
    env = environment()
    for name in ("one", "two"):
        numbers(env, name).print()
    assert regions_of(env, together=True) == [4]


def test_pipelines_that_meet_are_one_region() -> None:
    env = environment()
    numbers(env, "one").union(numbers(env, "two")).print()
    numbers(env, "three").print()
    assert sorted(regions_of(env)) == [2, 5], "the two that meet have the sink behind them"


def test_jobs_of_bounded_data_and_with_iterations_are_one_region() -> None:
    batch = environment()
    batch.set_runtime_mode(RuntimeExecutionMode.BATCH)
    loop = environment()
    iteration = loop.from_collection([1, 2]).iterate()
    iteration.close_with(iteration.map(lambda n: n).disable_chaining())
    for env in (batch, loop):
        numbers(env, "one").print()
        numbers(env, "two").print()
        assert len(regions_of(env)) == 1


def test_there_are_no_other_strategies() -> None:
    for name in ("region", "full", "FULL"):
        assert job_settings(Configuration.from_dict({"jobmanager.execution.failover-strategy": name})).failover_strategy == name.lower()
    with pytest.raises(ConfigurationError, match="failover-strategy is 'regions'"):
        job_settings(Configuration.from_dict({"jobmanager.execution.failover-strategy": "regions"}))


# What the JobMaster does


class Driver:
    """A JobMaster, the launcher and the background, which works when it is told to."""

    def __init__(self, directory: Path | None, strategy: RestartStrategy | None = None, **settings: str) -> None:
        given = {"execution_checkpointing_interval": f"{INTERVAL_MS} ms", **settings}
        if directory is not None:
            given["execution_checkpointing_dir"] = str(directory)
        env = environment(**given)
        self.sinks = [TallySink(), TallySink()]
        for name, sink in zip(("left", "right"), self.sinks, strict=True):
            numbers(env, name).sink_to(sink).uid(f"{name} sink")
        self.plan = plan_of(env)
        self.clock = ManualClock(0)
        self.work: deque[Callable[[], None]] = deque()
        self.launched: list[tuple[int, dict[int, set[TaskKey]]]] = []
        self.restarts: dict[TaskKey, int] = {}
        self.cancelled: list[tuple[int, int]] = []
        self.sent: list[tuple[int, TaskKey, Any]] = []
        self.master = JobMaster(
            self.plan,
            job_settings(Configuration(env._config)),
            strategy or FixedDelayRestart(10, DELAY_MS),
            job_id=JOB,
            launcher=self,
            background=self,
            clock=self.clock,
        )
        self.master.start()
        self.register(LEFT)
        self.register(RIGHT)

    # Launcher and background

    def launch(self, attempt: int, plan: StagePlan, regions: Any) -> None:
        self.launched.append((attempt, {region: set(tasks) for region, tasks in regions.items()}))
        for tasks in regions.values():
            self.restarts |= {key: task.restarts for key, task in tasks.items()}

    def cancel(self, attempt: int, region: int) -> None:
        self.cancelled.append((attempt, region))

    def free_slots(self) -> int | None:
        return None

    def kept_levels(self) -> dict[int, list[int]]:
        return {}

    def send(self, attempt: int, task: TaskKey, message: Any) -> None:
        self.sent.append((attempt, task, message))

    def run(self, work: Callable[[], Any], done: Callable[[Any, BaseException | None], None], lane: str = "") -> None:
        def step() -> None:
            try:
                result = work()
            except Exception as error:  # noqa: BLE001 - handed to the master
                done(None, error)
            else:
                done(result, None)

        self.work.append(step)

    def work_all(self) -> None:
        while self.work:
            self.work.popleft()()

    # What happens

    @property
    def attempt(self) -> Any:
        return self.master.attempt

    def tasks(self, region: int) -> list[TaskKey]:
        return sorted(self.attempt.regions[region].tasks)

    def number(self, region: int) -> int:
        return int(self.attempt.regions[region].number)

    def register(self, region: int) -> None:
        for task in self.tasks(region):
            self.master.on_message(self.number(region), RegisterTask(task, self.number(region), 1, "here"))

    def worker_dies(self, region: int, error: BaseException | None = None) -> None:
        self.master.on_launch_ended(self.number(region), error or JobExecutionError("the Spark job failed"), region)

    def pass_time(self, by_ms: int = DELAY_MS) -> None:
        self.clock.advance(by_ms)
        self.master.on_time(self.clock.now_ms())
        self.work_all()

    def begin_checkpoint(self, committables: Sequence[str] = ("", "")) -> int:
        """Trigger a checkpoint and have all tasks acknowledge it: what is left to do waits in ``work``."""
        self.clock.advance(INTERVAL_MS)
        self.master.on_time(self.clock.now_ms())
        pending = self.attempt.coordinator.pending_id
        self.acknowledge(pending, committables)
        return int(pending)

    def acknowledge(self, checkpoint_id: int, committables: Sequence[str]) -> None:
        for region in (LEFT, RIGHT):
            for task in self.tasks(region):
                if task not in self.attempt.finished_tasks:
                    snapshot = self.snapshot(task, committables[region])
                    self.master.on_message(self.number(region), AckCheckpoint(task, checkpoint_id, snapshot))

    def snapshot(self, task: TaskKey, committable: str) -> TaskSnapshot:
        sinks = [o.operator_id for o in self.plan.graph.job.vertices[task[0]].operators if o.node.operator.kind == "sink"]
        return TaskSnapshot({sink: OperatorStateSnapshot(committables=[committable] if committable else []) for sink in sinks})

    def committed(self, region: int) -> list[str]:
        return self.sinks[region].committed


@pytest.fixture(params=["stored", "in memory"])
def driver(request: pytest.FixtureRequest, tmp_path: Path) -> Driver:
    return Driver(tmp_path if request.param == "stored" else None)


def test_only_the_region_of_a_worker_that_died_is_started_again(driver: Driver) -> None:
    (first,) = driver.launched
    assert first == (1, {LEFT: set(driver.tasks(LEFT)), RIGHT: set(driver.tasks(RIGHT))})
    driver.worker_dies(LEFT)
    assert driver.master.status is JobStatus.RESTARTING and not driver.cancelled
    driver.pass_time(DELAY_MS - 1)
    assert driver.launched == [first], "the delay is not over"
    driver.pass_time(1)
    assert driver.launched == [first, (2, {LEFT: set(driver.tasks(LEFT))})]
    assert driver.master.status is JobStatus.RUNNING and driver.master.restarts == 1
    assert (driver.number(LEFT), driver.number(RIGHT)) == (2, 1)
    (entry,) = exceptions(job_view(driver.master))["exceptionHistory"]["entries"]
    assert entry["restartedVertices"] == [driver.plan.graph.job.vertices[v].name for v, _ in driver.tasks(LEFT)]
    assert driver.master.total_metrics()["numRestarts"] == 1


def test_tasks_are_told_how_often_they_were_restarted_themselves(driver: Driver) -> None:
    for _ in range(2):
        driver.worker_dies(LEFT)
        driver.pass_time()
        driver.register(LEFT)
    driver.attempt.fail(JobExecutionError("the whole job"))
    driver.master.on_launch_ended(driver.number(LEFT), None, LEFT)
    driver.master.on_launch_ended(driver.number(RIGHT), None, RIGHT)
    driver.pass_time()
    assert {driver.restarts[task] for task in driver.tasks(LEFT)} == {3}
    assert {driver.restarts[task] for task in driver.tasks(RIGHT)} == {1}
    assert driver.master.restarts == 3


def test_a_task_that_fails_has_its_region_cancelled_and_no_other(driver: Driver) -> None:
    driver.master.on_message(1, TaskFailed(driver.tasks(RIGHT)[0], JobExecutionError("no luck")))
    driver.master.on_message(1, TaskFailed(driver.tasks(RIGHT)[1], JobExecutionError("no luck either")))
    assert driver.cancelled == [(1, RIGHT)]
    driver.pass_time()
    assert len(driver.launched) == 1, "its tasks are not gone"
    driver.worker_dies(RIGHT)
    driver.pass_time(0)
    assert [(number, list(regions)) for number, regions in driver.launched[1:]] == [(2, [RIGHT])]
    assert len(driver.master.failures) == 1, "what fails with its region is no failure of its own"


def test_messages_of_a_regions_older_attempt_count_no_more(driver: Driver) -> None:
    left, right = driver.tasks(LEFT)[0], driver.tasks(RIGHT)[0]
    driver.worker_dies(LEFT)
    driver.master.on_message(1, TaskFailed(left, JobExecutionError("late")))
    driver.master.on_message(1, RegisterTask(left, 1, 1, "here"))
    assert driver.sent[-1] == (1, left, CancelTask())
    driver.pass_time()
    driver.master.on_message(1, TaskFailed(left, JobExecutionError("very late")))
    driver.master.on_launch_ended(1, JobExecutionError("very late"), LEFT)
    assert len(driver.master.failures) == 1
    driver.register(LEFT)
    driver.master.on_message(1, TaskFailed(right, JobExecutionError("of the attempt in which it still runs")))
    assert len(driver.master.failures) == 2


def test_a_regions_failure_gives_up_the_checkpoint_and_no_other_begins_before_it_runs(driver: Driver) -> None:
    driver.clock.advance(INTERVAL_MS)
    driver.master.on_time(driver.clock.now_ms())
    assert driver.attempt.coordinator.pending_id == 1
    for _ in range(3):  # more than are tolerated
        driver.worker_dies(LEFT)
        assert driver.attempt.coordinator.pending_id is None
        driver.pass_time(5 * INTERVAL_MS)
        assert driver.attempt.coordinator.pending_id is None, "tasks are missing"
        driver.register(LEFT)
        driver.pass_time(0)
        assert driver.attempt.coordinator.pending_id is not None
    assert not driver.attempt.ended and driver.master.failed_checkpoints == 3


def test_a_region_begins_with_the_newest_checkpoint_also_if_that_is_being_published(driver: Driver) -> None:
    driver.begin_checkpoint(("left 1", "right 1"))
    driver.worker_dies(LEFT)
    driver.clock.advance(DELAY_MS)
    driver.master.on_time(driver.clock.now_ms())
    driver.work_all()
    assert driver.master.completed_checkpoints == 1
    assert driver.launched[-1][0] == 2 and driver.attempt.restored_checkpoint_id == 1
    assert (driver.committed(LEFT), driver.committed(RIGHT)) == (["left 1"], ["right 1"])
    complete = [task for _, task, message in driver.sent if message == CheckpointComplete(1)]
    assert sorted(complete) == driver.tasks(RIGHT), "the others have begun with it"


def test_what_is_being_committed_stays_valid_when_a_region_begins_anew(driver: Driver) -> None:
    driver.begin_checkpoint(("left 1", "right 1"))
    driver.work.popleft()()  # published; the commit is next
    driver.worker_dies(LEFT)
    commit = driver.work.popleft()
    driver.clock.advance(DELAY_MS)
    driver.master.on_time(driver.clock.now_ms())
    driver.work_all()
    assert driver.number(LEFT) == 2
    commit()
    assert not driver.attempt.ended
    assert (driver.committed(LEFT), driver.committed(RIGHT)) == (["left 1"], ["right 1"]), "also that of the region that had failed"
    driver.register(LEFT)
    driver.begin_checkpoint(("left 2", "right 2"))
    driver.work_all()
    assert driver.master.completed_checkpoints == 2
    assert (driver.committed(LEFT), driver.committed(RIGHT)) == (["left 1", "left 2"], ["right 1", "right 2"])


def test_a_commit_of_before_a_whole_restart_is_refused(driver: Driver) -> None:
    driver.begin_checkpoint(("left 1", "right 1"))
    driver.work.popleft()()
    commit = driver.work.popleft()
    driver.attempt.fail(JobExecutionError("the whole job"))
    for region in (LEFT, RIGHT):
        driver.master.on_launch_ended(1, None, region)
    driver.clock.advance(DELAY_MS)
    driver.master.on_time(driver.clock.now_ms())
    assert driver.launched[-1][0] == 2
    commit()
    assert not driver.committed(LEFT)
    driver.work_all()
    assert (driver.committed(LEFT), driver.committed(RIGHT)) == (["left 1"], ["right 1"]), "the new attempt does it"


def test_a_region_that_waits_to_begin_does_not_when_the_job_has_begun_anew(driver: Driver) -> None:
    driver.worker_dies(LEFT)
    driver.clock.advance(DELAY_MS)
    driver.master.on_time(driver.clock.now_ms())
    begin = driver.work.popleft()
    driver.attempt.fail(JobExecutionError("the whole job"))
    driver.master.on_launch_ended(1, None, RIGHT)
    driver.clock.advance(DELAY_MS)
    driver.master.on_time(driver.clock.now_ms())
    begin()
    driver.work_all()
    assert [(number, sorted(regions)) for number, regions in driver.launched] == [(1, [LEFT, RIGHT]), (2, [LEFT, RIGHT])]
    driver.register(LEFT)
    driver.register(RIGHT)
    driver.begin_checkpoint()
    driver.work_all()
    assert driver.master.completed_checkpoints == 1


def test_with_a_fixed_delay_the_failures_of_two_regions_are_two(tmp_path: Path) -> None:
    driver = Driver(tmp_path, FixedDelayRestart(2, DELAY_MS))
    driver.worker_dies(LEFT)
    driver.worker_dies(RIGHT)
    driver.pass_time()
    assert driver.master.restarts == 2 and driver.master.status is JobStatus.RUNNING
    assert sorted((driver.number(LEFT), driver.number(RIGHT))) == [2, 3]
    driver.register(LEFT)
    driver.worker_dies(LEFT)
    assert driver.master.status is JobStatus.FAILING and driver.cancelled == [(3, RIGHT)], "the strategy allows no more"
    driver.master.on_launch_ended(3, None, RIGHT)
    driver.work_all()
    assert driver.master.status is JobStatus.FAILED and len(driver.master.failures) == 3
    with pytest.raises(JobExecutionError, match="the Spark job failed"):
        driver.master.result.result(0)


def test_with_an_exponential_delay_a_failure_while_another_is_waited_for_belongs_to_that(tmp_path: Path) -> None:
    strategy = ExponentialDelayRestart(initial_ms=1000, max_ms=10_000, multiplier=2, reset_ms=100_000, jitter=0, attempts=1)
    driver = Driver(tmp_path, strategy)
    driver.worker_dies(LEFT)
    driver.pass_time(400)
    driver.worker_dies(RIGHT)
    assert driver.launched[1:] == []
    driver.pass_time(600)
    assert [list(regions) for _, regions in driver.launched[1:]] == [[LEFT], [RIGHT]]
    assert driver.master.restarts == 1 and len(driver.master.failures) == 2
    driver.register(LEFT)
    driver.register(RIGHT)
    driver.worker_dies(LEFT)
    assert driver.master.status is JobStatus.FAILING


def test_the_first_process_to_end_without_a_word_is_named(tmp_path: Path) -> None:
    driver = Driver(tmp_path)
    gone, behind = driver.tasks(LEFT)
    noticed = broken_exchange(OSError("broken"), None)
    driver.master.on_task_lost(driver.number(LEFT), gone)
    driver.master.on_task_lost(driver.number(LEFT), behind)
    driver.master.on_message(driver.number(LEFT), TaskFailed(behind, noticed))
    driver.worker_dies(LEFT)
    driver.pass_time()
    name = driver.plan.graph.job.vertices[gone[0]].name
    assert str(driver.master.failures[-1]).splitlines()[0] == f"the process of task {name} (1/1) on here ended without reporting an error"
    # What has an error of its own to tell, tells that; and a process of the attempt before is forgotten.
    driver.register(LEFT)
    driver.master.on_message(driver.number(LEFT), TaskFailed(behind, noticed))
    assert driver.master.failures[-1] is noticed
    own = UserFunctionError("of the user's")
    driver.master.on_task_lost(driver.number(RIGHT), driver.tasks(RIGHT)[0])
    driver.master.on_message(driver.number(RIGHT), TaskFailed(driver.tasks(RIGHT)[0], own))
    assert driver.master.failures[-1] is own


def test_full_restarts_all(tmp_path: Path) -> None:
    env_settings = {"jobmanager_execution_failover__strategy": "full"}
    driver = Whole(tmp_path, **env_settings)
    driver.master.on_launch_ended(1, JobExecutionError("the Spark job failed"))
    driver.pass_time()
    assert [(number, list(regions)) for number, regions in driver.launched] == [(1, [0]), (2, [0])]
    assert driver.launched[0][1] == driver.launched[1][1] == {0: {(s.vertex, s.index) for s in driver.plan.graph.subtasks}}


class Whole(Driver):
    """With one region."""

    def register(self, region: int) -> None:
        if region == LEFT:
            super().register(LEFT)


@pytest.mark.parametrize(
    "error",
    [ProgramError("wrong for ever"), CorruptCheckpointError("torn"), NoResourceAvailableError("too few slots")],
    ids=lambda error: type(error).__name__,
)
def test_what_concerns_all_ends_all(tmp_path: Path, error: Exception) -> None:
    driver = Driver(tmp_path)
    driver.worker_dies(LEFT, error)
    assert driver.attempt.ended and driver.cancelled == [(1, RIGHT)]


def test_slots_that_are_missing_later_concern_the_region(tmp_path: Path) -> None:
    driver = Driver(tmp_path)
    driver.worker_dies(LEFT)
    driver.pass_time()
    driver.worker_dies(LEFT, NoResourceAvailableError("too few slots"))
    assert not driver.attempt.ended
    driver.pass_time()
    assert [list(regions) for _, regions in driver.launched[1:]] == [[LEFT], [LEFT]]


def test_a_silent_task_and_tasks_that_do_not_start_fail_their_region(tmp_path: Path) -> None:
    driver = Driver(tmp_path, execution_checkpointing_interval="10 d", slot_request_timeout="60 s")
    driver.clock.advance(40_000)
    for task in driver.tasks(RIGHT):
        driver.master.on_message(1, AckCheckpoint(task, 99, TaskSnapshot({})))
    driver.clock.advance(20_000)
    driver.master.on_time(driver.clock.now_ms())
    assert driver.cancelled == [(1, LEFT)] and "no heartbeat for 50 s" in str(driver.master.failures[0])
    driver.master.on_launch_ended(1, None, LEFT)
    driver.pass_time()
    first = driver.tasks(LEFT)[0]
    driver.master.on_message(2, RegisterTask(first, 2, 1, "here"))
    for _ in range(3):
        driver.clock.advance(25_000)
        for task in (*driver.tasks(RIGHT), first):
            driver.master.on_message(driver.attempt.number_of(task), AckCheckpoint(task, 99, TaskSnapshot({})))
        driver.master.on_time(driver.clock.now_ms())
    assert driver.cancelled == [(1, LEFT), (2, LEFT)] and "only 1 of 2 tasks have started within 60 s" in str(driver.master.failures[1])


def test_a_storage_that_is_down_when_a_region_begins_costs_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(tmp_path)
    down = [True]
    acquire = CheckpointStore.acquire

    def acquired(store: CheckpointStore, *, at_least: int = 1) -> int:
        if down[0]:
            raise CheckpointStorageError("the storage is down")
        return acquire(store, at_least=at_least)

    monkeypatch.setattr(CheckpointStore, "acquire", acquired)
    driver.worker_dies(LEFT)
    driver.pass_time()
    assert len(driver.master.failures) == 2 and len(driver.launched) == 1
    down[0] = False
    driver.pass_time()
    assert [list(regions) for _, regions in driver.launched[1:]] == [[LEFT]] and not driver.cancelled


def test_a_replaced_master_restarts_no_region(tmp_path: Path) -> None:
    driver = Driver(tmp_path)
    CheckpointStore(str(tmp_path), JOB).acquire()
    driver.worker_dies(LEFT)
    driver.pass_time()
    assert driver.cancelled == [(1, RIGHT)]
    driver.master.on_launch_ended(1, None, RIGHT)
    driver.work_all()
    assert driver.master.status is JobStatus.FAILED and isinstance(driver.master.failures[-1], FencedError)


def test_a_region_that_has_finished_stays_finished(driver: Driver) -> None:
    for task in driver.tasks(RIGHT):
        driver.master.on_message(1, TaskFinished(task, driver.snapshot(task, "right, the last")))
    driver.master.on_launch_ended(1, None, RIGHT)
    driver.begin_checkpoint(("left 1", ""))
    driver.work_all()
    assert driver.committed(RIGHT) == ["right, the last"]
    driver.worker_dies(LEFT)
    driver.pass_time()
    driver.register(LEFT)
    assert [list(regions) for _, regions in driver.launched[1:]] == [[LEFT]]
    for task in driver.tasks(LEFT):
        driver.master.on_message(2, TaskFinished(task, driver.snapshot(task, "left, the last")))
    driver.work_all()
    driver.master.on_launch_ended(2, None, LEFT)
    driver.work_all()
    assert driver.master.status is JobStatus.FINISHED
    assert (driver.committed(LEFT), driver.committed(RIGHT)) == (["left 1", "left, the last"], ["right, the last"])


def test_the_job_does_not_finish_while_a_region_that_had_finished_restarts(driver: Driver) -> None:
    for task in driver.tasks(LEFT):
        driver.master.on_message(1, TaskFinished(task, driver.snapshot(task, "left")))
    driver.worker_dies(LEFT)
    for task in driver.tasks(RIGHT):
        driver.master.on_message(1, TaskFinished(task, driver.snapshot(task, "right")))
    driver.master.on_launch_ended(1, None, RIGHT)
    driver.pass_time()
    assert not driver.attempt.ended and driver.launched[-1] == (2, {LEFT: set(driver.tasks(LEFT))})
    driver.register(LEFT)
    for task in driver.tasks(LEFT):
        driver.master.on_message(2, TaskFinished(task, driver.snapshot(task, "left again")))
    driver.work_all()
    driver.master.on_launch_ended(2, None, LEFT)
    driver.work_all()
    assert driver.master.status is JobStatus.FINISHED
    assert (driver.committed(LEFT), driver.committed(RIGHT)) == (["left again"], ["right"])


def test_tasks_of_a_region_that_had_finished_run_again(driver: Driver) -> None:
    source, last = driver.tasks(LEFT)
    driver.master.on_message(1, TaskFinished(source, TaskSnapshot({})))
    driver.worker_dies(LEFT)
    driver.pass_time()
    assert driver.launched[-1] == (2, {LEFT: {source, last}})
    assert not driver.attempt.finished_tasks
    driver.register(LEFT)
    driver.begin_checkpoint(("left", "right"))
    driver.work_all()
    assert driver.master.last_checkpoint is not None and not driver.master.last_checkpoint.finished


def test_a_job_is_cancelled_while_a_region_waits(driver: Driver) -> None:
    driver.worker_dies(LEFT)
    driver.master.cancel()
    assert driver.cancelled == [(1, RIGHT)]
    driver.master.on_launch_ended(1, None, RIGHT)
    driver.pass_time()
    assert driver.master.status is JobStatus.CANCELED and len(driver.launched) == 1


def test_a_failure_while_the_job_stops_with_a_savepoint_is_one_of_the_job(tmp_path: Path) -> None:
    driver = Driver(tmp_path / "checkpoints")
    driver.master.savepoint(str(tmp_path / "savepoints"), stop=True)
    driver.work_all()
    assert driver.attempt.coordinator.ends_job
    driver.worker_dies(LEFT)
    assert driver.attempt.ended and driver.cancelled == [(1, RIGHT)]


def test_left_overs_of_a_region_are_swept_and_nothing_of_the_others(tmp_path: Path) -> None:
    driver = Driver(tmp_path)
    driver.begin_checkpoint()
    driver.work_all()
    shared = tmp_path / JOB / "shared"
    shared.mkdir(parents=True, exist_ok=True)
    left, right = driver.tasks(LEFT)[0][0], driver.tasks(RIGHT)[0][0]
    names = [f"1-{left}-0-state-1", f"1-{right}-0-state-1", f"2-{left}-0-state-1"]
    for name in names:
        (shared / name).write_bytes(b"for a checkpoint to come")
    driver.worker_dies(LEFT)
    driver.pass_time()
    assert sorted(p.name for p in shared.iterdir()) == sorted(names[1:])
