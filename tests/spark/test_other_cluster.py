"""A job stops on one cluster with a savepoint, of which a copy starts it on another one: other machines' directories, nothing shared."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.faults.driver_process import Driver, has_own_checkpoint, must_be_exact
from wiesel.platform.cli import main

RECORDS = 4000
"""Per split. At the rate of the first cluster they last longer than anything takes there: the savepoint must come between records."""

INTERVAL_S = 2


@contextmanager
def cluster(directory: Path, master: str, *options: str) -> Iterator[Driver]:
    """Run the job on a cluster of its own, with all that it writes in one directory."""
    local = directory / "local"
    own = ("--records", str(RECORDS), "--master", master, "--local", str(local), "--interval", str(INTERVAL_S * 1000))
    driver = Driver(directory, *own, *options)
    try:
        yield driver
    finally:
        driver.end()


def test_c23_r9_a_savepoint_is_copied_to_another_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there, results = tmp_path / "here", tmp_path / "there", tmp_path / "results"
    monkeypatch.setenv("WIESEL_REGISTRY_DIR", str(here / "registry"))
    with cluster(here, "local-cluster[2,4,640]", "--parallelism", "2", "--rate", "50") as job:
        first = job.wait_for(lambda look: has_own_checkpoint(look) and (here / "windows").is_dir(), "a checkpoint, and results of windows")
        # Records have come since the checkpoint, so the savepoint has files that its job is to make visible.
        time.sleep(INTERVAL_S / 4)
        stopped = CliRunner().invoke(main, ["stop", first["job_id"], "--savepointPath", str(here / "savepoints")])
        assert stopped.exit_code == 0, stopped.output
        assert job.wait_for_end() == 0 and job.last["status"] == "FINISHED", job.tail()
        job.family_must_vanish()
    savepoint = Path(stopped.stdout.strip())
    assert savepoint.parent == here / "savepoints"
    for name in ("counts", "windows"):
        shutil.copytree(here / name, results / name / "here")
    with pytest.raises(AssertionError, match="missing"):
        must_be_exact(results, RECORDS)

    there.mkdir()
    copy = Path(shutil.copytree(savepoint, there / "brought along"))
    shutil.rmtree(here)
    monkeypatch.setenv("WIESEL_REGISTRY_DIR", str(there / "registry"))
    options = ("--parallelism", "3", "--backend", "lmdb", "--restore", str(copy))
    with cluster(there, "local-cluster[1,12,640]", *options) as job:
        second = job.wait_for(has_own_checkpoint, "a checkpoint of the other cluster")
        assert second["job_id"] != first["job_id"] and second["checkpoints"]["restored_id"] > 0
        job.release()
        assert job.wait_for_end() == 0 and job.last["status"] == "FINISHED", job.tail()
        assert "are left to the job that wrote them" in job.log.read_text(), "the savepoint had nothing to make visible"
        job.family_must_vanish()
    for name in ("counts", "windows"):
        shutil.copytree(there / name, results / name / "there")
    must_be_exact(results, RECORDS)
    assert not here.exists(), "something of the first cluster's was looked for, or made anew"
