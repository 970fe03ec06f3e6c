"""Internal. Read-only inspection of the state of an operator under test."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

from wiesel.core.errors import StateMigrationError
from wiesel.runtime.lazy_backend import LazyBackend
from wiesel.runtime.windows.contents import CONTENTS
from wiesel.runtime.windows.layout import SLICES, TABLES
from wiesel.runtime.windows.merging import MERGING_SET
from wiesel.runtime.windows.namespaces import decode_window, encode_window
from wiesel.state.backend import VOID, KeyedTable, StateBackend

__all__ = ["InspectedBackend", "Timer"]


class Timer(NamedTuple):
    """A pending timer: its time (ms), its key, and its window for a window operator."""

    timestamp: int
    key: Any
    window: Any = None


class InspectedBackend(LazyBackend):
    """A backend that records its tables, for inspection."""

    def __init__(self, make: Callable[[], StateBackend]) -> None:
        super().__init__(make)
        self._tables: dict[str, KeyedTable] = {}

    def table(self, name: str, **options: Any) -> KeyedTable:
        """See ``StateBackend``."""
        table = self._tables[name] = super().table(name, **options)
        return table

    def state_of(self, key: Any, window: Any = None) -> dict[str, Any]:
        """Return the contents of the user functions' states for a key (and a window), by name."""
        namespace = VOID if window is None else encode_window(window)
        names = [name for name in self._tables if name not in TABLES]
        return {name: value for name in names if (value := self._entries(name, key).get(namespace)) is not None}

    def windows_of(self, key: Any) -> dict[Any, Any]:
        """Return the windows of a key, or their shared slices, with their contents, in the order of their ends."""
        contents = self._entries(SLICES if SLICES in self._tables else CONTENTS, key)
        if MERGING_SET in self._tables:
            places = self._entries(MERGING_SET, key).get(VOID) or {}
            contents = {window: contents[place] for window, place in places.items() if place in contents}
        windows = ((decode_window(namespace), value) for namespace, value in contents.items())
        return dict(sorted(windows, key=lambda found: found[0].max_timestamp()))

    def _entries(self, name: str, key: Any) -> dict[Any, Any]:
        """Return the values of a key by namespace. Items are walked through, as reading may count as an access (time to live)."""
        table = self._tables.get(name)
        return {} if table is None else {namespace: copy.deepcopy(value) for at, namespace, value in table.items() if at == key}

    def broadcast_state(self, name: str) -> dict[Any, Any] | None:
        """Return the entries of a broadcast state, None if it does not exist."""
        known = self.used and name in self.operator_state.broadcast_names()
        return copy.deepcopy(dict(self.operator_state.get_broadcast(name))) if known else None

    def operator_list(self, name: str) -> list[Any] | None:
        """Return the entries of an operator list state of either kind, None if it does not exist."""
        if not self.used or name not in self.operator_state.list_names():
            return None
        try:
            return copy.deepcopy(list(self.operator_state.get_list(name)))
        except StateMigrationError:
            return copy.deepcopy(list(self.operator_state.get_union_list(name)))

    def timers_of(self, name: str) -> list[Timer]:
        """Return the timers of a queue (``event`` or ``processing``), earliest first."""
        if not self.used:
            return []
        timers = (Timer(t, key, None if window is VOID else decode_window(window)) for t, key, window in self.timers(name).items())
        return sorted(timers, key=lambda timer: timer.timestamp)
