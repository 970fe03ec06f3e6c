"""Internal. The feedback queue of a tail, with entries until the head has processed them: in memory, or on disk if it is long.

The tail of a loop must never wait for its head: with full channels between them, the loop would deadlock. So it accepts all records. Memory
is bounded nevertheless: the excess is spilled to unnamed files in the directory for temporary files, which vanish with the process. They
are not read after a failure, as checkpoints contain their contents.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from wiesel.runtime.feedback.messages import Entry, Origin

__all__ = ["FeedbackLog"]

_FILE_BYTES = 32 << 20


class _File:
    """A file of entries; deleted when none of them is needed."""

    def __init__(self) -> None:
        self.content: IO[bytes] = tempfile.TemporaryFile(prefix="wiesel-feedback-")  # noqa: SIM115 - open as long as entries are in it
        self.size = 0
        self.entries = 0

    def append(self, payload: bytes) -> int:
        at = self.size
        self.content.seek(at)
        self.content.write(payload)
        self.size += len(payload)
        self.entries += 1
        return at

    def read(self, at: int, size: int) -> bytes:
        self.content.seek(at)
        return self.content.read(size)


@dataclass(slots=True)
class _Slot:
    """Location of an entry: in memory, or in a file."""

    payload: bytes | None
    size: int
    origins: tuple[Origin, ...]
    round: int
    carried: bool
    file: _File | None = None
    at: int = 0

    def entry(self) -> Entry:
        payload = self.payload
        if payload is None and self.file is not None:
            payload = self.file.read(self.at, self.size)
        return Entry(payload or b"", self.origins, self.round, self.carried)


class FeedbackLog:
    """Entries numbered 0, 1, 2, ..., dropped from the oldest on.

    Args:
        memory_bytes: Memory limit of entries.
    """

    def __init__(self, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        self._in_memory = 0
        self._slots: deque[_Slot] = deque()
        self._file: _File | None = None
        self.first = 0
        self.bytes = 0

    @property
    def next(self) -> int:
        """The number that the next entry will have."""
        return self.first + len(self._slots)

    @property
    def bytes_on_disk(self) -> int:
        """Size of the entries in files."""
        return self.bytes - self._in_memory

    def append(self, entry: Entry) -> None:
        """Add an entry."""
        size = len(entry.payload)
        slot = _Slot(entry.payload, size, entry.origins, entry.round, entry.carried)
        if self._in_memory + size > self._memory_bytes:
            slot.file = self._file_with_room()
            slot.at = slot.file.append(entry.payload)
            slot.payload = None
        else:
            self._in_memory += size
        self.bytes += size
        self._slots.append(slot)

    def _file_with_room(self) -> _File:
        if self._file is None or self._file.size >= _FILE_BYTES:
            self._file = _File()
        return self._file

    def read(self, number: int) -> Entry:
        """Return an entry."""
        return self._slots[number - self.first].entry()

    def size_of(self, number: int) -> int:
        """Return the size of an entry in bytes."""
        return self._slots[number - self.first].size

    def drop_before(self, number: int) -> None:
        """Forget all entries before this one."""
        while self.first < number and self._slots:
            slot = self._slots.popleft()
            self.first += 1
            self.bytes -= slot.size
            if slot.file is None:
                self._in_memory -= slot.size
                continue
            slot.file.entries -= 1
            if not slot.file.entries:
                slot.file.content.close()
                if slot.file is self._file:
                    self._file = None

    def __iter__(self) -> Iterator[tuple[int, Entry]]:
        """Yield all entries with their numbers."""
        for number, slot in enumerate(self._slots, self.first):
            yield number, slot.entry()

    def close(self) -> None:
        """Drop all entries."""
        self.drop_before(self.next)
