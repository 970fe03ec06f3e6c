"""A driver is killed while a sink commits slowly, checkpoints behind the one that it commits: its successor loses and repeats nothing."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.faults.counting_job import SPLITS, key_of
from tests.faults.driver_process import Driver
from tests.faults.slow_commit_job import BEGUN, FAST, SLOW, committed
from wiesel.checkpoint.snapshots import find_snapshot

RECORDS = 2000
PROGRAM = Path(__file__).with_name("slow_commit_job.py")
OPTIONS = ("--records", str(RECORDS), "--interval", "200")


def test_a_driver_killed_in_a_slow_commit(tmp_path: Path) -> None:
    job = Driver(tmp_path, *OPTIONS, "--commit-s", "5", program=PROGRAM)
    try:
        begun = job.wait_for(lambda look: (tmp_path / BEGUN).exists(), "a slow commit")["checkpoints"]["last_id"]
        seen = job.wait_for(lambda look: look["checkpoints"]["last_id"] >= begun + 3, "checkpoints meanwhile")
        assert committed(tmp_path / SLOW) == [] and committed(tmp_path / FAST) != []
        os.kill(job.pid, signal.SIGKILL)
        assert job.wait_for_end() == -signal.SIGKILL
        job.family_must_vanish()
    finally:
        job.end()
    latest = find_snapshot(str(tmp_path / "checkpoints" / seen["job_id"])).checkpoint
    counts = [state.committable_counts for task in latest.tasks.values() for state in task.operators.values()]
    assert max(map(len, counts)) >= 3, f"nothing of earlier checkpoints was left to be committed: {counts}"

    options = (*OPTIONS, "--commit-s", "0.1", "--restore", str(tmp_path / "checkpoints" / seen["job_id"]))
    successor = Driver(tmp_path, *options, program=PROGRAM)
    try:
        successor.release()
        assert successor.wait_for_end() == 0, successor.tail()
        assert successor.last["checkpoints"]["restored_id"] >= seen["checkpoints"]["last_id"], "nothing was recovered"
    finally:
        successor.end()
    expected = sorted(repr((key_of(split, n), n)) for split in range(SPLITS) for n in range(RECORDS))
    assert committed(tmp_path / FAST) == expected
    assert committed(tmp_path / SLOW) == expected
