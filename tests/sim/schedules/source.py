"""A source of fixed batches, whose watermarks are the same wherever a reader begins: each batch comes with the watermark before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from wiesel.datastream.connectors.base import Boundedness, InputStatus, Source, SourceReader, SplitEnumerator

Written = list[list[tuple[list[Any], int]]]
"""For each split batches of records with the watermark behind each."""


@dataclass(frozen=True)
class Reading:
    """A split and how many of its batches have been read."""

    number: int
    position: int = 0

    @property
    def split_id(self) -> str:
        return str(self.number)


class Batches(Source[Reading]):
    """Gives a batch at a poll. It ends, but event time does not end with it."""

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def __init__(self, written: Written) -> None:
        self.written = written

    def create_enumerator(self, context: Any, state: Any | None = None) -> SplitEnumerator[Reading]:
        return SharedOut(context, [Reading(n) for n in range(len(self.written))] if state is None else state)

    def create_reader(self, context: Any) -> SourceReader[Reading]:
        return BatchReader(self.written)


class SharedOut(SplitEnumerator[Reading]):
    def __init__(self, context: Any, readings: list[Reading]) -> None:
        self.context, self.readings = context, readings

    def add_reader(self, subtask: int) -> None:
        mine = [r for r in self.readings if r.number % self.context.parallelism == subtask]
        self.readings = [r for r in self.readings if r not in mine]
        if mine:
            self.context.assign_splits({subtask: mine})
        self.context.signal_no_more_splits(subtask)

    def snapshot_state(self, checkpoint_id: int) -> Any:
        return list(self.readings)


class BatchReader(SourceReader[Reading]):
    """Keeps splits that it has read to their end: who restores them tells their last watermark again."""

    splits_hold_watermarks = True

    def __init__(self, written: Written) -> None:
        self.written = written
        self.readings: list[Reading] = []
        self.told: set[int] = set()
        self.complete = False

    def add_splits(self, splits: Sequence[Reading]) -> None:
        self.readings.extend(splits)

    def notify_no_more_splits(self) -> None:
        self.complete = True

    def is_due(self, reading: Reading) -> bool:
        """Return whether the next batch of a split may be given."""
        return True

    def may_end(self) -> bool:
        """Return whether the source may end when it has given all."""
        return True

    def all_given(self, reading: Reading) -> None:
        """A split has given its last watermark."""

    def poll(self, output: Any) -> InputStatus:
        for i, reading in enumerate(self.readings):
            batches = self.written[reading.number]
            if reading.number in self.told if reading.position == len(batches) else not self.is_due(reading):
                continue
            if reading.position:
                output.emit_watermark(batches[reading.position - 1][1], reading.split_id)
            if reading.position < len(batches):
                records = batches[reading.position][0]
                output.collect(records, [at_ms for _, at_ms in records], reading.split_id)
                self.readings[i] = replace(reading, position=reading.position + 1)
            else:
                self.told.add(reading.number)
                self.all_given(reading)
            self.readings.append(self.readings.pop(i))  # the others' turn
            return InputStatus.MORE_AVAILABLE
        if self.complete and not self.readings:
            # A subtask without splits holds event time back until it ends, which may be after all others.
            output.emit_watermark(self.written[0][-1][1])
        return InputStatus.END_OF_INPUT if self.complete and self.may_end() else InputStatus.NOTHING_AVAILABLE

    def snapshot_state(self, checkpoint_id: int) -> list[Reading]:
        return list(self.readings)
