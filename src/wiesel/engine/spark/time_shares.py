"""Internal. Time shares of a task: busy, idle (waiting for input), backpressured (waiting for output)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Literal

__all__ = ["TimeShares"]

Wait = Literal["idle", "backpressured"]

_MEASURE_OVER_S = 0.2


class TimeShares:
    """Shares of the time since the last query. One thread waits, any thread may query, also during a wait."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._spent: dict[Wait, float] = {"idle": 0.0, "backpressured": 0.0}
        self._waiting: tuple[Wait, float] | None = None
        self._measured = (clock(), 0.0, 0.0)
        self._shares = {"idleTimeMsPerSecond": 0, "backPressuredTimeMsPerSecond": 0, "busyTimeMsPerSecond": 0}

    def begin(self, what: Wait) -> None:
        """Note that the task waits from now on."""
        with self._lock:
            self._waiting = (what, self._clock())

    def end(self) -> None:
        """Mark the end of a wait."""
        with self._lock:
            if self._waiting is not None:
                what = self._waiting[0]
                self._spent[what] = self._total(what)
                self._waiting = None

    def _total(self, what: Wait) -> float:
        waited = self._clock() - self._waiting[1] if self._waiting is not None and self._waiting[0] == what else 0.0
        return self._spent[what] + waited

    def metrics(self) -> dict[str, int]:
        """Return the shares in ms per second, by Flink's names; over very short times the last ones are returned."""
        with self._lock:
            then, idle_then, blocked_then = self._measured
            now, idle, blocked = self._clock(), self._total("idle"), self._total("backpressured")
            passed_s = now - then
            if passed_s >= _MEASURE_OVER_S:
                self._measured = (now, idle, blocked)
                idle_ms = min(1000, round((idle - idle_then) / passed_s * 1000))
                blocked_ms = min(1000 - idle_ms, round((blocked - blocked_then) / passed_s * 1000))
                self._shares = {
                    "idleTimeMsPerSecond": idle_ms,
                    "backPressuredTimeMsPerSecond": blocked_ms,
                    "busyTimeMsPerSecond": 1000 - idle_ms - blocked_ms,
                }
            return self._shares
