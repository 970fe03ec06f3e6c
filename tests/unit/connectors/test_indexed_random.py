from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from wiesel.connectors.datagen.indexed_random import derived_seed, uniform_floats, uniform_integers, words

INDEXES = np.arange(40_000, dtype=np.uint64)


@pytest.fixture
def seed() -> int:
    drawn = random.SystemRandom().getrandbits(64)
    print(f"seed {drawn}")
    return drawn


def splitmix_step(state: int) -> int:
    """One output of SplitMix64, by its definition in whole numbers."""
    mask = 2**64 - 1
    state = (state + 0x9E3779B97F4A7C15) & mask
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & mask
    return state ^ (state >> 31)


def test_the_function_is_that_of_splitmix() -> None:
    # The first outputs of the published C program for the seed 1234567.
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    state = 1234567
    for number in published:
        assert splitmix_step(state) == number
        state = (state + 0x9E3779B97F4A7C15) % 2**64
    # Ours is two such steps: one from the index to a state, one from there.
    for index in (0, 1, 5, 2**63, 2**64 - 1):
        first = splitmix_step((index * 0x9E3779B97F4A7C15 + 99 - 0x9E3779B97F4A7C15) % 2**64)
        assert words(99, np.array([index], dtype=np.uint64)).tolist() == [splitmix_step(first)]


def test_an_index_has_its_number_wherever_it_stands(seed: int) -> None:
    whole = words(seed, INDEXES)
    order = np.random.default_rng(seed).permutation(len(INDEXES))
    assert (words(seed, INDEXES[order]) == whole[order]).all()
    assert len(set(whole.tolist())) == len(INDEXES)
    assert not (words(derived_seed(seed, "b"), INDEXES) == words(derived_seed(seed, "a"), INDEXES)).any()


def chi_squared(counts: Counter[int], values: int, drawn: int) -> float:
    return sum((counts[i] - drawn / values) ** 2 / (drawn / values) for i in range(values))


@pytest.mark.parametrize("values", [2, 3, 17, 100])
def test_whole_numbers_are_equally_likely(seed: int, values: int) -> None:
    drawn = uniform_integers(seed, INDEXES, -5, values - 6) + 5
    # Far beyond what chance does: ten standard deviations above the mean of the distribution.
    assert chi_squared(Counter(drawn.tolist()), values, len(INDEXES)) < values + 10 * (2 * values) ** 0.5


@pytest.mark.parametrize(
    ("low", "high"),
    [(-(2**63), 2**63 - 1), (-(2**63), 2**62), (0, 2**63 - 1), (-(2**63), -(2**63)), (7, 7), (-128, 127), (2**63 - 2, 2**63 - 1)],
)
def test_bounds_hold_and_the_middle_parts_the_numbers(seed: int, low: int, high: int) -> None:
    drawn = uniform_integers(seed, INDEXES, low, high).tolist()
    assert low <= min(drawn) and max(drawn) <= high
    if high - low > 200:
        below = sum(number <= (low + high) // 2 for number in drawn)
        assert abs(below - 20_000) < 10 * 100, "ten standard deviations"
    else:
        assert set(drawn) == set(range(low, high + 1))


def test_floats_fill_the_interval(seed: int) -> None:
    drawn = uniform_floats(seed, INDEXES)
    assert 0 <= drawn.min() < 0.01 and 0.99 < drawn.max() < 1
    assert abs(drawn.mean() - 0.5) < 10 * (1 / 12 / len(INDEXES)) ** 0.5


def test_indexes_of_neighbours_are_independent(seed: int) -> None:
    drawn = uniform_floats(seed, INDEXES) - 0.5
    correlation = float((drawn[1:] * drawn[:-1]).mean() * 12)
    assert abs(correlation) < 10 / len(INDEXES) ** 0.5
