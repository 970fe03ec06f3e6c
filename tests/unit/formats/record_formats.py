"""Records into ``flink_formats.json`` what real Flink 2.3 makes of ``format_cases``.

Run it with the Python that has PyFlink: ``python tests/unit/formats/record_formats.py``.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import format_cases as cases
from pyflink.common import Types
from pyflink.datastream.formats.csv import (
    CsvBulkWriters,
    CsvReaderFormat,
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
    CsvSchema,
)
from pyflink.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema
from pyflink.java_gateway import get_gateway
from pyflink.table.types import DataTypes
from pyflink.version import __version__

JVM = get_gateway().jvm
TYPES = cases.row_types(Types)
ERROR = "ERROR"


def attempt(call: Any) -> Any:
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - what Flink raises is the recorded result
        print("   error:", str(getattr(error, "java_exception", error)).splitlines()[0][:120])
        return ERROR


def java_row(kind: str, text: str) -> Any:
    schema = JsonRowDeserializationSchema.builder().type_info(TYPES[kind]).build()._j_deserialization_schema
    schema.open(None)
    return schema.deserialize(text.encode())


def read(schema: Any, message: str) -> Any:
    schema.open(None)
    row = attempt(lambda: schema.deserialize(message.encode()))
    return row if row is None or row is ERROR else row.toString()


def json_read(kind: str, options: list[str], message: str) -> Any:
    builder = JsonRowDeserializationSchema.builder().type_info(TYPES[kind])
    for option in options:
        getattr(builder, option)()
    return read(builder.build()._j_deserialization_schema, message)


def json_write(kind: str, text: str) -> Any:
    schema = JsonRowSerializationSchema.builder().with_type_info(TYPES[kind]).build()._j_serialization_schema
    schema.open(None)
    return attempt(lambda: bytes(schema.serialize(java_row(kind, text))).decode())


def csv_schema(builder_class: Any, kind: str, calls: dict[str, Any]) -> Any:
    builder = builder_class(TYPES[kind])
    for name, value in calls.items():
        builder = getattr(builder, name)(*([] if name == "disable_quote_character" else [value]))
    return builder.build()


def csv_write(kind: str, calls: dict[str, Any], text: str) -> Any:
    schema = csv_schema(CsvRowSerializationSchema.Builder, kind, calls)._j_serialization_schema
    schema.open(None)
    return attempt(lambda: bytes(schema.serialize(java_row(kind, text))).decode())


def csv_read(kind: str, calls: dict[str, Any], message: str) -> Any:
    return read(csv_schema(CsvRowDeserializationSchema.Builder, kind, calls)._j_deserialization_schema, message)


def schema_of(calls: list[list[Any]]) -> Any:
    builder = CsvSchema.builder()
    for name, *arguments in calls:
        if name in ("add_number_column", "add_array_column") and len(arguments) > 1:
            arguments[-1] = getattr(DataTypes, arguments[-1])()
        getattr(builder, name)(*arguments)
    return builder.build()


def value_of(row: Any, index: int, column: list[Any]) -> Any:
    if row.isNullAt(index):
        return None
    if column[0] == "add_array_column":
        array = row.getArray(index)
        get = array.getInt if column[-1] == "INT" else lambda i: array.getString(i).toString()
        return [get(i) for i in range(array.size())]
    if column[0] == "add_string_column":
        return row.getString(index).toString()
    if column[0] == "add_boolean_column":
        return row.getBoolean(index)
    if column[-1] == "DOUBLE":
        value = row.getDouble(index)
        return value if value == value else "NaN"
    return row.getInt(index) if column[-1] == "INT" else row.getLong(index)


def csv_file(calls: list[list[Any]], text: str) -> Any:
    columns = [call for call in calls if call[0].startswith("add_")]
    data = text.encode()
    rows: list[Any] = []

    def run() -> None:
        java_format = CsvReaderFormat.for_schema(schema_of(calls))._j_stream_format
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            stream = JVM.org.apache.flink.core.fs.local.LocalDataInputStream(JVM.java.io.File(file.name))
            reader = java_format.createReader(JVM.org.apache.flink.configuration.Configuration(), stream, len(data), len(data))
            while (row := reader.read()) is not None:
                rows.append([value_of(row, i, column) for i, column in enumerate(columns)])

    if attempt(run) is ERROR:
        rows.append(ERROR)
    return rows


def csv_bulk(calls: list[list[Any]], rows: list[list[Any]]) -> Any:
    strings = JVM.org.apache.flink.table.data.binary.BinaryStringData
    factory = CsvBulkWriters.for_schema(schema_of(calls)).get_java_object()
    with tempfile.NamedTemporaryFile() as file:
        stream = JVM.org.apache.flink.core.fs.local.LocalDataOutputStream(JVM.java.io.File(file.name))
        writer = factory.create(stream)
        for row in rows:
            data = JVM.org.apache.flink.table.data.GenericRowData(len(row))
            for i, value in enumerate(row):
                if isinstance(value, str):
                    value = strings.fromString(value)
                elif isinstance(value, list):
                    array = get_gateway().new_array(JVM.java.lang.Object, len(value))
                    for k, item in enumerate(value):
                        array[k] = None if item is None else strings.fromString(item)
                    value = JVM.org.apache.flink.table.data.GenericArrayData(array)
                data.setField(i, value)
            writer.addElement(data)
        writer.finish()
        stream.close()
        return Path(file.name).read_bytes().decode()


def csv_decimal(text: str) -> Any:
    """Return the number as it is read, and what is written for it."""
    schema = CsvSchema.builder().add_number_column("x", DataTypes.DECIMAL(8, 2)).build()
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in"), Path(folder, "out")
        source.write_text(text + "\n")
        stream = JVM.org.apache.flink.core.fs.local.LocalDataInputStream(JVM.java.io.File(str(source)))
        size = source.stat().st_size
        conf = JVM.org.apache.flink.configuration.Configuration()
        row = CsvReaderFormat.for_schema(schema)._j_stream_format.createReader(conf, stream, size, size).read()
        out = JVM.org.apache.flink.core.fs.local.LocalDataOutputStream(JVM.java.io.File(str(target)))
        writer = CsvBulkWriters.for_schema(schema).get_java_object().create(out)
        writer.addElement(row)
        writer.finish()
        out.close()
        return [None if row.isNullAt(0) else str(row.getDecimal(0, 8, 2).toString()), target.read_text()]


def main() -> None:
    recorded = {
        "flink": __version__,
        "JSON_READ": [json_read(*case) for case in cases.JSON_READ],
        "JSON_WRITE": [json_write(*case) for case in cases.JSON_WRITE],
        "CSV_WRITE": [csv_write(*case) for case in cases.CSV_WRITE],
        "CSV_READ": [csv_read(*case) for case in cases.CSV_READ],
        "JSON_SCHEMAS": [repr(JsonRowDeserializationSchema.builder().json_schema(text)._type_info) for text in cases.JSON_SCHEMAS],
        "CSV_FILES": [csv_file(*case) for case in cases.CSV_FILES],
        "CSV_BULK": [csv_bulk(*case) for case in cases.CSV_BULK],
        "CSV_DECIMALS": [csv_decimal(text) for text in cases.CSV_DECIMALS],
    }
    Path(__file__).with_name("flink_formats.json").write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
