"""The disk with the checkpoints is full for good: the job says so and ends, and what is there of its checkpoints is whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.faults.driver_process import Driver, must_be_exact
from wiesel.checkpoint.store import CheckpointStore

RECORDS = 3000
OPTIONS = ("--records", str(RECORDS), "--rate", "50", "--setting", "execution.checkpointing.data-inline-threshold=0")
"""So slow that there is something to write as long as the job runs, and however little it is, it goes to files."""

SETTINGS = {
    "execution.checkpointing.tolerable-failed-checkpoints": "1",
    "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    "restart-strategy.fixed-delay.attempts": "1",
}


def full(where: str, path: str, directory: Path) -> list[dict[str, Any]]:
    """The disk is full after a while, and from then on also for the second attempt."""
    fault = {"point": "write", "where": where, "path": path, "times": 10**9, "action": "disk-full"}
    return [{**fault, "attempt": n, "nth": nth, "marker": str(directory / f"full-{n}")} for n, nth in ((1, 6), (2, 1))]


@pytest.mark.slow
@pytest.mark.parametrize(("where", "path"), [("task-1-0", "/shared/"), ("driver", "/_metadata")])
def test_a_disk_that_stays_full_fails_the_job_and_harms_no_checkpoint(tmp_path: Path, where: str, path: str) -> None:
    settings = [option for key, value in SETTINGS.items() for option in ("--setting", f"{key}={value}")]
    faults = full(where, path, tmp_path)
    job = Driver(tmp_path, *OPTIONS, *settings, faults=faults)
    try:
        assert job.wait_for_end() == 1, job.tail()
        job.family_must_vanish()
        assert all(Path(fault["marker"]).exists() for fault in faults), "the disk was not full"
        told = job.log.read_text()
        assert "No space left on device" in told and "check the free space and the permissions of the directory" in told, told
        assert job.last["restarts"] == 1 and job.last["status"] == "FAILED", job.last
        last = job.last["checkpoints"]["last_id"]
    finally:
        job.end()
    store = CheckpointStore(str(tmp_path / "checkpoints"), job.last["job_id"])
    assert store.checkpoint_ids()[0] >= last > 0
    for checkpoint_id in store.checkpoint_ids():
        store.load(checkpoint_id)  # raises if a file is missing or torn
    job = Driver(tmp_path, *OPTIONS, "--restore", str(tmp_path / "checkpoints" / job.last["job_id"]))
    try:
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        assert job.last["checkpoints"]["restored_id"] >= last, "nothing was recovered"
        job.family_must_vanish()
    finally:
        job.end()
    must_be_exact(tmp_path, RECORDS)
