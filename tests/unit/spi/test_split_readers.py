"""Readers over clients that may block: what fetchers hand over is emitted once, in order, and positions follow what was emitted."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable
from random import Random, SystemRandom
from typing import Any

import pyarrow as pa
import pytest

from tests.unit.spi.split_readers import Context, TopicReader, TopicSplit
from wiesel.core.errors import ConnectorError, ProgramError
from wiesel.engine.spark.step_thread import StepThread
from wiesel.spi.source import InputStatus, RecordsBySplits, SourceReaderBase, SplitReader, SplitRecords

LIMIT_S = 60.0


class Run:
    """A reader that is restarted from its snapshots, and what all of its lives have emitted up to them."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.mode = random.choice(["positions", "whole", "columns"])
        self.options = {"thread_per_split": random.random() < 0.5, "queue_capacity": random.randint(1, 4)}
        self.ends = {f"p{i}": random.choice([0, 1, 30, 500]) for i in range(random.randint(1, 6))}
        self.emitted: dict[str, list[int]] = {split_id: [] for split_id in self.ends}
        self.unassigned = [TopicSplit(split_id, end) for split_id, end in self.ends.items()]
        self.paused: set[str] = set()
        self.begin([])

    def begin(self, splits: list[TopicSplit]) -> None:
        self.context = Context()
        self.split_readers: list[TopicReader] = []
        self.reader: SourceReaderBase[TopicSplit] = SourceReaderBase(self.context, self.split_reader, **self.options)  # type: ignore[arg-type]
        self.reader.add_splits(splits)
        self.paused = set()
        self.reader.start()

    def split_reader(self) -> TopicReader:
        self.split_readers.append(TopicReader(self.random, self.mode))
        return self.split_readers[-1]

    def take_emitted(self) -> None:
        for split_id, values in self.context.emitted.items():
            self.emitted[split_id] += values
        self.context.emitted = {}

    def step(self) -> bool:
        """Do something by chance; return whether the reader has ended."""
        random, action = self.random, self.random.random()
        if action < 0.4 and self.context.fetchers:
            random.choice(self.context.fetchers).step()
        elif action < 0.5 and self.unassigned:
            self.reader.add_splits([self.unassigned.pop() for _ in range(random.randint(1, len(self.unassigned)))])
        elif action < 0.55:
            assigned = self.ends.keys() - {split.split_id for split in self.unassigned}
            pause = {s for s in sorted(assigned) if random.random() < 0.3} - self.paused
            resume = {s for s in sorted(self.paused) if random.random() < 0.7}
            self.reader.pause_or_resume_splits(sorted(pause), sorted(resume))
            self.paused = (self.paused | pause) - resume
        elif action < 0.58:
            splits = pickle.loads(pickle.dumps(self.reader.snapshot_state(1)))
            self.take_emitted()
            for _ in range(random.randint(0, 5)):  # undone by the restart
                self.poll()
            self.reader.close()
            assert all(each.closed for each in self.split_readers if each.splits)
            self.begin(splits)
        else:
            return self.poll() is InputStatus.END_OF_INPUT
        return False

    def poll(self) -> InputStatus:
        if not self.unassigned:
            self.reader.notify_no_more_splits()
        before = {split_id: len(values) for split_id, values in self.context.emitted.items()}
        finished = len(self.context.finished)
        self.context.wanted = self.random.choice([1, 2, 7, 1 << 20])
        status = self.context.poll(self.reader)
        progressed = {s for s, values in self.context.emitted.items() if len(values) > before.get(s, 0)}
        progressed |= {*self.context.finished[finished:]}
        assert not progressed & self.paused, "a paused split was read on"
        return status


@pytest.mark.parametrize("number", range(150))
def test_records_are_emitted_once_and_in_order_over_restarts_and_pauses_at_every_point(number: int) -> None:
    seed = SystemRandom().randrange(1 << 30)
    print(f"seed {seed}")
    run = Run(Random(seed))
    for _ in range(100_000):
        if run.step():
            break
        if run.random.random() < 0.002:  # or those that are paused would stay so for long
            run.reader.pause_or_resume_splits([], sorted(run.paused))
            run.paused = set()
    else:
        raise AssertionError("the reader does not end")
    run.take_emitted()
    assert run.emitted == {split_id: list(range(end)) for split_id, end in run.ends.items()}
    assert run.reader.snapshot_state(2) == []
    run.reader.close()


@pytest.mark.parametrize("thread_per_split", [False, True])
@pytest.mark.parametrize("capacity", [1, 3])
def test_no_more_is_fetched_than_the_queue_holds(capacity: int, thread_per_split: bool) -> None:
    context = Context()
    reader = SourceReaderBase(
        context, lambda: Counting(fetches), thread_per_split=thread_per_split, queue_capacity=capacity  # type: ignore[arg-type]
    )
    fetches: list[str] = []
    splits = [TopicSplit("a", 100), TopicSplit("b", 100)]
    reader.add_splits(splits)
    for _ in range(50):
        for fetcher in context.fetchers:
            fetcher.step()
    assert len(fetches) == capacity * (2 if thread_per_split else 1)
    context.wanted = 1
    context.poll(reader)
    assert [len(values) for values in context.emitted.values()] == [1]
    for _ in range(50):
        for fetcher in context.fetchers:
            fetcher.step()
    # One more is in the hands of the reader, which has looked whether there is more.
    assert capacity * len(context.fetchers) < len(fetches) <= (capacity + 2) * len(context.fetchers)
    reader.close()


class Counting(TopicReader):
    def __init__(self, fetches: list[str]) -> None:
        super().__init__(Random(0), "whole")
        self.fetches = fetches

    def fetch(self) -> RecordsBySplits:
        split_id = next(iter(self.splits))
        self.fetches.append(split_id)
        position = self.splits[split_id]
        position[0] += 1
        return RecordsBySplits([SplitRecords(split_id, [position[0] - 1], position[0])])


def test_splits_that_are_removed_end_where_they_are() -> None:
    context = Context()
    reader = SourceReaderBase(context, lambda: TopicReader(Random(1)))  # type: ignore[arg-type, var-annotated]
    reader.add_splits([TopicSplit("a", 1000), TopicSplit("b", 1000)])
    while not all(context.emitted.get(split_id) for split_id in "ab"):
        context.fetchers[0].step()
        context.wanted = 1
        context.poll(reader)
    reader.remove_splits(["a", "unknown"])
    read = list(context.emitted["a"])
    assert [split.split_id for split in reader.snapshot_state(1)] == ["b"]
    reader.notify_no_more_splits()
    for _ in range(10_000):
        context.fetchers[0].step()
        if context.poll(reader) is InputStatus.END_OF_INPUT:
            break
    assert context.emitted == {"a": read, "b": list(range(1000))} and context.finished == ["a", "b"]
    reader.close()


def test_records_of_a_split_that_the_reader_does_not_have_are_an_error() -> None:
    class Wrong(TopicReader):
        def fetch(self) -> RecordsBySplits:
            return RecordsBySplits([SplitRecords("other", [1], 1)])

    context = Context()
    reader = SourceReaderBase(context, lambda: Wrong(Random(0)))  # type: ignore[arg-type, var-annotated]
    reader.add_splits([TopicSplit("a", 10)])
    for _ in range(3):
        context.fetchers[0].step()
    with pytest.raises(ConnectorError, match="'other', which the reader does not have"):
        context.poll(reader)
    reader.close()


@pytest.mark.parametrize(
    "arguments",
    [
        {"records": [1, 2], "timestamps": [1]},
        {"records": [1, 2], "positions": [1, 2, 3]},
        {"records": pa.record_batch({"n": [1]}), "positions": [1]},
    ],
)
def test_lists_of_different_lengths_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ProgramError, match="split 'a'"):
        SplitRecords("a", **arguments)


def test_a_queue_without_room_is_refused() -> None:
    with pytest.raises(ProgramError, match="queue_capacity is 0"):
        SourceReaderBase(Context(), lambda: TopicReader(Random(0)), queue_capacity=0)  # type: ignore[arg-type, var-annotated]


def test_splits_that_share_a_reader_which_cannot_pause_them() -> None:
    class Unable(TopicReader):
        pause_or_resume_splits = SplitReader.pause_or_resume_splits

    shared = SourceReaderBase(Context(), lambda: Unable(Random(0)))  # type: ignore[arg-type, var-annotated]
    shared.add_splits([TopicSplit("a", 10)])
    with pytest.raises(NotImplementedError, match="Unable cannot pause single splits"):
        shared.pause_or_resume_splits(["a"], [])
    own_threads = SourceReaderBase(Context(), lambda: Unable(Random(0)), thread_per_split=True)  # type: ignore[arg-type, var-annotated]
    own_threads.add_splits([TopicSplit("a", 10)])
    own_threads.pause_or_resume_splits(["a"], [])
    shared.close()
    own_threads.close()


# With threads.


class Blocking(TopicReader):
    """Blocks in ``fetch`` until it is released or woken up, if it hears that at all."""

    def __init__(self, *, deaf: bool = False) -> None:
        super().__init__(Random(0), "whole")
        self.deaf = deaf
        self.released, self.blocks = threading.Event(), threading.Event()
        self.threads: set[str] = set()
        self.acknowledged: list[int] = []

    def fetch(self) -> RecordsBySplits | None:
        self.threads.add(threading.current_thread().name)
        self.blocks.set()
        self.released.wait(30)
        self.released.clear()
        self.blocks.clear()
        return RecordsBySplits([SplitRecords(split_id, [at[0]], at[0] + 1) for split_id, at in self.splits.items() if at[0] < 1])

    def wake_up(self) -> None:
        if not self.deaf:
            self.released.set()


def until(condition: Callable[[], Any]) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.001)


def threaded(client: Blocking) -> tuple[Context, SourceReaderBase[TopicSplit]]:
    context = Context(StepThread)
    reader: SourceReaderBase[TopicSplit] = SourceReaderBase(context, lambda: client)  # type: ignore[arg-type]
    reader.add_splits([TopicSplit("a", 10)])
    until(client.blocks.is_set)
    return context, reader


def test_the_task_is_woken_when_records_have_come() -> None:
    client = Blocking()
    context, reader = threaded(client)
    assert context.poll(reader) is InputStatus.NOTHING_AVAILABLE
    client.released.set()
    assert context.woken.wait(LIMIT_S)
    context.poll(reader)
    assert context.emitted == {"a": [0]} and client.threads == {"wiesel-fetcher"}
    reader.close()


def test_a_fetch_that_blocks_is_woken_for_splits_and_for_tasks() -> None:
    client = Blocking()
    _, reader = threaded(client)
    began_s = time.monotonic()
    reader.add_splits([TopicSplit("b", 10)])
    until(lambda: "b" in client.splits)
    reader.pause_or_resume_splits(["a"], [])
    until(lambda: client.paused == {"a"})
    reader.enqueue(lambda split_reader: client.acknowledged.append(7) if split_reader is client else None)
    until(lambda: client.acknowledged == [7])
    assert time.monotonic() - began_s < 10
    reader.close()


def test_closing_wakes_a_fetch_that_blocks_and_closes_its_client() -> None:
    client = Blocking()
    _, reader = threaded(client)
    began_s = time.monotonic()
    reader.close()
    assert time.monotonic() - began_s < 0.9 and client.closed


def test_closing_waits_no_longer_for_a_client_that_does_not_wake_up(caplog: pytest.LogCaptureFixture) -> None:
    client = Blocking(deaf=True)
    _, reader = threaded(client)
    began_s = time.monotonic()
    reader.close()
    assert time.monotonic() - began_s < 1.8 and not client.closed
    assert "Blocking blocks, its thread is left behind" in caplog.text
    client.released.set()
    until(lambda: client.closed)  # by its thread


@pytest.mark.parametrize("raised", [ValueError("no luck"), SystemExit(3)])
@pytest.mark.parametrize("method", ["open", "fetch", "handle_splits_changes"])
def test_what_a_split_reader_raises_is_raised_in_the_task(method: str, raised: BaseException) -> None:
    def fail(*arguments: Any) -> None:
        raise raised

    client = Blocking()
    setattr(client, method, fail)
    context = Context(StepThread)
    reader: SourceReaderBase[TopicSplit] = SourceReaderBase(context, lambda: client)  # type: ignore[arg-type]
    reader.add_splits([TopicSplit("a", 10)])
    assert context.woken.wait(LIMIT_S)
    with pytest.raises(type(raised) if isinstance(raised, Exception) else RuntimeError) as failure:
        context.poll(reader)
    assert ("no luck" if isinstance(raised, Exception) else "SystemExit(3)") in str(failure.value)
    frames = [frame.name for frame in failure.traceback]
    assert frames[-1] == "fail" and "poll" in frames, "the user's frame, and that of the task"
    reader.close()
    assert client.closed
