"""Iterations in rounds under random orders of events, with checkpoints and failures at any moments.

Results and rounds are those of a plain loop. Each case is one seed; a failing one is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from wiesel.common import WatermarkStrategy
from wiesel.core.errors import CheckpointError, JobExecutionError
from wiesel.datastream import AggregateFunction, DataStream, KeyedCoProcessFunction
from wiesel.datastream.state import ListStateDescriptor
from wiesel.iteration import Round, each_round, iterate_bulk, iterate_delta, rounds_of
from wiesel.testing import ManualSource, PipelineJob, local_environment

SEEDS = 40
ROUNDS = 7
Edges = list[tuple[int, int]]


class ToNeighbours(KeyedCoProcessFunction):
    """Sends what came for a vertex in a round to all its neighbours."""

    def open(self, runtime_context: Any) -> None:
        self.neighbours = runtime_context.get_list_state(ListStateDescriptor("neighbours"))
        self.values = runtime_context.get_list_state(ListStateDescriptor("values"))

    def process_element1(self, value: tuple[int, int], ctx: Any) -> None:
        self.values.add(value[1])
        ctx.timer_service().register_event_time_timer(ctx.timestamp())

    def process_element2(self, value: tuple[int, int], ctx: Any) -> None:
        self.neighbours.add(value[1])

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[tuple[int, int]]:
        for value in self.values.get():
            for neighbour in self.neighbours.get():
                yield neighbour, value
        self.values.clear()


class Sum(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: int, accumulator: int) -> int:
        return accumulator + value

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


def walks(vertices: DataStream, edges: DataStream) -> DataStream:
    """How many walks of so many steps end at each vertex: exact, and wrong if two rounds ever mix."""

    def step(now: DataStream) -> tuple[DataStream, DataStream]:
        sent = now.connect(edges).key_by(lambda r: r[0], lambda e: e[0]).process(ToNeighbours())
        sums = sent.key_by(lambda r: r[0]).window(each_round()).reduce(lambda a, b: (a[0], a[1] + b[1]))
        return sums, sums.map(lambda r: r[1]).rebalance()

    return iterate_bulk(vertices.map(lambda v: (v, 1)), step, max_rounds=ROUNDS, aggregator=Sum())


def components(vertices: DataStream, edges: DataStream) -> DataStream:
    def least(current: tuple[int, int], candidates: list[tuple[int, int]]) -> tuple[int, int] | None:
        best = min(c for _, c in candidates)
        return (current[0], best) if best < current[1] else None

    labels = vertices.map(lambda v: (v, v))
    return iterate_delta(
        labels, labels, lambda r: r[0], lambda w: w.connect(edges).key_by(lambda r: r[0], lambda e: e[0]).process(ToNeighbours()), least
    )


def expected_walks(vertices: list[int], edges: Edges) -> tuple[Counter[Any], list[Round]]:
    counts, rounds = dict.fromkeys(vertices, 1), []
    for number in range(1, ROUNDS + 1):
        after: Counter[int] = Counter()
        for a, b in edges:
            if a in counts:
                after[b] += counts[a]
        counts = dict(after)
        rounds.append(Round(number, len(counts), sum(counts.values())))
    return Counter(counts.items()), rounds


def expected_components(vertices: list[int], edges: Edges) -> tuple[Counter[Any], list[Round]]:
    labels, changed, rounds = {v: v for v in vertices}, set(vertices), list[Round]()
    while changed:
        offered: dict[int, int] = {}
        for a, b in edges:
            if a in changed:
                offered[b] = min(offered.get(b, labels[a]), labels[a])
        better = {v: label for v, label in offered.items() if label < labels[v]}
        labels.update(better)
        changed = set(better)
        rounds.append(Round(len(rounds) + 1, len(changed), None))
    return Counter(labels.items()), rounds


PROGRAMS = {"bulk": (walks, expected_walks), "delta": (components, expected_components)}


def random_graph(random: Random) -> tuple[list[int], Edges]:
    """Return a ring with some chords, and another one: so each vertex has a neighbour, and there are two components."""
    size = random.randrange(6, 16)
    pairs = {(v, (v + 1) % size) for v in range(size)} | {(size + v, size + (v + 1) % 4) for v in range(4)}
    pairs |= {(a, b) for a, b in ((random.randrange(size), random.randrange(size)) for _ in range(4)) if a != b}
    return list(range(size + 4)), sorted({edge for a, b in pairs for edge in ((a, b), (b, a))})


@dataclass
class Happened:
    """What the tests have seen on their way."""

    failures: int = 0
    checkpoints: int = 0
    mid_rounds: int = 0


def disturb(job: PipelineJob, random: Random, happened: Happened, rounds: Any) -> None:
    for _ in range(random.randrange(1, 7)):
        job.step(random.randrange(1, 150))
        if random.random() < 0.6 and not job.status.is_globally_terminal_state():
            try:
                job.checkpoint()
                happened.checkpoints += 1
                happened.mid_rounds += 0 < len(rounds(job)) < ROUNDS
            except CheckpointError:
                return  # the job ended while it was taken
        if random.random() < 0.5:
            job.step(random.randrange(1, 100))
            if not fails(job):
                return
            happened.failures += 1


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


def start(env: Any, program: Any, vertices: ManualSource, edges: ManualSource) -> Any:
    at, along = (env.from_source(s, WatermarkStrategy.no_watermarks(), n) for s, n in ((vertices, "vertices"), (edges, "edges")))
    return env.collect(program(at, along))


def step_into_rounds(job: PipelineJob, seed: int) -> None:
    for _ in range(1000):
        if rounds_now(job):
            break
        job.step(2)
    job.step(1 + 5 * seed)


def rounds_now(job: PipelineJob) -> list[Round]:
    return rounds_of(job._master.total_metrics())


@pytest.mark.parametrize("kind", PROGRAMS)
@pytest.mark.parametrize("seed", range(0, SEEDS, 10))
def test_failures_change_neither_the_result_nor_the_rounds(seed: int, kind: str) -> None:
    program, reference = PROGRAMS[kind]
    happened = Happened()
    for each in range(seed, seed + 10):
        random = Random(each)
        vertices, edges = random_graph(random)
        config = {"execution.buffer-timeout.interval": random.choice(["0 ms", "0 ms", "100 ms"])}
        env = local_environment(seed=each, parallelism=random.choice([1, 2, 3]), config=config)
        sources = ManualSource(splits=2), ManualSource()
        done = start(env, program, *sources)
        with env.start() as job:
            sources[0].push_all(vertices[::2], split=0)
            sources[0].push_all(vertices[1::2], split=1)
            sources[1].push_all(edges)
            for source in random.sample(sources, 2):
                job.step(random.randrange(1, 60))
                source.end()
            disturb(job, random, happened, rounds_now)
            if not job.status.is_globally_terminal_state():
                job.finish()
            result, rounds = reference(vertices, edges)
            assert Counter(done.values) == result, f"seed {each}"
            assert rounds_now(job) == rounds, f"seed {each}"
    assert happened.failures > 0
    assert happened.mid_rounds > 0


@pytest.mark.parametrize("kind", PROGRAMS)
@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 2)])
def test_rounds_go_on_with_another_parallelism(before: int, after: int, kind: str) -> None:
    program, reference = PROGRAMS[kind]
    vertices, edges = random_graph(Random(5))
    happened = 0
    for seed in range(4):
        config = {"execution.buffer-timeout.interval": "0 ms", "pipeline.max-parallelism": "8"}
        sources = ManualSource(splits=2), ManualSource()
        env = local_environment(seed=seed, parallelism=before, config=config)
        done = start(env, program, *sources)
        with env.start() as job:
            sources[0].push_all(vertices)
            sources[1].push_all(edges)
            for source in sources:
                source.end()
            step_into_rounds(job, seed)
            snapshot = job.checkpoint()
            happened += 0 < len(rounds_now(job)) < len(reference(vertices, edges)[1])
            first = done.committed
        env = local_environment(seed=seed, parallelism=after, config=config)
        done = start(env, program, *sources)
        with env.start(restore_from=snapshot) as job:
            job.finish()
            result, rounds = reference(vertices, edges)
            assert Counter(first + done.values) == result, f"seed {seed}"
            assert rounds_now(job) == rounds, f"seed {seed}"
    assert happened > 0
