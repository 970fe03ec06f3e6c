"""Faults on top of faults, with processes: while a job is rescaled, while a checkpoint or savepoint is restored, in commits."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.faults.driver_process import LIMIT_S, Driver, all_run, has_own_checkpoint, must_be_exact, must_have_hit
from wiesel.engine.registry import ENVIRONMENT_VARIABLE
from wiesel.platform.cli import main

RECORDS = 1000


def fault(directory: Path, point: str, where: str, attempt: int) -> dict[str, Any]:
    marker = str(directory / f"{attempt}-{where}-{point}")
    return {"point": point, "where": where, "attempt": attempt, "nth": 1, "marker": marker, "action": "kill"}


def test_driver_killed_in_a_rescaling_and_its_successor_in_the_commit_after_the_restore(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "jobs"))
    faults = [fault(tmp_path, "before-rescale", "driver", 1), fault(tmp_path, "during-commit", "driver", 2)]
    options: tuple[str, ...] = ("--records", str(RECORDS), "--rate", "50")
    restore: tuple[str, ...] = ()
    last = 0
    for planned, parallelism in zip(faults, (2, 3), strict=True):
        job = Driver(tmp_path, *options, *restore, "--parallelism", str(parallelism), faults=[planned])
        try:
            if not restore:
                before = job.wait_for(has_own_checkpoint, "a checkpoint")
                with ThreadPoolExecutor(1) as pool:
                    told = pool.submit(CliRunner().invoke, main, ["rescale", before["job_id"], "3"]).result(LIMIT_S)
                assert told.exit_code == 1, told.output
                restore = ("--restore", str(tmp_path / "checkpoints" / before["job_id"]))
            assert job.wait_for_end() == -signal.SIGKILL, job.tail()
            must_have_hit(Path(planned["marker"]))
            job.family_must_vanish()
            last = max(last, job.last["checkpoints"]["last_id"] if job.last else 0)  # it may die before the first look
        finally:
            job.end()
    job = Driver(tmp_path, *options, *restore, "--parallelism", "1")
    try:
        running = job.wait_for(all_run, "the last attempt")
        assert running["attempt"] == 3 and running["checkpoints"]["restored_id"] >= last > 0
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        job.family_must_vanish()
    finally:
        job.end()
    must_be_exact(tmp_path, RECORDS)


def test_killed_twice_while_a_savepoint_is_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "jobs"))
    options = ("--records", str(RECORDS), "--rate", "50", "--backend", "lmdb")
    job = Driver(tmp_path, *options)
    try:
        before = job.wait_for(has_own_checkpoint, "a checkpoint")
        with ThreadPoolExecutor(1) as pool:
            stopped = pool.submit(CliRunner().invoke, main, ["stop", before["job_id"], "-p", str(tmp_path / "savepoints")]).result(LIMIT_S)
        assert stopped.exit_code == 0, stopped.output
        assert job.wait_for_end() == 0, job.tail()
    finally:
        job.end()
    # Tasks of the first two attempts die before they have taken part in a checkpoint.
    faults = [fault(tmp_path, "before-barrier", "task-0-0", 1), fault(tmp_path, "before-snapshot", "task-1-2", 2)]
    job = Driver(tmp_path, *options, "--parallelism", "3", "--restore", stopped.stdout.strip(), faults=faults)
    try:
        job.wait_for(lambda look: look["attempt"] == 3 and has_own_checkpoint(look), "the third attempt")
        for planned in faults:
            must_have_hit(Path(planned["marker"]))
        (savepoint,) = {job.restored[attempt] for attempt in (1, 2, 3) if attempt in job.restored}
        assert savepoint >= before["checkpoints"]["last_id"] > 0
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        assert job.last["attempt"] == 3
        job.family_must_vanish()
    finally:
        job.end()
    must_be_exact(tmp_path, RECORDS)
