"""What the JobMaster makes of failures: each counts once, whoever reports it first; slots may be missing, and tasks may not start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wiesel.checkpoint.messages import RegisterTask, TaskFailed
from wiesel.common import Configuration
from wiesel.common.job_status import JobStatus
from wiesel.core.clock import Clock, ManualClock, SystemClock
from wiesel.core.errors import JobExecutionError, NoResourceAvailableError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.engine.base import job_settings
from wiesel.engine.job_master import JobMaster
from wiesel.engine.restart import FixedDelayRestart
from wiesel.graph.execution_graph import build_execution_graph
from wiesel.graph.job_graph import build_job_graph
from wiesel.graph.stage_plan import StagePlan, build_stage_plan


class Tasks:
    """A launcher whose tasks do nothing, and a background that works at once."""

    def __init__(self) -> None:
        self.launched: list[int] = []
        self.cancelled: list[int] = []

    def launch(self, attempt: int, plan: StagePlan, regions: Any) -> None:
        self.launched.append(attempt)

    def free_slots(self) -> int | None:
        return None

    def cancel(self, attempt: int, region: int) -> None:
        self.cancelled.append(attempt)

    def send(self, attempt: int, task: Any, message: Any) -> None:
        pass

    def run(self, work: Callable[[], Any], done: Callable[[Any, BaseException | None], None], lane: str = "") -> None:
        done(work(), None)


def started(restarts: int, clock: Clock | None = None) -> tuple[JobMaster, Tasks]:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration()).set_parallelism(1)
    env.from_collection([1, 2]).key_by(lambda n: n).map(lambda n: n).print()
    plan = build_stage_plan(build_execution_graph(build_job_graph(env._generate_stream_graph())))
    tasks = Tasks()
    settings, strategy = job_settings(Configuration()), FixedDelayRestart(restarts, 0)
    master = JobMaster(plan, settings, strategy, job_id="0" * 32, launcher=tasks, background=tasks, clock=clock or SystemClock())
    master.start()
    return master, tasks


def worker_dies(master: JobMaster, attempt: int) -> None:
    master.on_launch_ended(attempt, JobExecutionError("the Spark job failed"))


def task_fails(master: JobMaster, attempt: int) -> None:
    master.on_message(attempt, TaskFailed((0, 0), JobExecutionError("the task failed")))
    master.on_launch_ended(attempt, JobExecutionError("the Spark job failed"))


@pytest.mark.parametrize("fail", [worker_dies, task_fails])
@pytest.mark.parametrize("restarts", [0, 1, 3])
def test_each_failure_uses_up_one_restart(fail: Callable[[JobMaster, int], None], restarts: int) -> None:
    master, tasks = started(restarts)
    for attempt in range(1, restarts + 1):
        fail(master, attempt)
        assert master.status is JobStatus.RESTARTING
        assert len(master.failures) == attempt
        master.on_time(SystemClock().now_ms())
        assert tasks.launched == list(range(1, attempt + 2))
    fail(master, restarts + 1)
    assert master.status is JobStatus.FAILED
    with pytest.raises(JobExecutionError, match=r"failed: the (Spark job|task) failed"):
        master.result.result(0)


NO_SLOTS = NoResourceAvailableError("the job needs 4 slots at the same time, yarn had 2 free after 300 s")


def test_a_job_that_never_had_its_slots_fails_at_once() -> None:
    master, tasks = started(3)
    master.on_launch_ended(1, NO_SLOTS)
    assert tasks.launched == [1]
    with pytest.raises(JobExecutionError, match="needs 4 slots at the same time, yarn had 2 free") as raised:
        master.result.result(0)
    assert raised.value.__cause__ is NO_SLOTS


def test_a_job_that_has_run_asks_for_slots_as_often_as_its_restart_strategy_allows() -> None:
    master, tasks = started(2)
    worker_dies(master, 1)
    master.on_time(SystemClock().now_ms())
    master.on_launch_ended(2, NO_SLOTS)
    assert master.status is JobStatus.RESTARTING
    master.on_time(SystemClock().now_ms())
    assert tasks.launched == [1, 2, 3]
    master.on_launch_ended(3, NO_SLOTS)
    with pytest.raises(JobExecutionError, match="needs 4 slots at the same time, yarn had 2 free"):
        master.result.result(0)


def test_tasks_that_do_not_all_start_fail_the_attempt() -> None:
    clock = ManualClock(0)
    master, tasks = started(1, clock)
    clock.advance(3_600_000)  # until slots are free nothing is under way that could be stuck
    master.on_time(clock.now_ms())
    master.on_message(1, RegisterTask((0, 0), 1, 1, "here"))
    clock.advance(300_000)
    master.on_time(clock.now_ms())
    assert master.status is JobStatus.RUNNING
    clock.advance(1_000)
    master.on_time(clock.now_ms())
    assert master.status is JobStatus.FAILING and tasks.cancelled == [1]
    master.on_launch_ended(1, None)
    (failure,) = master.failures
    assert "only 1 of 2 tasks have started within 300 s" in str(failure)
