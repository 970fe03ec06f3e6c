"""Keeps state files in memory; fails on demand. Checks them on demand: the formats of state files have checksums of their own."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from wiesel.core.errors import CheckpointStorageError, CorruptCheckpointError
from wiesel.state.backend import StateFile


class MemoryFiles:
    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.failing = False
        self.checking = False
        self.written = 0
        self._next = 0

    def write(self, name_hint: str, data: Sequence[bytes | memoryview]) -> StateFile:
        if self.failing:
            raise CheckpointStorageError("the storage is down")
        contents = b"".join(data)
        name = f"{name_hint}-{self._next}"
        self._next += 1
        self.written += len(contents)
        self.contents[name] = contents
        return StateFile(name, len(contents), crc32(contents))

    def read(self, file: StateFile) -> bytes:
        try:
            data = self.contents[file.name]
        except KeyError:
            raise CorruptCheckpointError(f"{file.name} is missing") from None
        if self.checking and (len(data) != file.size or crc32(data) != file.crc32):
            raise CorruptCheckpointError(f"{file.name} is altered")
        return data
