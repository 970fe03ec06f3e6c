"""Second copies of state files on the host: what they are worth, and when they go."""

from __future__ import annotations

import os
import shutil
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest

from wiesel.checkpoint import file_io
from wiesel.checkpoint.file_io import LocalFileIO
from wiesel.checkpoint.local_copies import LocalBackup, LocalCopies
from wiesel.checkpoint.store import StateFiles
from wiesel.core.errors import CorruptCheckpointError
from wiesel.state.backend import StateFile

JOB = "0" * 32
DATA = [bytes(range(256)) * 20, b"and the end"]
WHOLE = b"".join(DATA)


def backup(*directories: Path, write: bool = True, read: bool = True) -> LocalBackup:
    return LocalBackup(tuple(map(str, directories)), write, read)


def copies(directory: Path, owner: str = "1-0", **settings: bool) -> LocalCopies:
    made = backup(directory, **settings).copies(JOB, owner, None)
    assert made is not None
    return made


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every read of the storage of the checkpoints."""
    seen: list[str] = []

    class Counting(LocalFileIO):
        def read(self, path: str) -> bytes:
            seen.append(path)
            return super().read(path)

    monkeypatch.setattr(file_io, "LocalFileIO", Counting)
    yield seen


def files(tmp_path: Path, prefix: str = "1-1-0", of: LocalCopies | None = None) -> StateFiles:
    return StateFiles(str(tmp_path / "storage"), JOB, prefix, of)


def local(tmp_path: Path) -> list[Path]:
    return sorted(p for p in (tmp_path / "host").rglob("*") if p.is_file())


def test_what_was_written_is_read_from_the_host(tmp_path: Path, reads: list[str]) -> None:
    written = files(tmp_path, of=copies(tmp_path / "host")).write("state", DATA)
    later = copies(tmp_path / "host", "7-3")
    assert files(tmp_path, "2-7-3", later).read(written) == WHOLE
    assert reads == [] and later.metrics() == {"stateFilesReadLocally": 1, "stateFilesReadFromStorage": 0}
    assert (tmp_path / "storage" / written.name).read_bytes() == WHOLE, "the storage has it as well"


def test_what_was_read_from_the_storage_is_on_the_host_next_time(tmp_path: Path, reads: list[str]) -> None:
    written = files(tmp_path).write("state", DATA)
    first, second = copies(tmp_path / "host"), copies(tmp_path / "host")
    for found in (first, second):
        assert files(tmp_path, of=found).read(written) == WHOLE
    assert reads == [written.name]
    assert (first.metrics()["stateFilesReadFromStorage"], second.metrics()["stateFilesReadLocally"]) == (1, 1)


@pytest.mark.parametrize("damage", ["torn", "altered", "gone", "a directory"])
def test_a_damaged_copy_is_not_believed(tmp_path: Path, reads: list[str], damage: str) -> None:
    written = files(tmp_path, of=copies(tmp_path / "host")).write("state", DATA)
    (copy,) = local(tmp_path)
    if damage == "torn":
        copy.write_bytes(WHOLE[:-1])
    elif damage == "altered":
        copy.write_bytes(WHOLE[:-1] + b"!")
    else:
        copy.unlink()
        if damage == "a directory":
            copy.mkdir()
    assert files(tmp_path, of=copies(tmp_path / "host")).read(written) == WHOLE
    assert reads == [written.name]


def test_another_file_of_the_same_name_is_another_file(tmp_path: Path, reads: list[str]) -> None:
    files(tmp_path, of=copies(tmp_path / "host")).write("state", DATA)
    shutil.rmtree(tmp_path / "storage")
    other = files(tmp_path).write("state", [WHOLE[::-1]])
    assert files(tmp_path, of=copies(tmp_path / "host")).read(other) == WHOLE[::-1]
    assert reads == [other.name]


def test_a_host_without_room_goes_without_copies(tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    Usage = namedtuple("Usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(100_000, 89_000, 10_000 + len(WHOLE) - 1))
    found = copies(tmp_path / "host")
    written = files(tmp_path, of=found).write("state", DATA)
    assert local(tmp_path) == [] and files(tmp_path, of=found).read(written) == WHOLE
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(100_000, 89_000, 10_000 + len(WHOLE)))
    files(tmp_path, of=found).write("state", DATA)
    assert len(local(tmp_path)) == 1


def test_a_directory_that_cannot_be_made_or_that_others_can_write_to_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert files(tmp_path, of=copies(tmp_path / "file")).write("state", DATA).size == len(WHOLE)
    shared = tmp_path / "host" / "wiesel-local-state"
    shared.mkdir(parents=True)
    shared.chmod(0o777)
    files(tmp_path, of=copies(tmp_path / "host")).write("state", DATA)
    assert local(tmp_path) == []


def test_small_files_need_no_copy_and_copies_need_a_setting(tmp_path: Path) -> None:
    found = copies(tmp_path / "host")
    small = files(tmp_path, of=found).write("state", [b"small"])
    assert files(tmp_path, of=found).read(small) == b"small"
    files(tmp_path, of=copies(tmp_path / "host", write=False)).write("state", DATA)
    assert local(tmp_path) == []
    assert backup(tmp_path, write=False, read=False).copies(JOB, "1-0", None) is None
    assert backup().copies(JOB, "1-0", None) is None
    assert backup().copies(JOB, "1-0", str(tmp_path)) is not None


def test_a_backup_alone_is_written_and_not_read(tmp_path: Path, reads: list[str]) -> None:
    found = copies(tmp_path / "host", read=False)
    written = files(tmp_path, of=found).write("state", DATA)
    assert len(local(tmp_path)) == 1
    assert files(tmp_path, of=found).read(written) == WHOLE and reads == [written.name]


def names(tmp_path: Path) -> list[str]:
    return ["-".join(path.name.split("-")[:-2]) for path in local(tmp_path)]


def test_copies_go_with_the_checkpoints_that_need_them(tmp_path: Path) -> None:
    ours = copies(tmp_path / "host")
    writer = files(tmp_path, "2-1-0", ours)
    base, old, shared, new = (writer.write(hint, DATA) for hint in ("base", "old", "shared", "new"))
    inline = StateFile("inline", 1, 0, b"i")
    ours.keep(4, [base, old])
    ours.keep(5, [base, shared, inline])
    ours.keep(6, [base, new])
    files(tmp_path, "2-1-1", copies(tmp_path / "host", "1-1")).write("neighbour", DATA)
    # Left by this subtask when it ran here before.
    files(tmp_path, "1-1-0", copies(tmp_path / "host")).write("before", DATA)
    ours.prune(3)
    assert len(names(tmp_path)) == 6, "that checkpoint was of another attempt"
    ours.prune(5)
    assert names(tmp_path) == ["2-1-0-base-1", "2-1-0-new-4", "2-1-0-shared-3", "2-1-1-neighbour-1"]
    ours.prune(6)
    assert names(tmp_path) == ["2-1-0-base-1", "2-1-0-new-4", "2-1-1-neighbour-1"]


def test_what_was_taken_from_another_subtask_goes_too(tmp_path: Path) -> None:
    theirs = files(tmp_path, "1-1-5").write("state", DATA)
    ours = copies(tmp_path / "host", "1-0")
    files(tmp_path, "2-1-0", ours).read(theirs)
    assert names(tmp_path) == ["1-1-5-state-1"]
    ours.keep(2, [])
    ours.prune(2)
    assert names(tmp_path) == []


def aged(path: Path, hours: float) -> None:
    then = path.stat().st_mtime - hours * 3600
    os.utime(path, (then, then))


def test_what_nobody_has_needed_for_a_day_goes(tmp_path: Path) -> None:
    ours = copies(tmp_path / "host")
    needed = files(tmp_path, "1-1-0", ours).write("state", DATA)
    for subtask in (1, 2):
        files(tmp_path, f"1-1-{subtask}", copies(tmp_path / "host", f"1-{subtask}")).write("state", DATA)
    for path, hours in zip(local(tmp_path), (30, 30, 20), strict=True):
        aged(path, hours)
    ours.keep(1, [needed])
    ours.prune(1)
    assert names(tmp_path) == ["1-1-0-state-1", "1-1-2-state-1"]
    ours.keep(2, [needed])
    ours.prune(2)
    assert names(tmp_path) == ["1-1-0-state-1", "1-1-2-state-1"], "what is needed is as good as new"


def test_copies_of_jobs_that_ended_a_day_ago_go(tmp_path: Path) -> None:
    root = tmp_path / "host" / "wiesel-local-state"
    for name in ("old", "young"):
        (root / name).mkdir(parents=True, mode=0o700)
        (root / name / "file").write_bytes(b"")
    root.chmod(0o700)
    for path in (root / "old" / "file", root / "old", root / "young"):
        aged(path, 30)
    files(tmp_path, of=copies(tmp_path / "host")).write("state", DATA)
    assert sorted(p.name for p in root.iterdir()) == sorted([JOB, "young"])


def test_several_directories_share_the_copies(tmp_path: Path, reads: list[str]) -> None:
    both = backup(tmp_path / "host" / "a", tmp_path / "host" / "b")
    writing, reading = both.copies(JOB, "1-0", None), both.copies(JOB, "1-0", None)
    writer = files(tmp_path, of=writing)
    written = [writer.write(f"state{n}", [*DATA, str(n).encode()]) for n in range(20)]
    assert {path.relative_to(tmp_path / "host").parts[0] for path in local(tmp_path)} == {"a", "b"}
    for n, file in enumerate(written):
        assert files(tmp_path, of=reading).read(file) == WHOLE + str(n).encode()
    assert reads == []


def test_a_check_asks_the_storage_for_the_size_of_what_is_on_the_host(tmp_path: Path, reads: list[str]) -> None:
    found = copies(tmp_path / "host")
    written = files(tmp_path, of=found).write("state", DATA)
    checks = files(tmp_path, "verify", copies(tmp_path / "host", ""))
    checks.check(written)
    assert reads == []
    stored = tmp_path / "storage" / written.name
    stored.write_bytes(WHOLE[:-1])
    with pytest.raises(CorruptCheckpointError, match="missing or incomplete"):
        checks.check(written)
    stored.unlink()
    with pytest.raises(CorruptCheckpointError, match="missing or incomplete"):
        checks.check(written)
    shutil.rmtree(tmp_path / "host")
    with pytest.raises(CorruptCheckpointError, match="missing below"):
        checks.check(written)
    assert local(tmp_path) == [], "who only checks makes no copies"
