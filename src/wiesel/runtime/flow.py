"""Internal. How far producers may run ahead of a task: as many bytes as it processes in a second or so (Flink's buffer debloating).

What lies between two tasks is what a barrier has to wait behind, or what an unaligned checkpoint has to hold. Spark's shuffle and the
sockets hold some hundred kilobytes, however long it takes to process them. So a task measures its service rate, the bytes per second
that it processes while it has input, and tells its producers how much it has taken of each channel and how much may be waiting there.
A task whose service rate is above what the exchange can hold sets no limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

FIRST_BYTES = 64
"""A buffer with one small record: before the first measurement nobody knows how long a record takes."""

_UNLIMITED_BYTES = 1 << 19
"""Per channel. What the exchange holds of a channel is less than that: no limit is needed."""

_UNLIMITED_BUFFERS = 16
"""The exchange also holds some buffers of any size."""

_UNMEASURED_BYTES = 1 << 20
"""Per channel. Limits above that, to which only records larger than full buffers lead, are bounded by what comes over the channel too."""

_HEADROOM = 2
"""How much more may be on its way than comes over a channel within the target: it may be the limit that keeps it from being more."""

_GROWTH, _BUSY_GROWTH = 4, 1.25
"""How much a limit grows at once for a task that waits for input, and for one that is busy: larger buffers need fewer bytes per record."""

_ACTIVE_S = 5.0
"""Channels over which nothing has come for so long take no share of the limit."""

_LONG_TERM_TARGETS = 4
"""A task whose receiver takes records in bursts processes a whole limit at once between two waits: over a short time its rate seems to be
a multiple of what it is. So the lower of two rates counts: that of the last period, and that over this many times the target."""

_UPDATES = 4
"""How many updates producers get while they send what a limit allows."""

_CHANGE = 0.25
"""Limits that change by less are not worth a message of their own."""


@dataclass(frozen=True)
class Taken:
    """What was taken of each channel so far, and how much may wait in each; None: any amount."""

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
        """A buffer is processed from now on; those before it are done."""
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
            # Old measurements fade: they count as much as those of one period.
            self._bytes *= self._over_s / self._seconds
            self._seconds = self._over_s

    def bytes_per_s(self, now_s: float) -> float | None:
        """Return the rate; None if it is too fast to be measured, or nothing was processed yet."""
        rates = [self._bytes / self._seconds] if self._seconds > 0 else []
        if self._since_s is not None:
            seconds = self._seconds + now_s - self._since_s
            if seconds > 0:
                # An upper bound: the buffer that is being processed may take much longer still.
                rates.append((self._bytes + self._begun_bytes) / seconds)
        return min(rates, default=None)


class InputFlow:
    """Watches what a task takes of its channels.

    Args:
        channels: The channels.
        target_ms: In which time the task should be able to process what waits.
        period_ms: How often that is worked out.
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
        """A buffer of that size is processed from now on."""
        self.released(channel, size)
        self.processed(channel, size)

    def released(self, channel: tuple[int, int], size: int) -> None:
        """A buffer of that size does not count as waiting any more, though it is processed later."""
        self._taken[channel] += size
        self._total += size

    def processed(self, channel: tuple[int, int], size: int) -> None:
        """A buffer that was released before is processed from now on."""
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
        """Note the bytes per second over the busiest channel; after a pause half of what they were before."""
        before, self._arrived = self._arrived, dict(self._taken)
        now = max(taken - before[channel] for channel, taken in self._taken.items()) / seconds
        self._per_s = now if self._per_s is None else max(now, self._per_s / 2)

    def deadline_ms(self, now_ms: int) -> int | None:
        """Return when ``on_time`` has to be called next, or None."""
        if self._total == self._total_then:
            # A buffer may take longer than a period: then the period goes on until the next one.
            return None
        if self._since_ms is None:
            self._since_ms = now_ms
        return self._since_ms + self._period_ms

    def on_time(self, now_ms: int) -> Taken | None:
        """Return what producers have to know if a period is over and they have to know something."""
        if self._since_ms is None or now_ms < self._since_ms + self._period_ms:
            return None
        self._since_ms, self._total_then = now_ms, self._total
        before, window = self._window, self._allowed(_BUSY_GROWTH)
        if before is None or window is None:
            return None if before is window else self._tell(window)
        changed = abs(window - before) >= _CHANGE * before
        return self._tell(window) if changed or self._used(1 / _UPDATES) else None

    def on_idle(self) -> Taken | None:
        """The task has nothing to do; return what producers have to know if a limit may be the reason."""
        now_s = self._clock()
        for rate in self._rates:
            rate.idle(now_s)
        # A producer that stands at the limit has sent more than the whole of it.
        return self._tell(self._allowed(_GROWTH)) if self._window is not None and self._used(1 / 2) else None

    def _allowed(self, growth: float) -> int | None:
        """Return what may wait in a channel now; a limit grows step by step, as the first records may be unlike the rest."""
        now_s = self._clock()
        wider = None if self._window is None else int(max(FIRST_BYTES, self._window) * growth)
        most = max(_UNLIMITED_BYTES, int(self._largest * _UNLIMITED_BUFFERS))
        rates = [per_s for rate in self._rates if (per_s := rate.bytes_per_s(now_s)) is not None]
        if rates:
            active = sum(now_s - seen_s <= _ACTIVE_S for seen_s in self._active_s.values())
            allowed = int(min(rates) * self._target_s / max(1, active))
            wider = allowed if wider is None else min(wider, allowed)
        if self._per_s is not None and wider is not None:
            # Where the exchange is the bottleneck, more on the way takes longer and comes no faster.
            wider = min(wider, max(_UNMEASURED_BYTES, int(self._per_s * self._target_s * _HEADROOM)))
        return None if wider is None or wider >= most else wider

    def _used(self, share: float) -> bool:
        """Return whether that share of what may wait in a channel was taken there since producers were told."""
        told = self._told
        return any(taken - told[channel] >= (self._window or 0) * share for channel, taken in self._taken.items() if taken > told[channel])

    def _tell(self, window: int | None) -> Taken:
        self._window = window
        self._told = dict(self._taken)
        return Taken(dict(self._taken), window)
