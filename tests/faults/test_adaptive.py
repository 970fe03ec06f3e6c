"""A job on two executors loses one, which is not replaced: it runs on with the slots of the other, and takes those of the next one."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from tests.faults.driver_process import Driver, has_own_checkpoint, must_be_exact
from tests.faults.executors import executor_of, keep_executors, must_end

# Six tasks want six slots; one executor has four, which are enough for three tasks.
MASTER = "local-cluster[2,4,640]"
RECORDS = 1500
SETTINGS = {
    "jobmanager.scheduler": "Adaptive",
    "jobmanager.adaptive-scheduler.submission.resource-stabilization-timeout": "1 s",
    "jobmanager.adaptive-scheduler.executing.resource-stabilization-timeout": "1 s",
    "jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling": "1 s",
}


def width(look: dict[str, Any]) -> int:
    return 1 + max(task["subtask"] for task in look["tasks"])


def test_an_executor_is_lost_and_another_one_comes(tmp_path: Path) -> None:
    settings = [part for key, value in SETTINGS.items() for part in ("--setting", f"{key}={value}")]
    job = Driver(tmp_path, "--records", str(RECORDS), "--rate", "20", "--master", MASTER, *settings)
    try:
        # It may have begun with the executor that came first.
        before = job.wait_for(lambda look: has_own_checkpoint(look) and width(look) == 2, "a job on both executors")
        keep_executors(job, 1)
        executor = executor_of(before["tasks"][-1]["pid"])
        lost = {executor.pid, *(p.pid for p in executor.children(recursive=True))}
        os.kill(executor.pid, signal.SIGKILL)
        after = job.wait_for(lambda look: look["attempt"] > before["attempt"] and has_own_checkpoint(look), "a job on one executor")
        assert width(after) == 1 and len(after["tasks"]) == 3
        assert len({executor_of(task["pid"]).pid for task in after["tasks"]}) == 1
        assert after["checkpoints"]["restored_id"] >= before["checkpoints"]["last_id"]
        must_end(lost, "the kill")
        keep_executors(job, 2)
        again = job.wait_for(lambda look: has_own_checkpoint(look) and width(look) == 2, "a job on two executors again")
        assert again["rescales"] == after["rescales"] + 1 and again["restarts"] == after["restarts"] + 1
        assert len({executor_of(task["pid"]).pid for task in again["tasks"]}) == 2
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        job.family_must_vanish()
    finally:
        job.end()
    must_be_exact(tmp_path, RECORDS)
