"""Fills a backend with more state than this process may have memory, then looks at some of it everywhere.

usage: much_state.py BACKEND DIRECTORY MEMORY_MB STATE_MB
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.unit.state.backends import new_backend

VALUE_BYTES = 1024
READ_EVERY = 37
"""So that each read is of another block: RocksDB takes a third of a millisecond for one that is not in its small cache."""

SMALL = {
    "wiesel.state.lmdb.cache-size": "8mb",
    "wiesel.state.rocksdb.cache-size": "8mb",
    "state.backend.rocksdb.block.cache-size": "8mb",
    "state.backend.rocksdb.writebuffer.size": "8mb",
}
"""What the backends may have in memory by themselves."""


def in_use_bytes() -> int:
    """Return what counts against RLIMIT_DATA: private pages that can be written."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) << 10
    raise SystemExit("the kernel does not say how much memory the process has")


def value_of(number: int) -> bytes:
    return number.to_bytes(8, "big") * (VALUE_BYTES // 8)


def main(kind: str, directory: str, memory_mb: int, state_mb: int) -> None:
    count = (state_mb << 20) // VALUE_BYTES
    backend = new_backend(kind, Path(directory), **SMALL)
    table = backend.table("v")
    for number in range(-100, 0):
        table.put(number, b"")
    backend.snapshot(1)  # has what is pending written: what a backend needs anyway is there then
    limit = in_use_bytes() + (memory_mb << 20)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    for number in range(count):
        table.put(number, value_of(number))
    assert all(table.get(number) == value_of(number) for number in range(0, count, READ_EVERY))
    backend.close()
    print("all there")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
