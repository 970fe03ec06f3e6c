"""A job on two executors loses one, and no other one comes: it asks for slots as its restart strategy says, and fails in the end."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from tests.faults.driver_process import Driver, has_own_checkpoint
from tests.faults.executors import BOTH, MASTER, executors_of, keep_executors

RECORDS = 1000
ATTEMPTS, DELAY_S, PATIENCE_S = 2, 2, 3
SETTINGS = {
    "restart-strategy.fixed-delay.attempts": f"{ATTEMPTS}",
    "restart-strategy.fixed-delay.delay": f"{DELAY_S} s",
    "slot.request.timeout": f"{PATIENCE_S} s",
}


def test_h4_without_a_spare_executor_it_is_retried_at_the_set_interval_and_fails_after_the_set_number(tmp_path: Path) -> None:
    settings = [part for key, value in SETTINGS.items() for part in ("--setting", f"{key}={value}")]
    job = Driver(tmp_path, "--records", str(RECORDS), "--rate", "20", "--master", MASTER, *BOTH, *settings)
    try:
        before = job.wait_for(has_own_checkpoint, "a running attempt with a checkpoint of its own")
        keep_executors(job, 1)
        os.kill(min(executors_of(before)), signal.SIGKILL)
        killed_s = time.monotonic()
        assert job.wait_for_end() == 1, job.tail()
        assert time.monotonic() - killed_s >= ATTEMPTS * (DELAY_S + PATIENCE_S)
        assert job.last["restarts"] == ATTEMPTS, job.last
        # All of it: what Spark says of its end may come behind it.
        log = job.log.read_text()
        assert "NoResourceAvailableError" in log and "needs 6 slots at the same time" in log, log
        job.family_must_vanish()
    finally:
        job.end()
