"""What a source does at a checkpoint, and sources that say where checkpoints are to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from wiesel.common import WatermarkStrategy
from wiesel.datastream import KeyedProcessFunction
from wiesel.engine.local.simulation import SimulatedTask
from wiesel.runtime.operators.source import SourceOperator
from wiesel.spi.source import Boundedness, InputStatus, Source, SourceReader, SplitEnumerator
from wiesel.testing import ManualSource, local_environment
from wiesel.wire.buffers import BARRIER, DATA, read_buffers

NO_WATERMARKS = WatermarkStrategy.no_watermarks()


@pytest.fixture
def trace(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the source's task does: polls, points of a checkpoint that it reaches, what it sends, positions that it keeps."""
    steps: list[Any] = []
    reached, collect, poll, snapshot = SimulatedTask.reached, SimulatedTask.collect, SourceOperator.poll, SourceOperator.snapshot_state

    def note_point(task: SimulatedTask, point: str) -> None:
        if task.level == 0:
            steps.append(point)
        reached(task, point)

    def note_rows(task: SimulatedTask) -> None:
        before = {partition: len(rows) for partition, rows in task.links.items()}
        collect(task)
        for partition, rows in task.links.items() if task.level == 0 else ():
            for row in list(rows)[before.get(partition, 0) :]:
                steps.extend("barrier" for buffer in read_buffers(row) if buffer.kind == BARRIER)
                steps.extend("records" for buffer in read_buffers(row) if buffer.kind == DATA)

    def note_poll(source: SourceOperator) -> Any:
        steps.append("poll")
        return poll(source)

    def note_position(source: SourceOperator, checkpoint_id: int, timestamp_ms: int) -> Any:
        taken = snapshot(source, checkpoint_id, timestamp_ms)
        steps.append(("position", checkpoint_id, [getattr(split, "at", None) for split in taken.reader_splits]))
        return taken

    monkeypatch.setattr(SimulatedTask, "reached", note_point)
    monkeypatch.setattr(SimulatedTask, "collect", note_rows)
    monkeypatch.setattr(SourceOperator, "poll", note_poll)
    monkeypatch.setattr(SourceOperator, "snapshot_state", note_position)
    return steps


@dataclass
class Position:
    split_id: str
    at: int


class Counter(Source):
    """Counts; asks for a checkpoint behind each number that is a multiple of ``every``."""

    boundedness = Boundedness.BOUNDED

    def __init__(self, count: int, every: int = 0) -> None:
        self.count = count
        self.every = every

    def create_enumerator(self, context, state=None):
        return Single(context, state)

    def create_reader(self, context):
        return CounterReader(context, self.count, self.every)


class Single(SplitEnumerator):
    """Gives its one split away."""

    def __init__(self, context, state):
        self.context = context
        self.given = bool(state)

    def add_reader(self, subtask):
        if not self.given:
            self.given = True
            self.context.assign_splits({subtask: [Position("all", 0)]})
            self.context.signal_no_more_splits(subtask)

    def snapshot_state(self, checkpoint_id):
        return self.given


class CounterReader(SourceReader):
    def __init__(self, context, count, every):
        self.count, self.every = count, every
        self.position = None

    def add_splits(self, splits):
        self.position = splits[0].at

    def poll(self, output):
        if self.position is None:
            return InputStatus.NOTHING_AVAILABLE
        if self.position == self.count:
            return InputStatus.END_OF_INPUT
        self.position += 1
        output.collect([self.position])
        if self.every and self.position % self.every == 0:
            output.request_checkpoint()
        return InputStatus.MORE_AVAILABLE

    def snapshot_state(self, checkpoint_id):
        return [Position("all", self.position)]


class Same(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value


def test_c7_the_steps_of_a_source_at_a_checkpoint(trace: list[Any]) -> None:
    """It emits the barrier, takes its position, and nothing comes between; it goes on, and acknowledges when that is stored."""
    env = local_environment(seed=5)
    numbers = ManualSource()
    out = env.collect(env.from_source(numbers, NO_WATERMARKS, "numbers").key_by(lambda n: n % 3).process(Same()))
    with env.start() as job:
        for n in range(50):
            numbers.push(n)
            job.step()
        trace.append("triggered")
        job.checkpoint()
        numbers.push(50)
        job.finish()
    assert sorted(out.values) == list(range(51))
    during = trace[trace.index("triggered") :]
    first = during.index("before-barrier")
    assert during[first : first + 2] == ["before-barrier", "before-snapshot"] and during[first + 2][:2] == ("position", 1)
    behind = during[first + 3 :]
    # What was emitted before the barrier may leave with it; then the barrier, and the source is free again.
    assert [step for step in behind if step not in ("poll", "records")][:3] == ["barrier", "before-ack", "after-ack"]
    assert "poll" in behind


@pytest.mark.parametrize("seed", range(4))
def test_c9_a_source_says_where_checkpoints_are_to_be(trace: list[Any], seed: int) -> None:
    env = local_environment(seed=seed)
    out = env.collect(env.from_source(Counter(40, every=7), NO_WATERMARKS, "count").key_by(lambda n: n % 3).process(Same()))
    with env.start() as job:
        job.finish()
    taken = [step for step in trace if isinstance(step, tuple)]
    assert sorted(out.values) == list(range(1, 41))
    assert taken[:5] == [("position", number, [7 * number]) for number in range(1, 6)]
