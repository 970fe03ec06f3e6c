"""Deleting checkpoints deletes links, never what they lead to."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.unit.engine.stored_job import totals
from wiesel.checkpoint.file_io import open_root
from wiesel.checkpoint.savepoint import Savepoint
from wiesel.core.errors import CheckpointStorageError
from wiesel.testing import ManualSource


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    directory = tmp_path / "victim"
    (directory / "below").mkdir(parents=True)
    (directory / "_metadata").write_text("precious")
    (directory / "below" / "file").write_text("precious")
    return directory


def must_be_whole(victim: Path) -> None:
    assert {p.name for p in victim.rglob("*")} == {"_metadata", "below", "file"}


@pytest.mark.parametrize("path", ["link", "directory"])
def test_a_link_is_deleted_and_not_followed(tmp_path: Path, victim: Path, path: str) -> None:
    (tmp_path / "directory" / "inside").mkdir(parents=True)
    for link in ("link", "directory/link", "directory/inside/link"):
        (tmp_path / link).symlink_to(victim)
    open_root(str(tmp_path)).delete(path)
    assert not (tmp_path / path).exists() and not (tmp_path / path).is_symlink()
    must_be_whole(victim)


@pytest.mark.parametrize("replaced", ["chk-1", "shared"])
def test_retention_does_not_follow_links(tmp_path: Path, victim: Path, replaced: str) -> None:
    job, _ = totals(numbers := ManualSource(), tmp_path / "checkpoints")
    with job:
        numbers.push(("a", 1))
        job.settle()
        job.store()
        place = job.directory / replaced
        if place.exists():
            shutil.rmtree(place)
        place.symlink_to(victim)
        for number in (2, 3):
            numbers.push(("a", number))
            job.settle()
            job.store()
        if replaced == "chk-1":
            assert not place.is_symlink(), "the checkpoint was replaced by newer ones"
        job.finish()
    assert not place.is_symlink()
    must_be_whole(victim)


def test_a_savepoint_is_not_deleted_by_the_name_of_a_link(tmp_path: Path, victim: Path) -> None:
    (tmp_path / "latest").symlink_to(victim)
    with pytest.raises(CheckpointStorageError, match="latest is a symbolic link to a savepoint") as refused:
        Savepoint(str(tmp_path / "latest")).delete()
    assert str(victim) in str(refused.value.hint)
    must_be_whole(victim)
