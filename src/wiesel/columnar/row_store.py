"""Internal. An append-only store of rows as columns: read in any order by row number.

New rows become a chunk of their own. Four chunks of similar size are merged, so that there are few of them and each row is copied only a
few times; large ones are not merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from wiesel.columnar.grouping import Places

__all__ = ["PickedRows", "RowStore"]

_CHUNKS = 4
_CHUNK_BYTES = 64 << 20
"""Size from which chunks are not merged; far below the limit of the offsets of strings."""


class PickedRows:
    """The rows with some numbers, -1 for a row of NULLs; columns are created lazily."""

    def __init__(self, schema: pa.Schema, chunks: Sequence[pa.RecordBatch], starts: Places, numbers: Places) -> None:
        self._schema = schema
        self._count = len(numbers)
        missing = numbers < 0
        mask = missing if missing.any() else None
        self._parts: list[tuple[pa.RecordBatch, pa.Array]] = []
        self._order: pa.Array | None = None
        if len(chunks) == 1:
            self._parts.append((chunks[0], pa.array(numbers, mask=mask)))
            return
        owners = np.searchsorted(starts, numbers, side="right") - 1
        order = np.argsort(owners, kind="stable")[int(missing.sum()) :]
        sorted_owners = owners[order]
        bounds = np.flatnonzero(np.diff(sorted_owners, prepend=-1, append=len(chunks)))
        for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            owner = int(sorted_owners[start])
            self._parts.append((chunks[owner], pa.array(numbers[order[start:end]] - starts[owner])))
        if mask is not None or (len(self._parts) > 1 and (np.diff(owners) < 0).any()):
            back = np.zeros(len(numbers), np.int64)
            back[order] = np.arange(len(order))
            self._order = pa.array(back, mask=mask)

    def column(self, index: int) -> pa.Array:
        """Return the values of a column."""
        taken = [chunk.column(index).take(places) for chunk, places in self._parts]
        if not taken:
            return pa.nulls(self._count, self._schema.field(index).type)
        both = taken[0] if len(taken) == 1 else pa.concat_arrays(taken)
        return both if self._order is None else both.take(self._order)

    def columns(self) -> list[pa.Array]:
        """Return all columns."""
        return [self.column(index) for index in range(len(self._schema))]


class RowStore:
    """Rows by number, from 0. ``len()`` is their count."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self._chunks: list[pa.RecordBatch] = []
        self._starts = np.zeros(1, np.int64)

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def size_bytes(self) -> int:
        """Memory used by the rows."""
        return sum(chunk.nbytes for chunk in self._chunks)

    def add(self, columns: Sequence[pa.Array]) -> int:
        """Append rows; return the number of the first one."""
        start = len(self)
        if columns and len(columns[0]):
            self._chunks.append(pa.RecordBatch.from_arrays(list(columns), schema=self.schema))
            self._merge()
            self._starts = np.cumsum([0, *(chunk.num_rows for chunk in self._chunks)])
        return start

    def _merge(self) -> None:
        chunks = self._chunks
        rows, size, first = chunks[-1].num_rows, chunks[-1].nbytes, len(chunks) - 1
        while first and chunks[first - 1].num_rows <= 2 * rows and size + chunks[first - 1].nbytes <= _CHUNK_BYTES:
            first -= 1
            rows, size = rows + chunks[first].num_rows, size + chunks[first].nbytes
        if len(chunks) - first >= _CHUNKS:
            chunks[first:] = [pa.concat_batches(chunks[first:])]

    def pick(self, numbers: Places) -> PickedRows:
        """Return rows by their numbers, -1 for a row of NULLs."""
        return PickedRows(self.schema, self._chunks, self._starts[:-1], numbers)

    def batches(self, start: int, most: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows from a number on, in batches of limited size."""
        for first, chunk in zip(self._starts.tolist(), self._chunks, strict=False):
            for place in range(max(start - first, 0), chunk.num_rows, most):
                yield chunk.slice(place, most)

    def frozen(self) -> RowStore:
        """Return the present rows, to be read by another thread while rows are appended."""
        copy = RowStore(self.schema)
        copy._chunks, copy._starts = list(self._chunks), self._starts
        return copy

    def keep(self, numbers: Places) -> None:
        """Retain only the rows with some numbers; they are renumbered in this order."""
        rows = self.pick(numbers).columns()
        self._chunks, self._starts = [], np.zeros(1, np.int64)
        self.add(rows)
