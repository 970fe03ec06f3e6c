"""Drivers stand still in the middle of a checkpoint, others claim their job, and then the first ones go on.

Nothing of them counts any more: they end with FencedError, the last driver does not notice them, and the output is exact.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from tests.faults.driver_process import LIMIT_S, Driver, alive, has_own_checkpoint, must_be_exact

RECORDS = 1500
SILENCE_MS = 15_000


@contextmanager
def driver(directory: Path, *options: str, stops_at: str | None = None) -> Iterator[Driver]:
    fault = {"point": stops_at, "where": "driver", "action": "stop", "armed_by": str(directory / f"stop-{stops_at}")}
    process = Driver(directory, "--records", str(RECORDS), *options, faults=[fault] if stops_at else [])
    try:
        yield process
    finally:
        process.end()


def make_stand_still(job: Driver, stops_at: str) -> dict[str, Any]:
    """Have a driver stop when it has told of a checkpoint: one that stops before could be compared with nothing."""
    job.wait_for(has_own_checkpoint, "a checkpoint before it stands still")
    (job.directory / f"stop-{stops_at}").touch()
    deadline_s = time.monotonic() + LIMIT_S
    while psutil.Process(job.pid).status() != psutil.STATUS_STOPPED:
        assert time.monotonic() < deadline_s and job.process.poll() is None, f"the driver did not stop\n{job.tail()}"
        time.sleep(0.05)
    return job.catch_up()


def workers_must_end(pids: list[int]) -> None:
    deadline_s = time.monotonic() + SILENCE_MS / 1e3 + LIMIT_S
    while left := [pid for pid in pids if alive(pid)]:
        assert time.monotonic() < deadline_s, f"workers {left} go on without their driver"
        time.sleep(0.05)


def claim(before: dict[str, Any], directory: Path) -> tuple[str, str]:
    return "--restore", str(directory / "checkpoints" / before["job_id"])


def must_have_gone_on(look: dict[str, Any], before: dict[str, Any]) -> None:
    assert (look["job_id"], look["attempt"]) == (before["job_id"], before["attempt"] + 1)
    assert look["checkpoints"]["restored_id"] >= before["checkpoints"]["last_id"] > 0, "nothing was recovered"


def must_be_fenced(zombie: Driver, look: dict[str, Any]) -> None:
    assert zombie.wait_for_end() == 1, zombie.tail()
    assert f"attempt {look['attempt']} of job {look['job_id']} was replaced by attempt 3" in zombie.log.read_text()
    assert zombie.last["attempt"] == look["attempt"], "it has begun another attempt"
    zombie.family_must_vanish()


def test_drivers_that_stood_still_are_fenced(tmp_path: Path) -> None:
    with driver(tmp_path, "--heartbeat-timeout", str(SILENCE_MS), stops_at="before-publish") as silent:
        silent_look = make_stand_still(silent, "before-publish")
        workers_must_end([task["pid"] for task in silent_look["tasks"]])
        patience = ("--heartbeat-timeout", "600000")
        with driver(tmp_path, *claim(silent_look, tmp_path), *patience, stops_at="before-commit") as paused:
            paused_look = make_stand_still(paused, "before-commit")
            must_have_gone_on(paused_look, silent_look)
            with driver(tmp_path, *claim(paused_look, tmp_path)) as last:
                running = last.wait_for(has_own_checkpoint, "a checkpoint of the last driver")
                must_have_gone_on(running, paused_look)
                # Those of the second driver are still at work for it, and have not heard of the last one.
                assert all(alive(task["pid"]) for task in paused_look["tasks"])

                for zombie in (silent, paused):
                    os.kill(zombie.pid, signal.SIGCONT)
                must_be_fenced(silent, silent_look)
                must_be_fenced(paused, paused_look)

                latest = last.catch_up()["checkpoints"]["last_id"]
                after = last.wait_for(lambda look: look["checkpoints"]["last_id"] > latest, "another checkpoint of the last driver")
                disturbed = (after["attempt"], after["restarts"], after["checkpoints"]["failed"])
                assert disturbed == (3, 0, 0), "the others were in its way"
                last.release()
                assert last.wait_for_end() == 0, last.tail()
                last.family_must_vanish()
    must_be_exact(tmp_path, RECORDS)
