from __future__ import annotations

import pytest

from tests.unit.connectors.reading import World, read_with_restarts
from wiesel.connectors.number_sequence import NumberSequenceSource
from wiesel.core.errors import ProgramError
from wiesel.spi.source import Boundedness


def test_one_reader_reads_in_order() -> None:
    world = World(NumberSequenceSource(3, 20_000))
    assert world.run() == list(range(3, 20_001))
    assert max(world.readers[0].chunks) <= 4096


@pytest.mark.parametrize(("start", "end", "parallelism"), [(1, 10, 3), (0, 0, 2), (-5, 5, 4), (1, 2, 5), (0, 9_999, 7)])
def test_readers_share_the_numbers_evenly(start: int, end: int, parallelism: int) -> None:
    world = World(NumberSequenceSource(start, end), parallelism)
    values = world.run()
    assert sorted(values) == list(range(start, end + 1))
    sizes = sorted(len(split) for split in ([r.values for r in world.readers]))
    assert sizes[-1] - sizes[0] <= 1
    for reader in world.readers:
        assert reader.values == sorted(reader.values)


@pytest.mark.parametrize("every", [1, 2, 3])
def test_a_restart_repeats_and_loses_nothing(every: int) -> None:
    assert sorted(read_with_restarts(NumberSequenceSource(0, 30_000), 2, every)) == list(range(30_001))


def test_limits_of_long() -> None:
    low, high = -(2**63), 2**63 - 1
    assert World(NumberSequenceSource(high - 2, high)).run() == [high - 2, high - 1, high]
    world = World(NumberSequenceSource(low, high), 2)
    world.step(0)
    world.step(1)
    assert world.readers[0].values[0] == low and world.readers[1].values[0] == 0


@pytest.mark.parametrize(("start", "end"), [(2, 1), (0, 2**63), (0.5, 3)])
def test_bad_ranges(start: int, end: int) -> None:
    with pytest.raises(ProgramError):
        NumberSequenceSource(start, end)


def test_is_bounded_and_typed() -> None:
    source = NumberSequenceSource(1, 2)
    assert source.boundedness is Boundedness.BOUNDED
    assert repr(source.produced_type) == "Long"


def test_rescaled_splits_are_read_by_the_readers_that_are_left() -> None:
    world = World(NumberSequenceSource(0, 50_000), 4)
    for _ in range(2):
        for i in range(4):
            world.step(i)
    first = world.values()
    again = World(NumberSequenceSource(0, 50_000), 2, world.snapshot())
    assert sorted(first + again.run()) == list(range(50_001))
