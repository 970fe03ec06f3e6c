"""Internal. Lists of rows by key in keyed state, accessed for the keys of a batch at once.

In backends with columns they are row numbers; in others, and with TTL, they are tuples in tables.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from wiesel.columnar.grouping import Places
from wiesel.columnar.keys import BatchKeys
from wiesel.columnar.number_lists import spans
from wiesel.columnar.row_store import RowStore
from wiesel.columnar.stored import StoredRow, columns_of, stored_rows
from wiesel.runtime.operator import OperatorContext
from wiesel.state.keyed_rows import GrownRows, ReplacedRows
from wiesel.state.ttl import TtlSettings

__all__ = ["GrownLists", "ListedRows", "NewLists", "Picked", "ReplacedLists", "Taken", "TupleRows", "grown_lists", "replaced_lists"]


class Picked(Protocol):
    """Selected rows; their columns are created lazily."""

    def column(self, index: int) -> pa.Array:
        """Return the values of a column."""
        ...


class Taken:
    """Rows of columns by index, NULLs for negative indexes."""

    def __init__(self, columns: Sequence[pa.Array], places: Places) -> None:
        self._columns = columns
        missing = places < 0
        self._places = pa.array(places, mask=missing if missing.any() else None)

    def column(self, index: int) -> pa.Array:
        """Return the values of a column."""
        return self._columns[index].take(self._places)


class ListedRows(ABC):
    """The rows of several keys, grouped by key.

    Attributes:
        sizes: Number of rows of each key.
    """

    sizes: Places

    @abstractmethod
    def pick(self, places: Places) -> Picked:
        """Return rows by index, a row of NULLs for negative indexes."""

    @abstractmethod
    def of(self, places: Places, sizes: Places) -> ListedRows:
        """Return some of the rows, those of some of the keys."""

    def of_keys(self, keys: Places) -> ListedRows:
        """Return the rows of selected keys."""
        sizes = self.sizes[keys]
        return self.of(spans((np.cumsum(self.sizes) - self.sizes)[keys], sizes), sizes)


class TupleRows(ListedRows):
    """Rows as tuples."""

    def __init__(self, rows: list[StoredRow], sizes: Places, schema: pa.Schema) -> None:
        self.rows = rows
        self.sizes = sizes
        self._schema = schema

    @cached_property
    def _columns(self) -> list[pa.Array]:
        return columns_of(self.rows, self._schema)

    def pick(self, places: Places) -> Taken:
        """See ``ListedRows``."""
        return Taken(self._columns, places)

    def of(self, places: Places, sizes: Places) -> TupleRows:
        """See ``ListedRows``."""
        return TupleRows([self.rows[place] for place in places.tolist()], sizes, self._schema)


class _NumberedRows(ListedRows):
    """Rows as numbers."""

    def __init__(self, store: RowStore, numbers: Places, sizes: Places) -> None:
        self.numbers = numbers
        self.sizes = sizes
        self._store = store

    def pick(self, places: Places) -> Picked:
        """See ``ListedRows``."""
        numbers = np.where(places < 0, -1, self.numbers[places]) if len(self.numbers) else np.full(len(places), -1)
        return self._store.pick(numbers)

    def of(self, places: Places, sizes: Places) -> _NumberedRows:
        """See ``ListedRows``."""
        return _NumberedRows(self._store, self.numbers[places], sizes)


class GrownLists(ABC):
    """Append-only lists."""

    @abstractmethod
    def read(self, keys: BatchKeys) -> ListedRows:
        """Return the rows of keys."""

    @abstractmethod
    def extend(self, keys: BatchKeys, rows: pa.RecordBatch, ids: Places) -> None:
        """Append rows; ``ids`` has the index of the key of each."""


@dataclass(frozen=True)
class NewLists:
    """New lists of rows, concatenated.

    Attributes:
        keys: The indexes of their keys.
        sizes: Their lengths, at least 1.
        places: The rows: indexes among old ones, -1 for the next one of the new rows.
        fresh: The columns of the new rows.
    """

    keys: Places
    sizes: Places
    places: Places
    fresh: list[pa.Array]


class ReplacedLists(ABC):
    """Lists that are replaced as a whole."""

    @abstractmethod
    def read(self, keys: BatchKeys) -> ListedRows:
        """Return the rows of keys."""

    @abstractmethod
    def replace(self, keys: BatchKeys, old: ListedRows, lists: NewLists) -> None:
        """Replace lists; ``keys`` were read last, and ``old`` is (a part of) the result of :meth:`read`. Keys without rows get some."""


class _GrownColumns(GrownLists):
    def __init__(self, rows: GrownRows) -> None:
        self._rows = rows

    def read(self, keys: BatchKeys) -> ListedRows:
        return _NumberedRows(self._rows.rows, *self._rows.read(self._rows.find(keys)))

    def extend(self, keys: BatchKeys, rows: pa.RecordBatch, ids: Places) -> None:
        self._rows.extend(keys, ids, rows.columns)


class _Tuples:
    """Lists of rows as tuples."""

    def __init__(self, table: Any, schema: pa.Schema) -> None:
        self._table = table
        self._schema = schema

    def read(self, keys: BatchKeys) -> ListedRows:
        get = self._table.get
        found = [get(key) or () for key in keys.tuples]
        sizes = np.fromiter(map(len, found), np.int64, len(found))
        return TupleRows([row for each in found for row in each], sizes, self._schema)


class _GrownTuples(_Tuples, GrownLists):
    def extend(self, keys: BatchKeys, rows: pa.RecordBatch, ids: Places) -> None:
        values = stored_rows(rows)
        ordered = [values[place] for place in np.argsort(ids, kind="stable").tolist()]
        end = 0
        for key, size in zip(keys.tuples, np.bincount(ids, minlength=keys.count).tolist(), strict=True):
            start, end = end, end + size
            if size:
                self._table.extend(key, ordered[start:end])


class _ReplacedColumns(ReplacedLists):
    def __init__(self, rows: ReplacedRows) -> None:
        self._rows = rows

    def read(self, keys: BatchKeys) -> ListedRows:
        self._found = self._rows.find(keys)
        return _NumberedRows(self._rows.rows, *self._rows.read(self._found))

    def replace(self, keys: BatchKeys, old: ListedRows, lists: NewLists) -> None:
        assert isinstance(old, _NumberedRows)  # noqa: S101 - for the type checker
        numbers = np.full(len(lists.places), -1)
        kept = lists.places >= 0
        numbers[kept] = old.numbers[lists.places[kept]]
        owners = self._rows.add(keys, self._found)
        self._rows.replace(owners[lists.keys], lists.sizes, numbers, lists.fresh)


class _ReplacedTuples(_Tuples, ReplacedLists):
    def replace(self, keys: BatchKeys, old: ListedRows, lists: NewLists) -> None:
        assert isinstance(old, TupleRows)  # noqa: S101 - for the type checker
        fresh = iter(stored_rows(pa.RecordBatch.from_arrays(lists.fresh, schema=self._schema)))
        rows = [old.rows[place] if place >= 0 else next(fresh) for place in lists.places.tolist()]
        end = 0
        for place, size in zip(lists.keys.tolist(), lists.sizes.tolist(), strict=True):
            start, end = end, end + size
            self._table.put(keys.tuples[place], rows[start:end])


def grown_lists(context: OperatorContext, name: str, schema: pa.Schema, keys: Sequence[int], ttl: TtlSettings | None) -> GrownLists:
    """Return the lists of a state name; ``keys`` are the columns with the key."""
    rows = context.backend.grown_rows(name, schema, keys) if ttl is None else None
    return _GrownTuples(context.backend.table(name, kind="list", ttl=ttl), schema) if rows is None else _GrownColumns(rows)


def replaced_lists(context: OperatorContext, name: str, schema: pa.Schema, keys: Sequence[int], ttl: TtlSettings | None) -> ReplacedLists:
    """Return the lists of a state name; ``keys`` are the columns with the key."""
    rows = context.backend.replaced_rows(name, schema, keys) if ttl is None else None
    return _ReplacedTuples(context.backend.table(name, ttl=ttl), schema) if rows is None else _ReplacedColumns(rows)
