"""Internal. Batches of changes of a table as columns: the unit exchanged between the operators of a query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wiesel.types.row import RowKind

__all__ = ["DELETE", "INSERT", "UPDATE_AFTER", "UPDATE_BEFORE", "Kinds", "RowBatch", "concat", "row_count", "rows_of"]

Kinds = npt.NDArray[np.uint8]

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = (kind.value for kind in RowKind)


def rows_of(columns: Sequence[pa.Array], schema: pa.Schema, count: int) -> pa.RecordBatch:
    """Return a record batch with this number of rows, which Arrow cannot infer without columns."""
    return pa.RecordBatch.from_arrays(columns, schema=schema) if columns else pa.record_batch({"": pa.nulls(count)}).select([])


class RowBatch:
    """Rows in order, each with its row kind.

    Attributes:
        rows: The rows.
        kinds: The number of a :class:`~wiesel.types.row.RowKind` per row; None if all are inserts, the usual case.

    A batch is never changed in place. ``len()`` is the number of rows.
    """

    __slots__ = ("kinds", "rows")

    holds_rows = True
    """Metrics count the rows, not the batch."""

    def __init__(self, rows: pa.RecordBatch, kinds: Kinds | None = None) -> None:
        self.rows = rows
        self.kinds = kinds

    def __len__(self) -> int:
        return self.rows.num_rows  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"RowBatch({self.rows.to_pylist()!r}, {None if self.kinds is None else self.kinds.tolist()!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        kinds = None if self.kinds is None else self.kinds.tobytes()
        return _restored, (_schema_bytes(self.rows.schema), self.rows.serialize().to_pybytes(), kinds)

    def __deepcopy__(self, memo: Any) -> RowBatch:
        return self  # immutable: several consumers need no copies

    def take(self, places: npt.NDArray[np.integer[Any]]) -> RowBatch:
        """Return the rows at these indexes, in this order."""
        return RowBatch(self.rows.take(pa.array(places)), None if self.kinds is None else self.kinds[places])

    def filter(self, mask: pa.BooleanArray) -> RowBatch:
        """Return the rows for which the mask is true (neither false nor null)."""
        return RowBatch(self.rows.filter(mask), self.kinds_of(mask))

    def kinds_of(self, mask: pa.BooleanArray) -> Kinds | None:
        """Return the kinds of the rows for which the mask is true (neither false nor null)."""
        return None if self.kinds is None else self.kinds[mask.fill_null(False).to_numpy(zero_copy_only=False)]

    def with_rows(self, rows: pa.RecordBatch) -> RowBatch:
        """Return a batch of other rows, of equal number, with the same kinds."""
        return RowBatch(rows, self.kinds)

    def kinds_or_inserts(self) -> Kinds:
        """Return the kinds, or an array of inserts."""
        return np.zeros(len(self), np.uint8) if self.kinds is None else self.kinds


def concat(batches: Sequence[RowBatch]) -> RowBatch:
    """Return the rows of several batches (at least one) of one schema."""
    if len(batches) == 1:
        return batches[0]
    rows = pa.concat_batches([batch.rows for batch in batches])
    if all(batch.kinds is None for batch in batches):
        return RowBatch(rows)
    return RowBatch(rows, np.concatenate([batch.kinds_or_inserts() for batch in batches]))


# Few schemas are exchanged between tasks, each very often; they are the larger part of a small batch.
@lru_cache(maxsize=256)
def _schema_bytes(schema: pa.Schema) -> bytes:
    return schema.serialize().to_pybytes()  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def _schema(data: bytes) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(data))


def _restored(schema: bytes, rows: bytes, kinds: bytes | None) -> RowBatch:
    batch = pa.ipc.read_record_batch(pa.py_buffer(rows), _schema(schema))
    return RowBatch(batch, None if kinds is None else np.frombuffer(kinds, np.uint8))


def row_count(batches: Iterable[RowBatch]) -> int:
    """Return the total number of rows of several batches."""
    return sum(map(len, batches))
