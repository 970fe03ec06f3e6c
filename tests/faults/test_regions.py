"""Workers and executors of one of two pipelines that share nothing are killed with SIGKILL: the other one's processes do not notice."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.faults.counting_job import expected
from tests.faults.driver_process import Driver, alive, all_run, has_own_checkpoint, must_have_made
from tests.faults.executors import executor_of, must_end
from tests.faults.regions_job import PIPELINES

PROGRAM = Path(__file__).with_name("regions_job.py")
RECORDS = 1200
EXECUTOR_EACH = "local-cluster[4,1,640]"
"""An executor for each task, so that it is fixed who shares one: nobody."""


@contextmanager
def driver(directory: Path, *options: str) -> Iterator[Driver]:
    # As many slots as tasks: what restarts has those that its own tasks have left.
    process = Driver(directory, "--records", str(RECORDS), "--parallelism", "1", "--master", "local[4]", *options, program=PROGRAM)
    try:
        yield process
    finally:
        process.end()


def tasks_of(look: dict[str, Any], pipeline: str) -> list[dict[str, Any]]:
    tasks = [task for task in look["tasks"] if pipeline in task["name"]]
    assert len(tasks) == 2, look["tasks"]
    return tasks


def pids(look: dict[str, Any], pipeline: str) -> list[int]:
    return [task["pid"] for task in tasks_of(look, pipeline)]


def attempts(look: dict[str, Any], pipeline: str) -> set[int]:
    return {task["attempt"] for task in tasks_of(look, pipeline)}


def records_in(look: dict[str, Any], pipeline: str) -> int:
    return int(tasks_of(look, pipeline)[1]["metrics"].get("numRecordsIn", 0))


def kill(job: Driver, *pipelines: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Kill the second worker of each, at the same time; return what was seen of the job before and when it runs again."""
    before = job.wait_for(has_own_checkpoint, "a checkpoint")
    victims = [pids(before, pipeline)[1] for pipeline in pipelines]
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    restarts = before["restarts"]
    after = job.wait_for(lambda look: look["restarts"] > restarts and all_run(look) and not set(victims) & all_pids(look), "a restart")
    assert not any(map(alive, victims)), "the kill did not hit"
    assert after["checkpoints"]["restored_id"] >= before["checkpoints"]["last_id"] > 0, "nothing was recovered"
    return before, after


def all_pids(look: dict[str, Any]) -> set[int]:
    return {task["pid"] for task in look["tasks"]}


def must_be_exact(directory: Path) -> None:
    for name in PIPELINES:
        must_have_made(directory / name, expected(RECORDS)["counts"])


def test_the_other_pipeline_goes_on_in_its_processes(tmp_path: Path) -> None:
    with driver(tmp_path) as job:
        before, after = kill(job, *PIPELINES)
        assert not all_pids(before) & all_pids(after)
        assert after["restarts"] == 2, "each pipeline has failed for itself"
        assert sorted(attempts(after, "left") | attempts(after, "right")) == [2, 3]
        before, after = kill(job, "left")
        assert not set(pids(before, "left")) & all_pids(after) and attempts(after, "left") == {4}
        assert pids(after, "right") == pids(before, "right") and attempts(after, "right") == attempts(before, "right")
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        assert job.last["status"] == "FINISHED" and job.last["restarts"] == 3
        assert pids(job.last, "right") == pids(before, "right")
        assert records_in(job.last, "right") > records_in(after, "right"), "it has gone on with what came then"
        job.family_must_vanish()
    must_be_exact(tmp_path)


def test_full_restarts_both(tmp_path: Path) -> None:
    with driver(tmp_path, "--setting", "jobmanager.execution.failover-strategy=full") as job:
        before, after = kill(job, "left")
        assert not all_pids(before) & all_pids(after)
        assert after["restarts"] == 1 and attempts(after, "left") | attempts(after, "right") == {2}
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        job.family_must_vanish()
    must_be_exact(tmp_path)


def lose_executors(job: Driver, *pipelines: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Kill the executor below the second task of each, at the same time; return what was seen before and when the job runs again."""
    before = job.wait_for(has_own_checkpoint, "a checkpoint")
    executors = [executor_of(pids(before, pipeline)[1]) for pipeline in pipelines]
    lost = {process.pid for executor in executors for process in (executor, *executor.children(recursive=True))}
    assert len(lost & all_pids(before)) == len(pipelines), "tasks share an executor"
    for executor in executors:
        executor.kill()
    restarts = before["restarts"] + len(pipelines)
    after = job.wait_for(lambda look: look["restarts"] >= restarts and all_run(look) and not lost & all_pids(look), "a restart")
    must_end(lost, "the executors were killed")
    assert after["restarts"] == restarts, "each pipeline has failed once, for itself"
    assert after["checkpoints"]["restored_id"] >= before["checkpoints"]["last_id"] > 0, "nothing was recovered"
    return before, after


def test_executors_lost_restart_only_the_pipelines_that_ran_on_them(tmp_path: Path) -> None:
    with driver(tmp_path, "--master", EXECUTOR_EACH) as job:
        before, after = lose_executors(job, "left")
        assert not set(pids(before, "left")) & all_pids(after) and attempts(after, "left") == {2}
        assert pids(after, "right") == pids(before, "right") and attempts(after, "right") == {1}
        before, after = lose_executors(job, "left", "right")
        assert not all_pids(before) & all_pids(after)
        assert sorted(attempts(after, "left") | attempts(after, "right")) == [3, 4]
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        assert job.last["status"] == "FINISHED" and job.last["restarts"] == 3
        job.family_must_vanish()
    must_be_exact(tmp_path)
