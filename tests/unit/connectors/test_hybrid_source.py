from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.unit.connectors.reading import World, read_with_restarts
from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.common.time import Duration
from wiesel.connectors.collection import CollectionSource
from wiesel.connectors.datagen.source import DataGeneratorSource
from wiesel.core.errors import JobExecutionError, ProgramError
from wiesel.datastream import ProcessFunction, StreamExecutionEnvironment
from wiesel.datastream.connectors import NumberSequenceSource
from wiesel.datastream.connectors.file_system import FileSource, StreamFormat
from wiesel.datastream.connectors.hybrid_source import HybridSource
from wiesel.spi.source import Boundedness
from wiesel.spi.watermark import TimestampAssigner

ENDS = (9_999, 29_999, 40_000)


def three() -> HybridSource:
    first, second, third = (NumberSequenceSource(a, b) for a, b in zip((0, 10_000, 30_000), ENDS, strict=True))
    return HybridSource.builder(first).add_source(second).add_source(third).build()


def test_one_reader_reads_source_after_source() -> None:
    world = World(three())
    assert world.run() == list(range(40_001))
    assert world.readers[0].finished_splits == ["0-0-10000-1", "1-10000-30000-1", "2-30000-40001-1"]


@pytest.mark.parametrize("parallelism", [1, 2, 3, 7])
def test_no_reader_begins_with_a_source_before_all_have_ended_the_one_before(parallelism: int) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    world = World(three(), parallelism)
    order: list[int] = []
    while not all(reader.ended for reader in world.readers):
        reader = world.readers[chance.randrange(parallelism)]
        before = len(reader.values)
        world.step(reader.subtask_index)
        order += [sum(value > end for end in ENDS) for value in reader.values[before:]]
    world.close()
    assert order == sorted(order)
    assert sorted(world.values()) == list(range(40_001))


@pytest.mark.parametrize("parallelism", [1, 2, 3])
@pytest.mark.parametrize("every", [1, 2, 3, 5])
def test_a_restart_repeats_and_loses_nothing(parallelism: int, every: int) -> None:
    assert sorted(read_with_restarts(three(), parallelism, every)) == list(range(40_001))


@pytest.mark.parametrize("before", (0, 1, 5, 9, 14, 22, 31, 40))
@pytest.mark.parametrize("readers", [(4, 2), (2, 5), (1, 3)])
def test_readers_may_become_more_or_fewer_in_any_source(readers: tuple[int, int], before: int) -> None:
    world = World(three(), readers[0])
    for n in range(before):
        world.step(n % readers[0])
    first = world.values()
    again = World(three(), readers[1], world.snapshot())
    assert sorted(first + again.run()) == list(range(40_001))


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_checkpoint_while_the_next_enumerator_is_being_created(parallelism: int) -> None:
    world = World(three(), parallelism)
    on_time, world.context.on_time = world.context.on_time, lambda: None  # type: ignore[method-assign]
    while not world.context.calls:
        for subtask in range(parallelism):
            world.step(subtask)
    for _ in range(20):
        for subtask in range(parallelism):
            world.step(subtask)
    assert sorted(world.values()) == list(range(10_000)), "read on before the next source has an enumerator"
    state = world.snapshot()
    for readers in (parallelism, parallelism + 1):
        assert sorted(World(three(), readers, state).run()) == list(range(10_000, 40_001))
    on_time()
    world.context.on_time = on_time  # type: ignore[method-assign]
    assert sorted(world.run()) == list(range(40_001))


def test_names_of_splits_of_several_sources_may_be_the_same() -> None:
    same = [NumberSequenceSource(1, 3) for _ in range(3)]
    world = World(HybridSource.builder(same[0]).add_source(same[1]).add_source(same[2]).build())
    assert world.run() == [1, 2, 3] * 3
    assert len(set(world.readers[0].finished_splits)) == 3


def test_it_ends_if_its_last_source_does() -> None:
    assert three().boundedness is Boundedness.BOUNDED
    endless = DataGeneratorSource(lambda i: i, None)
    assert endless.boundedness is Boundedness.CONTINUOUS_UNBOUNDED
    builder = HybridSource.builder(NumberSequenceSource(1, 2)).add_source(endless)
    assert builder.build().boundedness is Boundedness.CONTINUOUS_UNBOUNDED
    with pytest.raises(ProgramError, match=r"source 2, DataGeneratorSource, never ends"):
        builder.add_source(NumberSequenceSource(1, 2))


def test_what_is_no_source_is_refused() -> None:
    with pytest.raises(ProgramError, match="not a source"):
        HybridSource.builder(FileSource.for_record_stream_format(StreamFormat.text_line_format(), "/x"))  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match=r"add_source\(\) got None"):
        HybridSource.builder(NumberSequenceSource(1, 2)).add_source(None)  # type: ignore[arg-type]


def test_the_type_is_what_all_sources_declare() -> None:
    assert repr(three().produced_type) == "Long"
    assert HybridSource.builder(NumberSequenceSource(1, 2)).add_source(CollectionSource(["a"])).build().produced_type is None


# In a job.


def environment(tmp_path: Path, seed: int, parallelism: int = 2) -> StreamExecutionEnvironment:
    settings = {
        "wiesel.engine": "local",
        "wiesel.local.seed": str(seed),
        "execution.checkpointing.interval": "10 ms",
        "execution.checkpointing.dir": str(tmp_path / "checkpoints"),
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "10",
        "restart-strategy.fixed-delay.delay": "1 ms",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    return env.set_parallelism(parallelism)


class FailsOnceAt(ProcessFunction):
    """Fails at the first sight of some values, at each once."""

    def __init__(self, directory: Path, *values: int) -> None:
        self.directory, self.values = directory, values

    def process_element(self, value: int, ctx: Any) -> Any:
        marker = self.directory / f"failed-at-{value}"
        if value in self.values and not marker.exists():
            marker.touch()
            raise RuntimeError(f"fails once at {value}")
        yield value


@pytest.mark.parametrize("seed", range(5))
def test_a_job_is_exact_over_failures_in_every_source(tmp_path: Path, seed: int) -> None:
    history = tmp_path / "history"
    history.mkdir()
    for part in range(4):
        (history / f"part-{part}").write_text("".join(f"{n}\n" for n in range(part * 500, part * 500 + 500)))
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(history)).build()
    source = HybridSource.builder(files).add_source(NumberSequenceSource(2_000, 11_999)).add_source(NumberSequenceSource(12_000, 12_999))
    stream = environment(tmp_path, seed).from_source(source.build(), WatermarkStrategy.no_watermarks(), "history, then live")
    numbers = stream.map(int, Types.LONG()).process(FailsOnceAt(tmp_path, 700, 1_999, 2_000, 9_000, 12_345, 12_999))
    assert sorted(numbers.execute_and_collect()) == list(range(13_000))
    assert len(list(tmp_path.glob("failed-at-*"))) == 6


def test_a_source_that_cannot_start_fails_the_job(tmp_path: Path) -> None:
    missing = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path / "missing")).build()
    source = HybridSource.builder(NumberSequenceSource(1, 10)).add_source(missing).build()
    stream = environment(tmp_path, 0).from_source(source, WatermarkStrategy.no_watermarks(), "numbers, then files")
    with pytest.raises(JobExecutionError, match="missing"):
        list(stream.execute_and_collect())


class _ByValue(TimestampAssigner):
    def extract_timestamp(self, value: int, record_timestamp: int) -> int:
        return value


class _WithWatermark(ProcessFunction):
    def process_element(self, value: int, ctx: Any) -> Any:
        yield value, ctx.timer_service().current_watermark()


def test_event_time_goes_on_in_the_next_source(tmp_path: Path) -> None:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0)).with_timestamp_assigner(_ByValue())
    env = environment(tmp_path, 0, 1)
    env.get_config().set_auto_watermark_interval(1)
    seen = list(env.from_source(three(), strategy, "numbers").process(_WithWatermark()).execute_and_collect())
    assert [value for value, _ in seen] == list(range(40_001))
    marks = [mark for _, mark in seen]
    assert marks == sorted(marks)
    # No record is late: no split of a source that has ended, and none that has not begun, says anything.
    assert all(mark < value for value, mark in seen)
