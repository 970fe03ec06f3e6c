"""Internal. State by key and window, for triggers and window functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.runtime.operator import OperatorContext
from wiesel.runtime.runtime_context import KeyedStates
from wiesel.state.handles import make_state
from wiesel.state.key_context import KeyContext

__all__ = ["WindowStates"]


class WindowStates(KeyedStates):
    """States of the current key and of a window, which the operator sets as ``namespace``.

    A handle is created once per state and reused for all windows: it is valid during the call for which it was returned.
    """

    def __init__(self, context: OperatorContext, key_context: KeyContext) -> None:
        super().__init__(context, key_context)
        self._windows_key_context = key_context
        self._handles: dict[tuple[str, str], Any] = {}
        self.namespace: Any = None

    def _make(self, descriptor: Any) -> Any:
        handle = self._handles.get((descriptor.name, descriptor.kind))
        if handle is None:
            handle = make_state(descriptor, self._context.backend, self._windows_key_context, namespaced=True)
            self._handles[descriptor.name, descriptor.kind] = handle
        handle.namespace = self.namespace
        return handle

    get = _make

    def merge(self, descriptor: Any, sources: Iterable[Any]) -> None:
        """Merge a state of the windows ``sources`` into that of the current window and clear the sources.

        Raises:
            ProgramError: If state of this kind cannot be merged.
        """
        handle = self._make(descriptor)
        if not hasattr(handle, "merge_namespaces"):
            raise ProgramError(
                f"state {descriptor.name!r} is {descriptor.kind} state, which cannot be merged",
                hint="merge_partitioned_state takes list, reducing and aggregating state",
            )
        handle.merge_namespaces(self.namespace, sources)
