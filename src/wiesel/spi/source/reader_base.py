"""Internal. The base of readers whose client may block: it runs split readers in fetcher threads (Flink: ``SourceReaderBase``)."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, cast

from wiesel.core.errors import ConnectorError, ProgramError
from wiesel.core.logs import get_logger
from wiesel.spi.source.fetcher import SplitFetcher
from wiesel.spi.source.reader import InputStatus, ReaderOutput, SourceReader, SourceReaderContext
from wiesel.spi.source.split import SplitT
from wiesel.spi.source.split_reader import SplitReader, SplitRecords

__all__ = ["SourceReaderBase"]

_CLOSE_S = 1.0
"""Timeout of ``close`` for all threads together."""

_log = get_logger("wiesel.sources")


@dataclass
class _Entry:
    """Records of a split that are to be emitted, ``taken`` of which were; None: the split is finished."""

    split_id: str
    records: SplitRecords | None
    fetched_ms: int
    taken: int = 0


class SourceReaderBase(SourceReader[SplitT], Generic[SplitT]):
    """A reader that hands over to the task what split readers fetch in threads of their own.

    A thread fetches while fewer than ``queue_capacity`` of its results wait for the task. The position of a split is that behind the
    records that were emitted: what was fetched only is fetched again after a restart. Split readers that raise fail the task.

    ::

        class Orders(Source[OrdersSplit]):
            def create_reader(self, context):
                return SourceReaderBase(context, lambda: OrdersSplitReader(self.url))

    Args:
        context: The context of the reader.
        split_reader: Makes a split reader; called in the task's thread, so it must not block.
        thread_per_split: Whether each split has a thread and a split reader of its own, instead of one for all splits of the reader.
        queue_capacity: The number of fetches per thread that may wait for the task.
    """

    poll_interval_ms = 1_000

    def __init__(
        self,
        context: SourceReaderContext,
        split_reader: Callable[[], SplitReader[SplitT]],
        *,
        thread_per_split: bool = False,
        queue_capacity: int = 2,
    ) -> None:
        if queue_capacity < 1:
            raise ProgramError(f"SourceReaderBase: queue_capacity is {queue_capacity}", hint="give a number of fetches, at least 1")
        self.context = context
        self._make_split_reader = split_reader
        self._thread_per_split = thread_per_split
        self._capacity = queue_capacity
        self._splits: dict[str, SplitT] = {}
        self._positions: dict[str, Any] = {}
        """The positions of splits of which something was emitted."""
        self._removed: dict[str, bool] = {}
        """Splits that were removed, and whether the output knows."""
        self._fetchers: deque[SplitFetcher] = deque()
        self._ending: list[SplitFetcher] = []
        self._pending: deque[_Entry] = deque()
        self._paused: dict[str, list[_Entry]] = {}
        """The splits that are paused, each with what was fetched of it before the pause took effect."""
        self._no_more = False
        self._fetch_lag_ms = -1
        context.metric_group.gauge("currentFetchEventTimeLag", lambda: self._fetch_lag_ms)

    # What subclasses may override.

    def split_at(self, split: SplitT, position: Any) -> SplitT:
        """Return a split with another position. The default sets the field ``position`` of a dataclass."""
        return cast(SplitT, replace(cast(Any, split), position=position))

    def on_splits_finished(self, split_ids: Collection[str]) -> None:
        """Some splits are read to their end, and all of their records were emitted (to ask for another split, for example)."""

    # What subclasses may call.

    def remove_splits(self, split_ids: Collection[str]) -> None:
        """Read some splits no longer and emit no more of their records. Splits with these ids must not be added again."""
        removed = [split_id for split_id in split_ids if split_id in self._splits]
        for fetcher in self._fetchers:
            if of_fetcher := [split_id for split_id in removed if split_id in fetcher.assigned]:
                fetcher.change_splits((), of_fetcher)
        for split_id in removed:
            self._forget(split_id)
            self._removed[split_id] = False
        self.context.wake()

    def enqueue(self, task: Callable[[SplitReader[SplitT]], None]) -> None:
        """Call something with each split reader in its thread, between two fetches: to acknowledge records upstream, for example."""
        for fetcher in self._fetchers:
            fetcher.enqueue(partial(task, fetcher.split_reader))

    # Splits

    def add_splits(self, splits: Sequence[SplitT]) -> None:
        """Start to read splits."""
        self._splits.update((split.split_id, split) for split in splits)
        if self._thread_per_split:
            for split in splits:
                self._start_fetcher().change_splits([split])
        elif splits:
            (self._fetchers[0] if self._fetchers else self._start_fetcher()).change_splits(list(splits))

    def _start_fetcher(self) -> SplitFetcher:
        fetcher = SplitFetcher(self.context, self._make_split_reader(), self._capacity)
        self._fetchers.append(fetcher)
        return fetcher

    def notify_no_more_splits(self) -> None:
        """No further split will come."""
        self._no_more = True
        self.context.wake()

    def pause_or_resume_splits(self, to_pause: Collection[str], to_resume: Collection[str]) -> None:
        """Pause and resume splits, with what was fetched of them.

        Raises:
            NotImplementedError: The split reader cannot pause splits that share it.
        """
        unable = [] if self._thread_per_split else [f for f in self._fetchers if not f.pauses_splits]
        if unable:
            raise NotImplementedError(f"{type(unable[0].split_reader).__name__} cannot pause single splits")
        pausing = [split_id for split_id in to_pause if split_id in self._splits and split_id not in self._paused]
        resuming = [split_id for split_id in to_resume if split_id in self._paused]
        self._paused.update((split_id, []) for split_id in pausing)
        resumed = [entry for split_id in resuming for entry in self._paused.pop(split_id)]
        waiting, self._pending = [*resumed, *self._pending], deque()
        self._queue(waiting)
        for fetcher in self._fetchers:
            of_fetcher = [[split_id for split_id in ids if split_id in fetcher.assigned] for ids in (pausing, resuming)]
            if fetcher.pauses_splits and any(of_fetcher):
                fetcher.pause_or_resume(*of_fetcher)
        self.context.wake()

    def snapshot_state(self, checkpoint_id: int) -> list[SplitT]:
        """Return the splits, each with the position behind what was emitted of it."""
        positions = self._positions
        return [self.split_at(split, positions[i]) if i in positions else split for i, split in self._splits.items()]

    def _forget(self, split_id: str) -> None:
        del self._splits[split_id]
        self._positions.pop(split_id, None)
        self._paused.pop(split_id, None)
        for fetcher in [f for f in self._fetchers if split_id in f.assigned]:
            fetcher.assigned.discard(split_id)
            if self._thread_per_split:
                self._fetchers.remove(fetcher)
                self._ending.append(fetcher)
                fetcher.begin_close()
        self._ending = [fetcher for fetcher in self._ending if not fetcher.join(0)]

    # Records

    def poll(self, output: ReaderOutput) -> InputStatus:
        """Emit as much of what was fetched as the task wants."""
        self._tell_removed(output)
        emitted, wanted = 0, output.wanted
        while emitted < wanted and self._fill():
            emitted += self._emit(output, wanted - emitted)
        if self._fill():
            return InputStatus.MORE_AVAILABLE
        return InputStatus.END_OF_INPUT if self._no_more and not self._splits else InputStatus.NOTHING_AVAILABLE

    def _tell_removed(self, output: ReaderOutput) -> None:
        for split_id in [split_id for split_id, known in self._removed.items() if not known]:
            self._removed[split_id] = True
            output.split_finished(split_id)

    def _fill(self) -> bool:
        """Take results of the fetchers until there is something to emit; return whether there is."""
        for fetcher in self._fetchers:
            if fetcher.error is not None:
                raise fetcher.error
            fetcher.wake_for_tasks()
        while not self._pending:
            ready = next((f for f in self._fetchers if f.has_fetched and not self._is_paused(f)), None)
            if ready is None:
                return False
            # The others come first the next time.
            self._fetchers.remove(ready)
            self._fetchers.append(ready)
            fetched, fetched_ms = ready.take()
            self._queue(_Entry(records.split_id, records, fetched_ms) for records in fetched.records)
            self._queue(_Entry(split_id, None, fetched_ms) for split_id in fetched.finished_splits)
        return True

    def _is_paused(self, fetcher: SplitFetcher) -> bool:
        """Return whether all splits of a fetcher are paused: what it has fetched stays in its queue."""
        return bool(fetcher.assigned) and fetcher.assigned <= self._paused.keys()

    def _queue(self, entries: Iterable[_Entry]) -> None:
        for entry in entries:
            if entry.split_id in self._paused:
                self._paused[entry.split_id].append(entry)
            else:
                self._pending.append(entry)

    def _emit(self, output: ReaderOutput, wanted: int) -> int:
        """Emit the first entry, or its next records; return how many batches or records that were."""
        entry, records = self._pending[0], self._pending[0].records
        if entry.split_id not in self._splits:
            self._check_removed(self._pending.popleft().split_id)
            return 0
        if records is None:
            self._pending.popleft()
            self._forget(entry.split_id)
            output.split_finished(entry.split_id)
            self.on_splits_finished([entry.split_id])
            return 0
        if isinstance(records.records, list):
            return self._emit_records(entry, records, records.records, output, wanted)
        from wiesel.columnar.row_batch import RowBatch  # loads Arrow, which only sources of tables need

        self._pending.popleft()
        rows = records.records if isinstance(records.records, RowBatch) else RowBatch(records.records)
        if len(rows):
            output.collect([rows], None, entry.split_id)
        self._move(entry.split_id, records.position)
        return 1

    def _emit_records(self, entry: _Entry, records: SplitRecords, values: list[Any], output: ReaderOutput, wanted: int) -> int:
        begin, end = entry.taken, len(values)
        if records.positions is not None and end - begin > wanted:
            end = entry.taken = begin + wanted
            self._move(entry.split_id, records.positions[end - 1])
        else:
            self._pending.popleft()
            self._move(entry.split_id, records.position)
            if records.position is None and records.positions:
                self._move(entry.split_id, records.positions[-1])
        times = records.timestamps
        if end > begin:
            if times is not None:
                self._fetch_lag_ms = entry.fetched_ms - times[end - 1]
            whole = end - begin == len(values)
            output.collect(values if whole else values[begin:end], times if whole or times is None else times[begin:end], entry.split_id)
        return end - begin

    def _move(self, split_id: str, position: Any) -> None:
        if position is not None:
            self._positions[split_id] = position

    def _check_removed(self, split_id: str) -> None:
        if split_id not in self._removed:
            raise ConnectorError(
                f"the split reader returned records of split {split_id!r}, which the reader does not have",
                hint="return records of splits that were added and are neither removed nor finished",
            )

    def close(self) -> None:
        """End the threads. A split reader that does not return in time is left to its thread, which closes it then."""
        fetchers = [*self._fetchers, *self._ending]
        for fetcher in fetchers:
            fetcher.begin_close()
        deadline_s = time.monotonic() + _CLOSE_S
        for fetcher in fetchers:
            if not fetcher.join(max(0.0, deadline_s - time.monotonic())):
                _log.warning("%s blocks, its thread is left behind: see SplitReader.wake_up()", type(fetcher.split_reader).__name__)
