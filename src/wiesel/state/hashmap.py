"""Internal. The ``hashmap`` backend: Python objects in dicts. Fast; bounded by memory.

Like Flink's heap backend it returns the stored objects themselves. After changing one in place, put it again; otherwise the change is
visible to this process but missing in the next checkpoint.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from wiesel.state.backend import VOID, KeyedTable, ListTable, MapTable
from wiesel.state.changelog import Section
from wiesel.state.snapshots import Part
from wiesel.state.stores import ListStore, MapStore, Store, ValueStore
from wiesel.state.tracked import TrackedBackend

if TYPE_CHECKING:
    import pyarrow as pa

    from wiesel.state.keyed_rows import GrownRows, KeyedRows, ReplacedRows

_Rows = TypeVar("_Rows", bound="KeyedRows")

__all__ = ["DictListTable", "DictMapTable", "DictTable", "DictValueTable", "HashMapBackend"]

_SAMPLE = 64


class DictTable(KeyedTable):
    """Entries without a namespace in ``void``, the others in ``spaced``."""

    store_type: type[Store]

    def __init__(self, name: str) -> None:
        self.void: Any = self.store_type(name, False)
        self.spaced: Any = self.store_type(name, True)

    def get(self, key: Any, namespace: Any = VOID) -> Any:
        """See ``KeyedTable``."""
        return self.void.data.get(key) if namespace is VOID else self.spaced.data.get((key, namespace))

    def put(self, key: Any, value: Any, namespace: Any = VOID) -> None:
        """See ``KeyedTable``."""
        store, slot = (self.void, key) if namespace is VOID else (self.spaced, (key, namespace))
        store.put(slot, value)

    def remove(self, key: Any, namespace: Any = VOID) -> None:
        """See ``KeyedTable``."""
        store, slot = (self.void, key) if namespace is VOID else (self.spaced, (key, namespace))
        store.remove(slot)

    def items(self) -> Iterator[tuple[Any, Any, Any]]:
        """See ``KeyedTable``."""
        for key, namespace in self.scan():
            value = self.get(key, namespace)
            if value is not None:
                yield key, namespace, value

    def scan(self) -> Iterator[tuple[Any, Any]]:
        """See ``KeyedTable``."""
        for key in list(self.void.data):
            yield key, VOID
        yield from list(self.spaced.data)

    def __len__(self) -> int:
        return len(self.void.data) + len(self.spaced.data)

    def stores(self) -> tuple[Store, Store]:
        """Return both stores."""
        return self.void, self.spaced


class DictValueTable(DictTable):
    """Values."""

    store_type = ValueStore

    def put(self, key: Any, value: Any, namespace: Any = VOID) -> None:
        """See ``KeyedTable``."""
        if namespace is VOID:
            store = self.void
            store.data[key] = store.changes[key] = value
        else:
            store = self.spaced
            slot = (key, namespace)
            store.data[slot] = store.changes[slot] = value


class DictListTable(DictTable, ListTable):
    """Lists."""

    store_type = ListStore

    def append(self, key: Any, value: Any, namespace: Any = VOID) -> None:
        """See ``ListTable``."""
        if namespace is VOID:
            self.void.append(key, value)
        else:
            self.spaced.append((key, namespace), value)

    def extend(self, key: Any, values: Iterable[Any], namespace: Any = VOID) -> None:
        """See ``ListTable``."""
        if namespace is VOID:
            self.void.extend(key, values)
        else:
            self.spaced.extend((key, namespace), values)


class DictMapTable(DictTable, MapTable):
    """Maps."""

    store_type = MapStore

    def get_entry(self, key: Any, map_key: Any, namespace: Any = VOID) -> Any:
        """See ``MapTable``."""
        entries = self.get(key, namespace)
        return None if entries is None else entries.get(map_key)

    def put_entry(self, key: Any, map_key: Any, value: Any, namespace: Any = VOID) -> None:
        """See ``MapTable``."""
        if namespace is VOID:
            self.void.put_entry(key, map_key, value)
        else:
            self.spaced.put_entry((key, namespace), map_key, value)

    def put_entries(self, key: Any, entries: Mapping[Any, Any], namespace: Any = VOID) -> None:
        """See ``MapTable``."""
        store, slot = (self.void, key) if namespace is VOID else (self.spaced, (key, namespace))
        store.put_entries(slot, entries)

    def remove_entry(self, key: Any, map_key: Any, namespace: Any = VOID) -> None:
        """See ``MapTable``."""
        if namespace is VOID:
            self.void.remove_entry(key, map_key)
        else:
            self.spaced.remove_entry((key, namespace), map_key)

    def entries(self, key: Any, namespace: Any = VOID) -> Iterator[tuple[Any, Any]]:
        """See ``MapTable``."""
        entries = self.get(key, namespace)
        return iter(()) if entries is None else iter(list(entries.items()))

    def has_entries(self, key: Any, namespace: Any = VOID) -> bool:
        """See ``MapTable``."""
        return self.get(key, namespace) is not None


_TABLES: dict[str, type[DictTable]] = {"value": DictValueTable, "list": DictListTable, "map": DictMapTable}


class HashMapBackend(TrackedBackend):
    """See the module."""

    backend_type = "hashmap"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._tables: dict[str, DictTable] = {}
        self._rows: dict[str, Any] = {}

    def grown_rows(self, name: str, schema: pa.Schema, keys: Sequence[int]) -> GrownRows:
        """See ``StateBackend``."""
        from wiesel.state.keyed_rows import GrownRows

        return self._keyed_rows("list", GrownRows(name, schema, keys))

    def replaced_rows(self, name: str, schema: pa.Schema, keys: Sequence[int]) -> ReplacedRows:
        """See ``StateBackend``."""
        from wiesel.state.keyed_rows import ReplacedRows

        return self._keyed_rows("value", ReplacedRows(name, schema, keys))

    def _keyed_rows(self, kind: str, rows: _Rows) -> _Rows:
        if rows.name not in self._rows:
            self.table(rows.name, kind=kind)
            rows.load(self._tables.pop(rows.name).void.data)
            self._rows[rows.name] = rows
        return self._rows[rows.name]  # type: ignore[no-any-return]

    @property
    def in_memory(self) -> bool:
        """See ``StateBackend``."""
        return True

    def _stores(self) -> Iterator[Store]:
        for table in self._tables.values():
            yield from table.stores()
        yield from self._rows.values()

    def _open_table(self, name: str, storage: str) -> DictTable:
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = _TABLES[storage](name)
        return table

    def _rename_table(self, old: str, new: str) -> None:
        table = self._tables[new] = self._tables.pop(old)
        for store in table.stores():
            store.name = new

    def _resolve(self, name: str, resolve: Callable[[Any], Any]) -> None:
        for store in self._tables[name].stores():
            store.data = {slot: resolve(value) for slot, value in store.data.items()}

    def _set_pruning(self, name: str, prune: Callable[[Any], Any]) -> None:
        for store in self._tables[name].stores():
            store.prune = prune

    def _freeze(self) -> tuple[int, list[Part]]:
        stores = list(self._stores())
        return sum(store.changed for store in stores), [store.freeze() for store in stores]

    def _begin_rewrite(self) -> None:
        for store in self._stores():
            store.begin_scan()

    def _rewrite_slice(self, limit: int) -> tuple[list[Part], bool]:
        parts: list[Part] = []
        for store in self._stores():
            if store.scanning and limit > 0:
                count, part = store.scan_slice(limit)
                limit -= count
                parts.append(part)
        return parts, not any(store.scanning for store in self._stores())

    def _all_parts(self) -> list[Part]:
        return [store.all_parts() for store in self._stores()]

    def _apply(self, section: Section, storage: str, keep: Callable[[Any], bool] | None) -> None:
        table = self._open_table(section.name, storage)
        store = table.spaced if section.spaced else table.void
        store.apply(section, keep)

    def _restored(self) -> None:
        for store in self._stores():
            store.unchanged()

    def clear_keyed(self) -> None:
        """Clear the state and timers of all keys without recording changes: BATCH mode has one key at a time, and no checkpoints."""
        for store in self._stores():
            store.clear()
        for timers in self._timers.values():
            timers.clear()

    def size_bytes(self) -> int:
        """See ``StateBackend``: estimated from a sample of the entries."""
        rows: int = sum(rows.size_bytes for rows in self._rows.values())
        return rows + sum(map(_estimate, self._stores())) + 120 * sum(map(len, self._timers.values()))

    def close(self) -> None:
        """See ``StateBackend``."""
        self._tables.clear()
        self._rows.clear()
        self._timers.clear()


def _estimate(store: Store) -> int:
    count = len(store.data)
    if not count:
        return 0
    sampled = size = 0
    for slot, value in store.data.items():
        size += sys.getsizeof(slot) + sys.getsizeof(value) + 72
        if isinstance(value, (list, dict)) and value:
            element = next(iter(value.values() if isinstance(value, dict) else value))
            size += len(value) * sys.getsizeof(element)
        sampled += 1
        if sampled == _SAMPLE:
            break
    return size * count // sampled
