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
from wiesel.checkpoint.direct_io import WritingWay
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
    open_root(str(tmp_path), direct_io="true").write("a/file", [data])
    assert (tmp_path / "a" / "file").read_bytes() == data
    assert sum(written) == size // BLOCK * BLOCK


@pytest.mark.parametrize(
    "parts",
    [[b"x" * (LARGE - 1)], [b"x" * LARGE, b"y" * LARGE], [aligned(LARGE + BLOCK)[7:]]],
    ids=["small", "several parts", "not at the beginning of a page"],
)
def test_what_cannot_go_past_the_cache_goes_through_it(tmp_path: Path, written: list[int], parts: list[Any]) -> None:
    open_root(str(tmp_path), direct_io="true").write("file", parts)
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
        open_root(str(tmp_path), direct_io="true").write("file", [aligned(LARGE)])
    assert not list(tmp_path.iterdir())


def test_state_files_say_how_they_are_written(tmp_path: Path, written: list[int]) -> None:
    data = aligned(2 * LARGE)
    for direct in ("false", "auto", "true"):  # one file alone is not much
        files = StateFiles(str(tmp_path), "job", f"1-0-{direct}", direct_io=direct)
        assert files.read(files.write("state", [data])) == data
        assert sum(written) == (2 * LARGE if direct == "true" else 0)


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def shares_past_cache(mb_per_s: float, ms_per_mb: float, *, mode: str = "auto", seconds: int = 200) -> list[bool]:
    """Return for each file of 16 MB whether it went past the cache, written at a steady rate at what copies cost on some machine."""
    clock = Clock()
    way, found = WritingWay(mode, clock), []
    for _ in range(round(seconds * mb_per_s / 16)):
        clock.now_s += 16 / mb_per_s
        found.append(way.passes_cache(16_000_000))
        if not found[-1]:
            way.copied(16_000_000, 16 * ms_per_mb / 1000)
    return found


def test_files_go_past_the_cache_where_copies_would_take_a_twentieth_of_a_core() -> None:
    assert not any(shares_past_cache(20, 0.25)), "memory that is there: 0.5 % of a core"
    assert not any(shares_past_cache(20, 2.0)), "4 %"
    past = shares_past_cache(65, 2.0)
    assert not any(past[: round(3 * 65 / 16)]), "13 %, but of a few seconds nobody can tell how it goes on"
    later = past[len(past) // 2 :]
    assert 0.9 < sum(later) / len(later) < 1, "all but those that show what copies cost now"
    assert all(shares_past_cache(1, 0.1, mode="true"))
    assert not any(shares_past_cache(500, 5, mode="false"))


def test_files_go_through_the_cache_again_when_that_costs_less() -> None:
    clock = Clock()
    way = WritingWay("auto", clock)
    past = []
    for number in range(2000):
        clock.now_s += 0.25
        past.append(way.passes_cache(16_000_000))
        if not past[-1]:
            way.copied(16_000_000, 16 * (2.0 if number < 1000 else 0.2) / 1000)
    assert sum(past[500:1000]) > 450
    assert not any(past[1500:])


def test_small_files_go_through_the_cache_and_tell_nothing() -> None:
    clock = Clock()
    way = WritingWay("auto", clock)
    for _ in range(10_000):
        clock.now_s += 0.001
        assert not way.passes_cache(LARGE - 1)
        way.copied(LARGE - 1, 1.0)
    assert not way.passes_cache(16_000_000)
