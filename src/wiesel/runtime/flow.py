"""Internal. Flow control by credits: limits the data in flight to what a task processes in about a second (Flink's buffer debloating).

A barrier waits behind the data in flight between two tasks, and an unaligned checkpoint has to store it. Spark's shuffle and the sockets
hold some hundred kilobytes, however long it takes to process them. So a task measures its service rate, the bytes per second that it
processes while it has input, and reports to its producers how much it has consumed of each channel and how much may be in flight. A task
whose service rate is above the capacity of the exchange sets no limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

FIRST_BYTES = 64
"""Initial limit: a buffer with one small record, as the cost of a record is unknown before the first measurement."""

_UNLIMITED_BYTES = 1 << 19
"""Per channel. The capacity of the exchange per channel is less than that: no limit is needed."""

_UNLIMITED_BUFFERS = 16
"""The exchange also holds some buffers of any size."""

_UNMEASURED_BYTES = 1 << 20
"""Per channel. Higher limits, which only occur with records larger than full buffers, are also bounded by the arrival rate."""

_HEADROOM = 2
"""Ratio of the limit to the arrivals within the target: the present limit may be what bounds the arrivals."""

_GROWTH, _BUSY_GROWTH = 4, 1.25
"""Growth factor of a limit per update for a task that waits for input, and for a busy one: larger buffers need fewer bytes per record."""

_ACTIVE_S = 5.0
"""Time after which an inactive channel no longer counts in the division of the limit."""

_LONG_TERM_TARGETS = 4
"""A receiver that consumes in bursts lets the task process a whole limit at once between two waits, and its short-term rate overestimates
the true one. So the lower of two rates is used: that of the last period, and that over this many times the target."""

_UPDATES = 4
"""Number of updates while producers send as much as a limit allows."""

_CHANGE = 0.25
"""Relative change below which no message is sent."""


@dataclass(frozen=True)
class Taken:
    """Consumed bytes and limit of each channel; None: unlimited."""

    bytes_by_channel: dict[tuple[int, int], int]
    window: int | None


class _ServiceRate:
    """Measures the bytes that a task processes per second while it has input; backpressure counts, idle time does not."""

    def __init__(self, over_s: float) -> None:
        self._over_s = over_s
        self._bytes = self._seconds = 0.0
        self._begun_bytes = 0
        self._since_s: float | None = None

    def begin(self, size: int, now_s: float) -> None:
        """Record that processing of a buffer begins and that of earlier ones has ended."""
        self._end_buffers(now_s)
        self._since_s = now_s
        self._begun_bytes += size

    def idle(self, now_s: float) -> None:
        """All buffers are processed."""
        self._end_buffers(now_s)
        self._since_s = None

    def _end_buffers(self, now_s: float) -> None:
        if self._since_s is None:
            return
        self._bytes += self._begun_bytes
        self._begun_bytes = 0
        self._seconds += now_s - self._since_s
        if self._seconds > 2 * self._over_s:
            # Exponential decay: old measurements count as much as those of one period.
            self._bytes *= self._over_s / self._seconds
            self._seconds = self._over_s

    def bytes_per_s(self, now_s: float) -> float | None:
        """Return the rate; None if it is too high to be measured, or nothing was processed yet."""
        rates = [self._bytes / self._seconds] if self._seconds > 0 else []
        if self._since_s is not None:
            seconds = self._seconds + now_s - self._since_s
            if seconds > 0:
                # An upper bound: processing of the present buffer may take much longer still.
                rates.append((self._bytes + self._begun_bytes) / seconds)
        return min(rates, default=None)


class InputFlow:
    """Measures the input rates of a task and computes limits for its channels.

    Args:
        channels: The channels.
        target_ms: Target time for processing the data in flight.
        period_ms: Interval of updates.
        clock: Returns seconds of a monotonic clock.
    """

    def __init__(self, channels: Iterable[tuple[int, int]], target_ms: int, period_ms: int, clock: Callable[[], float]) -> None:
        self._taken = dict.fromkeys(channels, 0)
        self._target_s = target_ms / 1e3
        self._period_ms = period_ms
        self._clock = clock
        self._rates = (_ServiceRate(period_ms / 1e3), _ServiceRate(_LONG_TERM_TARGETS * target_ms / 1e3))
        self._active_s: dict[tuple[int, int], float] = {}
        self._largest = 0.0
        self._window: int | None = FIRST_BYTES
        self._told = dict(self._taken)
        self._total = self._total_then = 0
        self._arrived = dict(self._taken)
        self._arrived_s: float | None = None
        self._per_s: float | None = None
        self._since_ms: int | None = None

    def took(self, channel: tuple[int, int], size: int) -> None:
        """Record that processing of a buffer of that size begins."""
        self.released(channel, size)
        self.processed(channel, size)

    def released(self, channel: tuple[int, int], size: int) -> None:
        """Record that a buffer of that size no longer counts as in flight, though it is processed later."""
        self._taken[channel] += size
        self._total += size

    def processed(self, channel: tuple[int, int], size: int) -> None:
        """Record that processing of an earlier released buffer begins."""
        now_s = self._clock()
        for rate in self._rates:
            rate.begin(size, now_s)
        self._active_s[channel] = now_s
        self._largest = max(float(size), self._largest * 0.99)
        if self._arrived_s is None:
            self._arrived_s = now_s
        elif now_s - self._arrived_s >= self._target_s:
            self._measure_arrivals(now_s - self._arrived_s)
            self._arrived_s = now_s

    def _measure_arrivals(self, seconds: float) -> None:
        """Update the bytes per second of the busiest channel; after a pause the old value is halved."""
        before, self._arrived = self._arrived, dict(self._taken)
        now = max(taken - before[channel] for channel, taken in self._taken.items()) / seconds
        self._per_s = now if self._per_s is None else max(now, self._per_s / 2)

    def deadline_ms(self, now_ms: int) -> int | None:
        """Return the time (ms) of the next call of ``on_time``, or None."""
        if self._total == self._total_then:
            # A buffer may take longer than a period: then the period is extended to the next one.
            return None
        if self._since_ms is None:
            self._since_ms = now_ms
        return self._since_ms + self._period_ms

    def on_time(self, now_ms: int) -> Taken | None:
        """Return an update for producers if a period is over and there are changes."""
        if self._since_ms is None or now_ms < self._since_ms + self._period_ms:
            return None
        self._since_ms, self._total_then = now_ms, self._total
        before, window = self._window, self._allowed(_BUSY_GROWTH)
        if before is None or window is None:
            return None if before is window else self._tell(window)
        changed = abs(window - before) >= _CHANGE * before
        return self._tell(window) if changed or self._used(1 / _UPDATES) else None

    def on_idle(self) -> Taken | None:
        """Return an update for producers of an idle task if a limit may be the reason."""
        now_s = self._clock()
        for rate in self._rates:
            rate.idle(now_s)
        # A producer that has reached the limit has sent more than all of it.
        return self._tell(self._allowed(_GROWTH)) if self._window is not None and self._used(1 / 2) else None

    def _allowed(self, growth: float) -> int | None:
        """Return the limit of a channel; it grows step by step, as the first records may be unlike the rest."""
        now_s = self._clock()
        wider = None if self._window is None else int(max(FIRST_BYTES, self._window) * growth)
        most = max(_UNLIMITED_BYTES, int(self._largest * _UNLIMITED_BUFFERS))
        rates = [per_s for rate in self._rates if (per_s := rate.bytes_per_s(now_s)) is not None]
        if rates:
            active = sum(now_s - seen_s <= _ACTIVE_S for seen_s in self._active_s.values())
            allowed = int(min(rates) * self._target_s / max(1, active))
            wider = allowed if wider is None else min(wider, allowed)
        if self._per_s is not None and wider is not None:
            # If the exchange is the bottleneck, more data in flight increases latency without increasing throughput.
            wider = min(wider, max(_UNMEASURED_BYTES, int(self._per_s * self._target_s * _HEADROOM)))
        return None if wider is None or wider >= most else wider

    def _used(self, share: float) -> bool:
        """Return whether that share of a channel's limit was consumed since the last update."""
        told = self._told
        return any(taken - told[channel] >= (self._window or 0) * share for channel, taken in self._taken.items() if taken > told[channel])

    def _tell(self, window: int | None) -> Taken:
        self._window = window
        self._told = dict(self._taken)
        return Taken(dict(self._taken), window)
