"""Internal. When the barriers of a checkpoint reach a task: how long after the trigger, and how long after each other."""

from __future__ import annotations

from wiesel.core.clock import Clock
from wiesel.wire.events import Barrier


class BarrierTimes:
    """Times of the checkpoint under way and of the last one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: int | None = None
        self._since_s = 0.0
        self._start_delay_ms = 0.0
        self._alignment_ms = 0.0

    def watch(self, pending: Barrier | None) -> None:
        """Tell which checkpoint waits for barriers, if one does."""
        if pending is None:
            self._waiting = None
        elif pending.checkpoint_id != self._waiting:
            # Before it is said that one waits, as ``metrics`` may be asked for meanwhile.
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
        """The checkpoint under way was given up."""
        self._waiting = None

    def metrics(self) -> dict[str, int]:
        """Return Flink's metrics, in ns; of an alignment that goes on, how long it has taken so far. Any thread may ask."""
        under_way_s = self._clock.monotonic_s() - self._since_s if self._waiting is not None else None
        aligned_ms = self._alignment_ms if under_way_s is None else under_way_s * 1e3
        return {"checkpointAlignmentTime": round(aligned_ms * 1e6), "checkpointStartDelayNanos": round(self._start_delay_ms * 1e6)}
