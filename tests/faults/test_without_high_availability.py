"""The driver of a job dies and nobody stands by: its jobs end with it, nothing takes over, and its checkpoints wait for another driver."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.faults.driver_process import Driver, has_own_checkpoint
from wiesel.engine.registry import ENVIRONMENT_VARIABLE
from wiesel.platform.cli import main

RECORDS = 1500
QUIET_S = 2.0
"""Many times the interval of the checkpoints."""


def wiesel(*arguments: str) -> tuple[int, str]:
    told = CliRunner().invoke(main, arguments)
    return told.exit_code, told.stdout if told.exit_code == 0 else told.output


def files(directory: Path) -> set[Path]:
    return {path.relative_to(directory) for path in directory.rglob("*") if path.is_file()}


def test_h5_the_jobs_of_a_driver_that_dies_end_and_take_no_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "registry"))
    job = Driver(tmp_path, "--records", str(RECORDS))
    try:
        job_id = job.wait_for(has_own_checkpoint, "a checkpoint")["job_id"]
        code, listed = wiesel("list")
        assert code == 0 and job_id in listed and "RUNNING" in listed
        os.kill(job.pid, signal.SIGKILL)
        assert job.wait_for_end() == -signal.SIGKILL
        job.family_must_vanish()
        left = files(tmp_path)
        time.sleep(QUIET_S)
        assert files(tmp_path) == left, "something of the job goes on"
    finally:
        job.end()
    code, listed = wiesel("list")
    assert code == 0 and job_id not in listed
    for command in (["info", job_id], ["savepoint", job_id, str(tmp_path / "savepoints")], ["rescale", job_id, "3"]):
        code, told = wiesel(*command)
        assert code == 1 and job_id[:8] in told, told
    assert list((tmp_path / "checkpoints" / job_id).glob("chk-*/_metadata")), "there is nothing to go on from"
