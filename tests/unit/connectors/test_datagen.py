from __future__ import annotations

from typing import Any

import pytest

from tests.unit.connectors.reading import World, read_with_restarts
from wiesel.common import Types
from wiesel.connectors.datagen.source import DataGeneratorSource, GeneratorFunction, RateLimiterStrategy
from wiesel.core.errors import ProgramError, UserFunctionError
from wiesel.spi.source import Boundedness, InputStatus


def test_records_are_made_of_their_indexes() -> None:
    source = DataGeneratorSource(lambda i: f"r{i}", 10_000, type_info=Types.STRING())
    assert source.boundedness is Boundedness.BOUNDED and repr(source.produced_type) == "String"
    assert World(source).run() == [f"r{i}" for i in range(10_000)]
    assert sorted(World(DataGeneratorSource(lambda i: i, 10_001), 3).run()) == list(range(10_001))


def test_no_records() -> None:
    assert World(DataGeneratorSource(str, 0), 2).run() == []


@pytest.mark.parametrize("every", [1, 3])
def test_a_restart_repeats_and_loses_nothing(every: int) -> None:
    assert sorted(read_with_restarts(DataGeneratorSource(lambda i: i * i, 20_000), 2, every)) == [i * i for i in range(20_000)]


def test_an_endless_source_deals_the_indexes_in_turn() -> None:
    source = DataGeneratorSource(lambda i: i)
    assert source.boundedness is Boundedness.CONTINUOUS_UNBOUNDED
    world = World(source, 3)
    for _ in range(2):
        for i in range(3):
            world.step(i)
    for i, reader in enumerate(world.readers):
        assert reader.values == list(range(i, 3 * len(reader.values), 3))
    # Fewer readers take over all of the lines.
    again = World(source, 1, world.snapshot())
    for _ in range(30):
        again.step(0)
    values = sorted(world.values() + again.values())
    assert len(values) == len(set(values))
    assert values[: 3 * 4096] == list(range(3 * 4096))


def emitted_at(world: World, until_ms: int, step_ms: int) -> list[int]:
    counts = []
    for _ in range(0, until_ms, step_ms):
        for i in range(world.parallelism):
            while world.step(i) is InputStatus.MORE_AVAILABLE:
                pass
        counts.append(len(world.values()))
        world.advance(step_ms)
    return counts


@pytest.mark.parametrize(("rate", "parallelism"), [(100, 1), (100, 4), (3, 2), (5_000, 2)])
def test_rate_per_second_is_that_of_all_readers(rate: int, parallelism: int) -> None:
    world = World(DataGeneratorSource(lambda i: i, None, RateLimiterStrategy.per_second(rate)), parallelism)
    counts = emitted_at(world, 10_000, 10)
    for second in range(1, 10):
        at = counts[second * 100]
        # Each reader may be one record ahead: its first one comes at once.
        assert rate * second - 1e-6 <= at + parallelism and at <= rate * second + parallelism, (second, at)


def test_a_pause_is_caught_up_by_one_second_only() -> None:
    world = World(DataGeneratorSource(lambda i: i, None, RateLimiterStrategy.per_second(100)))
    emitted_at(world, 1_000, 10)
    before = len(world.values())
    world.advance(60_000)
    emitted_at(world, 10, 10)
    assert len(world.values()) - before == pytest.approx(100, abs=1)


def test_a_reader_is_polled_again_when_its_next_record_is_due() -> None:
    limiter = RateLimiterStrategy.per_second(4).create_rate_limiter(1, 0)
    assert (limiter.permits(0, 10), limiter.permits(100, 10)) == (1, 0)
    assert limiter.poll_interval_ms == 150
    assert (limiter.permits(249, 10), limiter.permits(250, 10)) == (0, 1)
    world = World(DataGeneratorSource(lambda i: i, None, RateLimiterStrategy.per_second(0.01)))
    assert world.step(0) is InputStatus.MORE_AVAILABLE and world.step(0) is InputStatus.NOTHING_AVAILABLE
    assert world.readers[0].reader.poll_interval_ms == 1_000


def test_rate_per_checkpoint() -> None:
    world = World(DataGeneratorSource(lambda i: i, 100, RateLimiterStrategy.per_checkpoint(7)), 2)
    assert emitted_at(world, 1_000, 10)[-1] == 7
    for reader in world.readers:
        reader.reader.notify_checkpoint_complete(1)
    assert emitted_at(world, 1_000, 10)[-1] == 14


class Counting(GeneratorFunction):
    opened: list[int] = []  # noqa: RUF012 - shared on purpose

    def open(self, context: Any) -> None:
        self.subtask = context.subtask_index
        Counting.opened.append(self.subtask)

    def map(self, index: int) -> tuple[int, int]:
        return self.subtask, index


def test_generator_functions_are_opened_in_each_reader() -> None:
    Counting.opened.clear()
    values = World(DataGeneratorSource(Counting(), 10), 2).run()
    assert sorted(Counting.opened) == [0, 1]
    assert sorted(index for _, index in values) == list(range(10))


def test_a_failing_function_names_the_index() -> None:
    world = World(DataGeneratorSource(lambda i: 1 // (i - 3000), 5000))
    with pytest.raises(UserFunctionError, match="raised ZeroDivisionError for index 3000"):
        world.run()


@pytest.mark.parametrize(
    "make",
    [
        lambda: DataGeneratorSource("no function", 1),  # type: ignore[arg-type]
        lambda: DataGeneratorSource(str, -1),
        lambda: RateLimiterStrategy.per_second(0),
        lambda: RateLimiterStrategy.per_checkpoint(0),
    ],
)
def test_bad_arguments(make: Any) -> None:
    with pytest.raises(ProgramError):
        make()
