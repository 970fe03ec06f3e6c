"""Internal. Keyed state of one operator in a range of key groups: the unit that one process reads."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from wiesel.core.clock import Clock, ManualClock, SystemClock
from wiesel.state.backend import KeyGroupRange, StateBackend, StateFileReader, StateHandle
from wiesel.state.factory import make_backend
from wiesel.state.operator_state import OPERATOR_STATE

__all__ = ["Expiry", "KeyedPart", "keyed_parts", "working_backend"]


@dataclass(frozen=True)
class Expiry:
    """The clock for the expiry of state with a TTL.

    Attributes:
        now_ms: The time; None for the machine's clock.
        shown: Whether expired values that are still stored are shown.
    """

    now_ms: int | None = None
    shown: bool = False

    @property
    def clock(self) -> Clock:
        """The clock."""
        return SystemClock() if self.now_ms is None else ManualClock(self.now_ms)


@dataclass(frozen=True)
class KeyedPart:
    """The handle of an old subtask and a range of its key groups. Can be pickled."""

    handle: StateHandle
    groups: KeyGroupRange
    files: StateFileReader
    backend: str
    expiry: Expiry

    @contextmanager
    def opened(self) -> Iterator[StateBackend]:
        """Yield the state in its own backend.

        Raises:
            CorruptCheckpointError: If a file is missing, incomplete or altered.
        """
        with working_backend(self.backend, self.groups, clock=self.expiry.clock) as backend:
            backend.restore([self.handle], self.files)
            yield backend


@contextmanager
def working_backend(
    kind: str, groups: KeyGroupRange, *, clock: Clock, operator_id: str = "state-processor", subtask: int = 0, parallelism: int = 1
) -> Iterator[StateBackend]:
    """Yield an empty backend; close it and remove its files afterwards."""
    directory = tempfile.mkdtemp(prefix="wiesel-state-")
    try:
        backend = make_backend(
            kind,
            operator_id=operator_id,
            subtask=subtask,
            parallelism=parallelism,
            key_group_range=groups,
            local_dir=directory,
            clock=clock,
            options={},
        )
        try:
            yield backend
        finally:
            backend.close()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def keyed_parts(handles: Sequence[StateHandle], files: StateFileReader, backend: str, expiry: Expiry, count: int | None) -> list[KeyedPart]:
    """Return the parts: one per old subtask, or about ``count`` if that is greater, by a split of their key groups."""
    keyed = [_keyed_only(handle) for handle in handles if handle.key_group_start < handle.key_group_end]
    keyed = [handle for handle in keyed if handle.files]
    each = 1 if count is None or not keyed else -(-count // len(keyed))
    parts = []
    for handle in keyed:
        first, last = handle.key_group_start, handle.key_group_end
        pieces = min(each, last - first)
        for i in range(pieces):
            start, end = first + (last - first) * i // pieces, first + (last - first) * (i + 1) // pieces
            groups = KeyGroupRange(start, end, handle.meta["max_parallelism"])
            parts.append(KeyedPart(handle, groups, files, backend, expiry))
    return parts


def _keyed_only(handle: StateHandle) -> StateHandle:
    count = handle.meta.get("operator_files", 0)
    return replace(handle, files=handle.files[: len(handle.files) - count], meta={**handle.meta, "operator_files": 0, OPERATOR_STATE: None})
