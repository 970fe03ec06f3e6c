"""Files that are written past the page cache have the same contents, and as much of them as can be is not in it."""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wiesel.checkpoint import direct_io
from wiesel.checkpoint.file_io import open_root
from wiesel.checkpoint.store import StateFiles
from wiesel.core.errors import CheckpointStorageError

BLOCK = 4096
LARGE = 1 << 20


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Collect the sizes of the writes that went past the cache."""
    sizes: list[int] = []
    write = os.write

    def noted(descriptor: int, data: Any) -> int:
        assert fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_DIRECT
        done = write(descriptor, data)
        sizes.append(done)
        return done

    monkeypatch.setattr(direct_io.os, "write", noted)
    yield sizes


def aligned(size: int) -> memoryview:
    memory = mmap.mmap(-1, size)
    memory[:] = random.randbytes(size)
    return memoryview(memory)


@pytest.mark.parametrize("size", [LARGE, LARGE + 1, LARGE + BLOCK - 1, 3 * LARGE + 5 * BLOCK + 17])
def test_whole_blocks_go_past_the_cache_and_the_rest_through_it(tmp_path: Path, written: list[int], size: int) -> None:
    data = aligned(size)
    open_root(str(tmp_path), direct_io=True).write("a/file", [data])
    assert (tmp_path / "a" / "file").read_bytes() == data
    assert sum(written) == size // BLOCK * BLOCK


@pytest.mark.parametrize(
    "parts",
    [[b"x" * (LARGE - 1)], [b"x" * LARGE, b"y" * LARGE], [aligned(LARGE + BLOCK)[7:]]],
    ids=["small", "several parts", "not at the beginning of a page"],
)
def test_what_cannot_go_past_the_cache_goes_through_it(tmp_path: Path, written: list[int], parts: list[Any]) -> None:
    open_root(str(tmp_path), direct_io=True).write("file", parts)
    assert (tmp_path / "file").read_bytes() == b"".join(parts)
    assert not written


def test_nothing_goes_past_the_cache_unless_it_is_asked_for(tmp_path: Path, written: list[int]) -> None:
    data = aligned(2 * LARGE)
    open_root(str(tmp_path)).write("file", [data])
    assert (tmp_path / "file").read_bytes() == data
    assert not written


def test_a_full_disk_is_told_and_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int, _data: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(direct_io.os, "write", full)
    monkeypatch.setattr("wiesel.checkpoint.retries.DELAYS_S", ())
    with pytest.raises(CheckpointStorageError, match="No space left"):
        open_root(str(tmp_path), direct_io=True).write("file", [aligned(LARGE)])
    assert not list(tmp_path.iterdir())


def test_state_files_say_how_they_are_written(tmp_path: Path, written: list[int]) -> None:
    data = aligned(2 * LARGE)
    for direct in (False, True):
        files = StateFiles(str(tmp_path), "job", f"1-0-{direct:d}", direct_io=direct)
        assert files.read(files.write("state", [data])) == data
        assert sum(written) == (2 * LARGE if direct else 0)
