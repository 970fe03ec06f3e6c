"""Internal. Names of types in plans: those of Calcite, in which Flink writes them."""

from __future__ import annotations

from collections.abc import Iterable

from wiesel.sql.plan.relations import Field
from wiesel.types import logical as t

__all__ = ["CHARACTER_SET", "record_type", "type_name"]

CHARACTER_SET = ' CHARACTER SET "UTF-16LE"'
_NAMES: dict[type[t.DataType], str] = {
    t.IntType: "INTEGER",
    t.LocalZonedTimestampType: "TIMESTAMP_WITH_LOCAL_TIME_ZONE",
    t.ZonedTimestampType: "TIMESTAMP_WITH_TIME_ZONE",
}


def type_name(of: t.DataType, *, character_set: bool = False) -> str:
    """Return the name of a type without its nullability.

    Args:
        of: The type.
        character_set: Whether character types name their character set.
    """
    if isinstance(of, t.CharType | t.VarCharType):
        kind = "CHAR" if isinstance(of, t.CharType) else "VARCHAR"
        return f"{kind}({of.length}){CHARACTER_SET if character_set else ''}"
    if isinstance(of, t.VarBinaryType):
        return f"VARBINARY({of.length})"
    if isinstance(of, t.LocalZonedTimestampType | t.ZonedTimestampType):
        return f"{_NAMES[type(of)]}({of.precision})"
    if isinstance(of, t.ArrayType):
        return f"{type_name(of.element_type)} ARRAY"
    if isinstance(of, t.MultisetType):
        return f"{type_name(of.element_type)} MULTISET"
    if isinstance(of, t.MapType):
        return f"({type_name(of.key_type)}, {type_name(of.value_type)}) MAP"
    if isinstance(of, t.RowType):
        return f"RecordType({', '.join(f'{type_name(field.data_type)} {field.name}' for field in of)})"
    return _NAMES.get(type(of), of.nullable().as_summary_string())


def _short(of: t.DataType) -> str:
    """Return the name of the type of a column of rows."""
    return f"TIMESTAMP_LTZ({of.precision})" if isinstance(of, t.LocalZonedTimestampType) else type_name(of)


def record_type(fields: Iterable[Field]) -> str:
    """Return the type of rows, in which columns that are time attributes say so."""
    columns = (f"{_short(field.data_type)}{f' *{field.time.value}*' if field.time else ''} {field.name}" for field in fields)
    return f"RecordType({', '.join(columns)})"
