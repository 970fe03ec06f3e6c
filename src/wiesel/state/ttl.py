"""Internal. Time to live of keyed state: tables that wrap the tables of a backend.

With a time to live every stored value (an element of a list, an entry of a map) is a pair ``(last_access_ms, value)``. Without one values
are neither wrapped nor checked. Expired values are dropped when they are read, a few at every access (incremental cleanup), and when state
is rewritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from wiesel.core.clock import Clock
from wiesel.core.errors import invariant
from wiesel.state.backend import VOID, KeyedTable, ListTable, MapTable

__all__ = ["TtlListTable", "TtlMapTable", "TtlSettings", "TtlTable", "TtlValueTable", "join_times", "split_times", "with_ttl"]


@dataclass(frozen=True)
class TtlSettings:
    """Expiry settings of a state.

    Attributes:
        ttl_ms: A value expires this time after its last relevant access.
        update_on_read: Reading counts as an access, not only writing.
        return_expired: Return an expired value until it is cleaned up.
        cleanup_in_full_snapshot: Omit expired values when state is rewritten.
        cleanup_entries: Number of entries checked for expiry per access; 0 disables incremental cleanup.
    """

    ttl_ms: int
    update_on_read: bool = False
    return_expired: bool = False
    cleanup_in_full_snapshot: bool = True
    cleanup_entries: int = 5


class TtlTable(KeyedTable):
    """Base of the tables of all kinds; also the table for single values."""

    def __init__(self, table: Any, settings: TtlSettings, clock: Clock) -> None:
        self._table = table
        self._settings = settings
        self._ttl_ms = settings.ttl_ms
        self._now_ms = clock.now_ms
        self._scan: Iterator[tuple[Any, Any]] | None = None
        self._next_scan_ms = 0

    def _expired_before(self) -> int:
        """Return the time (ms); values last accessed at or before it have expired."""
        return self._now_ms() - self._ttl_ms

    def prune(self, stored: Any) -> Any:
        """Return the part of a stored value that has not expired, None if nothing is left."""
        return stored if stored[0] > self._expired_before() else None

    def _clean_some(self) -> None:
        if self._scan is None:
            # Nothing expires sooner than one time to live after it was written, so checking more often is useless.
            now_ms = self._now_ms()
            if now_ms < self._next_scan_ms:
                return
            self._next_scan_ms = now_ms + self._ttl_ms // 4 + 1
            self._scan = self._table.scan()
        for _ in range(self._settings.cleanup_entries):
            entry = next(self._scan, None)
            if entry is None:
                self._scan = None
                return
            stored = self._table.get(*entry)
            if stored is not None:
                left = self.prune(stored)
                if left is None:
                    self._table.remove(*entry)
                elif left is not stored:
                    self._table.put(entry[0], left, entry[1])

    def remove(self, key: Any, namespace: Any = VOID) -> None:
        """See ``KeyedTable``."""
        self._table.remove(key, namespace)

    def items(self) -> Iterator[tuple[Any, Any, Any]]:
        """See ``KeyedTable``; expired values are omitted."""
        for key, namespace in self._table.scan():
            value = self._peek(key, namespace)
            if value is not None:
                yield key, namespace, value

    def _peek(self, key: Any, namespace: Any) -> Any:
        """Return the value without the access time and without updating it."""
        stored = self._table.get(key, namespace)
        left = None if stored is None else self.prune(stored)
        return None if left is None else self._bare(left)

    def _bare(self, stored: Any) -> Any:
        return stored[1]

    def scan(self) -> Iterator[tuple[Any, Any]]:
        """See ``KeyedTable``."""
        return self._table.scan()  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return len(self._table)


class TtlValueTable(TtlTable):
    """Single values that expire."""

    def get(self, key: Any, namespace: Any = VOID) -> Any:
        """See ``KeyedTable``."""
        self._clean_some()
        stored = self._table.get(key, namespace)
        if stored is None:
            return None
        accessed_ms, value = stored
        if accessed_ms <= self._expired_before():
            self._table.remove(key, namespace)
            return value if self._settings.return_expired else None
        if self._settings.update_on_read:
            self._table.put(key, (self._now_ms(), value), namespace)
        return value

    def put(self, key: Any, value: Any, namespace: Any = VOID) -> None:
        """See ``KeyedTable``."""
        self._clean_some()
        self._table.put(key, (self._now_ms(), value), namespace)


class TtlListTable(TtlTable, ListTable):
    """Lists whose elements expire one by one."""

    def prune(self, stored: Any) -> Any:
        """See ``TtlTable``."""
        before = self._expired_before()
        left = [pair for pair in stored if pair[0] > before]
        return stored if len(left) == len(stored) else left or None

    def _bare(self, stored: Any) -> Any:
        return [value for _, value in stored]

    def get(self, key: Any, namespace: Any = VOID) -> Any:
        """See ``KeyedTable``."""
        self._clean_some()
        stored = self._table.get(key, namespace)
        if stored is None:
            return None
        left = self.prune(stored)
        if left is None:
            self._table.remove(key, namespace)
        elif self._settings.update_on_read:
            now_ms = self._now_ms()
            self._table.put(key, [(now_ms, value) for _, value in left], namespace)
        elif left is not stored:
            self._table.put(key, left, namespace)
        shown = stored if self._settings.return_expired else left
        return None if shown is None else self._bare(shown)

    def put(self, key: Any, value: Any, namespace: Any = VOID) -> None:
        """See ``KeyedTable``."""
        self._clean_some()
        now_ms = self._now_ms()
        self._table.put(key, [(now_ms, element) for element in value], namespace)

    def append(self, key: Any, value: Any, namespace: Any = VOID) -> None:
        """See ``ListTable``."""
        self._clean_some()
        self._table.append(key, (self._now_ms(), value), namespace)

    def extend(self, key: Any, values: Iterable[Any], namespace: Any = VOID) -> None:
        """See ``ListTable``."""
        self._clean_some()
        now_ms = self._now_ms()
        self._table.extend(key, [(now_ms, value) for value in values], namespace)


class TtlMapTable(TtlTable, MapTable):
    """Maps whose entries expire one by one."""

    def prune(self, stored: Any) -> Any:
        """See ``TtlTable``."""
        before = self._expired_before()
        left = {map_key: pair for map_key, pair in stored.items() if pair[0] > before}
        return stored if len(left) == len(stored) else left or None

    def _bare(self, stored: Any) -> Any:
        return {map_key: value for map_key, (_, value) in stored.items()}

    def get(self, key: Any, namespace: Any = VOID) -> Any:
        """See ``KeyedTable``."""
        return dict(self.entries(key, namespace)) or None

    def put(self, key: Any, value: Any, namespace: Any = VOID) -> None:
        """See ``KeyedTable``."""
        self._clean_some()
        now_ms = self._now_ms()
        self._table.put(key, {map_key: (now_ms, element) for map_key, element in value.items()}, namespace)

    def get_entry(self, key: Any, map_key: Any, namespace: Any = VOID) -> Any:
        """See ``MapTable``."""
        self._clean_some()
        stored = self._table.get_entry(key, map_key, namespace)
        return None if stored is None else self._use(key, map_key, namespace, stored)

    def _use(self, key: Any, map_key: Any, namespace: Any, stored: tuple[int, Any]) -> Any:
        accessed_ms, value = stored
        if accessed_ms <= self._expired_before():
            self._table.remove_entry(key, map_key, namespace)
            return value if self._settings.return_expired else None
        if self._settings.update_on_read:
            self._table.put_entry(key, map_key, (self._now_ms(), value), namespace)
        return value

    def put_entry(self, key: Any, map_key: Any, value: Any, namespace: Any = VOID) -> None:
        """See ``MapTable``."""
        self._clean_some()
        self._table.put_entry(key, map_key, (self._now_ms(), value), namespace)

    def remove_entry(self, key: Any, map_key: Any, namespace: Any = VOID) -> None:
        """See ``MapTable``."""
        self._table.remove_entry(key, map_key, namespace)

    def entries(self, key: Any, namespace: Any = VOID) -> Iterator[tuple[Any, Any]]:
        """See ``MapTable``."""
        self._clean_some()
        for map_key, stored in self._table.entries(key, namespace):
            live = stored[0] > self._expired_before()
            value = self._use(key, map_key, namespace, stored)
            if live or self._settings.return_expired:
                yield map_key, value

    def has_entries(self, key: Any, namespace: Any = VOID) -> bool:
        """See ``MapTable``."""
        if self._settings.return_expired:
            return bool(self._table.has_entries(key, namespace))
        before = self._expired_before()
        return any(accessed_ms > before for _, (accessed_ms, _) in self._table.entries(key, namespace))


def with_ttl(table: KeyedTable, storage: str, settings: TtlSettings, clock: Clock) -> TtlTable:
    """Return a table whose values expire; ``storage`` is ``value``, ``list`` or ``map``."""
    kinds: dict[str, type[TtlTable]] = {"value": TtlValueTable, "list": TtlListTable, "map": TtlMapTable}
    invariant(settings.ttl_ms > 0, f"a time to live of {settings.ttl_ms} ms")
    return kinds[storage](table, settings, clock)


def split_times(storage: str, stored: Any) -> tuple[Any, list[int]]:
    """Return a stored value without its access times, and these (ms), in the order of its elements."""
    if storage == "list":
        return [value for _, value in stored], [accessed_ms for accessed_ms, _ in stored]
    if storage == "map":
        return {key: value for key, (_, value) in stored.items()}, [accessed_ms for accessed_ms, _ in stored.values()]
    return stored[1], [stored[0]]


def join_times(storage: str, bare: Any, accessed_ms: Iterable[int]) -> Any:
    """Return a value with access times (ms) for its elements."""
    if storage == "list":
        return list(zip(accessed_ms, bare, strict=False))
    if storage == "map":
        return dict(zip(bare, zip(accessed_ms, bare.values(), strict=False), strict=True))
    return next(iter(accessed_ms)), bare
