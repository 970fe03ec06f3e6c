"""Internal. Arrival times of the barriers of a checkpoint: start delay and alignment duration."""

from __future__ import annotations

from wiesel.core.clock import Clock
from wiesel.wire.events import Barrier


class BarrierTimes:
    """Times of the pending checkpoint and of the last one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: int | None = None
        self._since_s = 0.0
        self._start_delay_ms = 0.0
        self._alignment_ms = 0.0

    def watch(self, pending: Barrier | None) -> None:
        """Set the checkpoint that waits for barriers, if any."""
        if pending is None:
            self._waiting = None
        elif pending.checkpoint_id != self._waiting:
            # Set before the pending barrier, as ``metrics`` may be called concurrently.
            self._since_s = self._clock.monotonic_s()
            self._waiting = pending.checkpoint_id
            self._start_delay_ms = max(0.0, self._clock.now_ms() - pending.timestamp_ms)

    def complete(self, barrier: Barrier) -> tuple[float, float]:
        """All barriers are there; return (alignment, start delay) in ms."""
        if barrier.checkpoint_id == self._waiting:
            self._alignment_ms = (self._clock.monotonic_s() - self._since_s) * 1e3
        else:
            self._alignment_ms = 0.0
            self._start_delay_ms = max(0.0, self._clock.now_ms() - barrier.timestamp_ms)
        self._waiting = None
        return self._alignment_ms, self._start_delay_ms

    def given_up(self) -> None:
        """Discard the pending checkpoint, which was aborted."""
        self._waiting = None

    def metrics(self) -> dict[str, int]:
        """Return Flink's metrics, in ns; for a running alignment the time so far. Thread-safe."""
        under_way_s = self._clock.monotonic_s() - self._since_s if self._waiting is not None else None
        aligned_ms = self._alignment_ms if under_way_s is None else under_way_s * 1e3
        return {"checkpointAlignmentTime": round(aligned_ms * 1e6), "checkpointStartDelayNanos": round(self._start_delay_ms * 1e6)}
