"""A storage of checkpoints in memory, shared by all processes that a schedule has, which fails when the schedule says so."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from random import Random

from wiesel.checkpoint.file_io import FileIO
from wiesel.core.errors import CheckpointStorageError

ERRORS = (errno.ENOSPC, errno.EIO)


class Disk:
    """The contents, and what is to go wrong next.

    Attributes:
        failing: How many of the next operations fail.
        failed: How many have failed.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.failing = 0
        self.failed = 0
        self.random = Random(0)

    def strike(self, what: str, path: str) -> None:
        """Fail now if an operation is to fail."""
        if self.failing:
            self.failing -= 1
            self.failed += 1
            code = self.random.choice(ERRORS)
            raise CheckpointStorageError(f"cannot {what} {path}: injected") from OSError(code, "injected")


class MemoryFileIO(FileIO):
    """The operations below a root. Half of those that fail have been done before, or done in part."""

    def __init__(self, disk: Disk, root: str) -> None:
        self._disk = disk
        self._root = root

    def _full(self, path: str) -> str:
        return f"{self._root}/{path}" if self._root else path

    def write(self, path: str, parts: Sequence[bytes | memoryview]) -> None:
        data = b"".join(parts)
        if self._disk.failing and self._disk.random.random() < 0.5:
            self._disk.files[self._full(path)] = data[:-1]
        self._disk.strike("write", path)
        self._disk.files[self._full(path)] = data

    def create(self, path: str, data: bytes) -> bool:
        late = self._disk.random.random() < 0.5
        if not late:
            self._disk.strike("create", path)
        created = self._full(path) not in self._disk.files
        self._disk.files.setdefault(self._full(path), data)
        if late:
            self._disk.strike("create", path)
        return created

    def read(self, path: str) -> bytes:
        self._disk.strike("read", path)
        try:
            return self._disk.files[self._full(path)]
        except KeyError:
            raise FileNotFoundError(path) from None

    def size(self, path: str) -> int | None:
        self._disk.strike("measure", path)
        data = self._disk.files.get(self._full(path))
        return None if data is None else len(data)

    def exists(self, path: str) -> bool:
        self._disk.strike("look at", path)
        full = self._full(path)
        return full in self._disk.files or any(name.startswith(f"{full}/") for name in self._disk.files)

    def names(self, directory: str) -> list[str]:
        self._disk.strike("list", directory)
        prefix = f"{self._full(directory)}/"
        return sorted({name[len(prefix) :].partition("/")[0] for name in self._disk.files if name.startswith(prefix)})

    def delete(self, path: str) -> None:
        self._disk.strike("delete", path)
        full = self._full(path)
        for name in [name for name in self._disk.files if name == full or name.startswith(f"{full}/")]:
            del self._disk.files[name]
