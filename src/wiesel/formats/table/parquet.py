"""Internal. The table format ``parquet``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from wiesel.columnar.arrow_types import arrow_schema
from wiesel.columnar.row_batch import RowBatch
from wiesel.core.config import ConfigOption
from wiesel.core.errors import ConfigurationError, ConnectorError
from wiesel.spi.file_formats import BulkFormat, BulkWriter, BulkWriterFactory, FilePiece, RecordReader
from wiesel.spi.table.factory import TableOptions
from wiesel.spi.table.formats import TableFormatFactory
from wiesel.types.logical import RowType

__all__ = ["ParquetTableFormat"]

_ROWS = 10_000
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

    def create_writer(self, options: TableOptions, rows: RowType) -> BulkWriterFactory:
        """Return the factory of writers of these columns."""
        return _ParquetWriters(rows, _codec(options))


def _codec(options: TableOptions) -> str:
    codec = options.get(_COMPRESSION).upper()
    if codec not in _CODECS:
        raise ConfigurationError(f"option {_COMPRESSION.key} is {codec!r}", hint=f"write one of {', '.join(_CODECS)}", key=_COMPRESSION.key)
    return "NONE" if codec == "UNCOMPRESSED" else codec


class _ParquetFiles(BulkFormat):
    def __init__(self, rows: RowType) -> None:
        self._rows = rows
        arrow_schema((field.name, field.data_type) for field in rows)

    @property
    def splittable(self) -> bool:
        return True

    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        return _ParquetReader(stream, piece, arrow_schema((field.name, field.data_type) for field in self._rows))


class _ParquetReader(RecordReader):
    """The position is the number of the row group; a group belongs to the piece in which its middle is."""

    def __init__(self, stream: BinaryIO, piece: FilePiece, schema: pa.Schema) -> None:
        self._path = piece.path
        self._schema = schema
        try:
            self._file = pq.ParquetFile(pa.PythonFile(stream, "r"), pre_buffer=False)
        except pa.ArrowException as error:
            raise ConnectorError(f"{piece.path} is no Parquet file: {error}", hint="check path and format", path=piece.path) from error
        there = set(self._file.schema_arrow.names)
        self._columns = [name for name in schema.names if name in there]
        self._groups = [g for g in range(self._file.num_row_groups) if piece.is_whole_file or piece.start <= self._middle(g) < piece.end]
        if piece.position is not None:
            self._groups = [g for g in self._groups if g >= piece.position]
        self._batches: Iterator[Any] = iter(())
        self._group = 0
        self._left = 0

    @property
    def position(self) -> int:
        if self._left:
            return self._group
        return self._groups[0] if self._groups else self._file.num_row_groups

    def _middle(self, group: int) -> int:
        metadata = self._file.metadata.row_group(group)
        columns = [metadata.column(index) for index in range(metadata.num_columns)]
        start = min((column.dictionary_page_offset or column.data_page_offset for column in columns), default=0)
        return int(start + sum(column.total_compressed_size for column in columns) // 2)

    def read_block(self) -> list[RowBatch] | None:
        while True:
            try:
                batch = next(self._batches, None)
                if batch is not None:
                    self._left -= batch.num_rows
                    return [RowBatch(self._fitted(batch))] if batch.num_rows else []
            except pa.ArrowException as error:
                raise ConnectorError(
                    f"cannot read {self._path}: {error}", hint="compare the table's columns with those of the file", path=self._path
                ) from error
            if not self._groups:
                return None
            self._group = self._groups.pop(0)
            self._left = self._file.metadata.row_group(self._group).num_rows
            self._batches = self._file.iter_batches(_ROWS, row_groups=[self._group], columns=self._columns, use_threads=False)

    def _fitted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the columns in the table's order and types; those that the file lacks are NULL, as in Flink."""
        arrays = [
            batch.column(field.name).cast(field.type) if field.name in self._columns else pa.nulls(batch.num_rows, field.type)
            for field in self._schema
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


class _ParquetWriters(BulkWriterFactory):
    def __init__(self, rows: RowType, codec: str) -> None:
        self._rows = rows
        self._codec = codec
        arrow_schema((field.name, field.data_type) for field in rows)

    def create(self, stream: BinaryIO) -> BulkWriter:
        return _ParquetWriter(stream, arrow_schema((field.name, field.data_type) for field in self._rows), self._codec)


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
