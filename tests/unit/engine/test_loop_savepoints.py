"""Savepoints of jobs with loops: what is in the loop goes with them, or is processed to its end before."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.unit.engine.stored_job import StoredJob, environment, start
from wiesel.common import WatermarkStrategy
from wiesel.datastream import CoMapFunction
from wiesel.iteration import Round, iterate_bulk, rounds_of
from wiesel.testing import CollectedStream, ManualSource


class Step(CoMapFunction):
    """Takes one off; the other input has nothing to say, but never ends."""

    def map1(self, value: tuple[int, int]) -> tuple[int, int]:
        return value[0], value[1] - 1

    def map2(self, value: Any) -> None:
        return None


def countdown(
    numbers: ManualSource, outside: ManualSource, checkpoints: Path, path: str = "", parallelism: int = 2
) -> tuple[StoredJob, CollectedStream]:
    restore = {"execution_state__recovery_path": path} if path else {}
    env = environment(checkpoints, parallelism, pipeline_max__parallelism="8", **restore)
    loop = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").map(lambda n: (n, n)).iterate()
    settings = env.from_source(outside, WatermarkStrategy.no_watermarks(), "outside")
    less = loop.rebalance().connect(settings.broadcast()).map(Step())
    loop.close_with(less.filter(lambda r: r[1] > 0).rebalance())
    done = env.collect(less.filter(lambda r: r[1] == 0).map(lambda r: r[0]))
    return start(env), done


NUMBERS = list(range(1, 30))


@pytest.mark.parametrize("seed", range(3))
def test_a_job_that_is_stopped_in_the_midst_of_a_loop_goes_on_elsewhere(tmp_path: Path, seed: int) -> None:
    numbers, outside = ManualSource(splits=2), ManualSource()
    job, done = countdown(numbers, outside, tmp_path / "checkpoints")
    with job:
        numbers.push_all(NUMBERS)
        job.step(100 + 60 * seed)
        path = job.savepoint(tmp_path / "savepoints", stop=True)
        first = done.values
    assert len(first) < len(NUMBERS), "nothing was in the loop"
    job, done = countdown(numbers, outside, tmp_path / "checkpoints", path, parallelism=3)
    with job:
        job.settle()
        assert Counter(first + done.values) == Counter(NUMBERS)


def test_a_job_that_is_drained_processes_what_is_in_the_loop_before(tmp_path: Path) -> None:
    numbers, outside = ManualSource(splits=2), ManualSource()
    job, done = countdown(numbers, outside, tmp_path / "checkpoints")
    with job:
        numbers.push_all(NUMBERS)
        job.step(100)
        assert len(done.values) < len(NUMBERS)
        job.savepoint(tmp_path / "savepoints", stop=True, drain=True)
        assert Counter(done.values) == Counter(NUMBERS)


def doubled(numbers: ManualSource, checkpoints: Path, path: str = "", parallelism: int = 2) -> tuple[StoredJob, CollectedStream]:
    restore = {"execution_state__recovery_path": path} if path else {}
    env = environment(checkpoints, parallelism, pipeline_max__parallelism="8", **restore)
    initial = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers")
    done = env.collect(iterate_bulk(initial, lambda now: now.rebalance().map(lambda n: 2 * n), max_rounds=20))
    return start(env), done


@pytest.mark.parametrize("seed", range(3))
def test_a_job_that_is_stopped_between_rounds_goes_on_elsewhere(tmp_path: Path, seed: int) -> None:
    numbers = ManualSource(splits=2)
    job, done = doubled(numbers, tmp_path / "checkpoints")
    with job:
        numbers.push_all([1, 2, 3])
        numbers.end()
        job.step(120 + 40 * seed)
        path = job.savepoint(tmp_path / "savepoints", stop=True)
        assert done.values == []
        before = rounds_of(job.master.total_metrics())
        assert 0 < len(before) < 20
    job, done = doubled(numbers, tmp_path / "checkpoints", path, parallelism=3)
    with job:
        result = job.finish()
        assert sorted(done.values) == [2**20, 2**21, 3 * 2**20]
        assert rounds_of(result) == [Round(number, 3, None) for number in range(1, 21)]


def test_a_job_that_is_drained_ends_its_rounds_before(tmp_path: Path) -> None:
    numbers = ManualSource(splits=2)
    job, done = doubled(numbers, tmp_path / "checkpoints")
    with job:
        numbers.push_all([1, 2, 3])
        job.settle()
        job.savepoint(tmp_path / "savepoints", stop=True, drain=True)
        assert sorted(done.values) == [2**20, 2**21, 3 * 2**20]
