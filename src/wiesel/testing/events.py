"""Results of a stream under test, as plain values that compare with tuples."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.runtime.input_gate import ChannelKey, WatermarkValve
from wiesel.wire.batch import Batch
from wiesel.wire.events import IterationBarrier

__all__ = ["END_OF_TIME", "Event", "Record", "SideRecord", "Watermark", "WatermarkStatus"]

END_OF_TIME = MAX_TIMESTAMP
"""The final watermark of a bounded input."""


class Record(NamedTuple):
    """A record of the main output; ``timestamp`` in ms, None if it has none."""

    value: Any
    timestamp: int | None = None


class SideRecord(NamedTuple):
    """A record of the side output ``tag``."""

    tag: str
    value: Any
    timestamp: int | None = None


class Watermark(NamedTuple):
    """Event time has reached ``timestamp`` (ms)."""

    timestamp: int


class WatermarkStatus(NamedTuple):
    """The stream has become idle, or is active again."""

    idle: bool


Event: TypeAlias = Record | SideRecord | Watermark | WatermarkStatus


class EventLog:
    """Internal. The output of an operator, recorded in order."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.batches: list[Batch] = []

    def emit(self, batch: Batch) -> None:
        """Record a batch."""
        self.batches.append(batch)
        self.events += [Record(value, timestamp) for value, timestamp in _records(batch)]

    def emit_side(self, tag: str, batch: Batch) -> None:
        """Record a batch of a side output."""
        self.events += [SideRecord(tag, value, timestamp) for value, timestamp in _records(batch)]

    def emit_watermark(self, timestamp: int) -> None:
        """Record a watermark."""
        self.events.append(Watermark(timestamp))

    def emit_status(self, idle: bool) -> None:
        """Record a change of status."""
        self.events.append(WatermarkStatus(idle))

    def emit_iteration_barrier(self, barrier: IterationBarrier) -> None:
        """Do nothing: a single operator is in no loop."""


def _records(batch: Batch) -> list[tuple[Any, int | None]]:
    timestamps = [None] * len(batch.values) if batch.timestamps is None else batch.timestamps
    return list(zip(batch.values, timestamps, strict=True))


class MergedOutput:
    """Internal. The merged outputs of several subtasks, with the minimum of their watermarks."""

    def __init__(self, log: EventLog, subtasks: int) -> None:
        self._log = log
        self._valve = WatermarkValve([(0, i) for i in range(subtasks)])

    def of(self, subtask: int) -> SubtaskOutput:
        """Return the output of one subtask."""
        return SubtaskOutput(self, self._log, (0, subtask))

    def watermark(self, channel: ChannelKey, timestamp: int) -> None:
        """A subtask has emitted a watermark."""
        advanced = self._valve.watermark(channel, timestamp)
        if advanced is not None:
            self._log.emit_watermark(advanced)

    def status(self, channel: ChannelKey, idle: bool) -> None:
        """A subtask has become idle or active."""
        advanced, changed = self._valve.status(channel, idle)
        if advanced is not None:
            self._log.emit_watermark(advanced)
        if changed is not None:
            self._log.emit_status(changed)


class SubtaskOutput:
    """Internal. The output of one subtask."""

    def __init__(self, merged: MergedOutput, log: EventLog, channel: ChannelKey) -> None:
        self._merged = merged
        self._channel = channel
        self.emit = log.emit
        self.emit_side = log.emit_side

    def emit_watermark(self, timestamp: int) -> None:
        """Hand on a watermark."""
        self._merged.watermark(self._channel, timestamp)

    def emit_status(self, idle: bool) -> None:
        """Hand on a change between active and idle."""
        self._merged.status(self._channel, idle)

    def emit_iteration_barrier(self, barrier: IterationBarrier) -> None:
        """Do nothing: a single operator is in no loop."""
