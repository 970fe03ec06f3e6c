"""Snapshots are their user's alone, whatever the umask."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.unit.engine.stored_job import totals
from wiesel.testing import ManualSource


@pytest.mark.parametrize("umask", [0, 0o022])
@pytest.mark.parametrize("backend", ["hashmap", "lmdb", "rocksdb"])
def test_files_of_checkpoints_and_savepoints_are_closed_to_others(tmp_path: Path, umask: int, backend: str) -> None:
    before = os.umask(umask)
    try:
        inline = {"execution_checkpointing_data__inline__threshold": "0 b"}
        job, _ = totals(numbers := ManualSource(), tmp_path / "made" / "checkpoints", state_backend_type=backend, **inline)
        with job:
            numbers.push(("a", 1))
            job.settle()
            job.store()
            job.savepoint(tmp_path / "made" / "savepoints")
            modes = {p: p.stat().st_mode & 0o777 for p in (tmp_path / "made", *(tmp_path / "made").rglob("*"))}
    finally:
        os.umask(before)
    files = {p.name for p in modes if p.is_file()}
    assert "_metadata" in files and any(p.parent.name == "shared" for p in modes), "metadata and state files were looked at"
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
