"""Internal. Reads texts of files by Arrow's own readers, with Flink's rules for what a value looks like."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.types import logical as t

__all__ = ["READ_BY_ARROW", "finished", "read_schema"]

READ_BY_ARROW = (
    t.BooleanType,
    t.TinyIntType,
    t.SmallIntType,
    t.IntType,
    t.BigIntType,
    t.FloatType,
    t.DoubleType,
    t.DecimalType,
    t.CharType,
    t.VarCharType,
    t.DateType,
    t.TimestampType,
)
_TIMESTAMP = {False: r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,9})?$", True: r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?$"}


def read_schema(schema: pa.Schema) -> pa.Schema:
    """Return the types by which columns are read: those of timestamps as texts, as Arrow takes other texts for timestamps than Flink."""
    return pa.schema([pa.field(field.name, pa.string() if pa.types.is_timestamp(field.type) else field.type) for field in schema])


def finished(batch: pa.RecordBatch, schema: pa.Schema, *, iso: bool = False) -> pa.RecordBatch | None:
    """Return what was read with the types of the schema; None if a text is none of its type."""
    arrays = []
    for column, field in zip(batch.columns, schema, strict=True):
        if pa.types.is_timestamp(field.type):
            if pc.all(pc.match_substring_regex(column, _TIMESTAMP[iso])).as_py() is False:
                return None
            column = column.cast(field.type)
        arrays.append(column)
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
