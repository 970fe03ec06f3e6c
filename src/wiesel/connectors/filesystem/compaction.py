"""Compaction: a file sink merges small files before they are committed.

>>> strategy = FileCompactStrategy.builder().set_size_threshold(1 << 20).enable_compaction_on_checkpoint(10).build()
>>> builder.enable_compact(strategy, FileCompactor.concat_file_compactor())
"""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from wiesel.core.errors import ConnectorError, ProgramError

__all__ = ["FileCompactStrategy", "FileCompactor"]

_COPY = 1 << 20


@dataclass(frozen=True)
class FileCompactStrategy:
    """Settings of the compaction of closed files of a bucket. Created by :meth:`builder`.

    Attributes:
        size_threshold: Size of pending files in bytes that triggers compaction; -1 for no limit.
        num_checkpoints_before_compaction: Number of checkpoints that triggers compaction; -1 for never.
        num_compact_threads: Number of buckets compacted concurrently, in each subtask.
    """

    size_threshold: int
    num_checkpoints_before_compaction: int
    num_compact_threads: int

    @staticmethod
    def builder() -> FileCompactStrategy.Builder:
        """Return a builder."""
        return FileCompactStrategy.Builder()

    class Builder:
        """Builds a :class:`FileCompactStrategy`."""

        def __init__(self) -> None:
            self._size_threshold = -1
            self._checkpoints = -1
            self._threads = 1

        def enable_compaction_on_checkpoint(self, num_checkpoints_before_compaction: int) -> FileCompactStrategy.Builder:
            """Compact pending files after this number of checkpoints.

            Raises:
                ProgramError: If the number is not positive.
            """
            self._checkpoints = _positive("enable_compaction_on_checkpoint", num_checkpoints_before_compaction)
            return self

        def set_size_threshold(self, size_threshold: int) -> FileCompactStrategy.Builder:
            """Compact the files of a bucket at this total size in bytes."""
            self._size_threshold = size_threshold
            return self

        def set_num_compact_threads(self, num_compact_threads: int) -> FileCompactStrategy.Builder:
            """Set the number of buckets compacted concurrently per subtask, 1 by default.

            Raises:
                ProgramError: If the number is not positive.
            """
            self._threads = _positive("set_num_compact_threads", num_compact_threads)
            return self

        def build(self) -> FileCompactStrategy:
            """Return the strategy.

            Raises:
                ProgramError: If neither a size nor a number of checkpoints was set.
            """
            if self._size_threshold < 0 and self._checkpoints < 0:
                raise ProgramError(
                    "a FileCompactStrategy without a size and without a number of checkpoints would never compact",
                    hint="call set_size_threshold(bytes) or enable_compaction_on_checkpoint(number)",
                )
            return FileCompactStrategy(self._size_threshold, self._checkpoints, self._threads)


def _positive(method: str, number: int) -> int:
    if number <= 0:
        raise ProgramError(f"FileCompactStrategy: {method}({number})", hint="give a positive number")
    return number


class FileCompactor(ABC):
    """Merges several files into one. Plain picklable data; implement it for formats that cannot be concatenated."""

    @abstractmethod
    def compact(self, inputs: Sequence[BinaryIO], output: BinaryIO) -> None:
        """Write the contents of all inputs, in order, to the output. The streams are opened and closed by the sink."""

    @staticmethod
    def concat_file_compactor(file_delimiter: bytes | None = None) -> FileCompactor:
        """Return the compactor that concatenates files, with an optional delimiter."""
        return _Concatenation(file_delimiter or b"")

    @staticmethod
    def identical_file_compactor() -> FileCompactor:
        """Return the compactor that copies the only file; several files are an error."""
        return _Copy()


@dataclass(frozen=True)
class _Concatenation(FileCompactor):
    delimiter: bytes

    def compact(self, inputs: Sequence[BinaryIO], output: BinaryIO) -> None:
        for i, stream in enumerate(inputs):
            if i and self.delimiter:
                output.write(self.delimiter)
            shutil.copyfileobj(stream, output, _COPY)


@dataclass(frozen=True)
class _Copy(FileCompactor):
    def compact(self, inputs: Sequence[BinaryIO], output: BinaryIO) -> None:
        if len(inputs) != 1:
            raise ConnectorError(
                f"FileCompactor.identical_file_compactor() got {len(inputs)} files, and copies only one",
                hint="use FileCompactor.concat_file_compactor() to put several files together",
            )
        shutil.copyfileobj(inputs[0], output, _COPY)
