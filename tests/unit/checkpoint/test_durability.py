"""Nothing counts as written before the operating system was asked to put it on the disk: the file, its name, the names of new folders."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.unit.connectors.test_file_sink import text_sink, writer_of
from wiesel.checkpoint.file_io import open_root
from wiesel.connectors.write_ahead_log import WriteAheadLog
from wiesel.spi.sink import CommitRequest


class Disk:
    """What would be there after a power failure: contents of files and names in folders, as of their last fsync."""

    def __init__(self) -> None:
        self.files: dict[int, int] = {}
        self.folders: dict[int, set[str]] = {}

    def fsync(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            self.folders[status.st_ino] = set(os.listdir(descriptor))
        else:
            self.files[status.st_ino] = status.st_size

    def survives(self, path: Path, below: Path) -> bool:
        """Whether a file would be there, whole, with all folders down to ``below``."""
        status = path.stat()
        if self.files.get(status.st_ino) != status.st_size:
            return False
        while path != below:
            if path.name not in self.folders.get(path.parent.stat().st_ino, set()):
                return False
            path = path.parent
        return True


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    found = Disk()
    monkeypatch.setattr(os, "fsync", found.fsync)
    return found


def test_files_of_checkpoints_survive_a_power_failure(tmp_path: Path, disk: Disk) -> None:
    root = open_root(str(tmp_path))
    root.write("job/shared/state", [b"1" * 10_000])
    assert disk.survives(tmp_path / "job" / "shared" / "state", tmp_path)
    assert root.create("job/chk-1/_metadata", b"2")
    assert disk.survives(tmp_path / "job" / "chk-1" / "_metadata", tmp_path)


def test_parts_of_a_file_sink_survive_from_the_moment_when_a_checkpoint_names_them(tmp_path: Path, disk: Disk) -> None:
    sink = text_sink(tmp_path)
    writer = writer_of(sink)
    writer.write_batch(["a", "b"], None)
    writer.flush(True)
    committables = writer.prepare_commit()
    (staged,) = [Path(part.staged) for part in committables if hasattr(part, "target")]
    assert disk.survives(staged, tmp_path)
    sink.create_committer().commit([*map(CommitRequest, committables)])
    (visible,) = [path for path in tmp_path.iterdir() if path.is_file()]
    assert disk.survives(visible, tmp_path)
    writer.close()


def test_what_came_from_a_socket_survives_from_the_moment_when_somebody_sees_it(tmp_path: Path, disk: Disk) -> None:
    log = WriteAheadLog(str(tmp_path / "logs" / "socket"), file_bytes=50)
    for number in range(5):
        log.append(["a record", number])
        files = sorted((tmp_path / "logs" / "socket").iterdir())
        assert all(disk.survives(path, tmp_path) for path in files)
    assert len(files) > 1
    log.close()
