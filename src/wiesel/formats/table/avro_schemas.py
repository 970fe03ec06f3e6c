"""Internal. Avro's schemas for the columns of tables, as Flink makes them."""

from __future__ import annotations

import re
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.types import logical as t

__all__ = ["record_schema"]

_PLAIN: dict[type[t.DataType], str] = {
    t.BooleanType: "boolean",
    t.TinyIntType: "int",
    t.SmallIntType: "int",
    t.IntType: "int",
    t.BigIntType: "long",
    t.FloatType: "float",
    t.DoubleType: "double",
    t.CharType: "string",
    t.VarCharType: "string",
    t.BinaryType: "bytes",
    t.VarBinaryType: "bytes",
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MILLIS, _MICROS = 3, 6
_RECORD = "org.apache.flink.avro.generated.record"


def record_schema(rows: t.RowType, *, legacy: bool) -> dict[str, Any]:
    """Return the schema of records with these columns.

    Args:
        rows: The columns.
        legacy: Whether ``TIMESTAMP`` is one in UTC, as in Flink before 1.19; else it is a local one, and ``TIMESTAMP_LTZ`` in UTC.

    Raises:
        ProgramError: If Avro has no values of a column's type, or a column's name cannot be one of Avro.
    """
    return _record(rows, _RECORD, legacy)


def _record(rows: t.RowType, name: str, legacy: bool) -> dict[str, Any]:
    fields = []
    for field in rows:
        if not _NAME.fullmatch(field.name):
            raise ProgramError(f"column {field.name!r} cannot have this name in Avro", hint="use letters, digits and _ only")
        found: dict[str, Any] = {"name": field.name, "type": _schema(field.data_type, f"{name}_{field.name}", legacy)}
        fields.append({**found, "default": None} if field.data_type.is_nullable else found)
    return {"type": "record", "name": name, "fields": fields}


def _schema(of: t.DataType, name: str, legacy: bool) -> Any:
    found = _required(of, name, legacy)
    return ["null", found] if of.is_nullable and found != "null" else found


def _required(of: t.DataType, name: str, legacy: bool) -> Any:
    plain = _PLAIN.get(type(of))
    if plain is not None:
        return plain
    if isinstance(of, t.NullType):
        return "null"
    if isinstance(of, t.DateType):
        return {"type": "int", "logicalType": "date"}
    if isinstance(of, t.TimeType) and of.precision <= _MILLIS:
        return {"type": "int", "logicalType": "time-millis"}
    if isinstance(of, t.DecimalType):
        return {"type": "bytes", "logicalType": "decimal", "precision": of.precision, "scale": of.scale}
    if isinstance(of, t.TimestampType | t.LocalZonedTimestampType):
        return _timestamp(of, legacy)
    if isinstance(of, t.RowType):
        return _record(of, name, legacy)
    # In Flink these forget that timestamps are not to be those of before.
    if isinstance(of, t.ArrayType):
        return {"type": "array", "items": _schema(of.element_type, name, True)}
    if isinstance(of, t.MapType | t.MultisetType):
        key = of.key_type if isinstance(of, t.MapType) else of.element_type
        if not isinstance(key, t.CharType | t.VarCharType):
            raise ProgramError(f"maps in Avro have strings as keys, not {key.as_summary_string()}", hint="give the column another type")
        return {"type": "map", "values": _schema(of.value_type if isinstance(of, t.MapType) else t.IntType(), name, True)}
    raise _no_values(of)


def _timestamp(of: t.TimestampType | t.LocalZonedTimestampType, legacy: bool) -> Any:
    local = isinstance(of, t.TimestampType)
    if of.precision > _MICROS:
        raise _no_values(of)
    if legacy and (not local or of.precision > _MILLIS):
        raise _no_values(of, "set 'avro.timestamp_mapping.legacy' = 'false'")
    unit = "millis" if of.precision <= _MILLIS else "micros"
    return {"type": "long", "logicalType": f"{'local-' if local and not legacy else ''}timestamp-{unit}"}


def _no_values(of: t.DataType, hint: str = "give the column another type") -> ProgramError:
    return ProgramError(f"Avro has no values of type {of.as_summary_string()}", hint=hint)
