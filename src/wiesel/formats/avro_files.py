"""Internal. Avro's container files: a header with the schema, then blocks of records with a mark behind each."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from wiesel.core.errors import ConnectorError, ProgramError, TypeMismatchError
from wiesel.formats.avro_library import fastavro, read_errors, write_errors
from wiesel.spi.file_formats import BulkFormat, BulkWriter, BulkWriterFactory, FilePiece, RecordReader
from wiesel.types.typeinfo import TypeInformation

__all__ = ["AvroFileFormat", "AvroWriterFactory"]

_MARK = 16
_SEARCH = 1 << 16
_RECORDS_AT_ONCE = 4096


class AvroFileFormat(BulkFormat):
    """Reads the records of Avro files. A block belongs to the piece in which it begins.

    Args:
        schema: With which records are read, or what makes it of the schema of a file.
        produced_type: The type of the records.
    """

    def __init__(self, schema: str | Callable[[Any], Any], produced_type: TypeInformation) -> None:
        self._schema = schema
        self._produced_type = produced_type

    @property
    def produced_type(self) -> TypeInformation:
        return self._produced_type

    @property
    def splittable(self) -> bool:
        return True

    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        return _AvroReader(stream, piece, self._schema)


class _HeaderFirst(io.RawIOBase):
    """The input of fastavro: the header of the file, then the blocks from any of them on."""

    def __init__(self, header: bytes, stream: BinaryIO) -> None:
        self._header: BinaryIO | None = io.BytesIO(header)
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        if self._header is not None:
            data = self._header.read(size)
            if data:
                return data
            self._header = None
        return self._stream.read(size)

    def tell(self) -> int:
        return self._stream.tell()


class _AvroReader(RecordReader):
    """The position is the first byte of a block."""

    def __init__(self, stream: BinaryIO, piece: FilePiece, schema: str | Callable[[Any], Any]) -> None:
        self._stream = stream
        self._piece = piece
        library = fastavro()
        self._errors = read_errors()
        try:
            # It reads no further than the header, as its reads are exact.
            written = library.block_reader(stream).writer_schema
            header_end = stream.tell()
            stream.seek(0)
            header = stream.read(header_end)
            reads = json.loads(schema) if isinstance(schema, str) else schema(written)
            self._position = self._first_block(header, header_end)
            stream.seek(self._position)
            self._blocks = iter(library.block_reader(_HeaderFirst(header, stream), reader_schema=reads))
        except self._errors as error:
            raise ConnectorError(
                f"{piece.path} is no Avro file: {type(error).__name__}: {error}", hint="check path and format", path=piece.path
            ) from error
        self._records: Any = None

    def _first_block(self, header: bytes, header_end: int) -> int:
        if self._piece.position is not None:
            return self._piece.position
        if self._piece.start <= header_end:
            return header_end
        return _behind_next_mark(self._stream, header[-_MARK:], self._piece.start - _MARK, self._piece.file_size)

    @property
    def position(self) -> int:
        """Return the block of the next records; it stays while records of the block are left."""
        return self._position

    def read_block(self) -> list[Any] | None:
        try:
            if self._records is None and not self._next_block():
                return None
            return self._some_records()
        except self._errors as error:
            raise ConnectorError(
                f"{self._piece.path}, block at byte {self._position}: {type(error).__name__}: {error}",
                hint="the file is damaged, or its schema does not fit the one that is read with",
                path=self._piece.path,
            ) from error

    def _next_block(self) -> bool:
        if self._position >= self._piece.end:
            return False
        block = next(self._blocks, None)
        if block is None:
            if self._position < self._piece.file_size:
                raise EOFError("the file ends within a block")
            return False
        self._records = iter(block)
        return True

    def _some_records(self) -> list[Any]:
        values = []
        for value in self._records:
            values.append(value)
            if len(values) == _RECORDS_AT_ONCE:
                return values
        self._records = None
        self._position = self._stream.tell()
        return values


def _behind_next_mark(stream: BinaryIO, mark: bytes, start: int, file_size: int) -> int:
    """Return the first byte behind the first mark at ``start`` or later; the end of the file if there is none."""
    stream.seek(start)
    data = b""
    while True:
        more = stream.read(_SEARCH)
        if not more:
            return file_size
        data += more
        found = data.find(mark)
        if found >= 0:
            return start + found + _MARK
        start += max(0, len(data) - _MARK + 1)
        data = data[-_MARK + 1 :]


class AvroWriterFactory(BulkWriterFactory):
    """Makes writers of Avro files; without compression, as those of Flink's DataStream API, unless a codec is named."""

    def __init__(self, schema: str, codec: str = "null") -> None:
        self._schema = schema
        self._codec = codec

    def create(self, stream: BinaryIO) -> BulkWriter:
        return _AvroWriter(stream, self._schema, self._codec)


class _AvroWriter(BulkWriter):
    def __init__(self, stream: BinaryIO, schema: str, codec: str) -> None:
        self._schema = schema
        library = fastavro()
        try:
            self._writer = library.write.Writer(stream, library.parse_schema(json.loads(schema)), codec)
        except ValueError as error:
            hint = "install the library, or choose another codec"
            raise ProgramError(f"Avro cannot be compressed by {codec}: {error}", hint=hint) from error
        self._errors = write_errors()

    def add_batch(self, values: Sequence[Any]) -> None:
        write = self._writer.write
        value = None
        try:
            for value in values:
                write(value)
        except self._errors as error:
            raise TypeMismatchError(
                f"{value!r} does not match its Avro schema: {type(error).__name__}: {error}", hint=f"the schema is {self._schema[:500]}"
            ) from error

    def finish(self) -> None:
        self._writer.flush()
