"""Parquet files as a source and as bulk output, by pyarrow."""

from __future__ import annotations

from typing import Any, BinaryIO

from wiesel.core.errors import ConnectorError, ProgramError
from wiesel.formats.arrow_types import arrow_schema, column_values, row_type_of
from wiesel.formats.avro_parquet import AvroParquetReaders, AvroParquetWriters
from wiesel.formats.parquet_writing import RowGroupWriter
from wiesel.formats.row_groups import RowGroups
from wiesel.spi.file_formats import BulkFormat, BulkWriter, BulkWriterFactory, FilePiece, RecordReader
from wiesel.types.logical import RowType
from wiesel.types.row import make_row
from wiesel.types.typeinfo import RowTypeInfo

__all__ = ["AvroParquetReaders", "AvroParquetWriters", "ParquetBulkWriters", "ParquetColumnarRowInputFormat"]


class ParquetColumnarRowInputFormat(BulkFormat):
    """Reads the columns of a row type from Parquet files. Files are split along their row groups.

    Args:
        row_type: The type of the rows; its names are those of the columns to read.
        hadoop_config: Not used; Parquet is read without Hadoop.
        batch_size: Rows decoded at a time.
        is_utc_timestamp: Not used: a timestamp is the date and time that the file has.
        is_case_sensitive: Whether names of columns must agree in case.

    Raises:
        ProgramError: If ``row_type`` is no row type or Parquet has no type for a field.
    """

    def __init__(
        self,
        row_type: RowType | RowTypeInfo,
        hadoop_config: object = None,
        batch_size: int = 2048,
        is_utc_timestamp: bool = False,
        is_case_sensitive: bool = True,
    ) -> None:
        self._row_type = row_type_of(row_type)
        arrow_schema(self._row_type, "row")
        if batch_size <= 0:
            raise ProgramError(f"batch_size is {batch_size}", hint="give a positive number of rows")
        self._batch_size = batch_size
        self._case_sensitive = is_case_sensitive

    @property
    def produced_type(self) -> RowTypeInfo:
        """Return the type of the rows."""
        return self._row_type

    @property
    def splittable(self) -> bool:
        """Return True: a row group belongs to the piece in which its middle is."""
        return True

    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        """Create the reader of one piece."""
        return _ParquetReader(stream, piece, self._row_type, self._batch_size, self._case_sensitive)


class _ParquetReader(RecordReader):
    """The position is the number of the row group."""

    def __init__(self, stream: BinaryIO, piece: FilePiece, row_type: RowTypeInfo, batch_size: int, case_sensitive: bool) -> None:
        self._groups = RowGroups(stream, piece)
        self._names = row_type.get_field_names()
        self._types = row_type.get_field_types()
        self._columns = self._find_columns(case_sensitive)
        self._batch_size = batch_size

    @property
    def position(self) -> int:
        return self._groups.position

    def _find_columns(self, case_sensitive: bool) -> list[str]:
        there, path = self._groups.names, self._groups.path
        by_name = {name if case_sensitive else name.lower(): name for name in there}
        missing = [name for name in self._names if (name if case_sensitive else name.lower()) not in by_name]
        if missing:
            raise ConnectorError(
                f"{path} has no columns {', '.join(missing)}", hint=f"it has {', '.join(there)}; check the row type", path=path
            )
        return [by_name[name if case_sensitive else name.lower()] for name in self._names]

    def read_block(self) -> list[Any] | None:
        batch = self._groups.read(self._columns, self._batch_size, "the file is damaged")
        return None if batch is None else self._rows(batch)

    def _rows(self, batch: Any) -> list[Any]:
        names = self._names
        columns = [column_values(batch.column(c), k) for c, k in zip(self._columns, self._types, strict=True)]
        return [make_row(names, list(values)) for values in zip(*columns, strict=True)]


class ParquetBulkWriters:
    """Parquet files as output of a file sink."""

    @staticmethod
    def for_row_type(row_type: RowType | RowTypeInfo, hadoop_config: object = None, utc_timestamp: bool = False) -> BulkWriterFactory:
        """Return the factory of writers of rows of a type.

        Args:
            row_type: The type of the rows.
            hadoop_config: Not used; Parquet is written without Hadoop.
            utc_timestamp: Not used: a timestamp is written as the date and time that it is.

        Raises:
            ProgramError: If ``row_type`` is no row type or Parquet has no type for a field.
        """
        rows = row_type_of(row_type)
        arrow_schema(rows, "row")
        return _ParquetWriterFactory(rows)


class _ParquetWriterFactory(BulkWriterFactory):
    def __init__(self, row_type: RowTypeInfo) -> None:
        self._row_type = row_type

    def create(self, stream: BinaryIO) -> BulkWriter:
        return RowGroupWriter(stream, arrow_schema(self._row_type, "row"))
