"""Sources of all kinds at a given rate: on the whole as fast as allowed, and the records are those of the source."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.unit.connectors.reading import World, read_with_restarts
from wiesel.common import Configuration, WatermarkStrategy
from wiesel.connectors.index_ranges import interleaved_ranges
from wiesel.core.errors import ProgramError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors.base import Source
from wiesel.datastream.connectors.datagen import DataGeneratorSource
from wiesel.datastream.connectors.file_system import FileSource, StreamFormat
from wiesel.datastream.connectors.hybrid_source import HybridSource
from wiesel.datastream.connectors.number_seq import NumberSequenceSource
from wiesel.datastream.connectors.rate_limited import RateLimitedSource, RateLimiterStrategy
from wiesel.spi.source import Boundedness, InputStatus, SourceReader

RECORDS = 20_000
STEP_MS = 20


def numbers(folder: Path) -> Source[Any]:
    return NumberSequenceSource(0, RECORDS - 1)


def lines(folder: Path) -> Source[Any]:
    for part in range(4):
        texts = range(part * RECORDS // 4, (part + 1) * RECORDS // 4)
        (folder / f"{part}.txt").write_text("".join(f"line {n}\n" for n in texts))
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder)).build()


def two_after_each_other(folder: Path) -> Source[Any]:
    half = RECORDS // 2
    return HybridSource.builder(NumberSequenceSource(0, half - 1)).add_source(NumberSequenceSource(half, RECORDS - 1)).build()


SOURCES = (numbers, lines, two_after_each_other)


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("make", SOURCES)
def test_n26_every_source_can_be_read_at_a_rate(make: Any, parallelism: int, tmp_path: Path) -> None:
    source = make(tmp_path)
    unlimited = World(source, parallelism)
    expected = sorted(unlimited.run())
    at_one_go = max(count for reader in unlimited.readers for count in reader.chunks)
    rate = 2_000
    limited = RateLimitedSource(source, RateLimiterStrategy.per_second(rate))
    assert limited.boundedness is Boundedness.BOUNDED and limited.produced_type == source.produced_type
    world = World(limited, parallelism)
    seconds = 0.0
    while not all(reader.ended for reader in world.readers):
        for subtask in range(parallelism):
            world.step(subtask)
        # No reader is further ahead than what it reads at one go.
        assert len(world.values()) <= rate * seconds + parallelism * (at_one_go + 1)
        world.advance(STEP_MS)
        seconds += STEP_MS / 1000
    assert sorted(world.values()) == expected
    # All had their permits in time: it took no longer than the rate says, but for the readers that had more to read than others.
    assert seconds <= RECORDS / rate * (1 if parallelism == 1 else parallelism) + 1


@pytest.mark.parametrize("make", SOURCES)
def test_a_restart_repeats_and_loses_nothing(make: Any, tmp_path: Path) -> None:
    source = make(tmp_path)
    limited = RateLimitedSource(source, RateLimiterStrategy.per_second(1e9))
    assert sorted(read_with_restarts(limited, 2, 3)) == sorted(World(source).run())


def test_records_may_be_allowed_by_the_checkpoint(tmp_path: Path) -> None:
    world = World(RateLimitedSource(numbers(tmp_path), RateLimiterStrategy.per_checkpoint(1_000)))

    def emitted() -> int:
        for _ in range(10):
            world.step(0)
            world.advance(1_000)
        return len(world.values())

    at_one_go = emitted()
    assert 0 < at_one_go < RECORDS
    for _ in range(at_one_go // 1_000 - 1):
        world.readers[0].reader.notify_checkpoint_complete(1)
        assert emitted() == at_one_go
    world.readers[0].reader.notify_checkpoint_complete(1)
    world.readers[0].reader.notify_checkpoint_complete(2)
    assert emitted() > at_one_go


def test_each_split_is_read_at_its_own_rate() -> None:
    # All four splits in one reader.
    source = RateLimitedSource(DataGeneratorSource(identity), RateLimiterStrategy.per_second(1_000), per_split=True)
    world = World(source)
    world.readers[0].reader.add_splits(interleaved_ranges(4)[1:])
    world.readers[0].wanted = 50
    seconds = 0.0
    while seconds < 3:
        while world.step(0) is InputStatus.MORE_AVAILABLE:
            pass
        by_split = [sum(n % 4 == split for n in world.values()) for split in range(4)]
        # Split 0 reads all numbers, the others each fourth.
        assert 4_000 * seconds - 50 <= sum(by_split) <= 4_000 * seconds + 4 * 51
        world.advance(STEP_MS)
        seconds += STEP_MS / 1000
    per_split = Counter(world.readers[0].by_split)
    assert set(per_split) == {"0--1", "1--4", "2--4", "3--4"}
    assert all(abs(count - 3_000) <= 51 for count in per_split.values())
    world.close()


def identity(index: int) -> int:
    return index


def test_a_split_limited_reader_repeats_and_loses_nothing() -> None:
    source = RateLimitedSource(NumberSequenceSource(1, RECORDS), RateLimiterStrategy.per_second(1e5), per_split=True)
    world = World(source, 3)
    while not all(reader.ended for reader in world.readers):
        state = world.snapshot()
        values = len(world.values())
        for subtask in range(3):
            world.step(subtask)
        world.advance(STEP_MS)
    assert sorted(world.values()) == list(range(1, RECORDS + 1))
    again = World(source, 3, state)
    while not all(reader.ended for reader in again.readers):
        for subtask in range(3):
            again.step(subtask)
        again.advance(STEP_MS)
    assert len(again.values()) == RECORDS - values


def test_readers_that_cannot_pause_splits_have_no_rate_per_split() -> None:
    class Unpausable(NumberSequenceSource):
        def create_reader(self, context: Any) -> Any:
            reader = super().create_reader(context)
            reader.pause_or_resume_splits = SourceReader.pause_or_resume_splits.__get__(reader)  # type: ignore[method-assign]
            return reader

    world = World(RateLimitedSource(Unpausable(1, RECORDS), RateLimiterStrategy.per_second(1), per_split=True))
    with pytest.raises(ProgramError, match="a rate per split has to pause splits, but _NumberReader cannot"):
        world.run()


def test_a_job_reads_at_a_rate() -> None:
    # The local engine's clock goes on only while nobody has anything to do.
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    source = RateLimitedSource(NumberSequenceSource(1, RECORDS), RateLimiterStrategy.per_second(100))
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").map(lambda n: n)
    with stream.execute_and_collect() as results:
        assert sorted(results) == list(range(1, RECORDS + 1))


@pytest.mark.parametrize("given", [(1, RateLimiterStrategy.no_op()), (NumberSequenceSource(0, 1), 5)])
def test_what_is_no_source_or_no_strategy_is_refused(given: tuple[Any, Any]) -> None:
    with pytest.raises(ProgramError, match="RateLimitedSource"):
        RateLimitedSource(*given)
