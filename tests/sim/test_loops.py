"""Streaming loops under random orders of events, with failures in their midst: results are those of a plain Python loop.

Each case is one seed, which decides the program's shape, the order of events and where checkpoints and failures are; a failing one is
named by its test id.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from wiesel.common import WatermarkStrategy
from wiesel.core.errors import CheckpointError, JobExecutionError
from wiesel.datastream import KeyedProcessFunction
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.state.operator_state import OPERATOR_STATE
from wiesel.testing import CollectedStream, JobSnapshot, LocalEnvironment, ManualSource, PipelineJob, local_environment

pytestmark = pytest.mark.slow

NUMBERS = range(1, 40)
SEEDS = 60


def collatz(n: int) -> int:
    return 3 * n + 1 if n % 2 else n // 2


def steps_to_one(n: int) -> int:
    steps = 0
    while n != 1:
        n, steps = collatz(n), steps + 1
    return steps


EXPECTED = Counter((n, steps_to_one(n)) for n in NUMBERS)


class CountVisits(KeyedProcessFunction):
    """Counts in keyed state how often a start number has come by: exactly as often as its sequence has members."""

    def open(self, runtime_context: Any) -> None:
        self.visits = runtime_context.get_state(ValueStateDescriptor("visits"))

    def process_element(self, value: Any, ctx: Any) -> Any:
        start, n = value
        visits = (self.visits.value() or 0) + 1
        self.visits.update(visits)
        yield ("done", start, visits - 1) if n == 1 else ("again", start, collatz(n))


def build(env: LocalEnvironment, source: ManualSource, shape: int, behind: int) -> CollectedStream:
    """Build the loop: with the head chained to what is before it or not, with the tail chained to the loop's body or not."""
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").map(lambda n: (n, n))
    if shape & 1:
        numbers = numbers.rebalance().map(lambda r: r).set_parallelism(behind)
    loop = numbers.iterate().set_parallelism(behind)
    moved = loop.key_by(lambda r: r[0]).process(CountVisits())
    again = moved.filter(lambda r: r[0] == "again").map(lambda r: r[1:])
    loop.close_with(again.rebalance() if shape & 2 else again)
    return env.collect(moved.filter(lambda r: r[0] == "done").map(lambda r: r[1:]))


@dataclass
class Happened:
    """What a test has seen on its way, to be sure that it has seen something."""

    failures: int = 0
    entries_in_checkpoints: int = 0
    checkpoints_after_the_input: int = 0


def entries_in(snapshot: JobSnapshot) -> int:
    """Return how many batches of feedback a checkpoint holds."""
    states = [o.state for task in snapshot.checkpoint.tasks.values() for o in task.operators.values() if o.state is not None]
    return sum(int(state.meta[OPERATOR_STATE]["split"].get("feedback", 0)) for state in states if state.meta.get(OPERATOR_STATE))


def disturbed_run(seed: int, happened: Happened) -> CollectedStream:
    """Run the job to its end, with checkpoints and failures at any moments, before and after the end of the input."""
    random = Random(seed)
    config = {"execution.buffer-timeout.interval": random.choice(["0 ms", "0 ms", "100 ms"])}
    env = local_environment(seed=seed, parallelism=random.choice([1, 2, 3]), config=config)
    source = ManualSource(splits=2)
    done = build(env, source, random.randrange(4), random.choice([1, 2]))
    with env.start() as job:
        numbers = list(NUMBERS)
        while numbers or not source.ended:
            source.push_all([numbers.pop() for _ in range(min(len(numbers), random.randrange(1, 12)))], split=random.randrange(2))
            if not numbers:
                source.end()
            disturb(job, random, happened, ended=source.ended)
        if not job.status.is_globally_terminal_state():
            job.finish()
    return done


def disturb(job: PipelineJob, random: Random, happened: Happened, *, ended: bool) -> None:
    job.step(random.randrange(1, 200))
    if random.random() < 0.7 and not job.status.is_globally_terminal_state():
        try:
            snapshot = job.checkpoint()
        except CheckpointError:
            return  # the job ended while it was taken
        happened.entries_in_checkpoints += entries_in(snapshot)
        happened.checkpoints_after_the_input += ended
    if random.random() < 0.6:
        job.step(random.randrange(1, 200))
        happened.failures += fails(job)


def fails(job: PipelineJob) -> bool:
    """Fail, unless the job has ended or ends before."""
    if job.status.is_globally_terminal_state():
        return False
    try:
        job.fail()
    except JobExecutionError as error:
        assert "ended before" in str(error)
        return False
    return True


@pytest.mark.parametrize("seed", range(0, SEEDS, 10))
def test_a_failure_neither_loses_nor_repeats_what_is_in_the_loop(seed: int) -> None:
    happened = Happened()
    for each in range(seed, seed + 10):
        done = disturbed_run(each, happened)
        assert Counter(done.values) == EXPECTED, f"seed {each}"
    assert happened.failures > 0
    assert happened.entries_in_checkpoints > 0


@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 1), (2, 3), (3, 2)])
def test_a_loop_goes_on_with_another_parallelism(before: int, after: int) -> None:
    found = 0
    for seed in range(4):
        source = ManualSource(splits=2)
        config = {"execution.buffer-timeout.interval": "0 ms", "pipeline.max-parallelism": "8"}
        env = local_environment(seed=seed, parallelism=before, config=config)
        done = build(env, source, shape=3, behind=before)
        with env.start() as job:
            source.push_all(NUMBERS)
            job.step(120)
            snapshot = job.checkpoint()
            found += entries_in(snapshot)
            first = done.committed
        env = local_environment(seed=seed, parallelism=after, config=config)
        done = build(env, source, shape=3, behind=after)
        with env.start(restore_from=snapshot) as job:
            job.finish()
        assert Counter(first + done.values) == EXPECTED, f"seed {seed}"
    assert found > 0
