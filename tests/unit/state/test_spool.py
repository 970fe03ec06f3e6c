"""Changes that wait for a snapshot, in memory and in a file, against a list of them."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from wiesel.state.changelog import SET, Section, StateFileBuffer, read_file
from wiesel.state.lmdb_keys import dump_one
from wiesel.state.paged_buffer import PagedBuffer
from wiesel.state.pickling import load
from wiesel.state.spool import Spool


def contents(spool: Spool) -> list[tuple[Any, ...]]:
    buffer = StateFileBuffer()
    for section in spool():
        buffer.add(section)
    with buffer.whole() as data:
        return [section.columns for section in read_file(bytes(data), "x")]


def open_file_bytes(directory: Path) -> int:
    """Return the size of what is open without a name below a directory."""
    total = 0
    for fd in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{fd}")
        except FileNotFoundError:
            continue
        if target.startswith(str(directory)) and "deleted" in target:
            total += os.stat(f"/proc/self/fd/{fd}").st_size
    return total


@pytest.mark.parametrize("memory_bytes", [0, 100, 20_000, 1 << 30])
def test_sections_come_out_as_they_went_in_and_again(tmp_path: Path, memory_bytes: int) -> None:
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    rng = random.Random(seed)
    spare: list[PagedBuffer] = []
    for _ in range(3):  # with new memory, and with that of the one before
        spool, expected = Spool(str(tmp_path), memory_bytes, spare), []
        for _ in range(40):
            values = [rng.randbytes(rng.randrange(300)) for _ in range(rng.randrange(1, 20))]
            columns = (list(range(len(values))), None, values)
            spool.add(Section(SET, "v", len(values), columns, singly=True))
            expected.append(columns)
        assert spool.entries == sum(len(keys) for keys, _, _ in expected)
        assert contents(spool) == expected
        assert contents(spool) == expected, "a snapshot whose writing failed is written again"
        if os.path.exists("/proc/self/fd"):
            in_file = open_file_bytes(tmp_path)
            assert spool.size - in_file <= memory_bytes
            assert not in_file or spool.size > memory_bytes
        del spool
        assert len(spare) == 1


@pytest.mark.parametrize("value", [0, -1, 1 << 80, 2.5, True, "", "text", "\udc80", b"", b"x" * 256], ids=repr)
def test_bare_values_are_small_and_read_as_all_others(value: Any) -> None:
    data = dump_one(value)
    (read,) = load(b"\x80\x05" + data[2:-1] + b"\x85.", "x")  # as an element of a later protocol's tuple
    assert (type(read), read) == (type(value), value)
    bare = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    assert len(data) <= 10 + (len(bare) if isinstance(bare, bytes) else 11)
