"""A job that restarts on the host where its state is: what it reads of the storage."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.engine.stored_job import totals
from wiesel.checkpoint import file_io
from wiesel.checkpoint.file_io import LocalFileIO
from wiesel.common import Configuration
from wiesel.engine.base import job_settings
from wiesel.testing import ManualSource

KEYS = 3000


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every state file that is read from the storage of the checkpoints."""
    seen: list[str] = []

    class Counting(LocalFileIO):
        def read(self, path: str) -> bytes:
            if "/shared/" in path:
                seen.append(path)
            return super().read(path)

    monkeypatch.setattr(file_io, "LocalFileIO", Counting)
    yield seen


def local_files(directory: Path) -> set[str]:
    return {path.name for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("backend", ["hashmap", "lmdb"])
def test_a_restart_reads_no_state_from_the_storage(tmp_path: Path, reads: list[str], backend: str) -> None:
    options = {"execution_state__recovery_from__local": "true", "execution_checkpointing_local__backup_dirs": str(tmp_path / "host")}
    numbers = ManualSource()
    job, results = totals(numbers, tmp_path / "storage", parallelism=2, state_backend_type=backend, **options)
    with job:
        for round_ in (1, 2, 3):
            numbers.push_all([(f"key {n}", round_) for n in range(KEYS)])
            job.settle()
            job.store()
            job.settle()
        shared = {path.name for path in (job.directory / "shared").iterdir()}
        assert shared and {name.rsplit("-", 2)[0] for name in local_files(tmp_path / "host")} == shared, "as many as the checkpoint has"
        job.fail()
        job.settle()
        assert reads == []
        numbers.push_all([(f"key {n}", 10) for n in range(KEYS)])
        job.settle()
        assert sorted(results.values[-KEYS:]) == sorted((f"key {n}", 16) for n in range(KEYS))
        # One copy is damaged: that file alone comes from the storage, once for the check and once for its task.
        (damaged, *_) = sorted(path for path in (tmp_path / "host").rglob("*") if path.is_file())
        damaged.write_bytes(damaged.read_bytes()[:-1] + b"!")
        job.fail()
        job.settle()
        assert reads and {path.rpartition("/")[2] for path in reads} == {damaged.name.rsplit("-", 2)[0]}
        numbers.push_all([(f"key {n}", 100) for n in range(KEYS)])
        job.settle()
        assert sorted(results.values[-KEYS:]) == sorted((f"key {n}", 116) for n in range(KEYS))


def test_without_the_setting_all_state_comes_from_the_storage(tmp_path: Path, reads: list[str]) -> None:
    numbers = ManualSource()
    job, _ = totals(numbers, tmp_path / "storage", execution_checkpointing_local__backup_dirs=str(tmp_path / "host"))
    with job:
        numbers.push_all([(f"key {n}", 1) for n in range(KEYS)])
        job.settle()
        job.store()
        job.fail()
        job.settle()
        assert reads and not (tmp_path / "host").exists()


def test_what_a_damaged_storage_has_lost_is_noticed_though_the_host_has_it(tmp_path: Path) -> None:
    options = {"execution_state__recovery_from__local": "true", "execution_checkpointing_local__backup_dirs": str(tmp_path / "host")}
    numbers = ManualSource()
    job, results = totals(numbers, tmp_path / "storage", execution_checkpointing_num__retained="2", **options)
    with job:
        numbers.push_all([(f"key {n}", 1) for n in range(KEYS)])
        job.settle()
        job.store()
        older = {path.name for path in (job.directory / "shared").iterdir()}
        numbers.push_all([(f"key {n}", 1) for n in range(KEYS)])
        job.settle()
        job.store()
        job.settle()
        (newer, *_) = {path.name for path in (job.directory / "shared").iterdir()} - older
        (job.directory / "shared" / newer).unlink()
        job.fail()
        job.settle()
        assert job.master.attempt.restored_checkpoint_id == 1
        assert sorted(results.values[-KEYS:]) == sorted((f"key {n}", 2) for n in range(KEYS))


@pytest.mark.parametrize(
    ("options", "write", "read"),
    [
        ({}, False, False),
        ({"state.backend.local-recovery": "true"}, True, True),
        ({"execution.state-recovery.from-local": "true", "execution.checkpointing.local-backup.enabled": "false"}, False, True),
        ({"execution.checkpointing.local-backup.enabled": "true"}, True, False),
    ],
)
def test_the_options_of_flink(options: dict[str, str], write: bool, read: bool) -> None:
    found = job_settings(Configuration.from_dict(options)).local_backup
    assert (found.write, found.read, found.directories) == (write, read, ())


def test_the_directories_are_known_by_their_whole_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = job_settings(Configuration.from_dict({"taskmanager.state.local.root-dirs": "/a/b, c"})).local_backup
    assert found.directories == ("/a/b", f"{tmp_path}/c")
