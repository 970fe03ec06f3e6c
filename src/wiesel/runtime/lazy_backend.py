"""Internal. A lazily created state backend, so that stateless operators have no cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from wiesel.state.backend import (
    KeyedTable,
    OperatorStateStore,
    SnapshotTask,
    StateBackend,
    StateFileReader,
    StateHandle,
    TimerQueue,
)
from wiesel.state.hashmap import HashMapBackend

if TYPE_CHECKING:
    import pyarrow as pa

    from wiesel.state.keyed_rows import GrownRows, ReplacedRows


class LazyBackend(StateBackend):
    """Creates the real backend on first use, or at a restore with state."""

    def __init__(self, make: Callable[[], StateBackend]) -> None:
        self._make = make
        self._backend: StateBackend | None = None

    @property
    def backend(self) -> StateBackend:
        """Return the real backend."""
        if self._backend is None:
            self._backend = self._make()
        return self._backend

    @property
    def used(self) -> bool:
        """Return whether the operator has any state."""
        return self._backend is not None

    @property
    def in_memory(self) -> bool:
        """See ``StateBackend``."""
        return self.backend.in_memory

    def table(self, name: str, **options: Any) -> KeyedTable:
        """See ``StateBackend``."""
        return self.backend.table(name, **options)

    def grown_rows(self, name: str, schema: pa.Schema, keys: Sequence[int]) -> GrownRows | None:
        """See ``StateBackend``."""
        return self.backend.grown_rows(name, schema, keys)

    def replaced_rows(self, name: str, schema: pa.Schema, keys: Sequence[int]) -> ReplacedRows | None:
        """See ``StateBackend``."""
        return self.backend.replaced_rows(name, schema, keys)

    def timers(self, name: str) -> TimerQueue:
        """See ``StateBackend``."""
        return self.backend.timers(name)

    @property
    def operator_state(self) -> OperatorStateStore:
        """See ``StateBackend``."""
        return self.backend.operator_state

    def restore(self, handles: Iterable[StateHandle], reader: StateFileReader) -> None:
        """See ``StateBackend``; nothing is created for an empty restore."""
        handles = list(handles)
        if handles:
            self.backend.restore(handles, reader)

    def clear_keyed(self) -> None:
        """Clear all keyed state; the backend keeps it in memory."""
        if isinstance(self._backend, HashMapBackend):
            self._backend.clear_keyed()

    def snapshot(self, checkpoint_id: int, *, full: bool = False) -> SnapshotTask:
        """See ``StateBackend``."""
        return self.backend.snapshot(checkpoint_id, full=full)

    def snapshot_failed(self, checkpoint_id: int) -> None:
        """See ``StateBackend``."""
        if self._backend is not None:
            self._backend.snapshot_failed(checkpoint_id)

    def size_bytes(self) -> int:
        """See ``StateBackend``."""
        return self._backend.size_bytes() if self._backend is not None else 0

    def close(self) -> None:
        """See ``StateBackend``."""
        if self._backend is not None:
            self._backend.close()
