"""What fails for a moment is tried again, without harm when only the answer was lost; what cannot get better is told at once."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from wiesel.checkpoint import retries
from wiesel.checkpoint.file_io import FileIO, LocalFileIO, open_root
from wiesel.checkpoint.retries import RetryingFileIO
from wiesel.core.errors import CheckpointStorageError


class Unreliable(FileIO):
    """Fails before or after it has done what it was asked for, at most ``in_a_row`` times in a row."""

    def __init__(self, files: FileIO, seed: int, in_a_row: int) -> None:
        self._files, self._random, self._in_a_row = files, random.Random(seed), in_a_row
        self._failures = 0

    def _fails(self) -> bool:
        fails = self._failures < self._in_a_row and self._random.random() < 0.5
        self._failures = self._failures + 1 if fails else 0
        return fails

    def __getattribute__(self, name: str):
        if name.startswith("_"):
            return object.__getattribute__(self, name)

        def call(*arguments):
            if not self._fails():
                return getattr(self._files, name)(*arguments)
            if self._random.random() < 0.5:
                getattr(self._files, name)(*arguments)
            raise self._random.choice((OSError(errno.EIO, "broken"), OSError(errno.ENOSPC, "full"), CheckpointStorageError("gone")))

        return call

    def write(self, path: str, parts: Sequence[bytes | memoryview]) -> None: ...
    def create(self, path: str, data: bytes) -> bool: ...
    def read(self, path: str) -> bytes: ...
    def exists(self, path: str) -> bool: ...
    def size(self, path: str) -> int | None: ...
    def names(self, directory: str) -> list[str]: ...
    def delete(self, path: str) -> None: ...


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "DELAYS_S", (0, 0, 0))


def test_short_failures_are_not_seen(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 30)
    print(f"seed {seed}")
    files = RetryingFileIO(Unreliable(LocalFileIO(str(tmp_path)), seed, in_a_row=3), "test")
    for number in range(100):
        path, data = f"a/{number}", str(number).encode()
        files.write(f"w/{number}", [data])
        assert files.create(path, data) is True, "a try whose answer was lost made this very file"
        assert files.create(path, b"of somebody else") is False
        assert files.read(path) == data and files.exists(path) and len(files.names("a")) == number + 1
        with pytest.raises(FileNotFoundError):
            files.read("nothing")
        files.delete(f"w/{number}")
        assert files.names("w") == []


def test_a_failure_that_lasts_is_told_with_the_storage() -> None:
    class Down(LocalFileIO):
        tries = 0

        def read(self, path: str) -> bytes:
            Down.tries += 1
            raise OSError(errno.EIO, "no answer")

    with pytest.raises(CheckpointStorageError, match=r"reading x of the storage s3://bucket failed: .*no answer"):
        RetryingFileIO(Down("/"), "s3://bucket").read("x")
    assert Down.tries == 4


def test_what_will_not_get_better_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "DELAYS_S", (1000,))
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointStorageError):
        open_root(str(tmp_path)).write("file/below", [b"1"])
    with pytest.raises(CheckpointStorageError):
        open_root(str(tmp_path / "file")).write("below", [b"1"])


_TOO_LARGE = """
import resource, sys
from wiesel.checkpoint import retries
from wiesel.checkpoint.file_io import open_root
from wiesel.core.errors import CheckpointStorageError
retries.DELAYS_S = (0,)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for action in (lambda root, data: root.write("x", [data]), lambda root, data: root.create("y", data)):
    try:
        action(open_root(sys.argv[1]), bytes(1_000_000))
    except CheckpointStorageError as error:
        print(error.message)
assert open_root(sys.argv[1]).create("y", bytes(1000))
"""


def test_nothing_is_left_of_a_file_for_which_there_was_no_room(tmp_path: Path) -> None:
    """A limit of the process stands for the full disk: the operating system refuses in the midst of the file."""
    run = subprocess.run([sys.executable, "-c", _TOO_LARGE, str(tmp_path)], capture_output=True, text=True, env=dict(os.environ))
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("File too large") == 2
    assert [path.name for path in tmp_path.iterdir()] == ["y"]
