"""Internal. State of one side of a join: its rows by join key.

Rows of an insert-only side are in lists. Otherwise they are entries of a map: by unique key if there is one, else by row with a count. In
outer joins an entry also has the number of its matches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wiesel.columnar.keys import BatchKeys
from wiesel.columnar.row_batch import DELETE, UPDATE_BEFORE, RowBatch
from wiesel.columnar.stored import StoredRow, stored_rows
from wiesel.runtime.operator import OperatorContext
from wiesel.runtime.table.base import state_ttl
from wiesel.runtime.table.row_lists import GrownLists, ListedRows, TupleRows, grown_lists

__all__ = ["JoinSide", "SideState", "Stored", "open_side"]

Places = npt.NDArray[np.int64]
Key = tuple[Any, ...]

RETRACTS = frozenset((UPDATE_BEFORE, DELETE))


@dataclass(frozen=True)
class JoinSide:
    """Properties of a side of a join.

    Attributes:
        keys: The join key columns.
        null_safe: For each of them, True if NULL equals NULL.
        schema: The columns of the rows.
        appends: Rows are insert-only.
        unique: The columns of a unique key, None if there is none.
        ttl_ms: TTL of rows; 0 for never, None for that of the job (``table.exec.state.ttl``).
    """

    keys: tuple[int, ...]
    null_safe: tuple[bool, ...]
    schema: pa.Schema
    appends: bool = False
    unique: tuple[int, ...] | None = None
    ttl_ms: int | None = None

    def joins(self, key: Key) -> bool:
        """Return whether rows of a key can have matches."""
        return None not in key or all(value is not None or safe for value, safe in zip(key, self.null_safe, strict=True))


@dataclass
class Stored:
    """Rows of several keys.

    Attributes:
        rows: The rows; duplicates are repeated.
        partners: Number of matches of each row; empty if not counted.
    """

    rows: ListedRows
    partners: list[int]

    @property
    def sizes(self) -> Places:
        """Number of rows of each key."""
        return self.rows.sizes


class SideState(ABC):
    """The rows of a side."""

    def __init__(self, side: JoinSide) -> None:
        self._side = side

    @abstractmethod
    def read(self, keys: BatchKeys) -> Stored:
        """Return the rows of several keys."""

    @abstractmethod
    def write(self, keys: BatchKeys, rows: RowBatch, partners: Sequence[int] | None) -> None:
        """Add and retract rows; ``keys`` are theirs."""

    def write_partners(self, keys: BatchKeys, stored: Stored, before: Sequence[int]) -> None:
        """Write changed numbers of matches."""

    def unpaired(self) -> Iterator[StoredRow]:
        """Yield the unmatched rows, repeated by their count."""
        return iter(())

    def paired(self) -> Iterator[StoredRow]:
        """Yield the rows with partners, as often as they are there."""
        return iter(())


class _AppendedRows(SideState):
    """Lists of rows."""

    def __init__(self, side: JoinSide, lists: GrownLists) -> None:
        super().__init__(side)
        self._lists = lists

    def read(self, keys: BatchKeys) -> Stored:
        return Stored(self._lists.read(keys), [])

    def write(self, keys: BatchKeys, rows: RowBatch, partners: Sequence[int] | None) -> None:
        whole = keys.without_nulls(self._side.null_safe)
        if whole.all():
            self._lists.extend(keys, rows.rows, keys.ids)
            return
        places = np.flatnonzero(whole[keys.ids])
        if len(places):
            self._lists.extend(keys, rows.rows.take(pa.array(places)), keys.ids[places])


class _Entries(SideState):
    """Maps of entries: ``(row, number of partners)`` by unique key, or ``(number, number of partners)`` by row."""

    def __init__(self, side: JoinSide, table: Any) -> None:
        super().__init__(side)
        self._table = table
        self._unique = side.unique

    def read(self, keys: BatchKeys) -> Stored:
        rows: list[StoredRow] = []
        partners: list[int] = []
        sizes = []
        for key in keys.tuples:
            start = len(rows)
            entries = self._table.get(key) if self._side.joins(key) else None
            for name, (kept, count) in (entries or {}).items():
                if self._unique is not None:
                    rows.append(kept)
                    partners.append(count)
                elif kept > 0:
                    rows += [name] * kept
                    partners += [count] * kept
            sizes.append(len(rows) - start)
        return Stored(TupleRows(rows, np.array(sizes, np.int64), self._side.schema), partners)

    def write(self, keys: BatchKeys, rows: RowBatch, partners: Sequence[int] | None) -> None:
        values = stored_rows(rows.rows)
        names = values if self._unique is None else stored_rows(rows.rows.select(list(self._unique)))
        tuples = keys.tuples
        live = [self._side.joins(key) for key in tuples]
        counts = partners if partners is not None else [0] * len(values)
        change = self._count if self._unique is None else self._replace
        for place, name, row, kind, count in zip(keys.ids.tolist(), names, values, rows.kinds_or_inserts().tolist(), counts, strict=True):
            if live[place]:
                change(tuples[place], name, row, kind, count)

    def _replace(self, key: Key, name: Key, row: StoredRow, kind: int, partners: int) -> None:
        if kind in RETRACTS:
            self._table.remove_entry(key, name)
        else:
            self._table.put_entry(key, name, (row, partners))

    def _count(self, key: Key, name: Key, row: StoredRow, kind: int, partners: int) -> None:
        kept = (self._table.get_entry(key, name) or (0, 0))[0]
        kept += -1 if kind in RETRACTS else 1
        if kept:
            self._table.put_entry(key, name, (kept, partners))
        else:
            self._table.remove_entry(key, name)

    def write_partners(self, keys: BatchKeys, stored: Stored, before: Sequence[int]) -> None:
        assert isinstance(stored.rows, TupleRows)  # noqa: S101 - for the type checker
        tuples = keys.tuples
        places = np.repeat(np.arange(keys.count), stored.sizes).tolist()
        for place, row, old, new in zip(places, stored.rows.rows, before, stored.partners, strict=True):
            if old != new:
                name = row if self._unique is None else tuple(row[column] for column in self._unique)
                kept = self._table.get_entry(tuples[place], name)
                if kept is not None:
                    self._table.put_entry(tuples[place], name, (kept[0], new))

    def unpaired(self) -> Iterator[StoredRow]:
        return self._rows(lambda partners: not partners)

    def paired(self) -> Iterator[StoredRow]:
        return self._rows(bool)

    def _rows(self, chosen: Any) -> Iterator[StoredRow]:
        for key, _ in self._table.scan():
            for name, (kept, partners) in self._table.entries(key):
                if chosen(partners):
                    yield from [kept] if self._unique is not None else [name] * kept


def open_side(side: JoinSide, name: str, context: OperatorContext, *, counts_partners: bool) -> SideState:
    """Return the state of a side."""
    ttl = state_ttl(context, side.ttl_ms)
    if side.appends and not counts_partners:
        return _AppendedRows(side, grown_lists(context, name, side.schema, side.keys, ttl))
    return _Entries(side, context.backend.table(name, kind="map", ttl=ttl))
