"""Internal. The input side of a task: order and alignment of channels, and the event time they agree on.

``InputGate`` decides what happens to a buffer that has come in: process it, hold it back, or start or complete a checkpoint.
It is pure: it takes buffers and returns steps for the task. Watermarks follow Flink's StatusWatermarkValve with a third state:
a channel is ACTIVE, IDLE or FINISHED, and finished ones never push the event time of idle ones to its end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from wiesel.core.errors import invariant
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.wire.buffers import BARRIER, DATA, END, ITERATION, LATENCY, STATUS, WATERMARK, Buffer, decode_event
from wiesel.wire.events import Barrier, IterationBarrier, StreamStatus, Watermark

ChannelKey: TypeAlias = tuple[int, int]
"""(edge index, source subtask)."""


class WatermarkValve:
    """Event time of several channels: the minimum over the active ones, never falling."""

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
        """Take a channel's watermark; return the new event time if it has advanced."""
        if timestamp > self._watermarks[channel]:
            self._watermarks[channel] = timestamp
            if channel in self._active:
                return self._advance()
        return None

    def status(self, channel: ChannelKey, idle: bool) -> tuple[int | None, bool | None]:
        """Take a channel's change of status; return (new event time or None, new status of all or None)."""
        if channel in self._finished or idle == (channel not in self._active):
            return None, None
        if not idle:
            self._active.add(channel)
            return None, self._set_idle(False)
        self._active.discard(channel)
        return self._lost_active(channel)

    def finish(self, channel: ChannelKey) -> tuple[int | None, bool | None]:
        """The channel has ended. Its watermark no longer counts unless all have ended."""
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
        # Nobody holds event time back any more: it moves to the furthest idle channel (never to a finished one's end), then rests.
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
    """All inputs are idle, or one is active again."""

    idle: bool


@dataclass(frozen=True, slots=True)
class TakeCheckpoint:
    """All barriers are there: snapshot now."""

    barrier: Barrier


@dataclass(frozen=True, slots=True)
class AbortCheckpoint:
    """A newer barrier came before this checkpoint was complete."""

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
    """All open channels have delivered this barrier: what came before it in any of them is processed. Hand it on."""

    barrier: IterationBarrier


Step: TypeAlias = Records | AdvanceTime | ChangeStatus | TakeCheckpoint | AbortCheckpoint | InputEnded | PassMarker | PassIterationBarrier


class InputGate:
    """Decides the order in which the buffers of all channels are processed.

    Args:
        inputs: Channel -> index of the logical input that it belongs to.
        exactly_once: Hold buffers of channels back whose barrier has come (alignment); otherwise at-least-once.
    """

    def __init__(self, inputs: dict[ChannelKey, int], *, exactly_once: bool) -> None:
        self.inputs = inputs
        self.valve = WatermarkValve(list(inputs))
        self._exactly_once = exactly_once
        self._sequences = dict.fromkeys(inputs, 0)
        self._open = set(inputs)
        self._open_of_input: dict[int, int] = {}
        for index in inputs.values():
            self._open_of_input[index] = self._open_of_input.get(index, 0) + 1
        self._pending: Barrier | None = None
        self._arrived: set[ChannelKey] = set()
        self._last_done = 0
        self._held: deque[Buffer] = deque()
        self._holding: set[ChannelKey] = set()
        self.held_bytes = 0
        self._iteration_barriers: dict[int, tuple[IterationBarrier, set[ChannelKey]]] = {}

    @property
    def ended(self) -> bool:
        """Return whether all channels have ended and everything was handed out."""
        return not self._open and not self._held

    @property
    def aligning(self) -> bool:
        """Return whether a checkpoint waits for barriers."""
        return self._pending is not None

    @property
    def open_inputs(self) -> list[int]:
        """Return the logical inputs that have not ended."""
        return sorted(index for index, channels in self._open_of_input.items() if channels)

    def on_buffer(self, buffer: Buffer) -> Iterator[Step]:
        """Take a buffer from the exchange and yield what the task has to do, in order."""
        channel = (buffer.edge, buffer.source)
        expected = self._sequences[channel]
        invariant(buffer.sequence == expected & 0xFFFFFFFF, f"channel {channel}: expected buffer {expected}, got {buffer.sequence}")
        self._sequences[channel] = expected + 1
        if self._exactly_once and (channel in self._arrived or channel in self._holding):
            self._hold(channel, buffer)
            return
        yield from self._handle(channel, buffer)
        yield from self._release()

    def _hold(self, channel: ChannelKey, buffer: Buffer) -> None:
        self._held.append(buffer)
        self._holding.add(channel)
        self.held_bytes += len(buffer.raw)

    def _release(self) -> Iterator[Step]:
        """Process what was held back as far as it is free now; a barrier among it may hold back the rest again."""
        while self._held and not self._holding <= self._arrived:
            held, self._held = self._held, deque()
            self._holding = set()
            self.held_bytes = 0
            for buffer in held:
                channel = (buffer.edge, buffer.source)
                # A channel that was held back once in this pass stays so until the next pass: its buffers keep their order.
                if channel in self._arrived or channel in self._holding:
                    self._hold(channel, buffer)
                else:
                    yield from self._handle(channel, buffer)

    def _handle(self, channel: ChannelKey, buffer: Buffer) -> Iterator[Step]:
        kind = buffer.kind
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
        """Only the newest round of an iteration counts: it began when the one before had come to all tails."""
        known = self._iteration_barriers.get(barrier.iteration)
        if known is None or known[0].round < barrier.round:
            self._iteration_barriers[barrier.iteration] = (barrier, {channel})
        elif known[0].round == barrier.round:
            known[1].add(channel)
        yield from self._iteration_steps()

    def _iteration_steps(self) -> Iterator[Step]:
        """Nothing is held back for these barriers: what overtakes one in another channel is only earlier than it had to be."""
        open_channels = self._open
        if self._pending is not None and self._pending.savepoint is not None and self._pending.savepoint.stop:
            open_channels = open_channels - self._arrived  # nothing comes behind that barrier
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
            return  # of a checkpoint that was given up here
        if self._pending is not None and barrier.checkpoint_id != self._pending.checkpoint_id:
            if barrier.checkpoint_id < self._pending.checkpoint_id:
                return
            yield AbortCheckpoint(self._pending.checkpoint_id)
            self._arrived.clear()
        self._pending = barrier
        self._arrived.add(channel)
        if self._iteration_barriers:
            yield from self._iteration_steps()
        yield from self._complete_if_all()

    def _complete_if_all(self) -> Iterator[Step]:
        if self._pending is not None and self._arrived >= self._open:
            barrier, self._pending = self._pending, None
            self._last_done = barrier.checkpoint_id
            self._arrived.clear()
            yield TakeCheckpoint(barrier)

    def abort(self, checkpoint_id: int) -> None:
        """Give up a checkpoint that the coordinator has given up; call ``release`` afterwards."""
        if self._pending is not None and self._pending.checkpoint_id <= checkpoint_id:
            self._last_done = self._pending.checkpoint_id
            self._pending = None
            self._arrived.clear()

    def release(self) -> Iterator[Step]:
        """Yield what became free after ``abort``."""
        yield from self._release()

    def _end(self, channel: ChannelKey) -> Iterator[Step]:
        invariant(channel in self._open, f"channel {channel} ended twice")
        yield from self._time_steps(self.valve.finish(channel))
        self._open.discard(channel)
        if self._open:
            yield from self._complete_if_all()
        elif self._pending is not None:
            barrier, self._pending = self._pending, None
            self._last_done = barrier.checkpoint_id
            self._arrived.clear()
            yield TakeCheckpoint(barrier)
        if self._iteration_barriers and self._open:
            yield from self._iteration_steps()
        index = self.inputs[channel]
        self._open_of_input[index] -= 1
        if self._open_of_input[index] == 0:
            yield InputEnded(index)
