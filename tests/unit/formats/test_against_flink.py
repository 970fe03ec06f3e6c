"""CSV and JSON give what real Flink gives for the same input, recorded in ``flink_formats.json``."""

from __future__ import annotations

import datetime
import io
import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.unit.formats import format_cases as cases
from wiesel.common import Types
from wiesel.core.errors import ConnectorError, ProgramError
from wiesel.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvRowDeserializationSchema, CsvRowSerializationSchema, CsvSchema
from wiesel.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema
from wiesel.spi.file_formats import FilePiece
from wiesel.table import DataTypes
from wiesel.types.java_strings import to_java_string

FLINK = json.loads(Path(__file__).with_name("flink_formats.json").read_text(encoding="utf-8"))
TYPES = cases.row_types(Types)
ERROR = "ERROR"


def with_flink(name: str) -> Any:
    inputs = getattr(cases, name)
    assert len(inputs) == len(FLINK[name]), "record_formats.py has to be run again"
    return pytest.mark.parametrize(("case", "flink"), list(zip(inputs, FLINK[name], strict=True)), ids=[str(i) for i in range(len(inputs))])


def as_java(kind: str, row: Any) -> Any:
    return None if row is None else "+I" + to_java_string(row, TYPES[kind]).removeprefix("+I")


def or_error(call: Any) -> Any:
    try:
        return call()
    except ConnectorError:
        return ERROR


def json_schema(kind: str, options: list[str]) -> JsonRowDeserializationSchema:
    builder = JsonRowDeserializationSchema.builder().type_info(TYPES[kind])
    for option in options:
        getattr(builder, option)()
    return builder.build()


@with_flink("JSON_READ")
def test_json_is_read_as_flink_reads_it(case: Any, flink: Any) -> None:
    kind, options, message = case
    schema = json_schema(kind, options)
    assert or_error(lambda: as_java(kind, schema.deserialize(message.encode()))) == flink
    assert or_error(lambda: [as_java(kind, r) for r in schema.deserialize_many([message.encode()] * 2)]) in (ERROR, [flink] * 2)


@with_flink("JSON_WRITE")
def test_json_is_written_as_flink_writes_it(case: Any, flink: Any) -> None:
    kind, text = case
    row = json_schema(kind, []).deserialize(text.encode())
    schema = JsonRowSerializationSchema.builder().with_type_info(TYPES[kind]).build()
    assert schema.serialize(row).decode() == flink


def csv_schema(builder_class: Any, kind: str, calls: dict[str, Any]) -> Any:
    builder = builder_class(TYPES[kind])
    for name, value in calls.items():
        getattr(builder, name)(*([] if name == "disable_quote_character" else [value]))
    return builder.build()


@with_flink("CSV_WRITE")
def test_csv_is_written_as_flink_writes_it(case: Any, flink: Any) -> None:
    kind, calls, text = case
    row = json_schema(kind, []).deserialize(text.encode())
    assert csv_schema(CsvRowSerializationSchema.Builder, kind, calls).serialize(row).decode() == flink


@with_flink("CSV_READ")
def test_csv_is_read_as_flink_reads_it(case: Any, flink: Any) -> None:
    kind, calls, message = case
    schema = csv_schema(CsvRowDeserializationSchema.Builder, kind, calls)
    assert or_error(lambda: as_java(kind, schema.deserialize(message.encode()))) == flink
    many = or_error(lambda: [as_java(kind, r) for r in schema.deserialize_many([message.encode()] * 3)])
    assert many == (ERROR if flink == ERROR else [flink] * 3)


@pytest.mark.parametrize(("text", "flink"), list(zip(cases.JSON_SCHEMAS, FLINK["JSON_SCHEMAS"], strict=True)))
def test_types_of_json_schemas_are_flinks(text: str, flink: str) -> None:
    assert repr(JsonRowDeserializationSchema.builder().json_schema(text).build().get_produced_type()) == flink


def schema_of(calls: list[list[Any]]) -> CsvSchema:
    builder = CsvSchema.builder()
    for name, *arguments in calls:
        if name in ("add_number_column", "add_array_column") and len(arguments) > 1:
            arguments[-1] = getattr(DataTypes, arguments[-1])()
        getattr(builder, name)(*arguments)
    return builder.build()


def plain(value: Any) -> Any:
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def rows_of(schema: CsvSchema, data: bytes) -> list[Any]:
    reader = CsvReaderFormat.for_schema(schema).create_reader(io.BytesIO(data), FilePiece("file.csv", 0, len(data), len(data)))
    rows: list[Any] = []
    try:
        while (block := reader.read_block()) is not None:
            rows += [[plain(value) for value in row] for row in block]
    except ConnectorError:
        rows.append(ERROR)
    return rows


@with_flink("CSV_FILES")
def test_csv_files_are_read_as_flink_reads_them(case: Any, flink: Any) -> None:
    calls, text = case
    rows = rows_of(schema_of(calls), text.encode())
    # Flink hands rows on one by one, Wiesel a block at a time: those before a bad one fail with it.
    assert rows == ([ERROR] if ERROR in flink else flink)


@with_flink("CSV_BULK")
def test_csv_files_are_written_as_flink_writes_them(case: Any, flink: Any) -> None:
    calls, rows = case
    stream = io.BytesIO()
    writer = CsvBulkWriters.for_schema(schema_of(calls)).create(stream)
    writer.add_batch([tuple(row) for row in rows[:2]])
    writer.add_batch([tuple(row) for row in rows[2:]])
    writer.finish()
    assert stream.getvalue().decode() == flink


@with_flink("CSV_DECIMALS")
def test_decimals_of_csv_files_have_the_digits_of_their_column(case: str, flink: Any) -> None:
    read, written = flink
    schema = CsvSchema.builder().add_number_column("x", DataTypes.DECIMAL(8, 2)).build()
    ((value,),) = rows_of(schema, f"{case}\n".encode())
    assert (None if value is None else str(value)) == read
    assert lines_of(schema, [(value,)]) == written
    # What a function made of it is rounded in the same way.
    assert lines_of(schema, [(Decimal(case),)]) == written


def lines_of(schema: CsvSchema, rows: list[tuple[Any, ...]]) -> str:
    stream = io.BytesIO()
    writer = CsvBulkWriters.for_schema(schema).create(stream)
    writer.add_batch(rows)
    writer.finish()
    return stream.getvalue().decode()


def test_columns_of_lists_take_the_types_of_tables() -> None:
    builder = CsvSchema.builder().add_array_column("d", ";", DataTypes.DECIMAL(4, 1)).add_array_column("f", element_type=DataTypes.FLOAT())
    schema = builder.add_column("day", DataTypes.DATE()).build()
    rows = rows_of(schema, b"1.25;2000;-3,0.1;2,2020-02-29\n")
    # 0.1 as the nearest number of 32 bits.
    assert rows == [[[Decimal("1.3"), None, Decimal("-3.0")], [0.10000000149011612, 2.0], datetime.date(2020, 2, 29)]]
    assert lines_of(schema, [tuple(row) for row in rows]) == "1.3;;-3,0.1;2.0,2020-02-29\n"
    with pytest.raises(ProgramError, match="Boolean is no type of numbers"):
        CsvSchema.builder().add_number_column("x", DataTypes.BOOLEAN())
