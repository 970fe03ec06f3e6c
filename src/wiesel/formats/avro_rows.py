"""Internal. Rows for Avro's records: the type that a schema stands for, and values to and fro.

The types are those of Flink's schema for rows: what may be null is what it is otherwise, an enumeration is a text, and a timestamp
shows the date and time that it is in UTC.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.formats.csv_fields import row_values
from wiesel.types.row import Row, make_row
from wiesel.types.typeinfo import RowTypeInfo, TypeInformation
from wiesel.types.types import Types

__all__ = ["RowReader", "RowWriter", "resolved_record", "row_reader", "row_type", "row_writer"]

RowReader = Callable[[Any], Any]
RowWriter = Callable[[Any], Any]

_PLAIN: dict[str, Callable[[], TypeInformation]] = {
    "string": Types.STRING,
    "boolean": Types.BOOLEAN,
    "int": Types.INT,
    "long": Types.LONG,
    "float": Types.FLOAT,
    "double": Types.DOUBLE,
    "bytes": lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "fixed": lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "enum": Types.STRING,
    "null": Types.PICKLED_BYTE_ARRAY,
}
_LOGICAL: dict[tuple[str, str], Callable[[], TypeInformation]] = {
    ("bytes", "decimal"): Types.BIG_DEC,
    ("fixed", "decimal"): Types.BIG_DEC,
    ("int", "date"): Types.SQL_DATE,
    ("int", "time-millis"): Types.SQL_TIME,
    ("long", "time-micros"): Types.SQL_TIME,
    ("long", "timestamp-millis"): Types.SQL_TIMESTAMP,
    ("long", "timestamp-micros"): Types.SQL_TIMESTAMP,
}


def row_type(definition: Any) -> RowTypeInfo:
    """Return the type of the rows of a record's schema.

    Raises:
        ProgramError: If the schema is none of a record, or contains itself.
    """
    return _row_type(resolved_record(definition))


def resolved_record(definition: Any) -> Any:
    """Return a record's schema with all names of types replaced by what they name.

    Raises:
        ProgramError: If the schema is none of a record, or contains itself.
    """
    if not isinstance(definition, dict) or definition.get("type") != "record":
        raise ProgramError(f"the Avro schema must be that of a record: {str(definition)[:200]}", hint='give {"type": "record", ...}')
    return _resolved(definition, {}, ())


def _row_type(schema: Any) -> RowTypeInfo:
    return Types.ROW_NAMED([f["name"] for f in schema["fields"]], [_type(f["type"]) for f in schema["fields"]])


def row_reader(definition: Any) -> RowReader:
    """Return the function that makes a row of a record as fastavro reads it."""
    read = _reader(_resolved(definition, {}, ()))
    return (lambda value: value) if read is None else read


def row_writer(definition: Any) -> RowWriter:
    """Return the function that makes a record as fastavro writes it of a row."""
    write = _writer(_resolved(definition, {}, ()))
    return (lambda value: value) if write is None else write


def _resolved(schema: Any, named: dict[str, Any], within: tuple[str, ...], namespace: str = "") -> Any:
    """Return a schema in which every name of a type is replaced by what it names, all types are dicts and unions are lists."""
    if isinstance(schema, list):
        return [_resolved(branch, named, within, namespace) for branch in schema]
    if isinstance(schema, str):
        full = schema if "." in schema or not namespace else f"{namespace}.{schema}"
        if schema in _PLAIN:
            return {"type": schema}
        if full in within or schema in within:
            raise ProgramError(f"the Avro schema {schema} contains itself, which rows cannot", hint="use a schema without recursion")
        return named[full] if full in named else named[schema]
    kind = schema["type"]
    if isinstance(kind, dict | list):
        return _resolved(kind, named, within, namespace)
    if kind not in ("record", "error", "enum", "fixed"):
        parts = {part: _resolved(schema[part], named, within, namespace) for part in ("items", "values") if part in schema}
        return {**schema, **parts} if kind in _PLAIN or parts else _resolved(kind, named, within, namespace)
    space, _, short = schema["name"].rpartition(".")
    space = space or schema.get("namespace", namespace)
    full = f"{space}.{short}" if space else short
    result = dict(schema)
    if kind in ("record", "error"):
        fields = [{**f, "type": _resolved(f["type"], named, (*within, full), space)} for f in schema.get("fields", ())]
        result.update(type="record", fields=fields)
    named[full] = result
    return result


def _branch(union: list[Any]) -> Any:
    """Return what a union is besides null, None if that is more than one type."""
    branches = [branch for branch in union if branch.get("type") != "null"]
    return branches[0] if len(branches) == 1 else None


def _type(schema: Any) -> TypeInformation:
    if isinstance(schema, list):
        branch = _branch(schema)
        return Types.PICKLED_BYTE_ARRAY() if branch is None else _type(branch)
    kind = schema["type"]
    if kind == "record":
        return _row_type(schema)
    if kind == "array":
        return Types.OBJECT_ARRAY(_type(schema["items"]))
    if kind == "map":
        return Types.MAP(Types.STRING(), _type(schema["values"]))
    logical = schema.get("logicalType", "")
    if logical.startswith("local-timestamp"):
        raise ProgramError(f"rows have no type for Avro's {logical}", hint="use timestamp-millis, or read generic records")
    return _LOGICAL.get((kind, logical), _PLAIN[kind])()


def _reader(schema: Any) -> RowReader | None:
    """Return the function for values that are not None; None if they stay as they are."""
    if isinstance(schema, list):
        branch = _branch(schema)
        return None if branch is None else _reader(branch)
    kind = schema["type"]
    if kind == "record":
        names = [field["name"] for field in schema["fields"]]
        parts = [(field["name"], _reader(field["type"])) for field in schema["fields"]]
        return lambda value: make_row(names, [value[n] if c is None or value[n] is None else c(value[n]) for n, c in parts])
    if kind in ("array", "map"):
        return _of_items(kind, _reader(schema["items" if kind == "array" else "values"]))
    if schema.get("logicalType") in ("timestamp-millis", "timestamp-micros"):
        return lambda value: value.replace(tzinfo=None)
    return str if schema.get("logicalType") == "uuid" else None


def _of_items(kind: str, convert: RowReader | None) -> RowReader | None:
    if convert is None:
        return None
    if kind == "array":
        return lambda value: [None if item is None else convert(item) for item in value]
    return lambda value: {key: None if item is None else convert(item) for key, item in value.items()}


def _writer(schema: Any) -> RowWriter | None:
    if isinstance(schema, list):
        branch = _branch(schema)
        return None if branch is None else _writer(branch)
    kind = schema["type"]
    if kind == "record":
        return _record_writer([f["name"] for f in schema["fields"]], [_writer(f["type"]) for f in schema["fields"]])
    if kind in ("array", "map"):
        return _of_items(kind, _writer(schema["items" if kind == "array" else "values"]))
    if schema.get("logicalType") in ("timestamp-millis", "timestamp-micros"):
        return _in_utc
    return None


def _record_writer(names: list[str], writers: list[RowWriter | None]) -> RowWriter:
    def write(value: Any) -> dict[str, Any]:
        values = value._values if isinstance(value, Row) else row_values(value, names)
        if len(values) != len(names):
            raise ValueError(f"{value!r} has {len(values)} fields instead of {len(names)}")
        return {n: v if w is None or v is None else w(v) for n, v, w in zip(names, values, writers, strict=True)}

    return write


def _in_utc(value: Any) -> Any:
    """Return a date and time without a zone as one in UTC; fastavro would take it for one in the zone of the machine."""
    if isinstance(value, datetime.datetime) and value.tzinfo is None:
        return value.replace(tzinfo=datetime.timezone.utc)
    return value
