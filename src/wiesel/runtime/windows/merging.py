"""Internal. Merging windows: the windows of a key, and the state window of each.

When windows merge, moving their contents would be expensive; so the resulting window continues to use the namespace of one of them (the
*state window*), and only the contents of the others are merged into it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from wiesel.core.errors import invariant
from wiesel.runtime.windows.namespaces import decode_window, encode_window
from wiesel.spi.windows.assigner import MergingWindowAssigner
from wiesel.spi.windows.session_assigners import (
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    ProcessingTimeSessionWindows,
)
from wiesel.spi.windows.window import TimeWindow
from wiesel.state.backend import KeyedTable

__all__ = ["MERGING_SET", "MergeListener", "MergingWindowSet"]

MERGING_SET = "merging-window-set"

_SESSIONS = {
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    ProcessingTimeSessionWindows,
}


class MergeListener(Protocol):
    """Is notified of each merge, to update triggers, timers and contents; all windows are namespaces."""

    def merged(self, result: Any, sources: list[Any], state_window: Any, other_state_windows: list[Any]) -> None:
        """``sources`` were merged into ``result`` with ``state_window``; contents under the others must be merged into it."""
        ...


class _Merges(MergingWindowAssigner.MergeCallback[Any]):
    """Records the merges requested by the assigner."""

    def __init__(self) -> None:
        self.groups: list[tuple[Any, list[Any]]] = []

    def merge(self, to_be_merged: Iterable[Any], merge_result: Any) -> None:
        sources = [encode_window(w) for w in to_be_merged]
        self.groups.append((encode_window(merge_result), sorted(sources) if isinstance(merge_result, TimeWindow) else sources))


class MergingWindowSet:
    """The windows of all keys; a key's mapping window -> state window is read on access and written on change."""

    def __init__(self, assigner: MergingWindowAssigner[Any, Any], table: KeyedTable, listener: MergeListener) -> None:
        self._assigner = assigner
        self._table = table
        self._listener = listener
        # The merge rule of the built-in sessions is known: windows that overlap or touch are merged.
        self._sessions = type(assigner) in _SESSIONS

    def state_window(self, key: Any, namespace: Any) -> Any:
        """Return the state window of a window, None if there is no such window."""
        mapping = self._table.get(key)
        return None if mapping is None else mapping.get(namespace)

    def retire(self, key: Any, namespace: Any) -> None:
        """Forget a window."""
        mapping = self._table.get(key) or {}
        invariant(namespace in mapping, f"window {namespace} of key {key!r} is not in the set of windows in flight")
        del mapping[namespace]
        if mapping:
            self._table.put(key, mapping)
        else:
            self._table.remove(key)

    def add(self, key: Any, namespace: Any) -> tuple[Any, Any]:
        """Add a window and merge it with others as needed.

        Returns:
            The window that contains the new one, and its state window.
        """
        mapping: dict[Any, Any] = self._table.get(key) or {}
        if namespace in mapping and len(mapping) == 1:
            return namespace, mapping[namespace]
        groups = self._session_groups(mapping, namespace) if self._sessions else self._assigner_groups(mapping, namespace)
        actual = namespace
        for result, sources in groups:
            if namespace in sources:
                actual = result
            self._merge(mapping, result, [s for s in sources if s in mapping])
        if actual not in mapping:
            mapping[actual] = actual
        self._table.put(key, mapping)
        return actual, mapping[actual]

    def _merge(self, mapping: dict[Any, Any], result: Any, sources: list[Any]) -> None:
        if not sources:
            # The assigner replaced the new window.
            mapping[result] = result
            return
        state_windows = [mapping.pop(s) for s in sources]
        mapping[result] = state_windows[0]
        if sources != [result]:
            # A window that already covers the new one is unchanged; all other cases are merges.
            self._listener.merged(result, sources, state_windows[0], state_windows[1:])

    def _session_groups(self, mapping: dict[Any, Any], namespace: Any) -> list[tuple[Any, list[Any]]]:
        # The existing windows neither overlap nor touch each other, so the new one forms at most one group.
        start, end = namespace
        touched = [w for w in mapping if w[0] <= end and w[1] >= start]
        if not touched or touched == [namespace]:
            return []
        touched.sort()
        return [((min(start, touched[0][0]), max(end, touched[-1][1])), [*touched, namespace])]

    def _assigner_groups(self, mapping: dict[Any, Any], namespace: Any) -> list[tuple[Any, list[Any]]]:
        windows = [decode_window(w) for w in mapping]
        if namespace not in mapping:
            windows.append(decode_window(namespace))
        merges = _Merges()
        self._assigner.merge_windows(windows, merges)
        return merges.groups
