"""Internal. A task's snapshot between its synchronous and its asynchronous part."""

from __future__ import annotations

from dataclasses import replace

from wiesel.checkpoint.snapshot import CheckpointStats, OperatorStateSnapshot, TaskSnapshot
from wiesel.core.clock import Clock
from wiesel.runtime.operator import OperatorSnapshot
from wiesel.state.backend import SnapshotTask, StateFileWriter, StateHandle


class PendingSnapshot:
    """Collects the synchronous parts of all operators; ``write`` stores them and makes the acknowledgement."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._parts: list[tuple[str, OperatorSnapshot | None, SnapshotTask | None]] = []
        self._stats = CheckpointStats()

    def add(self, operator_id: str, taken: OperatorSnapshot | None, state: SnapshotTask | None) -> None:
        """Add one operator."""
        if taken is not None or state is not None:
            self._parts.append((operator_id, taken, state))

    def measured(self, *, sync_ms: float, alignment_ms: float, start_delay_ms: float) -> None:
        """Note the times of the synchronous part."""
        self._stats = replace(self._stats, sync_ms=sync_ms, alignment_ms=alignment_ms, start_delay_ms=start_delay_ms)

    def without_state(self) -> TaskSnapshot:
        """Return the acknowledgement without what the backends hold."""
        return TaskSnapshot({i: _operator_snapshot(taken, None) for i, taken, _ in self._parts}, self._stats)

    def write(self, writer: StateFileWriter) -> TaskSnapshot:
        """Write all state; any thread, once."""
        started_s = self._clock.monotonic_s()
        operators: dict[str, OperatorStateSnapshot] = {}
        written = total = 0
        for operator_id, taken, state in self._parts:
            handle = state.run(writer) if state is not None else None
            if handle is not None:
                total += sum(f.size for f in handle.files)
                written += handle.files[-1].size if handle.files else 0
            operators[operator_id] = _operator_snapshot(taken, handle)
        stats = replace(
            self._stats,
            async_ms=(self._clock.monotonic_s() - started_s) * 1e3,
            state_bytes=total,
            checkpointed_bytes=written,
        )
        return TaskSnapshot(operators, stats)


def _operator_snapshot(taken: OperatorSnapshot | None, state: StateHandle | None) -> OperatorStateSnapshot:
    taken = taken or OperatorSnapshot()
    return OperatorStateSnapshot(
        state=state, reader_splits=taken.reader_splits, writer_state=taken.writer_state, committables=taken.committables or []
    )
