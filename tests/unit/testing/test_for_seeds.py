"""Tests that are repeated under many seeds."""

from __future__ import annotations

import inspect

import pytest

from wiesel.common import WatermarkStrategy
from wiesel.core.errors import ProgramError
from wiesel.testing import ManualSource, for_seeds, local_environment


def test_every_seed_has_its_turn():
    seen = []

    @for_seeds(4)
    def test(seed):
        seen.append(seed)

    test()
    assert seen == [0, 1, 2, 3]
    for_seeds(iter([7, 9]))(lambda seed: seen.append(seed))()
    assert seen[4:] == [7, 9]


def test_a_failure_names_the_seed(monkeypatch):
    @for_seeds(100)
    def test_totals(seed):
        assert seed != 17, "wrong total"

    with pytest.raises(
        AssertionError, match=r"test_totals failed with seed 17 \(WIESEL_TEST_SEEDS=17 runs it alone\): .*wrong total"
    ) as caught:
        test_totals()
    assert isinstance(caught.value.__cause__, AssertionError)
    monkeypatch.setenv("WIESEL_TEST_SEEDS", "3,18")
    test_totals()
    monkeypatch.setenv("WIESEL_TEST_SEEDS", "17")
    with pytest.raises(AssertionError, match="seed 17"):
        test_totals()
    monkeypatch.setenv("WIESEL_TEST_SEEDS", "all")
    with pytest.raises(ProgramError, match="WIESEL_TEST_SEEDS is 'all'"):
        test_totals()


@pytest.mark.parametrize("other", ["a", "b"])
@for_seeds(3)
def test_fixtures_and_parameters_are_filled_in_as_usual(other, seed, tmp_path):
    assert other in ("a", "b")
    assert seed in (0, 1, 2)
    assert tmp_path.exists()


def test_the_signature_is_that_without_the_seed():
    assert list(inspect.signature(test_fixtures_and_parameters_are_filled_in_as_usual).parameters) == ["other", "tmp_path"]


def test_misuse():
    with pytest.raises(ProgramError, match="takes no seed"):
        for_seeds(3)(lambda: None)
    with pytest.raises(ProgramError, match="no seeds"):
        for_seeds([])
    with pytest.raises(ProgramError, match="at least 1"):
        for_seeds(0)


def run(seed):
    """Return the results in the order of their arrival; the records of a key are all in one split."""
    env = local_environment(parallelism=2, seed=seed)
    source = ManualSource(splits=2)
    out = env.collect(env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").key_by(lambda v: v[0]).reduce(max))
    with env.start() as job:
        for i in range(10):
            source.push((i % 4, i), split=i % 2)
        job.finish()
    return out.values


def test_a_seed_decides_the_order_and_nothing_else():
    outcomes = [run(seed) for seed in range(20)]
    assert [run(seed) for seed in range(20)] == outcomes
    assert len({tuple(outcome) for outcome in outcomes}) > 10
    assert len({tuple(sorted(outcome)) for outcome in outcomes}) == 1
