"""Internal. The record writer of a task: distributes records over channels and serialises them into buffers and rows.

A buffer is sent on one of Flink's three occasions: it is full, its timeout has passed, or an event follows. "Full" is a size in bytes; as
records are pickled many at a time, the writer estimates the mean size of a record per edge and counts records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from random import Random
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.wire.batch import Batch
from wiesel.wire.buffers import DATA, HEADER_BYTES, encode_batch, encode_event, header
from wiesel.wire.events import Event

_FIRST_GUESS_BYTES = 64.0
_IDLE_SHARE = 4
"""Number of flushes per buffer timeout of an idle task, instead of only one at its end."""

_BUFFER_COST_MS = 1
"""Minimal CPU cost of sending a small buffer: shorter intervals between buffers would saturate the machine."""


_AIM_MS = 8
"""A full buffer holds the data that a channel transfers in this time: larger ones only add to the data in flight under saturation."""

_LEAST_BYTES = 4096
_PACE_OVER_MS = 100
_BUFFERS_PER_WINDOW = 4

_LEAST_OUTPUTS_PER_INPUT = 1 / 64
"""Lower bound of the expected outputs per input of a task: a single record at a time would multiply its cost, and when it begins to emit,
its receiver gets no more than the inverse of this times its limit."""


@dataclass(frozen=True)
class ChannelTarget:
    """Target of a channel: its level and partition, and the partition of the next hop."""

    level: int
    partition: int
    next_partition: int


class RowSink:
    """Collects buffers into rows, one byte string per partition of the next level, until the shell sends them."""

    def __init__(self) -> None:
        self._rows: dict[int, list[bytes | memoryview]] = {}
        self.bytes_out = 0
        self.buffers_out = 0

    def put(self, partition: int, *parts: bytes | memoryview) -> None:
        """Add the parts of one buffer to the row of a partition."""
        self._rows.setdefault(partition, []).extend(parts)
        self.buffers_out += 1
        self.bytes_out += sum(map(len, parts))

    def drain(self) -> list[tuple[int, bytes]]:
        """Return and clear all rows: (partition of the next level, bytes)."""
        rows = [(p, parts[0] if len(parts) == 1 and isinstance(parts[0], bytes) else b"".join(parts)) for p, parts in self._rows.items()]
        self._rows.clear()
        return rows

    def __bool__(self) -> bool:
        return bool(self._rows)


class _Pending:
    """Records that wait in one channel."""

    __slots__ = ("keys", "sent", "sequence", "target", "timestamps", "values")

    def __init__(self, target: ChannelTarget) -> None:
        self.target = target
        self.sequence = 0
        self.sent = 0
        self.values: list[Any] = []
        self.timestamps: list[Any] | None = None
        self.keys: list[Any] | None = None

    def add(self, values: list[Any], timestamps: list[Any] | None, keys: list[Any] | None) -> None:
        before = len(self.values)
        self.values.extend(values)
        if timestamps is not None:
            if self.timestamps is None:
                self.timestamps = [None] * before
            self.timestamps.extend(timestamps)
        elif self.timestamps is not None:
            self.timestamps.extend([None] * len(values))
        if keys is not None:
            if self.keys is None:
                self.keys = []
            self.keys.extend(keys)

    def take(self) -> Batch:
        batch = Batch(self.values, self.timestamps, self.keys)
        self.values, self.timestamps, self.keys = [], None, None
        return batch


class Distributor:
    """Distributes the records of a batch: adds them to the pending lists of an edge's channels."""

    def distribute(self, batch: Batch, pending: Sequence[_Pending]) -> None:
        """Add each record to one channel (or to the only one)."""
        pending[0].add(batch.values, batch.timestamps, batch.keys)


class RoundRobin(Distributor):
    """rebalance and rescale: record by record to the next channel."""

    def __init__(self, start: int) -> None:
        self._next = start

    def distribute(self, batch: Batch, pending: Sequence[_Pending]) -> None:
        """Distribute records round-robin."""
        n = len(pending)
        times, keys = batch.timestamps, batch.keys
        first = self._next % n
        for i in range(min(n, len(batch.values))):
            part = slice(i, None, n)
            pending[(first + i) % n].add(batch.values[part], times[part] if times else None, keys[part] if keys else None)
        self._next = first + len(batch.values)


class ByChannel(Distributor):
    """Any strategy that computes a channel per record."""

    def __init__(self, choose: Callable[[Batch, int], Sequence[int]]) -> None:
        self._choose = choose

    def distribute(self, batch: Batch, pending: Sequence[_Pending]) -> None:
        """Deal the records out by the chosen channels."""
        n = len(pending)
        channels = self._choose(batch, n)
        if n == 1:
            pending[0].add(batch.values, batch.timestamps, batch.keys)
            return
        places: list[list[int]] = [[] for _ in range(n)]
        try:
            for place, channel in enumerate(channels):
                places[channel].append(place)
        except (IndexError, TypeError) as error:
            raise ProgramError(
                f"a partitioner chose channel {channels[place]!r} of {n}", hint="return an int from 0 to num_partitions - 1"
            ) from error
        for target, chosen in zip(pending, places, strict=True):
            if not chosen:
                continue
            if len(chosen) == 1:
                at = chosen[0]
                target.add(
                    [batch.values[at]],
                    [batch.timestamps[at]] if batch.timestamps else None,
                    [batch.keys[at]] if batch.keys else None,
                )
                continue
            pick = itemgetter(*chosen)
            target.add(
                pick(batch.values),
                pick(batch.timestamps) if batch.timestamps else None,
                pick(batch.keys) if batch.keys else None,
            )


def shuffle_distributor(seed: int) -> Distributor:
    """Return the distributor that picks a channel at random; seeded, so that simulations repeat."""
    random = Random(seed)
    return ByChannel(lambda batch, n: random.choices(range(n), k=len(batch.values)))


class Pace:
    """Size of a full buffer, from the consumption rate of the channels of an edge (Flink's buffer debloating)."""

    def __init__(self, most_bytes: int, channels: int) -> None:
        self._most = most_bytes
        self._channels = channels
        self._since_ms: int | None = None
        self.full_bytes = most_bytes
        self.bytes = 0

    def cap(self, most_bytes: int) -> None:
        """Set the maximal size of a buffer."""
        self.full_bytes = most_bytes if most_bytes > self._most else min(self.full_bytes, most_bytes)
        self._most = most_bytes

    def at(self, now_ms: int) -> None:
        """Recompute the size if enough time has passed."""
        if self._since_ms is None:
            self._since_ms = now_ms
        passed_ms = now_ms - self._since_ms
        if passed_ms >= _PACE_OVER_MS:
            aim = self.bytes / self._channels / passed_ms * _AIM_MS
            self.full_bytes = int(min(self._most, max(_LEAST_BYTES, (self.full_bytes + aim) / 2)))
            self._since_ms, self.bytes = now_ms, 0


class EdgeWriter:
    """The channels of one edge of one subtask."""

    def __init__(
        self,
        edge: int,
        source: int,
        targets: Sequence[ChannelTarget],
        distributor: Distributor,
        rows: RowSink,
        *,
        buffer_bytes: int,
        timeout_ms: int,
        broadcast: bool = False,
        prepare: Callable[[Batch], Batch] | None = None,
    ) -> None:
        self.edge = edge
        self._source = source
        self._distributor = distributor
        self._rows = rows
        self._timeout_ms = timeout_ms
        self._broadcast = broadcast
        self._prepare = prepare
        self._channels = [_Pending(t) for t in targets]
        # A broadcast edge collects and pickles once for all its channels.
        self._shared = _Pending(targets[0]) if broadcast else None
        self._record_bytes = _FIRST_GUESS_BYTES
        self._pace = Pace(buffer_bytes, len(targets))
        self._full = max(1, int(buffer_bytes / _FIRST_GUESS_BYTES))
        self._waiting_since_ms: int | None = None
        self._idle_after_ms = min(timeout_ms, max(timeout_ms // _IDLE_SHARE, _BUFFER_COST_MS * len(targets)))
        self._flushed_ms = 0
        self._buffer_bytes = buffer_bytes
        self._limits: dict[int, tuple[int, int]] = {}
        self.records_out = 0

    def emit(self, batch: Batch, now_ms: int) -> None:
        """Add records; full buffers are sent immediately, as are all with timeout 0."""
        if not batch.values:
            return
        self.records_out += batch.records
        self._pace.at(now_ms)
        if self._prepare is not None:
            batch = self._prepare(batch)
        if self._shared is not None:
            self._shared.add(batch.values, batch.timestamps, batch.keys)
            filled = [self._shared]
        else:
            self._distributor.distribute(batch, self._channels)
            filled = self._channels
        waiting = False
        for pending in filled:
            if len(pending.values) >= self._full or (self._timeout_ms == 0 and pending.values):
                self._flush(pending)
            waiting = waiting or bool(pending.values)
        if not waiting:
            self._waiting_since_ms = None
        elif self._waiting_since_ms is None:
            self._waiting_since_ms = now_ms

    def _flush(self, pending: _Pending) -> None:
        count = len(pending.values)
        payload = encode_batch(pending.take())
        # A moving average: record sizes drift, and one outlier must not spoil the estimate.
        self._record_bytes += (len(payload) / count - self._record_bytes) * 0.3
        self._pace.bytes += len(payload)
        self._size_buffers()
        for channel in self._channels if self._broadcast else (pending,):
            self._put(channel, DATA, payload)

    def _size_buffers(self) -> None:
        self._full = max(1, int(self._pace.full_bytes / max(self._record_bytes, 1.0)))

    def limit(self, window: int | None, *, taken: int = 0, target: tuple[int, int] | None = None) -> None:
        """Set the limit of bytes in flight of a channel, None for unlimited.

        Args:
            window: The limit.
            taken: Bytes consumed by the receiver so far.
            target: Level and partition of the receiver; None for all channels.
        """
        for index, channel in enumerate(self._channels):
            if target is None or (channel.target.level, channel.target.partition) == target:
                if window is None:
                    self._limits.pop(index, None)
                else:
                    self._limits[index] = (taken, window)
        least = min((window for _, window in self._limits.values()), default=None)
        # Several buffers per window, so that it is not blocked while one is in flight.
        self._pace.cap(self._buffer_bytes if least is None else min(self._buffer_bytes, least // _BUFFERS_PER_WINDOW))
        self._size_buffers()

    def inputs_at_once(self, records_in: int) -> int | None:
        """Return how many records the task may process before the next check of the data in flight, None for any number.

        Args:
            records_in: Number of records processed by the task. The ratio of outputs to these is extrapolated.
        """
        if not self._limits:
            return None
        least = min(window + taken - self._channels[i].sent for i, (taken, window) in self._limits.items())
        # One more of both, as no output so far does not imply no output later.
        outputs_per_input = max(_LEAST_OUTPUTS_PER_INPUT, (self.records_out + 1) / (records_in + 1))
        return max(1, int(max(0, least) / max(self._record_bytes, 1.0) / outputs_per_input))

    @property
    def ahead(self) -> bool:
        """Return whether a channel exceeds its limit of data in flight."""
        return bool(self._limits) and any(self._channels[i].sent - taken > window for i, (taken, window) in self._limits.items())

    @property
    def half_way(self) -> bool:
        """Return whether a channel has reached half of its limit of data in flight."""
        return bool(self._limits) and any(self._channels[i].sent - taken > window / 2 for i, (taken, window) in self._limits.items())

    @property
    def in_flight(self) -> list[int]:
        """Return for each channel the bytes sent and not consumed yet, 0 if they are not counted. Thread-safe."""
        limits = dict(list(self._limits.items()))
        return [max(0, c.sent - limits[i][0]) if i in limits else 0 for i, c in enumerate(self._channels)]

    def _put(self, channel: _Pending, kind: int, payload: bytes) -> None:
        target = channel.target
        head = header(target.level, target.partition, self.edge, self._source, kind, channel.sequence, len(payload))
        channel.sequence += 1
        channel.sent += HEADER_BYTES + len(payload)
        self._rows.put(target.next_partition, head, payload)

    def flush(self) -> None:
        """Send all that waits."""
        for pending in (self._shared,) if self._shared is not None else self._channels:
            if pending.values:
                self._flush(pending)
        self._waiting_since_ms = None

    def broadcast_event(self, event: Event) -> None:
        """Send an event to all channels, after the pending records."""
        self.flush()
        kind, payload = encode_event(event)
        for channel in self._channels:
            self._put(channel, kind, payload)

    def deadline_ms(self) -> int | None:
        """Return the time (ms) when the oldest pending record must be sent, or None."""
        if self._waiting_since_ms is None or self._timeout_ms < 0:
            return None
        return self._waiting_since_ms + self._timeout_ms

    def on_time(self, now_ms: int) -> None:
        """Flush if the timeout has passed."""
        deadline = self.deadline_ms()
        if deadline is not None and now_ms >= deadline:
            self._flushed_ms = now_ms
            self.flush()

    def flush_before(self, busy_ms: float, now_ms: int) -> None:
        """Flush if the timeout will expire within the next ``busy_ms``, in which the task cannot check it."""
        deadline = self.deadline_ms()
        if deadline is not None and deadline < now_ms + busy_ms:
            self._flushed_ms = now_ms
            self.flush()

    def idle_deadline_ms(self) -> int | None:
        """Return the time (ms) when an idle task sends the pending records, or None.

        The timeout exists to fill buffers under load. Without load, waiting for it only costs latency and saves the CPU of a few buffers:
        hence a quarter of it, counted from the last flush.
        """
        if self._waiting_since_ms is None or self._timeout_ms < 0:
            return None
        return self._flushed_ms + self._idle_after_ms

    def on_idle(self, now_ms: int) -> None:
        """Flush if the last time was long enough ago."""
        deadline = self.idle_deadline_ms()
        if deadline is not None and now_ms >= deadline:
            self._flushed_ms = now_ms
            self.flush()
