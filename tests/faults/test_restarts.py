"""One failure counts once, whoever reports it first: the task itself or the end of its Spark job."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wiesel.checkpoint.messages import TaskFailed
from wiesel.common import Configuration
from wiesel.common.job_status import JobStatus
from wiesel.core.clock import SystemClock
from wiesel.core.errors import JobExecutionError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.engine.base import job_settings
from wiesel.engine.job_master import JobMaster
from wiesel.engine.restart import FixedDelayRestart
from wiesel.graph.execution_graph import build_execution_graph
from wiesel.graph.job_graph import build_job_graph
from wiesel.graph.stage_plan import build_stage_plan


class Tasks:
    """A launcher whose tasks do nothing, and a background that works at once."""

    def __init__(self) -> None:
        self.launched: list[int] = []
        self.cancelled: list[int] = []

    def launch(self, attempt: int, tasks: Any) -> None:
        self.launched.append(attempt)

    def cancel(self, attempt: int) -> None:
        self.cancelled.append(attempt)

    def send(self, attempt: int, task: Any, message: Any) -> None:
        pass

    def run(self, work: Callable[[], Any], done: Callable[[Any, BaseException | None], None]) -> None:
        done(work(), None)


def started(restarts: int) -> tuple[JobMaster, Tasks]:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration())
    env.from_collection([1, 2]).key_by(lambda n: n).map(lambda n: n).print()
    plan = build_stage_plan(build_execution_graph(build_job_graph(env._generate_stream_graph())))
    tasks = Tasks()
    settings, strategy = job_settings(Configuration()), FixedDelayRestart(restarts, 0)
    master = JobMaster(plan, settings, strategy, job_id="0" * 32, launcher=tasks, background=tasks, clock=SystemClock())
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
