"""Internal. Parquet files of records of an Avro schema: Avro's types as Arrow's, and records to and fro."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from wiesel.core.errors import ConnectorError, ProgramError, TypeMismatchError
from wiesel.formats.avro import AvroSchema, GenericRecordAvroTypeInfo
from wiesel.formats.avro_rows import resolved_record
from wiesel.formats.parquet_writing import RowGroupWriter
from wiesel.spi.file_formats import BulkWriter, BulkWriterFactory, FilePiece, RecordReader, StreamFormat
from wiesel.types.typeinfo import TypeInformation

__all__ = ["AvroParquetReaders", "AvroParquetWriters"]

_ROWS_AT_ONCE = 4096
_PLAIN = {
    "string": pa.string(),
    "enum": pa.string(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
}
_LOGICAL = {
    ("int", "date"): pa.date32(),
    ("int", "time-millis"): pa.time32("ms"),
    ("long", "time-micros"): pa.time64("us"),
    ("long", "timestamp-millis"): pa.timestamp("ms", "UTC"),
    ("long", "timestamp-micros"): pa.timestamp("us", "UTC"),
    ("long", "local-timestamp-millis"): pa.timestamp("ms"),
    ("long", "local-timestamp-micros"): pa.timestamp("us"),
}


class AvroParquetReaders:
    """Parquet files as a source of records of an Avro schema."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> StreamFormat:
        """Return the format that reads records as dicts. Files are not split.

        Raises:
            ProgramError: If the schema is none of a record, or has a union of several types.
        """
        return _AvroParquetFormat(schema)


class AvroParquetWriters:
    """Parquet files of records of an Avro schema as output of a file sink."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> BulkWriterFactory:
        """Return the factory of writers of records, which are dicts that match a schema.

        Raises:
            ProgramError: If the schema is none of a record, or has a union of several types.
        """
        return _AvroParquetWriterFactory(schema)


def _definition(schema: object) -> Any:
    if not isinstance(schema, AvroSchema):
        raise ProgramError(f"for_generic_record got {schema!r}, not an AvroSchema", hint="use AvroSchema.parse_string(json)")
    return resolved_record(json.loads(str(schema)))


def _field(name: str, schema: Any) -> Any:
    """Return Arrow's field; unions with null may be null."""
    if not isinstance(schema, list):
        return pa.field(name, _arrow(name, schema), nullable=False)
    branches = [branch for branch in schema if branch["type"] != "null"]
    if len(branches) != 1:
        raise ProgramError(f"{name}: Parquet has no type for the union {json.dumps(schema)[:200]}", hint="use unions of null and one type")
    return pa.field(name, _arrow(name, branches[0]), nullable=len(schema) > 1)


def _arrow(where: str, schema: Any) -> Any:
    kind, logical = schema["type"], schema.get("logicalType", "")
    if kind == "record":
        return pa.struct([_field(field["name"], field["type"]) for field in schema["fields"]])
    if kind == "array":
        return pa.list_(_field("element", schema["items"]))
    if kind == "map":
        return pa.map_(pa.string(), _field("value", schema["values"]))
    if logical == "decimal":
        return pa.decimal128(schema["precision"], schema.get("scale", 0))
    if kind == "fixed":
        return pa.binary(schema["size"])
    if (kind, logical) in _LOGICAL:
        return _LOGICAL[kind, logical]
    if kind not in _PLAIN:
        raise ProgramError(f"{where}: Parquet has no type for Avro's {kind}", hint="leave the field out, or use a union with null")
    return _PLAIN[kind]


def _converter(schema: Any, to_arrow: bool) -> Callable[[Any], Any] | None:
    """Return the function between records and what Arrow takes and gives, None if values stay as they are."""
    if isinstance(schema, list):
        inner = _converter(next(branch for branch in schema if branch["type"] != "null"), to_arrow)
        return None if inner is None else lambda value: None if value is None else inner(value)
    kind = schema["type"]
    if kind == "record":
        return _record_converter(schema["fields"], to_arrow)
    if kind == "array":
        of_item = _converter(schema["items"], to_arrow)
        return None if of_item is None else lambda value: [of_item(item) for item in value]
    if kind == "map":
        of_value = _converter(schema["values"], to_arrow) or (lambda value: value)
        if to_arrow:
            return lambda value: [(key, of_value(item)) for key, item in value.items()]
        return lambda value: {key: of_value(item) for key, item in value}
    if schema.get("logicalType") == "uuid" and to_arrow:
        return str
    if kind == "enum" and to_arrow:
        return _symbol_of(schema)
    return None


def _record_converter(fields: Sequence[Any], to_arrow: bool) -> Callable[[Any], Any]:
    parts = [(field["name"], field.get("default"), "default" in field, _converter(field["type"], to_arrow)) for field in fields]

    def convert(value: Any) -> dict[str, Any]:
        result = {}
        for name, default, has_default, of_field in parts:
            item = value.get(name, default) if has_default else value[name]
            result[name] = item if of_field is None else of_field(item)
        return result

    return convert


def _symbol_of(schema: Any) -> Callable[[Any], Any]:
    symbols = frozenset(schema["symbols"])

    def check(value: Any) -> Any:
        if value not in symbols:
            raise ValueError(f"{value!r} is none of the symbols of {schema['name']}")
        return value

    return check


class _AvroParquetFormat(StreamFormat):
    def __init__(self, schema: AvroSchema) -> None:
        definition = _definition(schema)
        _arrow(definition["name"], definition)
        self._schema = schema

    @property
    def produced_type(self) -> TypeInformation:
        return GenericRecordAvroTypeInfo(self._schema)

    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        return _AvroParquetReader(stream, piece, _definition(self._schema))


class _AvroParquetReader(RecordReader):
    """The position is the number of records that were read."""

    def __init__(self, stream: BinaryIO, piece: FilePiece, definition: Any) -> None:
        self._path = piece.path
        self._target = pa.schema(list(_arrow(definition["name"], definition)))
        self._of_record = _record_converter(definition["fields"], to_arrow=False)
        self._position = 0
        self._to_skip = piece.position or 0
        try:
            file = pq.ParquetFile(pa.PythonFile(stream, "r"), pre_buffer=False)
        except pa.ArrowException as error:
            raise ConnectorError(f"{piece.path} is no Parquet file: {error}", hint="check path and format", path=piece.path) from error
        there = set(file.schema_arrow.names)
        missing = [f["name"] for f in definition["fields"] if f["name"] not in there and "default" not in f]
        if missing:
            raise ConnectorError(
                f"{piece.path} has no columns {', '.join(missing)}, and the Avro schema has no defaults for them",
                hint=f"it has {', '.join(file.schema_arrow.names)}",
                path=piece.path,
            )
        columns = [name for name in self._target.names if name in there]
        self._target = pa.schema([self._target.field(name) for name in columns])
        self._batches = file.iter_batches(_ROWS_AT_ONCE, columns=columns, use_threads=False)

    @property
    def position(self) -> int:
        return self._position

    def read_block(self) -> list[Any] | None:
        while True:
            try:
                batch = next(self._batches, None)
                if batch is None:
                    return None
                start, self._position = self._position, self._position + batch.num_rows
                if self._position <= self._to_skip:
                    continue
                batch = batch.slice(max(0, self._to_skip - start)).select(self._target.names)
                records = pa.Table.from_batches([batch]).cast(self._target).to_pylist()
            except (pa.ArrowException, ValueError) as error:
                raise ConnectorError(
                    f"cannot read {self._path}: {error}", hint="compare it with the Avro schema", path=self._path
                ) from error
            return [self._of_record(record) for record in records]


class _AvroParquetWriterFactory(BulkWriterFactory):
    def __init__(self, schema: AvroSchema) -> None:
        definition = _definition(schema)
        _arrow(definition["name"], definition)
        self._schema = schema

    def create(self, stream: BinaryIO) -> BulkWriter:
        return _AvroParquetWriter(stream, self._schema)


class _AvroParquetWriter(RowGroupWriter):
    """Turns records into the columns of their Avro schema."""

    def __init__(self, stream: BinaryIO, schema: AvroSchema) -> None:
        definition = _definition(schema)
        # The keys by which Parquet's own library for Avro finds the schema again.
        metadata = {"parquet.avro.schema": str(schema), "writer.model.name": "avro"}
        arrow = pa.schema(list(_arrow(definition["name"], definition)), metadata=metadata)
        self._of_record = _record_converter(definition["fields"], to_arrow=True)
        super().__init__(stream, arrow, self._records_to_batch)

    def _records_to_batch(self, values: Sequence[Any], schema: Any) -> Any:
        value = None
        records = []
        try:
            for value in values:
                records.append(self._of_record(value))
            batch = pa.RecordBatch.from_pylist(records, schema=schema)
            batch.validate(full=True)
            for field, column in zip(schema, batch.columns, strict=True):
                if column.null_count and not field.nullable:
                    raise ValueError(f"None in {field.name}, which may not be null")
        except (pa.ArrowException, ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
            raise TypeMismatchError(
                f"{value!r} or a record with it does not match its Avro schema: {type(error).__name__}: {error}",
                hint="give dicts that match the schema",
            ) from error
        return batch
