"""A job on Spark whose checkpoints lie on S3, while the server stands still: records flow on, and nothing is lost."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.faults.driver_process import Driver, has_own_checkpoint, kill_worker, must_be_exact
from tests.servers.conftest import S3Server
from wiesel.checkpoint.file_io import open_root

RECORDS = 20_000
"""Per split; only some of them until the outage is over: what is read depends on the time since the start."""
pytestmark = pytest.mark.timeout(900)


def records_in(look: dict[str, Any]) -> int:
    """The records that the tasks of the newest attempt have read."""
    return sum(int(task["metrics"].get("numRecordsIn", 0)) for task in look["tasks"])


def test_storage_that_stands_still_does_not_stall_the_records(tmp_path: Path, s3: str, s3_server: S3Server) -> None:
    job = Driver(tmp_path, "--records", str(RECORDS), "--rate", "40", "--checkpoints", f"{s3}/checkpoints", "--backend", "lmdb")
    try:
        job.wait_for(has_own_checkpoint, "a checkpoint on S3")
        os.kill(s3_server.pid, signal.SIGSTOP)
        try:
            # What was under way when the server stopped may still have been stored, and looks from before may wait to be read.
            job.catch_up()
            stopped = [job.look() for _ in range(5)][-1]
            assert stopped is not None
            flowing = job.wait_for(lambda look: records_in(look) > records_in(stopped) + 200, "records while the storage stands still")
            assert flowing["attempt"] == stopped["attempt"] and flowing["checkpoints"]["last_id"] <= stopped["checkpoints"]["last_id"] + 1
        finally:
            os.kill(s3_server.pid, signal.SIGCONT)
        job.wait_for(lambda look: look["checkpoints"]["last_id"] > flowing["checkpoints"]["last_id"], "a checkpoint after the outage")
        kill_worker(job, 3)
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        job.family_must_vanish()
    finally:
        job.end()
    must_be_exact(tmp_path, RECORDS)
    files = open_root(f"{s3}/checkpoints")
    assert [files.names(job_id) for job_id in files.names("")] == [["attempts"]], "a job that has finished leaves no checkpoints"
