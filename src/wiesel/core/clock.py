"""Internal. The engine's only access to the wall clock, replaceable in tests and simulation."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Milliseconds since the epoch, and a monotonic clock in seconds."""

    def now_ms(self) -> int:
        """Return the wall-clock time in ms since the epoch."""
        ...

    def monotonic_s(self) -> float:
        """Return seconds of a monotonic clock."""
        ...


class SystemClock:
    """The machine's clocks. If the wall clock is set back, time continues from its last value, as timers would otherwise be delayed."""

    _SET_BACK_MS = 1_000
    """Smaller steps back come from concurrent readings and clock corrections: time is constant until it is reached."""

    def __init__(self) -> None:
        self._latest_ms = 0
        self._ahead_ms = 0

    def now_ms(self) -> int:
        """Return the wall-clock time in ms since the epoch, which never decreases."""
        wall_ms = time.time_ns() // 1_000_000
        now_ms = wall_ms + self._ahead_ms
        latest_ms = self._latest_ms
        if now_ms >= latest_ms:
            self._latest_ms = now_ms
            return now_ms
        if latest_ms - now_ms > self._SET_BACK_MS:
            self._ahead_ms = latest_ms - wall_ms
        return latest_ms

    def monotonic_s(self) -> float:
        """Return seconds of a monotonic clock."""
        return time.monotonic()


class ManualClock:
    """A clock that is advanced manually; both readings advance together."""

    def __init__(self, now_ms: int = 0) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        """Return the time set last, in ms."""
        return self._now_ms

    def monotonic_s(self) -> float:
        """Return the time set last, in seconds."""
        return self._now_ms / 1000.0

    def advance(self, by_ms: int) -> None:
        """Move the clock forward by ``by_ms`` milliseconds."""
        self._now_ms += by_ms

    def set(self, now_ms: int) -> None:
        """Set the clock; it may jump back, as wall clocks do."""
        self._now_ms = now_ms


class PausableClock:
    """A wrapper of a clock whose monotonic reading stops while it is paused."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._paused_since_s: float | None = None
        self._paused_s = 0.0

    def now_ms(self) -> int:
        """Return the wall-clock time in ms since the epoch, which no pause stops."""
        return self._clock.now_ms()

    def monotonic_s(self) -> float:
        """Return seconds of a monotonic clock, excluding pauses."""
        now_s = self._clock.monotonic_s() if self._paused_since_s is None else self._paused_since_s
        return now_s - self._paused_s

    def set_paused(self, paused: bool) -> None:
        """Pause or resume the clock; idempotent."""
        if paused and self._paused_since_s is None:
            self._paused_since_s = self._clock.monotonic_s()
        elif not paused and self._paused_since_s is not None:
            self._paused_s += self._clock.monotonic_s() - self._paused_since_s
            self._paused_since_s = None
