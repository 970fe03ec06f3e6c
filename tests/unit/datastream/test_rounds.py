"""Iterations in rounds as programs build them: how they end, what time is in them, what the plan shows, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from wiesel.common import WatermarkStrategy
from wiesel.core.errors import JobExecutionError, ProgramError
from wiesel.datastream import AggregateFunction, CoMapFunction, DataStream, ProcessFunction, StreamExecutionEnvironment
from wiesel.iteration import Round, each_round, iterate_bulk, iterate_delta, rounds_of
from wiesel.testing import ManualSource, local_environment


class Most(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: int, accumulator: int) -> int:
        return max(value, accumulator)

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return max(acc_a, acc_b)


def double(numbers: DataStream) -> DataStream:
    return numbers.map(lambda n: 2 * n)


@pytest.mark.parametrize("parallelism", [1, 2])
def test_i7_i8_the_last_round_ends_a_bulk_iteration(parallelism: int) -> None:
    env = local_environment(parallelism=parallelism)
    result = env.collect(iterate_bulk(env.from_collection([1, 2, 3]), double, max_rounds=5))
    rounds = rounds_of(env.execute())
    assert sorted(result.values) == [32, 64, 96]
    assert rounds == [Round(n, 3, None) for n in range(1, 6)]


@pytest.mark.parametrize("parallelism", [1, 3])
def test_i8_the_aggregate_of_a_criterion_ends_a_bulk_iteration(parallelism: int) -> None:
    def step(numbers: DataStream) -> tuple[DataStream, DataStream]:
        doubled = double(numbers)
        return doubled, doubled.rebalance()

    env = local_environment(parallelism=parallelism)
    result = env.collect(
        iterate_bulk(env.from_collection([1, 2, 3]), step, aggregator=Most(), converged=lambda _, most: most > 20, max_rounds=99)
    )
    rounds = rounds_of(env.execute())
    assert sorted(result.values) == [8, 16, 24]
    assert rounds == [Round(1, 3, 6), Round(2, 3, 12), Round(3, 3, 24)]


def test_i8_a_round_that_gives_nothing_is_the_last() -> None:
    env = local_environment()
    result = env.collect(iterate_bulk(env.from_collection([1, 2]), lambda s: double(s).filter(lambda n: n < 10), max_rounds=99))
    assert [r.records for r in rounds_of(env.execute())] == [2, 2, 1, 0]
    assert result.values == []


def test_an_iteration_of_nothing_has_one_round() -> None:
    env = local_environment(parallelism=2)
    numbers = env.from_collection([1]).filter(lambda n: n > 1)
    result = env.collect(iterate_bulk(numbers, double, max_rounds=5))
    assert rounds_of(env.execute()) == [Round(1, 0, None)]
    assert result.values == []


class Stamp(ProcessFunction):
    def process_element(self, value: int, ctx: Any) -> Any:
        yield value, ctx.timestamp()


def test_time_is_the_round_inside_and_over_behind() -> None:
    env = local_environment(parallelism=2)
    source: ManualSource = ManualSource()
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    inside: list[Any] = []

    def step(now: DataStream) -> DataStream:
        inside.append(env.collect(now.process(Stamp())))
        return now.map(lambda n: n + 10)

    result = env.collect(iterate_bulk(numbers, step, max_rounds=3))
    with env.start() as job:
        source.push(1, 1_000_000)
        source.advance_watermark(2_000_000)
        source.push(2, 3_000_000)
        source.end()
        job.finish()
    assert sorted(inside[0].values) == [(1, 1), (2, 1), (11, 2), (12, 2), (21, 3), (22, 3)]
    assert sorted((r.value, r.timestamp) for r in result.records) == [(31, None), (32, None)]


class RoundAndWatermark(ProcessFunction):
    def process_element(self, value: int, ctx: Any) -> Any:
        yield ctx.timestamp(), ctx.timer_service().current_watermark()


@pytest.mark.parametrize("seed", range(5))
def test_i10_no_operator_sees_a_round_before_the_one_before_is_over(seed: int) -> None:
    env = local_environment(parallelism=3, seed=seed)
    seen: list[Any] = []

    def step(now: DataStream) -> DataStream:
        moved = now.rebalance().map(lambda n: n + 1)
        seen.append(env.collect(moved.process(RoundAndWatermark())))
        seen.append(env.collect(moved.shuffle().process(RoundAndWatermark())))
        return moved.shuffle().map(lambda n: n)

    iterate_bulk(env.from_collection(range(40)), step, max_rounds=6).map(lambda n: n)
    env.execute()
    for collected in seen:
        assert Counter(number for number, _ in collected.values) == Counter(dict.fromkeys(range(1, 7), 40))
        assert all(watermark == number - 1 for number, watermark in collected.values if number > 1)


def test_windows_of_rounds_join_what_belongs_together() -> None:
    def step(now: DataStream) -> DataStream:
        even = now.map(lambda r: (r[0], r[1] + 1))
        odd = now.rebalance().map(lambda r: (r[0], r[1] * 2))
        joined = even.join(odd).where(lambda r: r[0]).equal_to(lambda r: r[0]).window(each_round())
        return joined.apply(lambda a, b: (a[0], a[1] + b[1]))

    for seed in range(5):
        env = local_environment(parallelism=2, seed=seed)
        result = env.collect(iterate_bulk(env.from_collection([("a", 1), ("b", 2)]), step, max_rounds=4))
        env.execute()
        expected = {"a": 1, "b": 2}
        for _ in range(4):
            expected = {key: (n + 1) + n * 2 for key, n in expected.items()}
        assert sorted(result.values) == sorted(expected.items()), f"seed {seed}"


def test_a_stream_from_outside_is_there_before_a_round_passes_whatever_its_time() -> None:
    env = local_environment(parallelism=2)
    late: ManualSource = ManualSource()
    outside = env.from_source(late, WatermarkStrategy.no_watermarks(), "outside")

    def update(known: Any, candidates: list[Any]) -> Any:
        return (known[0], known[1] + sum(n for _, n in candidates)) if known[1] < 100 else None

    initial = env.from_collection([("a", 1)])
    solution = env.collect(iterate_delta(outside, initial, lambda r: r[0], lambda changed: changed.map(lambda r: (r[0], 50)), update))
    with env.start() as job:
        late.advance_watermark(1_000_000)
        job.settle()
        assert rounds_of(job._master.total_metrics()) == []
        late.push(("a", 5), 2_000_000)
        late.push(("b", 7), 2_000_000)
        late.end()
        result = job.finish()
    assert sorted(solution.values) == [("a", 105), ("b", 7)]
    assert [r.records for r in rounds_of(result)] == [1, 1, 0]


def test_i9_a_delta_iteration_may_be_ended_early() -> None:
    env = local_environment()
    start = env.from_collection([(0, 0)])

    def update(known: Any, new: list[Any]) -> Any:
        return new[0] if known is None else None

    def step(changed: DataStream) -> DataStream:
        return changed.map(lambda r: (r[0] + 1, r[1] + 1))

    solution = env.collect(iterate_delta(start, start, lambda r: r[0], step, update, max_rounds=3))
    assert [r.records for r in rounds_of(env.execute())] == [1, 1, 1]
    assert sorted(solution.values) == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_iterations_follow_each_other_and_are_told_apart_by_name() -> None:
    env = local_environment(parallelism=2)
    first = iterate_bulk(env.from_collection([1]), double, max_rounds=2, name="first")
    second = iterate_bulk(first, double, max_rounds=3, name="second")
    third = env.collect(iterate_bulk(second, double, max_rounds=1, name="second"))
    result = env.execute()
    assert third.values == [64]
    assert [len(rounds_of(result, name)) for name in ("first", "second", "second 2")] == [2, 3, 1]
    with pytest.raises(ProgramError, match=r"no iteration in rounds of the name None; it has 'first', 'second', 'second 2'"):
        rounds_of(result)


def test_an_iteration_may_follow_a_loop() -> None:
    env = local_environment(parallelism=2)
    loop = env.from_collection([5, 6]).iterate()
    less = loop.map(lambda n: n - 1)
    loop.close_with(less.filter(lambda n: n > 3))
    result = env.collect(iterate_bulk(less, double, max_rounds=2))
    env.execute()
    assert Counter(result.values) == Counter([16, 12, 20, 16, 12])


def test_x14_i10_the_plan_has_the_four_parts_and_the_inputs(env: StreamExecutionEnvironment) -> None:
    edges = env.from_collection([(1, 2)]).name("edges")
    iterate_bulk(
        env.from_collection([1]), lambda s: s.connect(edges).key_by(lambda v: v, lambda e: e[0]).map(_Either()).name("step"), max_rounds=2
    ).print()
    nodes = {n["type"]: n for n in json.loads(env.get_execution_plan())["nodes"]}
    head = nodes["Bulk Iteration: Head"]["id"]
    parts = {name: n["iterations"] for name, n in nodes.items() if "iterations" in n}
    assert parts == {
        "Bulk Iteration: Head": [{"iteration": head, "part": "head"}],
        "step": [{"iteration": head, "part": "step"}],
        "Bulk Iteration: Tail": [{"iteration": head, "part": "tail", "feedback_to": head}],
    }
    assert [p["id"] for p in nodes["step"]["predecessors"]] == [head, nodes["Iteration Input"]["id"]]


class _Either(CoMapFunction):
    def map1(self, value: Any) -> Any:
        return value

    def map2(self, value: Any) -> Any:
        return None


def test_an_error_in_the_criterion_ends_the_job() -> None:
    env = local_environment(config={"restart-strategy.type": "fixed-delay"})
    env.collect(iterate_bulk(env.from_collection([1]), double, converged=lambda number, _: 1 / (2 - number) < 0))
    with pytest.raises(JobExecutionError, match=r"test_rounds.py:\d+ raised after round 2: ZeroDivisionError"):
        env.execute()


def test_what_cannot_be_an_iteration_is_refused(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([1])
    with pytest.raises(ProgramError, match="would have no end"):
        iterate_bulk(numbers, double)
    with pytest.raises(ProgramError, match="must return two streams"):
        iterate_bulk(numbers, double, max_rounds=2, aggregator=Most())
    with pytest.raises(ProgramError, match="not made from the one it got"):
        iterate_bulk(numbers, lambda s: numbers.map(lambda n: n), max_rounds=2)
    with pytest.raises(ProgramError, match="what the step returned"):
        iterate_bulk(numbers, lambda s: None, max_rounds=2)
    with pytest.raises(ProgramError, match="update must be a function"):
        iterate_delta(numbers, numbers, lambda n: n, double, None)  # type: ignore[arg-type]


def test_an_iteration_inside_another_is_refused() -> None:
    env = local_environment()
    iterate_bulk(env.from_collection([1]), lambda s: iterate_bulk(s, double, max_rounds=2), max_rounds=2).print()
    with pytest.raises(ProgramError, match=r"test_rounds.py:\d+ and at .*test_rounds.py:\d+ one is inside"):
        env.execute()
