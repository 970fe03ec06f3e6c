"""Internal. Rows of the exchange as Arrow batches."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pyarrow as pa

__all__ = ["ARROW_SCHEMA", "row_batch"]

ARROW_SCHEMA = pa.schema([("p", pa.int32()), ("v", pa.binary())])


def row_batch(rows: Sequence[tuple[int, bytes]], fillers: Sequence[int]) -> pa.RecordBatch:
    """Return rows (partition, bytes), followed by one without bytes for each partition of ``fillers``.

    A single row is not copied: the row itself is written to the socket. Several become one Arrow buffer, as a batch for each would cost
    more than the copy.
    """
    partitions = [p for p, _ in rows]
    partitions += fillers
    values = _in_place(rows[0][1], len(fillers)) if len(rows) == 1 else _copied(rows, len(fillers))
    return pa.RecordBatch.from_arrays([pa.array(partitions, pa.int32()), values], schema=ARROW_SCHEMA)


def _copied(rows: Sequence[tuple[int, bytes]], nulls: int) -> pa.BinaryArray:
    values: list[bytes | None] = [v for _, v in rows]
    return pa.array(values + [None] * nulls, pa.binary())


def _in_place(row: bytes, nulls: int) -> pa.BinaryArray:
    """Return an array of a row followed by nulls, without copying the row."""
    offsets = struct.pack(f"<{nulls + 2}i", 0, *[len(row)] * (nulls + 1))
    valid = pa.py_buffer(b"\x01" + bytes(nulls // 8)) if nulls else None
    return pa.BinaryArray.from_buffers(pa.binary(), nulls + 1, [valid, pa.py_buffer(offsets), pa.py_buffer(row)], nulls)
