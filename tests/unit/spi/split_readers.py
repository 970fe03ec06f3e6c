"""Clients for tests of split readers: topics in memory, and a reader whose fetchers the test steps itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from wiesel.columnar.row_batch import RowBatch
from wiesel.core.metrics import MetricRegistry
from wiesel.spi.source import (
    Boundedness,
    InputStatus,
    RecordsBySplits,
    Source,
    SourceReader,
    SourceReaderBase,
    SourceReaderMetricGroup,
    SplitEnumerator,
    SplitReader,
    SplitRecords,
)

BLOCKS_S = 30.0
"""How long a fetch blocks that nobody wakes up."""

AVAILABLE: dict[str, int] = {}


@dataclass(frozen=True)
class TopicSplit:
    split_id: str
    end: int
    position: int = 0


class TopicReader(SplitReader[TopicSplit]):
    """Reads numbers ``position`` to ``end`` of each split, as many at a time and of as many splits as the random numbers say."""

    def __init__(self, random: Random, mode: str = "positions") -> None:
        self.random = random
        self.mode = mode
        self.splits: dict[str, list[int]] = {}
        self.paused: set[str] = set()
        self.closed = False

    def handle_splits_changes(self, additions: Sequence[TopicSplit], removals: Sequence[str]) -> None:
        self.splits.update((split.split_id, [split.position, split.end]) for split in additions)
        for split_id in removals:
            self.splits.pop(split_id)

    def fetch(self) -> RecordsBySplits | None:
        open_splits = [split_id for split_id in self.splits if split_id not in self.paused]
        assert open_splits, "fetched without a split to read"
        chosen = self.random.sample(open_splits, self.random.randint(0, len(open_splits)))
        records = [self._next(split_id) for split_id in chosen]
        finished = [split_id for split_id in chosen if self.splits[split_id][0] == self.splits[split_id][1]]
        for split_id in finished:
            del self.splits[split_id]
        return RecordsBySplits(records, finished) if records else None

    def _next(self, split_id: str) -> SplitRecords:
        begin, last = self.splits[split_id]
        end = self.splits[split_id][0] = min(last, begin + self.random.choice([0, 1, 2, 10, 100]))
        numbers = list(range(begin, end))
        if self.mode == "columns":
            return SplitRecords(split_id, pa.record_batch({"n": pa.array(numbers, pa.int64())}), end)
        positions = range(begin + 1, end + 1) if self.mode == "positions" else None
        return SplitRecords(split_id, numbers, end, timestamps=[n * 10 for n in numbers], positions=positions)

    def wake_up(self) -> None:
        pass

    def pause_or_resume_splits(self, to_pause: Collection[str], to_resume: Collection[str]) -> None:
        assert {*to_pause} <= self.splits.keys() - self.paused and {*to_resume} <= self.paused
        self.paused = (self.paused | {*to_pause}) - {*to_resume}

    def close(self) -> None:
        assert not self.closed
        self.closed = True


class SteppedByTest:
    """A fetcher without a thread."""

    def __init__(self, step: Callable[[], int | None], finish: Callable[[], None]) -> None:
        self._step, self._finish = step, finish
        self.waits = self.ended = False

    def step(self) -> None:
        if not self.ended and not self.waits:
            self.waits = self._step() is None

    def resume(self) -> None:
        self.waits = False

    def end(self) -> None:
        if not self.ended:
            self.ended = True
            self._finish()

    def join(self, timeout_s: float) -> bool:
        return self.ended


class Context:
    """The context of a reader, and its output; ``start`` makes fetchers."""

    subtask_index, parallelism = 0, 1

    def __init__(self, start: Callable[..., Any] = SteppedByTest) -> None:
        self.fetchers: list[Any] = []
        self.metrics = MetricRegistry()
        self.metric_group = SourceReaderMetricGroup(self.metrics.group())
        self.start = start
        self.woken = threading.Event()
        self.wanted = 1 << 20
        self.emitted: dict[str, list[int]] = {}
        self.finished: list[str] = []
        self.chunks: list[int] = []

    def start_fetcher(self, step: Any, finish: Any) -> Any:
        fetcher = self.start(step, finish)
        self.fetchers.append(fetcher)
        return fetcher

    def wake(self) -> None:
        self.woken.set()

    def now_ms(self) -> int:
        return 0

    def collect(self, values: list[Any], timestamps: list[int] | None = None, split_id: str = "") -> None:
        assert values
        if isinstance(values[0], RowBatch):
            assert timestamps is None
            values = [row["n"] for batch in values for row in batch.rows.to_pylist()]
        elif timestamps is not None:
            assert timestamps == [n * 10 for n in values]
        self.chunks.append(len(values))
        self.emitted.setdefault(split_id, []).extend(values)

    def split_finished(self, split_id: str) -> None:
        self.finished.append(split_id)

    def poll(self, reader: SourceReaderBase[Any]) -> InputStatus:
        self.woken.clear()
        return reader.poll(self)  # type: ignore[arg-type]


class NumbersSource(Source[TopicSplit]):
    """Numbers from 0 up to ``end`` in each of some splits, as ``(split, number)``.

    With ``name`` only the first ``AVAILABLE[name]`` of each split are there, as in a topic that is written to. While the file ``block``
    exists, a fetch creates the file ``begun`` and blocks, until it is woken up or 30 s have passed.
    """

    boundedness = Boundedness.BOUNDED

    def __init__(
        self, splits: int, end: int, block: Path | None = None, *, name: str = "", thread_per_split: bool = False, pace_s: float = 0.0
    ) -> None:
        self.splits, self.end, self.block, self.name = splits, end, block, name
        self.thread_per_split, self.pace_s = thread_per_split, pace_s

    def create_enumerator(self, context: Any, state: Any | None = None) -> SplitEnumerator[TopicSplit]:
        return NumbersEnumerator(context, [TopicSplit(f"p{i}", self.end) for i in range(self.splits)] if state is None else state)

    def create_reader(self, context: Any) -> SourceReader[TopicSplit]:
        return SourceReaderBase(context, lambda: NumbersReader(self), thread_per_split=self.thread_per_split)


class NumbersEnumerator(SplitEnumerator[TopicSplit]):
    def __init__(self, context: Any, splits: list[TopicSplit]) -> None:
        self.context, self.splits = context, splits

    def add_reader(self, subtask: int) -> None:
        mine = [split for split in self.splits if int(split.split_id[1:]) % self.context.parallelism == subtask]
        self.splits = [split for split in self.splits if split not in mine]
        self.context.assign_splits({subtask: mine})
        self.context.signal_no_more_splits(subtask)

    def add_splits_back(self, splits: Sequence[TopicSplit]) -> None:
        self.splits.extend(splits)

    def snapshot_state(self, checkpoint_id: int) -> list[TopicSplit]:
        return list(self.splits)


class NumbersReader(SplitReader[TopicSplit]):
    def __init__(self, source: NumbersSource) -> None:
        self.source = source
        self.splits: dict[str, TopicSplit] = {}
        self.paused: set[str] = set()
        self.woken = threading.Event()

    def handle_splits_changes(self, additions: Sequence[TopicSplit], removals: Sequence[str]) -> None:
        self.splits.update((split.split_id, split) for split in additions)

    def fetch(self) -> RecordsBySplits | None:
        if self.source.block is not None and self.source.block.exists():
            self.source.block.with_name("begun").touch()
            end_s = time.monotonic() + BLOCKS_S
            while self.source.block.exists() and not self.woken.wait(0.05) and time.monotonic() < end_s:
                pass
            self.woken.clear()
            return None
        time.sleep(self.source.pace_s)
        fetched, finished = [], []
        for split_id, split in list(self.splits.items()):
            end = min(split.position + 7, split.end, AVAILABLE.get(self.source.name, split.end))
            if split_id in self.paused or end == split.position < split.end:
                continue
            numbers = range(split.position, end)
            fetched.append(SplitRecords(split_id, [(split_id, n) for n in numbers], end, positions=range(split.position + 1, end + 1)))
            self.splits[split_id] = replace(split, position=end)
            if end == split.end:
                finished.append(split_id)
                del self.splits[split_id]
        return RecordsBySplits(fetched, finished)

    def pause_or_resume_splits(self, to_pause: Collection[str], to_resume: Collection[str]) -> None:
        self.paused = (self.paused | {*to_pause}) - {*to_resume}

    def wake_up(self) -> None:
        self.woken.set()
