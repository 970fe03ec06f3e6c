"""Jobs whose sources read in threads: each record counts once over kills, and nothing waits for a client that blocks."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

import pytest

from tests.unit.engine.stored_job import StoredJob, environment, start
from tests.unit.spi.split_readers import AVAILABLE, NumbersReader, NumbersSource
from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.core.errors import JobExecutionError
from wiesel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.testing import CollectedStream
from wiesel.testing.connectors import SourceTarget, check_source

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
RESTARTS = {
    "restart__strategy_type": "fixed-delay",
    "restart__strategy_fixed__delay_attempts": "1000",
    "restart__strategy_fixed__delay_delay": "0 s",
}


class Follows(KeyedProcessFunction):
    """Fails unless the numbers of each split come in order, none twice and none left out."""

    def open(self, runtime_context: Any) -> None:
        self.next = runtime_context.get_state(ValueStateDescriptor("next", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        expected = self.next.value() or 0
        if value[1] != expected:
            raise AssertionError(f"{value} instead of {expected}")
        self.next.update(expected + 1)
        yield value


def job_over(source: NumbersSource, checkpoints: Path, parallelism: int = 2, **config: Any) -> tuple[StoredJob, CollectedStream]:
    env = environment(checkpoints, parallelism, **RESTARTS, **config)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    results = env.collect(numbers.key_by(lambda pair: pair[0], Types.STRING()).process(Follows(), PAIR).uid("follows"))
    return start(env), results


@pytest.mark.parametrize("thread_per_split", [False, True])
@pytest.mark.parametrize("number", range(4))
def test_each_record_counts_once_over_kills_at_any_moment(number: int, thread_per_split: bool, tmp_path: Path) -> None:
    seed = SystemRandom().randrange(1 << 30)
    print(f"seed {seed}")
    random = Random(seed)
    end = random.choice([40, 400])
    AVAILABLE["kills"] = 0
    source = NumbersSource(5, end, name="kills", thread_per_split=thread_per_split)
    job, results = job_over(source, tmp_path, wiesel_local_seed=str(seed))
    with job:
        while AVAILABLE["kills"] < end - 1:
            AVAILABLE["kills"] = min(end - 1, AVAILABLE["kills"] + random.randint(0, 20))
            job.step(random.randint(1, 200))
            action = random.random()
            if action < 0.4:
                job.checkpoint()
            elif action < 0.6:
                job.fail()
        job.fail()
        AVAILABLE["kills"] = end
        job.finish()
        assert job.restarts > 0
    assert Counter(results.committed) == Counter((f"p{i}", n) for i in range(5) for n in range(end))


@pytest.mark.slow
@pytest.mark.parametrize("thread_per_split", [False, True])
def test_failures_of_any_call_and_rescaling_keep_the_guarantee(thread_per_split: bool) -> None:
    def make() -> SourceTarget:
        source = NumbersSource(4, 60, thread_per_split=thread_per_split)
        return SourceTarget(source, [(f"p{i}", n) for i in range(4) for n in range(60)], order_of=lambda pair: pair[0])

    report = check_source(make, seeds=3)
    assert report.runs > 10 and "reader.poll" in report.calls


def test_a_run_is_a_function_of_the_seed(tmp_path: Path) -> None:
    def order(seed: int, run: int) -> list[Any]:
        job, results = job_over(NumbersSource(4, 60), tmp_path / f"{seed}-{run}", wiesel_local_seed=str(seed))
        with job:
            job.finish()
        return results.values

    assert order(1, 0) == order(1, 1)
    assert order(1, 0) != order(2, 0)


def test_checkpoints_pass_a_client_that_blocks_and_the_job_is_cancelled_at_once(tmp_path: Path) -> None:
    block = tmp_path / "block"
    AVAILABLE["blocks"] = 500
    job, results = job_over(NumbersSource(3, 1000, block, name="blocks"), tmp_path / "checkpoints")
    with job:
        assert len(results.values) == 1500
        AVAILABLE["blocks"] = 1000
        block.touch()
        began_s = time.monotonic()
        job.advance_processing_time(100)
        assert (tmp_path / "begun").exists()
        for _ in range(5):
            job.checkpoint()
        job.fail()
        job.checkpoint()
        assert len(results.values) == 1500
        job.cancel()
        assert time.monotonic() - began_s < 10
    assert results.committed == results.values


def test_a_client_that_blocks_in_one_source_does_not_hold_up_another(tmp_path: Path) -> None:
    block = tmp_path / "block"
    block.touch()
    env = environment(tmp_path / "checkpoints", 1)
    blocked = env.from_source(NumbersSource(1, 10, block), WatermarkStrategy.no_watermarks(), "blocked")
    free = env.from_source(NumbersSource(1, 100), WatermarkStrategy.no_watermarks(), "free")
    results = env.collect(blocked.union(free))
    began_s = time.monotonic()
    with start(env) as job:
        assert (tmp_path / "begun").exists() and len(results.values) == 100
        job.checkpoint()
    assert time.monotonic() - began_s < 10


def test_a_job_in_real_time_waits_for_its_client(tmp_path: Path) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    env.set_parallelism(1)
    # Longer than the scheduler waits for a step.
    numbers = env.from_source(NumbersSource(1, 14, pace_s=0.7), WatermarkStrategy.no_watermarks(), "numbers")
    assert list(numbers.execute_and_collect()) == [("p0", n) for n in range(14)]


class Failing(NumbersSource):
    def create_reader(self, context: Any) -> Any:
        reader = super().create_reader(context)
        reader._make_split_reader = lambda: FailingReader(self)  # type: ignore[attr-defined]
        return reader


class FailingReader(NumbersReader):
    def fetch(self) -> Any:
        raise ValueError("the broker is gone")


def test_an_error_of_the_client_names_the_source_and_the_line(tmp_path: Path) -> None:
    env = environment(tmp_path, 1, restart__strategy_type="none")
    env.collect(env.from_source(Failing(1, 10), WatermarkStrategy.no_watermarks(), "orders"))
    with pytest.raises(JobExecutionError) as failure, start(env) as job:
        job.finish()
    shown = str(failure.value.__cause__ or failure.value)
    assert "the broker is gone" in shown and "orders" in shown and "in fetch" in shown
