"""Internal. The table format ``avro``: container files of records."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa

from wiesel.columnar.arrow_types import arrow_schema
from wiesel.columnar.expressions import Expression
from wiesel.columnar.row_batch import RowBatch
from wiesel.core.config import ConfigOption
from wiesel.core.errors import ConfigurationError, ConnectorError
from wiesel.formats.avro_files import AvroFileFormat, AvroWriterFactory
from wiesel.formats.table.avro_schemas import record_schema
from wiesel.spi.file_formats import BulkFormat, BulkWriter, BulkWriterFactory, FilePiece, RecordReader
from wiesel.spi.table.factory import TableOptions
from wiesel.spi.table.formats import TableFormatFactory
from wiesel.types.logical import RowType
from wiesel.types.types import Types

__all__ = ["AvroTableFormat"]

_CODEC = ConfigOption[str]("avro.codec", "str", "snappy", "How blocks are compressed.")
_LEGACY = ConfigOption[bool](
    "avro.timestamp_mapping.legacy", "bool", True, "Whether TIMESTAMP is one in UTC; else it is a local one, and TIMESTAMP_LTZ in UTC."
)
_CODECS = ("null", "deflate", "snappy", "bzip2", "xz", "zstandard")


class AvroTableFormat(TableFormatFactory):
    """Makes readers and writers of Avro."""

    identifier = "avro"

    def create_reader(self, options: TableOptions, rows: RowType) -> BulkFormat:
        """Return the format of files with these columns, found by their names."""
        _codec(options)
        return _AvroFiles(rows, legacy=options.get(_LEGACY))

    def create_projected_reader(
        self, options: TableOptions, rows: RowType, names: Sequence[str], filters: Sequence[Expression] = ()
    ) -> BulkFormat:
        """Return the format of files of which some columns are read."""
        return self.create_reader(options, RowType([rows[name] for name in names], nullable=False))

    def create_writer(self, options: TableOptions, rows: RowType) -> BulkWriterFactory:
        """Return the factory of writers of these columns."""
        schema = json.dumps(record_schema(rows, legacy=options.get(_LEGACY)))
        return _AvroWriters(AvroWriterFactory(schema, _codec(options)), rows)


def _codec(options: TableOptions) -> str:
    codec = options.get(_CODEC)
    if codec not in _CODECS:
        raise ConfigurationError(f"option {_CODEC.key} is {codec!r}", hint=f"write one of {', '.join(_CODECS)}", key=_CODEC.key)
    return codec


class _AvroFiles(BulkFormat):
    def __init__(self, rows: RowType, *, legacy: bool) -> None:
        record_schema(rows, legacy=legacy)
        self._rows = rows
        self._files = AvroFileFormat(_Chosen(tuple(rows.names)), Types.PICKLED_BYTE_ARRAY())

    @property
    def splittable(self) -> bool:
        return True

    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        return _AvroReader(self._files.create_reader(stream, piece), self._rows, piece.path)


@dataclass(frozen=True)
class _Chosen:
    """Leaves fields out of the schema of a file that are no columns. Plain picklable data.

    The others are read as the file has them, and become values of the columns then: to Avro a text is no enumeration, and a number no
    larger one that may be NULL, if names of types differ.
    """

    names: tuple[str, ...]

    def __call__(self, written: Any) -> Any:
        kept = [field for field in written.get("fields", ()) if field["name"] in self.names]
        # Types may be named where they come first.
        return {**written, "fields": kept} if not any(_is_named(field["type"]) for field in written.get("fields", ())) else written


def _is_named(kind: Any) -> bool:
    """Return whether a type has a name, or one within it."""
    if isinstance(kind, list):
        return any(map(_is_named, kind))
    if not isinstance(kind, dict):
        return False
    return "name" in kind or any(_is_named(kind[part]) for part in ("items", "values", "type") if part in kind)


class _AvroReader(RecordReader):
    """Makes batches of the records of a block."""

    def __init__(self, records: RecordReader, rows: RowType, path: str) -> None:
        self._records = records
        self._path = path
        self._schema = arrow_schema((field.name, field.data_type) for field in rows)
        self._parts = [_reader(field.type) for field in self._schema]

    @property
    def position(self) -> int:
        return self._records.position

    def read_block(self) -> list[RowBatch] | None:
        records = self._records.read_block()
        if not records:
            return None if records is None else []
        try:
            arrays = [self._column(records, place) for place in range(len(self._schema))]
        except (pa.ArrowException, ValueError, TypeError) as error:
            hint = "compare the table's columns with those of the file"
            raise ConnectorError(f"cannot read {self._path}: {error}", hint=hint, path=self._path) from error
        return [RowBatch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))]

    def _column(self, records: Sequence[Any], place: int) -> pa.Array:
        field, convert = self._schema.field(place), self._parts[place]
        values = [record.get(field.name) for record in records]
        if convert is not None:
            values = [None if value is None else convert(value) for value in values]
        return pa.array(values, field.type)

    def close(self) -> None:
        self._records.close()


def _reader(kind: pa.DataType) -> Callable[[Any], Any] | None:
    """Return what makes a value of fastavro one that Arrow takes; None if all are."""
    if pa.types.is_timestamp(kind):
        zone = None if kind.tz is None else datetime.timezone.utc
        # Which clock a file means is said by the table, so that what it says itself does not count.
        return lambda value: value.replace(tzinfo=zone) if isinstance(value, datetime.datetime) else value
    if pa.types.is_map(kind):
        item = _reader(kind.item_type) or _same
        return lambda entries: [(key, None if value is None else item(value)) for key, value in entries.items()]
    if pa.types.is_list(kind):
        element = _reader(kind.value_type)
        return None if element is None else lambda values: [None if value is None else element(value) for value in values]
    if pa.types.is_struct(kind):
        parts = [(field.name, _reader(field.type) or _same) for field in kind]
        return lambda row: {name: None if row.get(name) is None else part(row[name]) for name, part in parts}
    return None


def _same(value: Any) -> Any:
    return value


class _AvroWriters(BulkWriterFactory):
    def __init__(self, files: AvroWriterFactory, rows: RowType) -> None:
        self._files = files
        self._rows = rows

    def create(self, stream: BinaryIO) -> BulkWriter:
        return _AvroWriter(self._files.create(stream), self._rows)


class _AvroWriter(BulkWriter):
    """Writes batches as records."""

    def __init__(self, records: BulkWriter, rows: RowType) -> None:
        self._records = records
        self._parts = [(field.name, _written(field.type)) for field in arrow_schema((each.name, each.data_type) for each in rows)]

    def add_batch(self, values: Sequence[RowBatch]) -> None:
        for batch in values:
            columns = [write(column) for column, (_, write) in zip(batch.rows.columns, self._parts, strict=True)]
            names = [name for name, _ in self._parts]
            self._records.add_batch([dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)])

    def finish(self) -> None:
        self._records.finish()

    def abandon(self) -> None:
        self._records.abandon()


def _written(kind: pa.DataType) -> Callable[[pa.Array], list[Any]]:
    """Return what makes values for fastavro of a column. Times are numbers: others would be coarser, and go by the machine's clock."""
    if pa.types.is_map(kind):
        keys, items = _written(kind.key_type), _written(kind.item_type)
        return lambda column: _of_lists(column, [dict, list(zip(keys(column.keys), items(column.items), strict=True))])
    if pa.types.is_list(kind):
        element = _written(kind.value_type)
        return lambda column: _of_lists(column, [list, element(column.values)])
    if pa.types.is_struct(kind):
        parts = [(field.name, _written(field.type)) for field in kind]

        def rows(column: pa.Array) -> list[Any]:
            columns = [write(column.field(place)) for place, (_, write) in enumerate(parts)]
            made = [{name: value for (name, _), value in zip(parts, row, strict=True)} for row in zip(*columns, strict=True)]
            return [row if valid else None for row, valid in zip(made, column.is_valid().to_pylist(), strict=True)]

        return rows
    if pa.types.is_timestamp(kind):
        return lambda column: column.view(pa.int64()).to_pylist()
    if pa.types.is_date(kind) or pa.types.is_time(kind):
        return lambda column: column.view(pa.int32()).to_pylist()
    return lambda column: column.to_pylist()


def _of_lists(column: pa.Array, parts: list[Any]) -> list[Any]:
    """Return a collection of each row's part of the values of all."""
    make, values = parts
    offsets = column.offsets.to_pylist()
    valid = column.is_valid().to_pylist()
    return [make(values[start:end]) if there else None for start, end, there in zip(offsets, offsets[1:], valid, strict=False)]
