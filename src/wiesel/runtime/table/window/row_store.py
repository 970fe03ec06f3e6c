"""Internal. Rows that wait until their window ends, by the end of the window.

They are stored as received; the rows of changed keys are written to keyed state when a checkpoint is taken. They are dropped when their
window ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.grouping import group_by
from wiesel.columnar.keys import key_tuples
from wiesel.columnar.stored import StoredRow, columns_of, stored_rows
from wiesel.columnar.windows import Times

__all__ = ["WindowRows"]

_MARKS = 32


class WindowRows:
    """Rows by the end of their window.

    Args:
        schema: Their columns.
        keys: The partitioning columns.
        table: Their table in checkpoints.
    """

    def __init__(self, schema: pa.Schema, keys: Sequence[int], table: Any) -> None:
        self._schema = schema
        self._keys = list(keys)
        self._table = table
        self._batches: dict[int, list[pa.RecordBatch]] = {}
        self._changed: dict[int, list[pa.RecordBatch]] = {}
        self._stored: dict[int, set[Any]] = {}
        found: dict[int, list[StoredRow]] = {}
        for key, end, rows in table.items():
            found.setdefault(end, []).extend(rows)
            self._stored.setdefault(end, set()).add(key)
        for end, rows in found.items():
            self._batches[end] = [pa.RecordBatch.from_arrays(columns_of(rows, schema), schema=schema)]

    def ends(self) -> Iterable[int]:
        """Return the ends of the windows with rows."""
        return self._batches.keys()

    def add(self, rows: pa.RecordBatch, ends: Times) -> list[int]:
        """Add rows with the ends of their windows; return the distinct ends."""
        rows = rows.cast(self._schema)
        known: list[int] = np.unique(ends).tolist()
        for end in known:
            part = rows if len(known) == 1 else rows.take(pa.array(np.flatnonzero(ends == end)))
            self._batches.setdefault(end, []).append(part)
            self._mark(self._changed.setdefault(end, []), part.select(self._keys))
        return known

    def _mark(self, changed: list[pa.RecordBatch], keys: pa.RecordBatch) -> None:
        """Mark keys whose rows have changed; they are converted to objects when written."""
        changed.append(keys)
        if len(changed) > _MARKS:
            united = pa.concat_batches(changed)
            groups = group_by(united.columns, united.num_rows)
            changed[:] = [united.take(pa.array(groups.first))]

    def size(self, end: int) -> int:
        """Return the number of rows of a window."""
        return sum(batch.num_rows for batch in self._batches.get(end, ()))

    def of(self, end: int) -> pa.RecordBatch | None:
        """Return the rows of a window; None if it has none."""
        batches = self._batches.get(end)
        if batches is None:
            return None
        if len(batches) > 1:
            batches[:] = [pa.concat_batches(batches)]
        return batches[0]

    def replace(self, end: int, rows: pa.RecordBatch) -> None:
        """Retain only some of the rows of a window: some of each key's."""
        self._batches[end] = [rows]

    def drop(self, end: int) -> None:
        """Forget a window."""
        self._batches.pop(end, None)
        self._changed.pop(end, None)
        for key in self._stored.pop(end, ()):
            self._table.remove(key, end)

    def flush(self) -> None:
        """Write changes to keyed state."""
        for end, marks in self._changed.items():
            rows = self.of(end)
            if rows is None:
                continue
            changed = {key for keys in marks for key in key_tuples(keys, range(len(self._keys)))}
            by_key: dict[Any, list[StoredRow]] = {}
            for key, row in zip(key_tuples(rows, self._keys), stored_rows(rows), strict=True):
                if key in changed:
                    by_key.setdefault(key, []).append(row)
            for key, mine in by_key.items():
                self._table.put(key, mine, end)
            self._stored.setdefault(end, set()).update(by_key)
        self._changed = {}
