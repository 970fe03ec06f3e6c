"""Internal. The table format ``orc``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

import pyarrow as pa

from wiesel.columnar.row_batch import RowBatch
from wiesel.core.config import ConfigOption
from wiesel.core.errors import ConfigurationError, ConnectorError, ProgramError
from wiesel.formats.orc_writing import COMPRESSIONS, StripeWriter
from wiesel.formats.table.file_schemas import file_schema
from wiesel.spi.file_formats import BulkFormat, BulkWriter, BulkWriterFactory, FilePiece, RecordReader
from wiesel.spi.table.factory import TableOptions
from wiesel.spi.table.formats import TableFormatFactory
from wiesel.spi.table.statistics import Facts
from wiesel.types.logical import RowType

__all__ = ["OrcTableFormat"]

_ROWS = 10_000
_COMPRESSION = ConfigOption[str]("orc.compress", "str", "ZLIB", "How columns are compressed.")


class OrcTableFormat(TableFormatFactory):
    """Makes readers and writers of ORC."""

    identifier = "orc"

    def create_reader(self, options: TableOptions, rows: RowType) -> BulkFormat:
        """Return the format of files with these columns, found by their names."""
        _codec(options)
        return _OrcFiles(_checked(rows))

    def create_describer(self, options: TableOptions, rows: RowType) -> Callable[[BinaryIO], Facts | None]:
        """Return what tells how many rows a file has."""
        return _described

    def create_writer(self, options: TableOptions, rows: RowType) -> BulkWriterFactory:
        """Return the factory of writers of these columns."""
        return _OrcWriters(_checked(rows), _codec(options))


def _described(stream: BinaryIO) -> Facts | None:
    from pyarrow.orc import ORCFile

    try:
        return Facts(ORCFile(pa.PythonFile(stream, "r")).nrows)
    except pa.ArrowException:
        return None  # who reads the file tells what is wrong with it


def _codec(options: TableOptions) -> str:
    codec = options.get(_COMPRESSION).upper()
    if codec not in COMPRESSIONS:
        raise ConfigurationError(
            f"option {_COMPRESSION.key} is {codec!r}", hint=f"write one of {', '.join(COMPRESSIONS)}", key=_COMPRESSION.key
        )
    return COMPRESSIONS[codec]


def _checked(rows: RowType) -> RowType:
    for field in file_schema(rows):
        _require_type(field.name, field.type)
    return rows


def _require_type(where: str, kind: Any) -> None:
    if pa.types.is_time(kind):
        raise ProgramError(f"column {where}: ORC has no type for times of day", hint="keep it as a text or a number")
    for place in range(kind.num_fields):
        _require_type(f"{where}.{kind.field(place).name}", kind.field(place).type)


class _OrcFiles(BulkFormat):
    def __init__(self, rows: RowType) -> None:
        self._rows = rows

    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        return _OrcReader(stream, piece, file_schema(self._rows))


class _OrcReader(RecordReader):
    """The position is the number of the stripe."""

    def __init__(self, stream: BinaryIO, piece: FilePiece, schema: pa.Schema) -> None:
        from pyarrow.orc import ORCFile

        self._path = piece.path
        self._schema = schema
        self._file = ORCFile(pa.PythonFile(stream, "r"))
        there = set(self._file.schema.names)
        self._columns = [name for name in schema.names if name in there]
        self._stripe = piece.position or 0

    @property
    def position(self) -> int:
        return self._stripe

    def read_block(self) -> list[RowBatch] | None:
        if self._stripe >= self._file.nstripes:
            return None
        try:
            stripe = self._file.read_stripe(self._stripe, self._columns)
            self._stripe += 1
            fitted = self._fitted(stripe)
        except pa.ArrowException as error:
            hint = "compare the table's columns with those of the file"
            raise ConnectorError(f"cannot read {self._path}: {error}", hint=hint, path=self._path) from error
        return [RowBatch(fitted.slice(start, _ROWS)) for start in range(0, fitted.num_rows, _ROWS)]

    def _fitted(self, stripe: pa.RecordBatch) -> pa.RecordBatch:
        """Return the columns in the table's order and types; those that the file lacks are NULL."""
        arrays = [
            stripe.column(stripe.schema.get_field_index(field.name)).cast(field.type)
            if field.name in self._columns
            else pa.nulls(stripe.num_rows, field.type)
            for field in self._schema
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


class _OrcWriters(BulkWriterFactory):
    def __init__(self, rows: RowType, codec: str) -> None:
        self._rows = rows
        self._codec = codec

    def create(self, stream: BinaryIO) -> BulkWriter:
        return StripeWriter(stream, file_schema(self._rows), {"compression": self._codec}, _batch)


def _batch(values: Sequence[RowBatch], schema: pa.Schema) -> pa.RecordBatch:
    parts = [pa.RecordBatch.from_arrays(batch.rows.columns, schema=schema) for batch in values]
    return parts[0] if len(parts) == 1 else pa.concat_batches(parts)
