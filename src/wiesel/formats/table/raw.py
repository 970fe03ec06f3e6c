"""Internal. The table format ``raw``: each line is the one column of a row."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from wiesel.columnar.arrow_types import arrow_schema
from wiesel.columnar.row_batch import RowBatch
from wiesel.core.config import ConfigOption
from wiesel.core.errors import ConfigurationError, ProgramError
from wiesel.formats.line_blocks import COLUMNAR_BLOCK_BYTES, LineBlocks
from wiesel.spi.file_formats import FilePiece, RecordReader, StreamFormat
from wiesel.spi.serialization import Encoder
from wiesel.spi.table.factory import TableOptions
from wiesel.spi.table.formats import TableFormatFactory
from wiesel.types.logical import BinaryType, CharType, RowType, VarBinaryType, VarCharType

__all__ = ["RawTableFormat", "lines_of"]

_CHARSET = ConfigOption[str]("raw.charset", "str", "UTF-8", "The charset of strings.")
_LINE_END = ord("\n")
_MOST_BYTES = np.iinfo(np.int32).max
"""So far reach the offsets of a column."""


class RawTableFormat(TableFormatFactory):
    """Makes readers and writers of lines."""

    identifier = "raw"

    def create_reader(self, options: TableOptions, rows: RowType) -> StreamFormat:
        """Return the format of files of lines."""
        return _Lines(_checked(rows), _charset(options))

    def create_writer(self, options: TableOptions, rows: RowType) -> Encoder:
        """Return the encoder of lines."""
        return _LineEncoder(_checked(rows), _charset(options))


def _charset(options: TableOptions) -> str:
    charset = options.get(_CHARSET)
    try:
        "".encode(charset)
    except LookupError:
        raise ConfigurationError(
            f"option {_CHARSET.key}: there is no charset {charset!r}", hint="write 'UTF-8'", key=_CHARSET.key
        ) from None
    return charset


def _checked(rows: RowType) -> RowType:
    types = rows.field_types()
    if len(types) != 1 or not isinstance(types[0], CharType | VarCharType | BinaryType | VarBinaryType):
        raise ProgramError(
            "a table of format 'raw' has one column, of a text or of bytes", hint="declare one column of type STRING or BYTES"
        )
    return rows


class _Lines(StreamFormat):
    def __init__(self, rows: RowType, charset: str) -> None:
        self.rows = rows
        self.charset = charset

    @property
    def splittable(self) -> bool:
        return True

    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        return _LineReader(self, stream, piece)


class _LineReader(RecordReader):
    def __init__(self, lines: _Lines, stream: BinaryIO, piece: FilePiece) -> None:
        self._schema = arrow_schema((field.name, field.data_type) for field in lines.rows)
        self._charset = lines.charset
        self._blocks = LineBlocks(stream, piece, COLUMNAR_BLOCK_BYTES)

    @property
    def position(self) -> int:
        return self._blocks.offset

    def read_block(self) -> list[RowBatch] | None:
        block = self._blocks.next()
        if block is None:
            return None
        column = lines_of(block, self._schema.field(0).type, self._charset)
        return [RowBatch(pa.RecordBatch.from_arrays([column], schema=self._schema))] if len(column) else []


def lines_of(block: bytes, kind: pa.DataType, charset: str) -> pa.Array:
    """Return the lines of a block, of which the last one may lack its end, as strings or as bytes."""
    is_text = pa.types.is_string(kind)
    if len(block) > _MOST_BYTES or (is_text and not _is_utf8(block, charset)):
        lines: list[Any] = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        return pa.array([line.decode(charset, "replace") for line in lines] if is_text else lines, kind)
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == _LINE_END)
    if block and block[-1] != _LINE_END:
        ends = np.append(ends, len(block))
    # The line ends are taken out of the bytes, and each moves what is behind it.
    offsets = np.zeros(len(ends) + 1, np.int32)
    offsets[1:] = ends - np.arange(len(ends))
    values = block.replace(b"\n", b"")
    return pa.Array.from_buffers(kind, len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(values)])


def _is_utf8(block: bytes, charset: str) -> bool:
    """Return whether a block's bytes are, as they are, those of strings in Arrow."""
    if codecs.lookup(charset).name != "utf-8":
        return False
    try:
        return block.isascii() or bool(block.decode())
    except UnicodeDecodeError:
        return False


class _LineEncoder(Encoder):
    def __init__(self, rows: RowType, charset: str) -> None:
        self._charset = charset

    def encode(self, element: RowBatch, stream: BinaryIO) -> None:
        stream.write(self.encode_many([element]))

    def encode_many(self, elements: Sequence[RowBatch]) -> bytes:
        values = [value for batch in elements for value in batch.rows.column(0).to_pylist() if value is not None]
        return b"".join([(value.encode(self._charset) if isinstance(value, str) else value) + b"\n" for value in values])
