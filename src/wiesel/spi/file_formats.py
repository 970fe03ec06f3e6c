"""File formats: conversion of files to records in file sources, and bulk writers of file sinks.

A custom format implements :class:`StreamFormat` (sequential reading, also compressed) or :class:`BulkFormat` (random access, like Parquet),
and a :class:`RecordReader`.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from wiesel.types.typeinfo import TypeInformation

__all__ = ["BulkFormat", "BulkWriter", "BulkWriterFactory", "FileFormat", "FilePiece", "RecordReader", "StreamFormat"]


@dataclass(frozen=True)
class FilePiece:
    """A part of a file to read: the records that begin in the bytes ``start`` to ``end``.

    ``position`` is None at first; after a restart it is the value of :attr:`RecordReader.position`, where reading starts.
    """

    path: str
    start: int
    end: int
    file_size: int
    position: int | None = None

    @property
    def is_whole_file(self) -> bool:
        """Return whether it is the whole file."""
        return self.start == 0 and self.end >= self.file_size


class RecordReader(ABC):
    """Reads the records of a piece of a file, a block at a time."""

    @property
    @abstractmethod
    def position(self) -> int:
        """Return the position from which the next block can be read again, in the format's unit (bytes, row groups, ...).

        It need not change with every block: the source counts the records since its last change, and skips them after a restart.
        """

    @abstractmethod
    def read_block(self) -> list[Any] | None:
        """Return the next records, some thousands at most and possibly none, or None at the end."""

    def close(self) -> None:
        """Release resources; the stream is closed by the source."""


class FileFormat(ABC):
    """Base of the formats that a file source reads. Plain picklable data."""

    @property
    def produced_type(self) -> TypeInformation | None:
        """Return the type of the records."""
        return None

    @property
    def splittable(self) -> bool:
        """Return whether a file can be split among several readers, each reading the records that begin in its byte range."""
        return False

    @abstractmethod
    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        """Create the reader of one piece.

        Args:
            stream: The file from its first byte on; seekable (at least forwards). Decompressed for a :class:`StreamFormat`.
            piece: The part to read.
        """


class StreamFormat(FileFormat):
    """A format that is read sequentially. Files with the suffix of a compression are decompressed."""

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat:
        r"""Return the format of lines of text, each a record without its line end (``\n``, ``\r\n`` or ``\r``).

        Args:
            charset_name: The charset; what cannot be decoded is replaced.

        Raises:
            ProgramError: If the charset is not known.
        """
        # PyFlink has the factory here; the format itself is with the others.
        return _text_lines(charset_name)


class BulkFormat(FileFormat):
    """A format with random access and its own compression."""


class BulkWriter(ABC):
    """Writes one file."""

    @abstractmethod
    def add_batch(self, values: Sequence[Any]) -> None:
        """Write records in order."""

    @abstractmethod
    def finish(self) -> None:
        """Write the end of the file, and leave the stream open. Called once."""

    def abandon(self) -> None:
        """Release resources; the file is discarded. Called instead of :meth:`finish`."""


class BulkWriterFactory(ABC):
    """Creates the writers of a bulk format. Plain picklable data."""

    @abstractmethod
    def create(self, stream: BinaryIO) -> BulkWriter:
        """Create the writer of a new file, which is ``stream``."""


def _text_lines(charset_name: str) -> StreamFormat:
    factory: Callable[[str], StreamFormat] = importlib.import_module("wiesel.formats.text").TextLineFormat
    return factory(charset_name)
