"""Internal. State handles with RocksDB files: opening them, and reading them from backends with another format.

Such a handle begins with RocksDB's files. ``meta["native"]`` has their names (``files``), the names and kinds of storage of the states in
the order of their numbers (``tables``; the state with index i has the number 2i without and 2i + 1 with namespaces), and the last number
assigned to a chunk of a list (``number``). Timers and operator state follow, as in the handles of all backends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from wiesel.core.errors import InvariantError
from wiesel.state.backend import KeyGroupRange, StateFileReader, StateHandle
from wiesel.state.changelog import Section
from wiesel.state.lmdb import TABLES, Scan
from wiesel.state.lmdb_keys import SlotCodec, range_of
from wiesel.state.lmdb_stores import DiskStore
from wiesel.state.rocksdb_env import RocksDbEnvironment, RocksDbSettings
from wiesel.state.tracked import NATIVE

__all__ = ["fill", "native_sections", "opened", "shared_groups"]


def shared_groups(handle: StateHandle, own: KeyGroupRange) -> tuple[int, int]:
    """Return start and end of the intersection of the key groups of a handle and a subtask."""
    return max(handle.key_group_start, own.start), min(handle.key_group_end, own.end)


def fill(environment: RocksDbEnvironment, handle: StateHandle, reader: StateFileReader) -> None:
    """Open an environment with the files of a handle."""
    names: Sequence[str] = handle.meta[NATIVE]["files"]
    environment.open(_Files(dict(zip(names, handle.files, strict=False)), reader))


class _Files(dict[str, Any]):
    """Name -> contents, read one at a time."""

    def __init__(self, files: dict[str, Any], reader: StateFileReader) -> None:
        super().__init__(files)
        self._reader = reader

    def items(self) -> Any:
        return ((name, (self._reader.read(file),)) for name, file in super().items())


@contextmanager
def opened(handle: StateHandle, reader: StateFileReader, local_dir: str) -> Iterator[RocksDbEnvironment]:
    """Yield an environment with the files of a handle, which is removed afterwards."""
    environment = RocksDbEnvironment(local_dir, "rocksdb-restore", RocksDbSettings())
    try:
        fill(environment, handle, reader)
        yield environment
    finally:
        environment.close()


def native_sections(handle: StateHandle, reader: StateFileReader, own: KeyGroupRange, local_dir: str) -> Iterator[tuple[Section, str]]:
    """Yield the entries of a handle in the key groups of a subtask, with their kind of storage."""
    native = handle.meta[NATIVE]
    start, end = shared_groups(handle, own)
    if not native["files"] or start >= end:
        return
    with opened(handle, reader, local_dir) as environment:
        stores: dict[int, DiskStore] = {}
        for name, storage in native["tables"]:
            for spaced in (False, True):
                codec = SlotCodec(len(stores), spaced, own.max_parallelism)
                stores[len(stores)] = TABLES[storage].store_type(name, spaced, codec, environment, _no_number)
        kinds = dict(native["tables"])
        for section in Scan(environment.snapshot(), stores, environment).sections(range_of(start, 0), range_of(end, 0)):
            yield section, kinds[section.name]


def _no_number() -> int:
    raise InvariantError("state that is only read was written")
