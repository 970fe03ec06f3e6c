"""A source of one's own: the files of the airlines, replayed in the order of the reports.

Each airline's file is a split. A reader merges those of its splits, in steps of a quarter of an hour of the replayed time. Before the
reports of a step it tells how far event time has come: everything that was reported within ``BOUND_MS`` of its departure has been seen.

Watermarks are thus part of the data: whether a record is late does not depend on how fast the replay runs, on how splits are spread over
readers, or on where a recovery went on. So results can be compared to the last line, those of a run with its processes killed as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from examples.flights.data import MINUTE_MS, Flight, end_of, read
from wiesel.datastream.connectors.base import (
    Boundedness,
    InputStatus,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SplitEnumerator,
    SplitEnumeratorContext,
)

BOUND_MS = 30 * MINUTE_MS
"""Records that are reported later than this after their departure may be late."""

STEP_MS = 15 * MINUTE_MS

_POLL_RECORDS = 1000

_LEAP_MS = 2000
"""A replay that has a speed makes up for no more than this when its machine stood still: it goes on where it was."""


def watermark_at(reported_ms: int) -> int:
    """Return the watermark that a record finds which is reported at this time."""
    return reported_ms // STEP_MS * STEP_MS - BOUND_MS - 1


@dataclass(frozen=True)
class Feed:
    """A split: the file of one airline, and how many of its records have been read."""

    path: str
    rows: int
    position: int = 0

    @property
    def split_id(self) -> str:
        return Path(self.path).stem


class FlightSource(Source[Feed]):
    """Replays the flights.

    Args:
        directory: The files that ``examples.flights.data.prepare`` wrote; every worker must be able to read them.
        days: How many days of the year.
        speed_up: How many times faster than it happened; as fast as possible if None.
    """

    def __init__(self, directory: Path, days: float | None = None, speed_up: float | None = None) -> None:
        self._feeds = [Feed(str(path), pq.ParquetFile(path).metadata.num_rows) for path in sorted(directory.glob("*.parquet"))]
        self._until_ms = end_of(days)
        self._speed_up = speed_up

    @property
    def boundedness(self) -> Boundedness:
        return Boundedness.BOUNDED

    def create_enumerator(self, context: SplitEnumeratorContext[Feed], state: Any | None = None) -> SplitEnumerator[Feed]:
        return _Enumerator(context, self._feeds if state is None else state)

    def create_reader(self, context: SourceReaderContext) -> SourceReader[Feed]:
        return _Reader(context, self._until_ms, self._speed_up)


class _Enumerator(SplitEnumerator[Feed]):
    """Gives every reader its share of the feeds as soon as it is there; the shares are about equally large."""

    def __init__(self, context: SplitEnumeratorContext[Feed], feeds: Sequence[Feed]) -> None:
        self._context = context
        self._shares: list[list[Feed]] = [[] for _ in range(context.parallelism)]
        for feed in sorted(feeds, key=lambda f: f.position - f.rows):
            min(self._shares, key=lambda share: sum(f.rows - f.position for f in share)).append(feed)

    def add_reader(self, subtask: int) -> None:
        if self._shares[subtask]:
            self._context.assign_splits({subtask: self._shares[subtask]})
            self._shares[subtask] = []
        self._context.signal_no_more_splits(subtask)

    def snapshot_state(self, checkpoint_id: int) -> Any:
        return [feed for share in self._shares for feed in share]


class _Cursor:
    """A place in a feed."""

    def __init__(self, feed: Feed, until_ms: int) -> None:
        self._feed = feed
        self._position = feed.position
        self._until_ms = until_ms
        self._group_rows = pq.ParquetFile(feed.path).metadata.row_group(0).num_rows
        self._group: int | None = None
        self._records: list[Flight] = []

    @property
    def feed(self) -> Feed:
        """Return the split as it is now."""
        return replace(self._feed, position=self._position)

    def peek(self) -> Flight | None:
        """Return the next record, None behind the last one."""
        if self._position >= self._feed.rows:
            return None
        group, index = divmod(self._position, self._group_rows)
        if group != self._group:
            self._group, self._records = group, read(self._feed.path, group)
        record = self._records[index]
        return record if record.reported_ms < self._until_ms else None

    def take_before(self, limit_ms: int) -> list[Flight]:
        """Return the records up to a time of reports."""
        taken: list[Flight] = []
        while (record := self.peek()) is not None and record.reported_ms < limit_ms:
            taken.append(record)
            self._position += 1
        return taken


class _Reader(SourceReader[Feed]):
    def __init__(self, context: SourceReaderContext, until_ms: int, speed_up: float | None) -> None:
        self._context = context
        self._until_ms = until_ms
        self._speed_up = speed_up
        self._cursors: list[_Cursor] = []
        self._no_more = False
        self._started: tuple[int, int] | None = None
        self._asked_ms = 0

    def add_splits(self, splits: Sequence[Feed]) -> None:
        self._cursors.extend(_Cursor(feed, self._until_ms) for feed in splits)

    def notify_no_more_splits(self) -> None:
        self._no_more = True

    def poll(self, output: ReaderOutput) -> InputStatus:
        if not self._no_more:
            return InputStatus.NOTHING_AVAILABLE
        emitted = 0
        while emitted < _POLL_RECORDS:
            following = [record.reported_ms for cursor in self._cursors if (record := cursor.peek()) is not None]
            if not following:
                return InputStatus.END_OF_INPUT
            step_end_ms = min(following) // STEP_MS * STEP_MS + STEP_MS
            if not self._is_due(step_end_ms):
                return InputStatus.NOTHING_AVAILABLE
            emitted += self._emit_step(step_end_ms, output)
        return InputStatus.MORE_AVAILABLE

    def _emit_step(self, step_end_ms: int, output: ReaderOutput) -> int:
        flights = [flight for cursor in self._cursors for flight in cursor.take_before(step_end_ms)]
        flights.sort(key=lambda flight: flight.reported_ms)
        output.emit_watermark(watermark_at(step_end_ms - STEP_MS))
        count = len(flights)
        output.collect(flights)
        return count

    def _is_due(self, replay_ms: int) -> bool:
        if self._speed_up is None:
            return True
        now_ms = self._context.now_ms()
        if self._started is None:
            self._started, self._asked_ms = (now_ms, replay_ms), now_ms
        began_ms, from_ms = self._started
        began_ms += max(0, now_ms - self._asked_ms - _LEAP_MS)
        self._started, self._asked_ms = (began_ms, from_ms), now_ms
        return replay_ms - from_ms <= (now_ms - began_ms) * self._speed_up

    def snapshot_state(self, checkpoint_id: int) -> list[Feed]:
        return [cursor.feed for cursor in self._cursors]
