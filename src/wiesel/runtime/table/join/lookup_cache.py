"""Internal. Caches of lookup joins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wiesel.core.clock import Clock
from wiesel.spi.table.lookup import LookupCache

__all__ = ["FullTable", "KnownRows", "NothingKnown", "RecentRows"]

Key = tuple[Any, ...]
Rows = tuple[tuple[Any, ...], ...]


class KnownRows(ABC):
    """Rows by key."""

    @abstractmethod
    def get(self, key: Key) -> Rows | None:
        """Return the rows of a key; None if it is not cached."""

    @abstractmethod
    def put(self, key: Key, rows: Rows) -> None:
        """Add the result of a lookup."""


class NothingKnown(KnownRows):
    """No cache."""

    def get(self, key: Key) -> Rows | None:
        """Return None."""
        return None

    def put(self, key: Key, rows: Rows) -> None:
        """Forget it."""


class RecentRows(KnownRows):
    """Partial cache: holds recently used keys, for some time and up to a number of rows."""

    def __init__(self, settings: LookupCache, clock: Clock) -> None:
        self._settings = settings
        self._now_ms = clock.now_ms
        self._known: OrderedDict[Key, tuple[int, int, Rows]] = OrderedDict()  # time of write, time of last access, rows; in order of access
        self._count = 0

    def get(self, key: Key) -> Rows | None:
        """Return the rows of a key."""
        found = self._known.get(key)
        if found is None:
            return None
        written, accessed, rows = found
        now, settings = self._now_ms(), self._settings
        for since, limit in ((written, settings.expire_after_write_ms), (accessed, settings.expire_after_access_ms)):
            if limit is not None and now - since >= limit:
                self._drop(key)
                return None
        self._known[key] = (written, now, rows)
        self._known.move_to_end(key)
        return rows

    def put(self, key: Key, rows: Rows) -> None:
        """Cache the rows of a key, evicting others if there are too many."""
        if not rows and not self._settings.caches_missing:
            return
        if key in self._known:
            self._drop(key)
        now = self._now_ms()
        self._known[key] = (now, now, rows)
        self._count += max(1, len(rows))
        while self._settings.max_rows is not None and self._count > self._settings.max_rows:
            self._drop(next(iter(self._known)))

    def _drop(self, key: Key) -> None:
        self._count -= max(1, len(self._known.pop(key)[2]))


class FullTable(KnownRows):
    """Full cache: holds the whole table, and reloads it periodically."""

    def __init__(self, settings: LookupCache, clock: Clock, load: Callable[[], Iterable[tuple[Any, ...]]], columns: Sequence[int]) -> None:
        self._settings = settings
        self._now_ms = clock.now_ms
        self._load = load
        self._columns = columns
        self._rows: dict[Key, list[tuple[Any, ...]]] = {}
        self._loaded_at: int | None = None

    def get(self, key: Key) -> Rows | None:
        """Return the rows of a key."""
        now = self._now_ms()
        if self._loaded_at is None or now - self._loaded_at >= self._settings.reload_ms:
            self._rows = {}
            for row in self._load():
                self._rows.setdefault(tuple(row[column] for column in self._columns), []).append(row)
            self._loaded_at = now
        return tuple(self._rows.get(key, ()))

    def put(self, key: Key, rows: Rows) -> None:
        """Do nothing: there are no lookups."""
