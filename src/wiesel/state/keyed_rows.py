"""Internal. Lists of rows by key in the memory of a task, stored as columns: read and written in batches.

In state files they remain columns; readers of the files see lists and values of tuples by key, with any backend and any program. A snapshot
occupies the mailbox thread only for as long as it takes to determine which rows exist.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.grouping import Places, distinct
from wiesel.columnar.key_index import KeyIndex
from wiesel.columnar.keys import BatchKeys
from wiesel.columnar.number_lists import NumberLists
from wiesel.columnar.row_store import RowStore
from wiesel.columnar.stored import StoredRow, columns_of
from wiesel.core.errors import InvariantError
from wiesel.state.changelog import CHUNK_ENTRIES
from wiesel.state.row_sections import grown_sections, replaced_sections
from wiesel.state.snapshots import Part
from wiesel.state.stores import Store

__all__ = ["GrownRows", "KeyedRows", "ReplacedRows"]

_FEWEST = 10_000


class KeyedRows(Store):
    """Lists of rows by key.

    Args:
        name: Name of the state.
        schema: The columns of the rows.
        keys: Indexes of the key columns.

    Attributes:
        rows: All rows.
    """

    def __init__(self, name: str, schema: pa.Schema, keys: Sequence[int]) -> None:
        super().__init__(name, False)
        self.rows = RowStore(schema)
        self._keys = list(keys)
        self._index = KeyIndex(schema.field(index).type for index in keys)
        self._lists = NumberLists()

    @property
    @abstractmethod
    def changed(self) -> int:
        """Upper bound of the number of entries that the next snapshot has to write."""

    @property
    def size_bytes(self) -> int:
        """Estimate of the memory used."""
        return self.rows.size_bytes + self._lists.size_bytes + self._index.size_bytes

    def load(self, restored: Mapping[tuple[Any, ...], Sequence[StoredRow]]) -> None:
        """Load restored rows."""
        entries = iter(restored.items())
        while part := list(islice(entries, CHUNK_ENTRIES)):
            columns = columns_of((row for _, rows in part for row in rows), self.rows.schema)
            rows = pa.RecordBatch.from_arrays(columns, schema=self.rows.schema)
            self._load(rows, np.fromiter((len(rows) for _, rows in part), np.int64, len(part)))
        self.unchanged()

    def find(self, keys: BatchKeys) -> Places:
        """Return the numbers of keys, -1 for keys without rows."""
        return self._index.find(keys)

    def read(self, owners: Places) -> tuple[Places, Places]:
        """Return the row numbers of keys (given by number), grouped by key, and the number of rows of each."""
        return self._lists.read(owners)

    @abstractmethod
    def unchanged(self) -> None:
        """Mark all as unchanged."""

    @abstractmethod
    def _load(self, rows: pa.RecordBatch, sizes: Places) -> None:
        """Add rows of new keys, grouped by key; ``sizes`` has the number of rows of each."""

    # Store

    def clear(self) -> None:
        """See ``Store``."""
        self.__init__(self.name, self.rows.schema, self._keys)  # type: ignore[misc]

    def put(self, slot: Any, value: Any) -> None:
        """Not used: rows are written many at once."""
        raise InvariantError(f"state {self.name!r} is written by the batch")

    def begin_scan(self) -> None:
        """See ``Store``."""
        self._scan = []

    def scan_slice(self, limit: int) -> tuple[int, Part]:
        """See ``Store``: all entries in one slice, as there is nothing to do in the mailbox thread."""
        self._scan = None
        return len(self.rows), self.all_parts()

    def _leaves(self, values: Iterable[Any]) -> Iterable[Any]:
        return values

    def _copy(self, values: list[Any]) -> list[Any]:
        return values


class GrownRows(KeyedRows):
    """Append-only lists; a snapshot writes the rows added since the last one."""

    def __init__(self, name: str, schema: pa.Schema, keys: Sequence[int]) -> None:
        super().__init__(name, schema, keys)
        self._owners = np.zeros(0, np.int64)
        self._written = 0

    @property
    def changed(self) -> int:
        """See ``KeyedRows``."""
        return len(self.rows) - self._written

    def unchanged(self) -> None:
        """See ``KeyedRows``."""
        self._written = len(self.rows)

    def extend(self, keys: BatchKeys, ids: Places, columns: Sequence[pa.Array]) -> None:
        """Append rows to the lists of keys; ``ids`` has the index of the key of each row."""
        start = len(self.rows)
        numbers = self._index.add(keys)
        sizes = np.bincount(ids, minlength=keys.count)
        self.rows.add(columns)
        self._lists.extend(numbers, sizes, start + np.argsort(ids, kind="stable"))
        end = start + len(ids)
        if end > len(self._owners):
            self._owners = np.concatenate([self._owners, np.zeros(max(end - len(self._owners), len(self._owners)), np.int64)])
        self._owners[start:end] = numbers[ids]

    def _load(self, rows: pa.RecordBatch, sizes: Places) -> None:
        keys = BatchKeys(rows, self._keys)
        self.extend(keys, keys.ids, rows.columns)

    def freeze(self) -> Part:
        """See ``Store``."""
        start, self._written = self._written, len(self.rows)
        return tuple if start == self._written else self._part(start)

    def all_parts(self) -> Part:
        """See ``Store``."""
        return self._part(0)

    def _part(self, start: int) -> Part:
        # Neither changes any more: rows are only appended.
        rows, owners = self.rows.frozen(), self._owners[: len(self.rows)]
        return lambda: grown_sections(self.name, self._keys, rows, start, owners)


class ReplacedRows(KeyedRows):
    """Lists that are replaced as a whole; unreferenced rows are freed when they are more than half of all."""

    def __init__(self, name: str, schema: pa.Schema, keys: Sequence[int]) -> None:
        super().__init__(name, schema, keys)
        self._touched: list[Places] = []
        self._live = 0

    @property
    def changed(self) -> int:
        """See ``KeyedRows``."""
        return sum(map(len, self._touched))

    def unchanged(self) -> None:
        """See ``KeyedRows``."""
        self._touched = []

    def add(self, keys: BatchKeys, found: Places) -> Places:
        """Return the numbers of keys; ``found`` is the result of :meth:`find`. New keys must be given rows."""
        return self._index.add(keys, found)

    def replace(self, owners: Places, sizes: Places, numbers: Places, columns: Sequence[pa.Array]) -> None:
        """Set lists.

        Args:
            owners: The numbers of different keys.
            sizes: The new number of rows of each list, at least one.
            numbers: The rows, grouped by list: numbers of existing rows, and -1 for the next one of the new rows.
            columns: The new rows.
        """
        fresh = numbers < 0
        start = self.rows.add(columns)
        numbers = numbers.copy()
        numbers[fresh] = start + np.arange(int(fresh.sum()))
        self._live += int(sizes.sum()) - int(self._lists.read(owners)[1].sum())
        self._lists.replace(owners, sizes, numbers)
        self._touched.append(owners)
        if len(self._touched) > CHUNK_ENTRIES:
            self._touched = [distinct(np.concatenate(self._touched), len(self._index))]
        if len(self.rows) > max(2 * self._live, _FEWEST):
            self._give_back()

    def _give_back(self) -> None:
        kept = np.sort(self._lists.read(np.arange(len(self._index)))[0])
        renumbered = np.zeros(len(self.rows), np.int64)
        renumbered[kept] = np.arange(len(kept))
        self.rows.keep(kept)
        self._lists.renumber(renumbered)

    def _load(self, rows: pa.RecordBatch, sizes: Places) -> None:
        ends = np.cumsum(sizes)
        keys = BatchKeys(rows.take(pa.array(ends - sizes)), self._keys)
        if keys.count < len(sizes) > 1:  # NaN is one key here, but distinct keys in a dictionary
            for end, size in zip(ends.tolist(), sizes.tolist(), strict=True):
                self._load(rows.slice(end - size, size), np.array([size]))
            return
        owners = self._index.add(keys)
        self.replace(owners, sizes, np.full(int(sizes.sum()), -1), rows.columns)

    def freeze(self) -> Part:
        """See ``Store``."""
        touched, self._touched = self._touched, []
        return self._part(distinct(np.concatenate(touched), len(self._index))) if touched else tuple

    def all_parts(self) -> Part:
        """See ``Store``."""
        return self._part(np.arange(len(self._index)))

    def _part(self, owners: Places) -> Part:
        numbers, sizes = self._lists.read(owners)
        rows = self.rows.frozen()
        return lambda: replaced_sections(self.name, self._keys, rows, numbers, sizes)
