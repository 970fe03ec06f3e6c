"""A job in its own processes is rescaled by the command while it runs, workers are killed meanwhile, and its output stays exact."""

from __future__ import annotations

import os
import signal
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.faults.driver_process import LIMIT_S, Driver, all_run, has_own_checkpoint, must_be_exact
from tests.faults.executors import must_end
from wiesel.engine.registry import ENVIRONMENT_VARIABLE
from wiesel.platform.cli import main

RECORDS = 2000


def rescale(pool: ThreadPoolExecutor, job: Driver, parallelism: int) -> Future[Result]:
    return pool.submit(CliRunner().invoke, main, ["rescale", job.last["job_id"][:8], str(parallelism)])


def width(look: dict[str, Any]) -> int:
    """Return the parallelism of the vertices, which is the same for all of them."""
    tasks = [task["subtask"] for task in look["tasks"]]
    assert len(tasks) == 3 * (max(tasks) + 1)
    return max(tasks) + 1


def killable(look: dict[str, Any]) -> list[int]:
    """Return the processes of tasks that the job cannot do without: sources beyond the number of splits end at once, and are not missed."""
    return [task["pid"] for task in look["tasks"] if task["pid"] and not task["source"]]


def kill(look: dict[str, Any]) -> None:
    os.kill(killable(look)[-1], signal.SIGKILL)


def test_rescaled_up_and_down_with_workers_killed_before_and_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "jobs"))
    job = Driver(tmp_path, "--records", str(RECORDS), "--rate", "50", "--backend", "lmdb")
    try:
        with ThreadPoolExecutor(1) as pool:
            before = job.wait_for(has_own_checkpoint, "a checkpoint")
            done = rescale(pool, job, 4)
            # The new tasks are killed as soon as some of them are there.
            starting = job.wait_for(lambda look: look["attempt"] > before["attempt"] and bool(killable(look)), "new tasks")
            kill(starting)
            wide = job.wait_for(lambda look: look["attempt"] > starting["attempt"] and has_own_checkpoint(look), "four subtasks")
            told = done.result(LIMIT_S)
            assert told.exit_code == 0, told.output
            assert "64 of 128 (50%)" not in told.output and "96 of 128 (75%)" in told.output
            assert (width(before), width(wide), wide["rescales"]) == (2, 4, 1)
            assert starting["checkpoints"]["restored_id"] >= before["checkpoints"]["last_id"]
            # A worker is killed in the moment in which the command comes: the job fails before, or while it is being rescaled.
            kill(wide)
            told = rescale(pool, job, 1).result(LIMIT_S)
            if told.exit_code:
                assert "not rescaled" in told.output, told.output
                job.wait_for(lambda look: look["attempt"] > wide["attempt"] and all_run(look), "a job that goes on")
                told = rescale(pool, job, 1).result(LIMIT_S)
            assert told.exit_code == 0, told.output
        narrow = job.wait_for(lambda look: width(look) == 1 and has_own_checkpoint(look), "one subtask")
        # Slots are free for the new tasks before the last of the old processes is gone.
        must_end({task["pid"] for task in wide["tasks"]} - {task["pid"] for task in narrow["tasks"]}, "the rescaling")
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        assert job.last["status"] == "FINISHED" and job.last["rescales"] == 2
        job.family_must_vanish()
    finally:
        job.end()
    must_be_exact(tmp_path, RECORDS)


def test_more_slots_than_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "jobs"))
    job = Driver(tmp_path, "--records", "500", "--master", "local[8]")
    try:
        with ThreadPoolExecutor(1) as pool:
            job.wait_for(all_run, "tasks")
            told = rescale(pool, job, 3).result(LIMIT_S)
        assert told.exit_code == 1 and "there are 8: 6 that it has and 2 free" in told.output + str(told.stderr), told.output
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        assert (job.last["attempt"], job.last["rescales"]) == (1, 0), "the job was disturbed"
    finally:
        job.end()
    must_be_exact(tmp_path, 500)
