"""Avro files and records against what Apache's library wrote (``record_avro.py``), and in pieces, damaged and unfitting."""

from __future__ import annotations

import io
import json
import pickle
import sys
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.unit.connectors.reading import World, read_with_restarts
from tests.unit.formats import avro_cases as cases
from wiesel.common import Row, Types
from wiesel.connectors.filesystem.enumeration import FileEnumeratorProvider
from wiesel.connectors.filesystem.source import FileSource
from wiesel.core.errors import ConnectorError, ProgramError, TypeMismatchError
from wiesel.datastream.formats.avro import (
    AvroBulkWriters,
    AvroInputFormat,
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    AvroSchema,
    GenericRecordAvroTypeInfo,
)
from wiesel.datastream.formats.parquet import AvroParquetReaders, AvroParquetWriters
from wiesel.formats.avro_files import AvroFileFormat
from wiesel.spi.file_formats import BulkWriterFactory, FilePiece

HERE = Path(__file__).parent
TEXT = json.dumps(cases.SCHEMA)
SCHEMA = AvroSchema.parse_string(TEXT)
KIND = GenericRecordAvroTypeInfo(SCHEMA)
APACHE_FILE = HERE / "by_apache.avro"
APACHE_RECORDS = json.loads((HERE / "by_apache.json").read_text(encoding="utf-8"))
RECORDS = [cases.record(i) for i in range(400)]


def written(factory: BulkWriterFactory, *batches: list[Any]) -> bytes:
    stream = io.BytesIO()
    writer = pickle.loads(pickle.dumps(factory)).create(stream)
    for batch in batches:
        writer.add_batch(batch)
    writer.finish()
    return stream.getvalue()


def read_piece(data: bytes, start: int, end: int, position: int | None = None) -> list[Any]:
    reader = AvroFileFormat(TEXT, KIND).create_reader(io.BytesIO(data), FilePiece("file", start, end, len(data), position))
    values: list[Any] = []
    while (block := reader.read_block()) is not None:
        values += block
    return values


def test_a_file_of_apache_is_read() -> None:
    assert World(AvroInputFormat(str(APACHE_FILE), SCHEMA)).run() == RECORDS


@pytest.mark.parametrize("size", [97, 700, 4_000])
def test_pieces_share_the_records(size: int) -> None:
    data = APACHE_FILE.read_bytes()
    pieces = [read_piece(data, start, min(start + size, len(data))) for start in range(0, len(data), size)]
    assert [value for piece in pieces for value in piece] == RECORDS


@pytest.mark.parametrize("every", [1, 2, 5])
def test_restarts_repeat_and_lose_nothing(tmp_path: Path, every: int) -> None:
    records = [cases.record(i % 300) for i in range(12_000)]
    (tmp_path / "a.avro").write_bytes(written(AvroBulkWriters.for_generic_record(SCHEMA), records))
    pieces = FileSource.for_bulk_file_format(AvroFileFormat(TEXT, KIND), str(tmp_path))
    source = pieces.set_file_enumerator(FileEnumeratorProvider(100_000)).build()
    assert len(source.find()) > 3
    assert read_with_restarts(source, 1, every) == records


def test_written_files_have_what_was_written() -> None:
    data = written(AvroBulkWriters.for_generic_record(SCHEMA), RECORDS[:150], [], RECORDS[150:])
    assert read_piece(data, 0, len(data)) == RECORDS
    assert data.startswith(b"Obj\x01") and b"avro.codec\x08null" in data
    empty = written(AvroBulkWriters.for_generic_record(SCHEMA))
    assert read_piece(empty, 0, len(empty)) == []


def test_another_schema_is_resolved() -> None:
    wanted = {**cases.SCHEMA, "fields": [{"name": "good", "type": "boolean"}, {"name": "new", "type": "string", "default": "?"}]}
    records = World(AvroInputFormat(str(APACHE_FILE), AvroSchema(json.dumps(wanted)))).run()
    assert records == [{"good": i % 5 == 0, "new": "?"} for i in range(400)]
    unfitting = {**cases.SCHEMA, "fields": [{"name": "missing", "type": "string"}]}
    with pytest.raises(ConnectorError, match=r"by_apache\.avro"):
        World(AvroInputFormat(str(APACHE_FILE), AvroSchema(json.dumps(unfitting)))).run()


def test_damaged_files_are_errors(tmp_path: Path) -> None:
    data = APACHE_FILE.read_bytes()
    file = tmp_path / "a.avro"
    for bad in (b"", b"no avro", data[:40], data[:-1], data[:-17], data[:3000] + b"\xff" * 8 + data[3008:]):
        file.write_bytes(bad)
        with pytest.raises(ConnectorError, match=r"a\.avro"):
            World(AvroInputFormat(str(file), SCHEMA)).run()


def test_records_that_do_not_match_are_named() -> None:
    for change in ({"id": "text"}, {"state": "LOST"}, {"note": 3}, {"items": 5}):
        with pytest.raises(TypeMismatchError, match="does not match its Avro schema"):
            written(AvroBulkWriters.for_generic_record(SCHEMA), [{**RECORDS[1], **change}])
    without = {name: value for name, value in RECORDS[1].items() if name != "id"}
    with pytest.raises(TypeMismatchError, match="does not match its Avro schema"):
        written(AvroBulkWriters.for_generic_record(SCHEMA), [without])


def parquet_file(tmp_path: Path, data: bytes) -> str:
    (tmp_path / "a.parquet").write_bytes(data)
    return str(tmp_path / "a.parquet")


@pytest.mark.parametrize("every", [1, 3, 1000])
def test_parquet_files_of_avro_records(tmp_path: Path, every: int) -> None:
    records = [cases.record(i % 300) for i in range(9_000)]
    path = parquet_file(tmp_path, written(AvroParquetWriters.for_generic_record(SCHEMA), records[:5_000], records[5_000:]))
    source = FileSource.for_record_stream_format(AvroParquetReaders.for_generic_record(SCHEMA), path).build()
    assert source.produced_type == KIND
    assert read_with_restarts(source, 1, every) == records
    table = pq.read_table(path)
    assert table["price"].to_pylist() == [record["price"] for record in records]
    assert json.loads(table.schema.metadata[b"parquet.avro.schema"]) == cases.SCHEMA


def test_parquet_files_that_do_not_match(tmp_path: Path) -> None:
    for change in ({"id": "text"}, {"id": None}, {"state": "LOST"}, {"note": 3}, {"items": 5}, {"id": 1 << 70}):
        with pytest.raises(TypeMismatchError, match="does not match its Avro schema"):
            written(AvroParquetWriters.for_generic_record(SCHEMA), [{**RECORDS[1], **change}])
    with pytest.raises(ProgramError, match="no type for the union"):
        AvroParquetWriters.for_generic_record(AvroSchema('{"type":"record","name":"R","fields":[{"name":"u","type":["int","string"]}]}'))
    more = {**cases.SCHEMA, "fields": [{"name": "id", "type": "long"}, {"name": "new", "type": "string"}]}
    path = parquet_file(tmp_path, written(AvroParquetWriters.for_generic_record(SCHEMA), RECORDS))
    source = FileSource.for_record_stream_format(AvroParquetReaders.for_generic_record(AvroSchema(json.dumps(more))), path).build()
    with pytest.raises(ConnectorError, match="has no columns new"):
        World(source).run()
    more["fields"][1]["default"] = "?"
    source = FileSource.for_record_stream_format(AvroParquetReaders.for_generic_record(AvroSchema(json.dumps(more))), path).build()
    assert World(source).run() == [{"id": record["id"], "new": "?"} for record in RECORDS]


def as_row(record: dict[str, Any]) -> Row:
    """Return the row of a record: without the zone of the timestamp, which is UTC."""
    values = {**record, "at": record["at"].replace(tzinfo=None), "items": [Row(x=item["x"]) for item in record["items"]]}
    values["gift"] = record["gift"] and Row(x=record["gift"]["x"])
    return Row(**values)


@pytest.mark.parametrize("i", range(len(APACHE_RECORDS)))
def test_rows_are_what_apache_writes(i: int) -> None:
    read = pickle.loads(pickle.dumps(AvroRowDeserializationSchema(avro_schema_string=TEXT)))
    write = pickle.loads(pickle.dumps(AvroRowSerializationSchema(avro_schema_string=TEXT)))
    message, row = bytes.fromhex(APACHE_RECORDS[i]), as_row(cases.record(i))
    assert read.deserialize(message) == row
    assert write.serialize(row) == message
    assert write.serialize(Row(*row._values)) == message


def test_the_type_of_rows() -> None:
    read = AvroRowDeserializationSchema(avro_schema_string=TEXT)
    item = Types.ROW_NAMED(["x"], [Types.DOUBLE()])
    expected = [Types.LONG(), Types.STRING(), Types.STRING(), Types.MAP(Types.STRING(), Types.INT()), Types.OBJECT_ARRAY(item), item]
    expected += [Types.SQL_TIMESTAMP(), Types.SQL_DATE(), Types.BIG_DEC(), Types.PRIMITIVE_ARRAY(Types.BYTE())]
    names = [field["name"] for field in cases.SCHEMA["fields"]]
    assert repr(read.get_produced_type()) == repr(Types.ROW_NAMED(names, [*expected, Types.FLOAT(), Types.BOOLEAN()]))
    assert read.deserialize(None) is None  # type: ignore[arg-type]


def test_messages_and_rows_that_do_not_match() -> None:
    read = AvroRowDeserializationSchema(avro_schema_string=TEXT)
    for bad in (b"", b"\x01", bytes.fromhex(APACHE_RECORDS[1])[:-3]):
        with pytest.raises(ConnectorError, match="Failed to deserialize"):
            read.deserialize(bad)
    write = AvroRowSerializationSchema(avro_schema_string=TEXT)
    row = as_row(cases.record(1))
    for bad_row in (Row(1, 2), Row(*["x"] * 12), "text", Row(*[*row._values[:2], "LOST", *row._values[3:]])):
        with pytest.raises(TypeMismatchError):
            write.serialize(bad_row)


def test_schemas(tmp_path: Path) -> None:
    (tmp_path / "schema.avsc").write_text(TEXT)
    assert AvroSchema.parse_file(str(tmp_path / "schema.avsc")) == SCHEMA
    assert json.loads(str(SCHEMA)) == cases.SCHEMA
    assert KIND == GenericRecordAvroTypeInfo(AvroSchema(TEXT)) != GenericRecordAvroTypeInfo(AvroSchema('"string"'))
    assert AvroInputFormat("x", SCHEMA).get_produced_type() == KIND
    for bad in ("no json", "{}", '"unknown"', '{"type": "record", "fields": []}', '{"type": "enum", "name": "E"}'):
        with pytest.raises(ProgramError, match="no Avro schema"):
            AvroSchema.parse_string(bad)
    with pytest.raises(ProgramError, match="cannot read the Avro schema"):
        AvroSchema.parse_file(str(tmp_path / "missing"))


def test_what_rows_cannot_be() -> None:
    for kind in (AvroRowDeserializationSchema, AvroRowSerializationSchema):
        with pytest.raises(TypeError, match="should be specified"):
            kind()
        with pytest.raises(ProgramError, match="Java class"):
            kind("org.example.Order")
        with pytest.raises(ProgramError, match="must be that of a record"):
            kind(avro_schema_string='"string"')
        with pytest.raises(ProgramError, match="contains itself"):
            kind(avro_schema_string='{"type":"record","name":"R","fields":[{"name":"next","type":["null","R"]}]}')
        with pytest.raises(ProgramError, match="local-timestamp"):
            local = {"type": "long", "logicalType": "local-timestamp-millis"}
            kind(avro_schema_string=json.dumps({"type": "record", "name": "R", "fields": [{"name": "t", "type": local}]}))
    with pytest.raises(ProgramError, match="not an AvroSchema"):
        AvroBulkWriters.for_generic_record(TEXT)  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="is not a path"):
        AvroInputFormat("", SCHEMA)


def test_rows_with_times_and_unions() -> None:
    fields = [
        {"name": "t", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "u", "type": ["int", "string"]},
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {"name": "d", "type": {"type": "int", "logicalType": "date"}},
        {"name": "p", "type": {"type": "fixed", "name": "P", "size": 4, "logicalType": "decimal", "precision": 5, "scale": 1}},
    ]
    text = json.dumps({"type": "record", "name": "R", "fields": fields})
    at = datetime(1969, 12, 31, 23, 59, 59, 999_999)
    values = [at.time().replace(microsecond=999_000), "x", "5e2ba6e4-7d3c-4a5b-9f5e-0c1d2e3f4a5b", at, date(1970, 1, 2), Decimal("-2.5")]
    message = AvroRowSerializationSchema(avro_schema_string=text).serialize(Row(*values))
    row = AvroRowDeserializationSchema(avro_schema_string=text).deserialize(message)
    assert row is not None and list(row._values) == values
    # By Avro's specification: branch 1 and -1 microsecond; one day; -25 as two's complement in four bytes.
    assert message[-7:] == b"\x02\x01\x02\xff\xff\xff\xe7"


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastavro", None)
    with pytest.raises(ProgramError, match="fastavro") as failure:
        AvroSchema.parse_string('"string"')
    assert "pip install 'wiesel[avro]'" in str(failure.value)
