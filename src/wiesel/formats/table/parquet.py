"""Internal. The table format ``parquet``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from wiesel.columnar.expressions import Expression
from wiesel.columnar.row_batch import RowBatch
from wiesel.core.config import ConfigOption
from wiesel.core.errors import ConfigurationError, ConnectorError
from wiesel.formats.group_statistics import may_hold
from wiesel.formats.parquet_facts import described
from wiesel.formats.row_groups import RowGroups
from wiesel.formats.table.file_schemas import file_schema
from wiesel.spi.file_formats import BulkFormat, BulkWriter, BulkWriterFactory, FilePiece, RecordReader
from wiesel.spi.table.factory import TableOptions
from wiesel.spi.table.formats import TableFormatFactory
from wiesel.spi.table.statistics import Facts
from wiesel.types.logical import RowType

__all__ = ["ParquetTableFormat"]

_ROWS = 10_000
_COMPARE = "compare the table's columns with those of the file"
_ROW_GROUP_ROWS = 1 << 17
_COMPRESSION = ConfigOption[str]("parquet.compression", "str", "SNAPPY", "How columns are compressed.")
_CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "LZ4", "BROTLI")


class ParquetTableFormat(TableFormatFactory):
    """Makes readers and writers of Parquet."""

    identifier = "parquet"

    def create_reader(self, options: TableOptions, rows: RowType) -> BulkFormat:
        """Return the format of files with these columns, found by their names."""
        _codec(options)
        return _ParquetFiles(rows)

    def create_projected_reader(
        self, options: TableOptions, rows: RowType, names: Sequence[str], filters: Sequence[Expression] = ()
    ) -> BulkFormat:
        """Return the format of files of which some columns are read, and those row groups only that can hold rows that are wanted."""
        _codec(options)
        return _ParquetFiles(RowType([rows[name] for name in names], nullable=False), filters)

    def create_describer(self, options: TableOptions, rows: RowType) -> Callable[[BinaryIO], Facts | None]:
        """Return the number of rows of a file, and exact statistics of their values."""
        schema = file_schema(rows)
        return lambda stream: described(stream, schema)

    def create_writer(self, options: TableOptions, rows: RowType) -> BulkWriterFactory:
        """Return the factory of writers of these columns."""
        return _ParquetWriters(rows, _codec(options))


def _codec(options: TableOptions) -> str:
    codec = options.get(_COMPRESSION).upper()
    if codec not in _CODECS:
        raise ConfigurationError(f"option {_COMPRESSION.key} is {codec!r}", hint=f"write one of {', '.join(_CODECS)}", key=_COMPRESSION.key)
    return "NONE" if codec == "UNCOMPRESSED" else codec


class _ParquetFiles(BulkFormat):
    def __init__(self, rows: RowType, filters: Sequence[Expression] = ()) -> None:
        self._rows = rows
        self._filters = tuple(filters)
        file_schema(rows)

    @property
    def splittable(self) -> bool:
        return True

    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        return _ParquetReader(stream, piece, file_schema(self._rows), self._filters)


class _ParquetReader(RecordReader):
    """The position is the number of the row group."""

    def __init__(self, stream: BinaryIO, piece: FilePiece, schema: pa.Schema, filters: Sequence[Expression]) -> None:
        self._groups = RowGroups(stream, piece, lambda group, stored: may_hold(group, schema.names, stored, filters))
        self._schema = schema
        there = set(self._groups.names)
        self._columns = [name for name in schema.names if name in there]
        self._leaves = [leaf for field in schema if field.name in there for leaf in _leaves(field.name, field.type)]

    @property
    def position(self) -> int:
        return self._groups.position

    def read_block(self) -> list[RowBatch] | None:
        batch = self._groups.read(self._leaves, _ROWS, _COMPARE)
        if batch is None:
            return None
        try:
            return [RowBatch(self._fitted(batch))] if batch.num_rows else []
        except pa.ArrowException as error:
            path = self._groups.path
            raise ConnectorError(f"cannot read {path}: {error}", hint=_COMPARE, path=path) from error

    def _fitted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the columns in the table's order and types; those that the file lacks are NULL, as in Flink."""
        arrays = [
            batch.column(field.name).cast(field.type) if field.name in self._columns else pa.nulls(batch.num_rows, field.type)
            for field in self._schema
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def _leaves(name: str, kind: pa.DataType) -> list[str]:
    """Return the parts of a column that are read: those of rows that the table has, all of other columns."""
    if not pa.types.is_struct(kind):
        return [name]
    return [leaf for field in kind for leaf in _leaves(f"{name}.{field.name}", field.type)]


class _ParquetWriters(BulkWriterFactory):
    def __init__(self, rows: RowType, codec: str) -> None:
        self._rows = rows
        self._codec = codec
        file_schema(rows)

    def create(self, stream: BinaryIO) -> BulkWriter:
        return _ParquetWriter(stream, file_schema(self._rows), self._codec)


class _ParquetWriter(BulkWriter):
    def __init__(self, stream: BinaryIO, schema: pa.Schema, codec: str) -> None:
        self._schema = schema
        self._writer = pq.ParquetWriter(pa.PythonFile(stream, "w"), schema, compression=codec)
        self._batches: list[pa.RecordBatch] = []
        self._rows = 0

    def add_batch(self, values: Sequence[RowBatch]) -> None:
        for batch in values:
            self._batches.append(batch.rows)
            self._rows += len(batch)
        if self._rows >= _ROW_GROUP_ROWS:
            self._write()

    def _write(self) -> None:
        if self._batches:
            arrays = pa.Table.from_batches([pa.RecordBatch.from_arrays(b.columns, schema=self._schema) for b in self._batches])
            self._writer.write_table(arrays)
        self._batches, self._rows = [], 0

    def finish(self) -> None:
        self._write()
        self._writer.close()

    def abandon(self) -> None:
        # It would close itself later, when the stream is gone.
        self._writer.close()
