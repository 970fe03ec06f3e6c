"""Internal. Encoded changes that wait for the next snapshot."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

from wiesel.state.changelog import Section, encode_section
from wiesel.state.paged_buffer import PagedBuffer

__all__ = ["Spool"]

_MOST_SPARE = 2
"""Number of spare buffers: one snapshot is written while the changes for the next one accumulate."""


class Spool:
    """Encoded sections: in memory while they are few, then in an unnamed file.

    It lives as long as a snapshot may have to be written, whose end is not announced; so the file is closed with the object.

    Args:
        directory: Directory of the file.
        memory_bytes: Limit of the memory.
        spare: Buffers to reuse: allocating memory costs as much as all other work here.
    """

    def __init__(self, directory: str, memory_bytes: int, spare: list[PagedBuffer]) -> None:
        self._directory = directory
        self._memory_bytes = memory_bytes
        self._spare = spare
        self._buffer = spare.pop() if spare else PagedBuffer()
        self._buffer.seek(0)
        self._file: BinaryIO | None = None
        self._lengths: list[int] = []
        self._in_file = 0
        self.entries = 0
        self.size = 0

    def add(self, section: Section) -> None:
        """Add a section."""
        start = self._buffer.tell()
        encode_section(section, self._buffer)
        length = self._buffer.tell() - start
        self._lengths.append(length)
        self.entries += section.count
        self.size += length
        if start + length > self._memory_bytes:
            self._spill()

    def _spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._directory)  # noqa: SIM115 - closed in __del__
        with self._buffer.view(0, self._buffer.tell()) as data:
            self._file.write(data)
        self._buffer.seek(0)
        self._in_file = len(self._lengths)

    def __call__(self) -> Iterator[bytes | memoryview]:
        """Yield the sections; each is valid until the next one is requested."""
        if self._file is not None:
            self._file.seek(0)
            for length in islice(self._lengths, self._in_file):
                yield self._file.read(length)
        at = 0
        for length in islice(self._lengths, self._in_file, None):
            with self._buffer.view(at, at + length) as data:
                yield data
            at += length

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()
        if len(self._spare) < _MOST_SPARE:
            self._spare.append(self._buffer)
