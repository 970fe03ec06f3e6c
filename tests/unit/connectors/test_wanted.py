"""Readers that can stop anywhere emit no more than the task wants, which is what it processes before it looks up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.connectors.reading import World
from wiesel.connectors.collection import CollectionSource
from wiesel.connectors.datagen.source import DataGeneratorSource
from wiesel.connectors.filesystem.source import FileSource
from wiesel.connectors.hybrid_source import HybridSource
from wiesel.connectors.number_sequence import NumberSequenceSource
from wiesel.core.metrics import MetricRegistry
from wiesel.formats.text import StreamFormat
from wiesel.runtime.operators.source import SourceOperator
from wiesel.spi.source import InputStatus, Source, SourceReader

RECORDS = 3000


def lines(directory: Path) -> Source[Any]:
    (directory / "lines.txt").write_text("".join(f"{n}\n" for n in range(RECORDS)))
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(directory)).build()


def identity(index: int) -> int:
    return index


SOURCES: dict[str, Callable[[Path], Source[Any]]] = {
    "numbers": lambda _: NumberSequenceSource(0, RECORDS - 1),
    "generated": lambda _: DataGeneratorSource(identity, RECORDS),
    "collection": lambda _: CollectionSource(list(range(RECORDS))),
    "files": lines,
    "hybrid": lambda _: HybridSource.builder(NumberSequenceSource(0, RECORDS - 1)).build(),
}


@pytest.mark.parametrize("name", SOURCES)
def test_readers_emit_no_more_than_is_wanted(name: str, tmp_path: Path) -> None:
    world = World(SOURCES[name](tmp_path))
    (reader,) = world.readers
    reader.wanted = 7
    while len(reader.values) < 700:
        world.step(0)
    assert max(reader.chunks) == 7
    again = World(SOURCES[name](tmp_path), restore=world.snapshot())
    world.close()
    assert [*map(int, reader.values), *map(int, again.run())] == list(range(RECORDS))
    assert max(again.readers[0].chunks) > 100, "with nothing to stop them they emit many"


class Outside:
    """What the operator sees of the task: a clock that moves with every record that is processed."""

    def __init__(self, record_s: float) -> None:
        self.clock = self
        self.metrics = MetricRegistry(self).group("source")
        self.record_s = record_s
        self.now_s = 0.0
        self.emitted: list[int] = []
        self.config: dict[str, Any] = {"pipeline.auto-watermark-interval": 0}
        self.subtask_index, self.parallelism = 0, 1

    def monotonic_s(self) -> float:
        return self.now_s

    def now_ms(self) -> int:
        return int(self.now_s * 1e3)

    def emit(self, batch: Any) -> None:
        self.emitted.append(len(batch.values))
        self.now_s += self.record_s * len(batch.values)


@pytest.mark.parametrize(("record_s", "at_most", "at_least"), [(1e-7, 4096, 4096), (0.0001, 256, 32), (0.005, 4, 1), (1.0, 4, 1)])
def test_what_a_source_has_read_is_processed_soon(record_s: float, at_most: int, at_least: int) -> None:
    outside = Outside(record_s)
    operator = SourceOperator(NumberSequenceSource(0, 10**9), None, None)
    operator.setup(outside, outside)  # type: ignore[arg-type]
    operator.bind(lambda: None, None)
    operator.open()
    operator.add_splits(NumberSequenceSource(0, 10**9).create_enumerator(Enumerating()).snapshot_state(0))  # type: ignore[arg-type]
    for _ in range(100):
        assert operator.poll() is InputStatus.MORE_AVAILABLE
        # The barrier of a checkpoint would go out here: nothing has to be processed before it.
        before = len(outside.emitted)
        operator.process_pending()
        assert len(outside.emitted) == before
    assert at_least <= max(outside.emitted[50:]) <= at_most


class Silent(SourceReader[Any]):
    status = InputStatus.NOTHING_AVAILABLE

    def add_splits(self, splits: Any) -> None: ...

    def snapshot_state(self, checkpoint_id: int) -> list[Any]:
        return []

    def poll(self, output: Any) -> InputStatus:
        if self.status is InputStatus.MORE_AVAILABLE:
            output.collect([1])
        return self.status


def test_a_silent_source_is_polled_less_often() -> None:
    outside = Outside(0.0)
    operator = SourceOperator(NumberSequenceSource(0, 1), None, None)
    operator.setup(outside, outside)  # type: ignore[arg-type]
    operator.bind(lambda: None, None)
    operator.open()
    operator.reader = Silent()

    def interval_ms() -> int:
        operator.poll()
        return operator.poll_interval_ms

    intervals = []
    for outside.now_s in (0.0, 0.9, 1.0, 2.5, 3600.0):
        intervals.append(interval_ms())
    assert intervals == [10, 10, 20, 30, 50]
    operator.reader.status = InputStatus.MORE_AVAILABLE
    operator.poll()
    operator.reader.status = InputStatus.NOTHING_AVAILABLE
    assert interval_ms() == 10
    operator.reader.poll_interval_ms = 3  # one that says how often keeps to it
    outside.now_s += 60
    assert interval_ms() == 3


class Enumerating:
    parallelism = 1
