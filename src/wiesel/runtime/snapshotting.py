"""Internal. A task's snapshot between the synchronous and the asynchronous part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from wiesel.checkpoint.snapshot import CheckpointStats, OperatorStateSnapshot, TaskSnapshot
from wiesel.core.clock import Clock
from wiesel.runtime.in_flight import InFlightSnapshot
from wiesel.runtime.operator import OperatorSnapshot
from wiesel.state.backend import SnapshotTask, StateFile, StateFileWriter, StateHandle


class _CountingWriter:
    """Delegates to another writer, and sums up the written bytes: a snapshot also refers to files of earlier ones."""

    def __init__(self, writer: StateFileWriter) -> None:
        self._writer = writer
        self.bytes = 0

    def write(self, name_hint: str, data: Sequence[bytes | memoryview]) -> StateFile:
        """See ``StateFileWriter``."""
        file = self._writer.write(name_hint, data)
        self.bytes += file.size
        return file


class PendingSnapshot:
    """Collects the synchronous parts of all operators; ``write`` stores them and creates the acknowledgement."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._parts: list[tuple[str, OperatorSnapshot | None, SnapshotTask | None]] = []
        self._in_flight: tuple[str, InFlightSnapshot] | None = None
        self._stats = CheckpointStats()

    def add(self, operator_id: str, taken: OperatorSnapshot | None, state: SnapshotTask | None) -> None:
        """Add one operator."""
        if taken is not None or state is not None:
            self._parts.append((operator_id, taken, state))

    def add_in_flight(self, operator_id: str, buffers: InFlightSnapshot) -> None:
        """Add the records in flight to the task whose first operator this is."""
        self._in_flight = (operator_id, buffers)

    def measured(self, **times_and_sizes: Any) -> None:
        """Add statistics."""
        self._stats = replace(self._stats, **times_and_sizes)

    def without_state(self) -> TaskSnapshot:
        """Return the acknowledgement without the state of the backends."""
        return TaskSnapshot({i: _operator_snapshot(taken, None) for i, taken, _ in self._parts}, self._stats)

    def write(self, writer: StateFileWriter) -> TaskSnapshot:
        """Write all state; called once, from any thread."""
        started_s = self._clock.monotonic_s()
        operators: dict[str, OperatorStateSnapshot] = {}
        counting = _CountingWriter(writer)
        total = 0
        for operator_id, taken, state in self._parts:
            handle = state.run(counting) if state is not None else None
            if handle is not None:
                total += sum(f.size for f in handle.files)
            operators[operator_id] = _operator_snapshot(taken, handle)
        persisted = 0
        if self._in_flight is not None:
            operator_id, buffers = self._in_flight
            operators[operator_id] = replace(operators.get(operator_id, OperatorStateSnapshot()), in_flight=buffers.run(writer))
            persisted = buffers.bytes
        stats = replace(
            self._stats,
            async_ms=(self._clock.monotonic_s() - started_s) * 1e3,
            state_bytes=total + persisted,
            checkpointed_bytes=counting.bytes + persisted,
            persisted_bytes=persisted,
        )
        return TaskSnapshot(operators, stats)


def _operator_snapshot(taken: OperatorSnapshot | None, state: StateHandle | None) -> OperatorStateSnapshot:
    taken = taken or OperatorSnapshot()
    return OperatorStateSnapshot(
        state=state,
        reader_splits=taken.reader_splits,
        writer_state=taken.writer_state,
        committables=taken.committables or [],
        committable_counts=taken.committable_counts,
    )
