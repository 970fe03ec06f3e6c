"""Internal. How far producers may run ahead of a task: as many bytes as it takes in a second or so (Flink's buffer debloating).

What lies between two tasks is what a barrier has to wait behind, or what an unaligned checkpoint has to hold. Spark's shuffle and the
sockets hold some hundred kilobytes, however long it takes to work them off. So a task that is slow tells its producers how much it has
taken of each channel and how much may be waiting there; one that has nothing to do lets them send more, and soon as much as they like.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

FIRST_BYTES = 1 << 10
_LEAST_BYTES = 256
_MOST_BYTES = 1 << 20
"""More does not fit between two tasks anyway: no limit."""

_GROWTH = 4


@dataclass(frozen=True)
class Taken:
    """What was taken of each channel so far, and how much may wait in each; None: any amount."""

    bytes_by_channel: dict[tuple[int, int], int]
    window: int | None


class InputFlow:
    """Watches what a task takes of its channels.

    Args:
        channels: The channels.
        target_ms: In which time the task should be able to take what waits.
        period_ms: How often that is worked out.
    """

    def __init__(self, channels: Iterable[tuple[int, int]], target_ms: int, period_ms: int) -> None:
        self._taken = dict.fromkeys(channels, 0)
        self._target_ms = target_ms
        self._period_ms = period_ms
        self._window: int | None = FIRST_BYTES
        self._told = dict(self._taken)
        self._total = self._total_then = 0
        self._since_ms: int | None = None
        self._starved = False

    def took(self, channel: tuple[int, int], size: int) -> None:
        """A buffer of that size is processed now, or held back."""
        self._taken[channel] += size
        self._total += size

    def deadline_ms(self, now_ms: int) -> int | None:
        """Return when ``on_time`` has to be called next, or None."""
        if self._total == self._total_then:
            # A buffer may take longer than a period: then the period goes on until the next one.
            return None
        if self._since_ms is None:
            self._since_ms = now_ms
        return self._since_ms + self._period_ms

    def on_time(self, now_ms: int) -> Taken | None:
        """Return what producers have to know if a period is over."""
        if self._since_ms is None or now_ms < self._since_ms + self._period_ms:
            return None
        per_channel = (self._total - self._total_then) / (now_ms - self._since_ms) * self._target_ms / len(self._taken)
        self._since_ms, self._total_then = now_ms, self._total
        before = self._window
        if self._starved:
            self._starved = False  # it could have taken more: this rate says nothing
        else:
            wanted = per_channel if before is None else (before + per_channel) / 2
            self._window = None if wanted >= _MOST_BYTES else max(_LEAST_BYTES, int(wanted))
        return None if before is None and self._window is None else self._tell()

    def on_idle(self) -> Taken | None:
        """The task has nothing to do; return what producers have to know if a limit may be the reason."""
        self._starved = True
        if self._window is None or not self._limits_somebody():
            return None
        wider = self._window * _GROWTH
        self._window = None if wider >= _MOST_BYTES else wider
        return self._tell()

    def _limits_somebody(self) -> bool:
        """Return whether so much was taken since producers were told that one of them may have come to the limit."""
        told = self._told
        return any(taken - told[channel] >= (self._window or 0) / 2 for channel, taken in self._taken.items() if taken > told[channel])

    def _tell(self) -> Taken:
        self._told = dict(self._taken)
        return Taken(dict(self._taken), self._window)
