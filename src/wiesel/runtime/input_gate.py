"""Internal. The input gate of a task: order and alignment of channels, and the combined event time.

``InputGate`` decides how a received buffer is handled: process it, hold it back, or start or complete a checkpoint. It is pure: it takes
buffers and returns steps for the task. A checkpoint is either aligned (channels whose barrier has arrived are held back until all have
delivered it) or unaligned: the snapshot is taken immediately, and data before the other channels' barriers is recorded. Watermarks follow
Flink's StatusWatermarkValve with a third state: a channel is ACTIVE, IDLE or FINISHED, and finished ones never advance the event time of
idle ones to its end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from wiesel.core.errors import invariant
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.runtime.flow import InputFlow
from wiesel.wire.buffers import BARRIER, DATA, END, ITERATION, LATENCY, STATUS, WATERMARK, Buffer, decode_event
from wiesel.wire.events import Barrier, IterationBarrier, StreamStatus, Watermark

ChannelKey: TypeAlias = tuple[int, int]
"""(edge index, source subtask)."""


class WatermarkValve:
    """Event time of several channels: the minimum over the active ones, monotonic."""

    def __init__(self, channels: list[ChannelKey]) -> None:
        self._watermarks = dict.fromkeys(channels, MIN_TIMESTAMP)
        self._active = set(channels)
        self._finished: set[ChannelKey] = set()
        self._last = MIN_TIMESTAMP
        self.idle = False

    @property
    def current(self) -> int:
        """Return the event time reached, in ms."""
        return self._last

    def watermark(self, channel: ChannelKey, timestamp: int) -> int | None:
        """Set a channel's watermark; return the new event time if it has advanced."""
        if timestamp > self._watermarks[channel]:
            self._watermarks[channel] = timestamp
            if channel in self._active:
                return self._advance()
        return None

    def status(self, channel: ChannelKey, idle: bool) -> tuple[int | None, bool | None]:
        """Set a channel's status; return (new event time or None, new status of all or None)."""
        if channel in self._finished or idle == (channel not in self._active):
            return None, None
        if not idle:
            self._active.add(channel)
            return None, self._set_idle(False)
        self._active.discard(channel)
        return self._lost_active(channel)

    def finish(self, channel: ChannelKey) -> tuple[int | None, bool | None]:
        """Finish a channel. Its watermark no longer counts unless all have finished."""
        was_active = channel in self._active
        self._active.discard(channel)
        self._finished.add(channel)
        if len(self._finished) == len(self._watermarks):
            if all(w == MAX_TIMESTAMP for w in self._watermarks.values()):
                return self._emit(MAX_TIMESTAMP), None
            return None, None
        return self._lost_active(channel) if was_active else (None, None)

    def _lost_active(self, channel: ChannelKey) -> tuple[int | None, bool | None]:
        if self._active:
            return self._advance(), None
        # No channel holds back event time: it advances to the furthest idle channel (never to the end of a finished one).
        idle = [w for c, w in self._watermarks.items() if c not in self._finished]
        return self._emit(max(idle)) if idle else None, self._set_idle(True)

    def _advance(self) -> int | None:
        return self._emit(min(self._watermarks[c] for c in self._active)) if self._active else None

    def _emit(self, timestamp: int) -> int | None:
        if timestamp <= self._last:
            return None
        self._last = timestamp
        return timestamp

    def _set_idle(self, idle: bool) -> bool | None:
        if self.idle == idle:
            return None
        self.idle = idle
        return idle


@dataclass(frozen=True, slots=True)
class Records:
    """Process the records of this buffer."""

    channel: ChannelKey
    payload: memoryview


@dataclass(frozen=True, slots=True)
class AdvanceTime:
    """Event time has reached ``timestamp``."""

    timestamp: int


@dataclass(frozen=True, slots=True)
class ChangeStatus:
    """All inputs have become idle, or one has become active again."""

    idle: bool


@dataclass(frozen=True, slots=True)
class TakeCheckpoint:
    """Take a snapshot now: all barriers have arrived, or (``unaligned``) are not awaited; then ``Recorded`` follows when they have.

    The sizes are those of data held back and processed since the first barrier arrived.
    """

    barrier: Barrier
    unaligned: bool = False
    held_bytes: int = field(default=0, compare=False)
    processed_bytes: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Recorded:
    """All barriers of an unaligned checkpoint have arrived; the buffers preceded them and followed the snapshot."""

    barrier: Barrier
    buffers: list[Buffer] = field(compare=False)
    processed_bytes: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class AbortCheckpoint:
    """A newer barrier arrived before this checkpoint was complete."""

    checkpoint_id: int


@dataclass(frozen=True, slots=True)
class InputEnded:
    """One logical input has ended."""

    input_index: int


@dataclass(frozen=True, slots=True)
class PassMarker:
    """Hand a latency marker on."""

    channel: ChannelKey
    payload: memoryview


@dataclass(frozen=True, slots=True)
class PassIterationBarrier:
    """All open channels have delivered this barrier, and all preceding data is processed. Forward it."""

    barrier: IterationBarrier


Step: TypeAlias = (
    Records | AdvanceTime | ChangeStatus | TakeCheckpoint | Recorded | AbortCheckpoint | InputEnded | PassMarker | PassIterationBarrier
)

_RECORDED = frozenset({DATA, WATERMARK, STATUS})
_COUNTED, _RELEASED = 0, -1
"""Marks in place of a buffer's level, which is that of its receiver and so above 0: counted as processed, or only as released."""


class _Recording:
    """Recorded buffers before the barriers of a checkpoint whose snapshot is taken."""

    def __init__(self, barrier: Barrier, waiting: set[ChannelKey]) -> None:
        self.barrier = barrier
        self.waiting = waiting
        self.buffers: list[Buffer] = []
        self.superseded = False

    def see(self, channel: ChannelKey, buffer: Buffer) -> None:
        if channel not in self.waiting:
            return
        if buffer.kind in _RECORDED:
            self.buffers.append(buffer)
        elif buffer.kind == END:
            self.waiting.discard(channel)
        elif buffer.kind == BARRIER:
            event = decode_event(BARRIER, buffer.payload)
            if isinstance(event, Barrier) and event.checkpoint_id >= self.barrier.checkpoint_id:
                self.waiting.discard(channel)
                self.superseded = self.superseded or event.checkpoint_id > self.barrier.checkpoint_id


class InputGate:
    """Decides the order in which the buffers of all channels are processed.

    Buffers that cannot be processed yet wait in the backlog: those read in search of a barrier, those restored from a checkpoint, and those
    released after an alignment. ``work_off`` returns them in order.

    Args:
        inputs: Channel -> index of its logical input.
        exactly_once: Hold back buffers of channels whose barrier has arrived (alignment); otherwise at-least-once.
        aligned_edges: Edges that are always aligned.
        flow: Measures consumption per channel, if enabled.
        holds_producers: Buffers held back count as consumed only after their release, so that producers of these channels wait as well.
    """

    def __init__(
        self,
        inputs: dict[ChannelKey, int],
        *,
        exactly_once: bool,
        aligned_edges: frozenset[int] = frozenset(),
        flow: InputFlow | None = None,
        holds_producers: bool = False,
    ) -> None:
        self.inputs = inputs
        self._flow = flow
        self._holds_producers = holds_producers
        self.valve = WatermarkValve(list(inputs))
        self._exactly_once = exactly_once
        self._aligned = {channel for channel in inputs if channel[0] in aligned_edges}
        self._sequences = dict.fromkeys(inputs, 0)
        self._open = set(inputs)
        self._open_of_input: dict[int, int] = {}
        for index in inputs.values():
            self._open_of_input[index] = self._open_of_input.get(index, 0) + 1
        self._pending: Barrier | None = None
        self._overtakes = False
        self._arrived: set[ChannelKey] = set()
        self._last_done = 0
        self._held: deque[Buffer] = deque()
        self.held_bytes = 0
        self._processed_bytes = 0
        self._recording: _Recording | None = None
        self._backlog: deque[Buffer] = deque()
        self._interruptions = 0
        self.backlog_bytes = 0
        self._iteration_barriers: dict[int, tuple[IterationBarrier, set[ChannelKey]]] = {}
        self.suspended = False
        """True if all buffers go to the backlog: the task has stopped, but may have to continue."""

    @property
    def ended(self) -> bool:
        """Return whether all channels have ended and all buffers were emitted."""
        return not self._open and not self._held and not self._backlog

    @property
    def pending(self) -> Barrier | None:
        """Return the barrier of the pending checkpoint, or None."""
        return self._recording.barrier if self._recording is not None else self._pending

    @property
    def missing_barriers(self) -> int:
        """Return the number of channels without the barrier of the pending checkpoint. Thread-safe."""
        recording = self._recording
        return len(recording.waiting) if recording is not None else len(self._open) - len(self._arrived)

    @property
    def recording(self) -> bool:
        """Return whether an unaligned checkpoint waits for barriers: buffers should be read as fast as they arrive."""
        return self._recording is not None

    @property
    def backlog(self) -> int:
        """Return the number of buffers waiting for ``work_off``, which precede all new ones."""
        return len(self._backlog)

    @property
    def open_inputs(self) -> list[int]:
        """Return the logical inputs that have not ended."""
        return sorted(index for index, channels in self._open_of_input.items() if channels)

    def on_buffer(self, buffer: Buffer) -> Iterator[Step]:
        """Process a buffer of the exchange and yield the task's steps, in order."""
        channel = (buffer.edge, buffer.source)
        expected = self._sequences[channel]
        invariant(buffer.sequence == expected & 0xFFFFFFFF, f"channel {channel}: expected buffer {expected}, got {buffer.sequence}")
        self._sequences[channel] = expected + 1
        interruptions = self._interruptions
        if self._backlog or self._only_keeps:
            yield from self._keep(channel, buffer)
            return
        if channel in self._arrived and self._exactly_once:
            self._hold(channel, buffer)
            return
        self._took(channel, buffer)
        yield from self._handle(channel, buffer)
        while self._interruptions == interruptions and self._backlog and not self._only_keeps:
            yield from self.work_off()

    @property
    def _only_keeps(self) -> bool:
        return self._recording is not None or self.suspended

    def _keep(self, channel: ChannelKey, buffer: Buffer) -> Iterator[Step]:
        self._backlog.append(buffer)
        self.backlog_bytes += len(buffer.raw)
        if self._recording is not None:
            self._recording.see(channel, buffer)
            yield from self._recorded_if_all()

    def work_off(self) -> Iterator[Step]:
        """Process the oldest buffer of the backlog."""
        if not self._backlog:
            return
        buffer = self._backlog.popleft()
        self.backlog_bytes -= len(buffer.raw)
        channel = (buffer.edge, buffer.source)
        if channel in self._arrived and self._exactly_once:
            self._hold(channel, buffer)
            return
        self._took(channel, buffer)
        yield from self._handle(channel, buffer)

    def put_back(self, buffer: Buffer) -> None:
        """Return the rest of a partially processed buffer: the next ``work_off`` begins with it."""
        self._interruptions += 1
        self._backlog.appendleft(buffer)
        self.backlog_bytes += len(buffer.raw)

    def restore(self, buffers: Iterable[Buffer]) -> None:
        """Add the restored buffers in flight, which precede all others."""
        for buffer in buffers:
            self._backlog.append(buffer)
            self.backlog_bytes += len(buffer.raw)

    def _took(self, channel: ChannelKey, buffer: Buffer) -> None:
        if self._flow is None:
            return
        if buffer.level > _COUNTED:
            self._flow.took(channel, len(buffer.raw))
        elif buffer.level == _RELEASED:
            self._flow.processed(channel, len(buffer.raw))

    def _hold(self, channel: ChannelKey, buffer: Buffer) -> None:
        if self._flow is not None and not self._holds_producers and buffer.level > _COUNTED:
            self._flow.released(channel, len(buffer.raw))
            buffer = buffer._replace(level=_RELEASED)
        self._held.append(buffer)
        self.held_bytes += len(buffer.raw)

    def _forget_arrived(self) -> None:
        """Release all channels; their held-back buffers precede later ones in the backlog."""
        self._arrived.clear()
        if self._held:
            self._backlog.extendleft(reversed(self._held))
            self.backlog_bytes += self.held_bytes
            self._held.clear()
            self.held_bytes = 0

    # Unaligned checkpoints

    def overtake(self, barrier: Barrier) -> Iterator[Step]:
        """Take the checkpoint without waiting for its barriers, except on edges that are always aligned."""
        if barrier.checkpoint_id <= self._last_done or not self._open or not self._exactly_once:
            return
        if self._recording is not None:
            yield from self._give_up_recording()
        if self._pending is None or self._pending.checkpoint_id < barrier.checkpoint_id:
            yield from self._begin(barrier)
        if self._pending is not None and self._pending.checkpoint_id == barrier.checkpoint_id:
            self._overtakes = True
            yield from self._complete_if_all()

    def _record(self, barrier: Barrier) -> Iterator[Step]:
        self._recording = recording = _Recording(barrier, self._open - self._arrived)
        for buffer in self._backlog:
            recording.see((buffer.edge, buffer.source), buffer)
        yield self._take(barrier, unaligned=True)
        yield from self._recorded_if_all()

    def _recorded_if_all(self) -> Iterator[Step]:
        recording = self._recording
        if recording is None:
            return
        if recording.superseded:
            yield from self._give_up_recording()
        elif not recording.waiting:
            self._recording = None
            yield Recorded(recording.barrier, recording.buffers, self._processed_bytes)

    def _give_up_recording(self) -> Iterator[Step]:
        if self._recording is not None:
            checkpoint_id, self._recording = self._recording.barrier.checkpoint_id, None
            yield AbortCheckpoint(checkpoint_id)

    def _handle(self, channel: ChannelKey, buffer: Buffer) -> Iterator[Step]:
        kind = buffer.kind
        if self._pending is not None or self._recording is not None:
            self._processed_bytes += len(buffer.raw)
        if kind == DATA:
            yield Records(channel, buffer.payload)
        elif kind == LATENCY:
            yield PassMarker(channel, buffer.payload)
        elif kind == END:
            yield from self._end(channel)
        else:
            event = decode_event(kind, buffer.payload)
            if kind == WATERMARK and isinstance(event, Watermark):
                advanced = self.valve.watermark(channel, event.timestamp)
                if advanced is not None:
                    yield AdvanceTime(advanced)
            elif kind == STATUS:
                yield from self._time_steps(self.valve.status(channel, event is StreamStatus.IDLE))
            elif kind == BARRIER and isinstance(event, Barrier):
                yield from self._barrier(channel, event)
            elif kind == ITERATION and isinstance(event, IterationBarrier):
                yield from self._iteration_barrier(channel, event)

    def _iteration_barrier(self, channel: ChannelKey, barrier: IterationBarrier) -> Iterator[Step]:
        """Process an iteration barrier; only the newest round counts, as it began after the previous one had reached all tails."""
        known = self._iteration_barriers.get(barrier.iteration)
        if known is None or known[0].round < barrier.round:
            self._iteration_barriers[barrier.iteration] = (barrier, {channel})
        elif known[0].round == barrier.round:
            known[1].add(channel)
        yield from self._iteration_steps()

    def _iteration_steps(self) -> Iterator[Step]:
        """Nothing is held back for these barriers: records passing one in another channel are only earlier than necessary."""
        open_channels = self._open
        if self._pending is not None and self._pending.savepoint is not None and self._pending.savepoint.drain:
            open_channels = open_channels - self._arrived  # nothing follows that barrier
        for barrier, arrived in list(self._iteration_barriers.values()):
            if arrived >= open_channels:
                del self._iteration_barriers[barrier.iteration]
                yield PassIterationBarrier(barrier)

    def _time_steps(self, change: tuple[int | None, bool | None]) -> Iterator[Step]:
        timestamp, idle = change
        if timestamp is not None:
            yield AdvanceTime(timestamp)
        if idle is not None:
            yield ChangeStatus(idle)

    def _barrier(self, channel: ChannelKey, barrier: Barrier) -> Iterator[Step]:
        if barrier.checkpoint_id <= self._last_done:
            return  # of a checkpoint aborted here
        if self._pending is not None and barrier.checkpoint_id < self._pending.checkpoint_id:
            return
        if self._pending is None or barrier.checkpoint_id > self._pending.checkpoint_id:
            yield from self._begin(barrier)
        self._pending = barrier
        self._arrived.add(channel)
        if self._iteration_barriers:
            yield from self._iteration_steps()
        yield from self._complete_if_all()

    def _begin(self, barrier: Barrier) -> Iterator[Step]:
        if self._pending is not None:
            yield AbortCheckpoint(self._pending.checkpoint_id)
            self._forget_arrived()
        self._pending = barrier
        self._overtakes = False
        self._processed_bytes = 0

    def _complete_if_all(self) -> Iterator[Step]:
        barrier = self._pending
        if barrier is None:
            return
        if self._arrived >= self._open:
            yield self._take(barrier)
        elif self._overtakes and self._arrived >= self._open & self._aligned:
            yield from self._record(barrier)

    def _take(self, barrier: Barrier, *, unaligned: bool = False) -> TakeCheckpoint:
        taken = TakeCheckpoint(barrier, unaligned, self.held_bytes, self._processed_bytes)
        self._pending = None
        self._last_done = barrier.checkpoint_id
        self._forget_arrived()
        return taken

    def abort(self, checkpoint_id: int) -> None:
        """Abort a checkpoint aborted by the coordinator. Its held-back buffers move to the backlog."""
        if self._recording is not None and self._recording.barrier.checkpoint_id <= checkpoint_id:
            self._recording = None
        self._last_done = max(self._last_done, checkpoint_id)
        if self._pending is not None and self._pending.checkpoint_id <= checkpoint_id:
            self._pending = None
            self._forget_arrived()

    def _end(self, channel: ChannelKey) -> Iterator[Step]:
        invariant(channel in self._open, f"channel {channel} ended twice")
        yield from self._time_steps(self.valve.finish(channel))
        self._open.discard(channel)
        yield from self._complete_if_all()
        if self._iteration_barriers and self._open:
            yield from self._iteration_steps()
        index = self.inputs[channel]
        self._open_of_input[index] -= 1
        if self._open_of_input[index] == 0:
            yield InputEnded(index)
