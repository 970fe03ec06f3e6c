"""A job on two executors loses them and a worker one way or the other: it goes on from its last checkpoint, and its output is exact."""

from __future__ import annotations

import re
import signal
from pathlib import Path

from tests.faults.driver_process import Driver, must_be_exact
from tests.faults.executors import HEARTBEAT_TIMEOUT_MS, OPTIONS, lose

RECORDS = 2500


def test_executor_killed_then_worker_and_executor_standing_still(tmp_path: Path) -> None:
    job = Driver(tmp_path, "--records", str(RECORDS), "--backend", "lmdb", *OPTIONS)
    try:
        lose(job, "executor", signal.SIGKILL)
        lose(job, "worker", signal.SIGSTOP)
        lose(job, "executor", signal.SIGSTOP)
        log = job.log.read_text()
        assert re.search(r"executor \d on \S+ was lost: (Command exited with code 137|Remote RPC client disassociated)", log)
        assert f"has sent no heartbeat for {HEARTBEAT_TIMEOUT_MS // 1000} s" in log
        assert "was lost: Executor heartbeat timed out" in log
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        assert (job.last["status"], job.last["attempt"]) == ("FINISHED", 4)
        job.family_must_vanish()
    finally:
        job.end()
    must_be_exact(tmp_path, RECORDS)
