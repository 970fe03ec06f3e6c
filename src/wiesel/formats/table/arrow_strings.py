"""Internal. Reads strings of files by Arrow's own readers, with Flink's rules for what a value looks like."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
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
_MARKS = {4: "-", 7: "-", 13: ":", 16: ":"}
_PIECE = 1 << 14
_LENGTHS = (19, *range(21, 30))
_TIMESTAMP = {False: r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,9})?$", True: r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?$"}


def read_schema(schema: pa.Schema) -> pa.Schema:
    """Return the types to read columns by; timestamps are read as strings, as Arrow accepts other forms of timestamps than Flink."""
    return pa.schema([pa.field(field.name, pa.string() if pa.types.is_timestamp(field.type) else field.type) for field in schema])


def finished(batch: pa.RecordBatch, schema: pa.Schema, *, iso: bool = False) -> pa.RecordBatch | None:
    """Return what was read with the types of the schema; None if a text is none of its type."""
    arrays = []
    for column, field in zip(batch.columns, schema, strict=True):
        if pa.types.is_timestamp(field.type):
            if not _are_timestamps(column, iso=iso) and pc.all(pc.match_substring_regex(column, _TIMESTAMP[iso])).as_py() is False:
                return None
            column = column.cast(field.type)
        arrays.append(column)
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _are_timestamps(column: pa.Array, *, iso: bool) -> bool:
    """Return whether strings of equal length are timestamps; False if they have to be looked at closer."""
    valid, (_, places, data) = len(column) - column.null_count, column.buffers()
    if not valid or data is None:
        return False
    offsets = np.frombuffer(places, np.int32)[column.offset : column.offset + len(column) + 1]
    strings = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
    length = len(strings) // valid
    # NULLs have no bytes.
    if length * valid != len(strings) or length not in _LENGTHS or np.count_nonzero(np.diff(offsets) == length) != valid:
        return False
    least, span = _bounds(length, iso)
    rows = max(_PIECE // length, 1)
    # So many strings at once as one row of bytes, beside as many repetitions of what their bytes may be.
    least, span = np.tile(least, rows), np.tile(span, rows)
    pieces = (strings[at : at + rows * length] for at in range(0, len(strings), rows * length))
    return all(bool((piece - least[: len(piece)] <= span[: len(piece)]).all()) for piece in pieces)


def _bounds(length: int, iso: bool) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return by place the least byte that a timestamp of that length can have there, and by how much it can be greater."""
    marks = {**_MARKS, 10: "T" if iso else " "} | ({19: "."} if length > 19 else {})
    least = np.array([ord(marks.get(place, "0")) for place in range(length)], np.uint8)
    return least, np.array([0 if place in marks else 9 for place in range(length)], np.uint8)
