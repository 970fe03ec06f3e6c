"""Programs over bounded data on Spark: one with all that crosses stages, and one whose data do not fit into the memory of its tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.parity.conftest import time_limit
from tests.unit.dataset.test_iterations import AtMost, Counted, components, expected_components, some_graph
from wiesel.common import Configuration
from wiesel.dataset import ExecutionEnvironment, JoinHint, LongSumAggregator, MapFunction
from wiesel.iteration import rounds_of
from wiesel.types import Types

SECONDS = 600
"""A job that hangs fails its test; a busy machine makes everything slow."""


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    with time_limit(SECONDS):
        yield


def environment(**settings: Any) -> ExecutionEnvironment:
    return ExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings)).set_parallelism(2)


class _Named(MapFunction):
    def open(self, runtime_context: Any) -> None:
        self._names = dict(runtime_context.get_broadcast_variable("names"))

    def map(self, value: tuple[int, int]) -> tuple[str, int]:
        return self._names[value[0]], value[1]


def test_join_aggregate_and_broadcast_set() -> None:
    env = environment()
    orders = env.generate_sequence(1, 1_000).map(lambda n: (n % 40, n))
    customers = env.from_collection([(i, i % 3) for i in range(30)])
    names = env.from_elements((0, "zero"), (1, "one"), (2, "two"))
    per_city = orders.join(customers, JoinHint.REPARTITION_HASH_SECOND).where(0).equal_to(0).apply(lambda o, c: (c[1], o[1]))
    result = per_city.map(_Named()).with_broadcast_set(names, "names").group_by(0).sum(1).collect()
    expected: Counter[str] = Counter()
    for n in range(1, 1_001):
        if n % 40 < 30:
            expected[("zero", "one", "two")[n % 40 % 3]] += n
    assert dict(result) == dict(expected)


def test_a_join_and_a_sort_beyond_the_memory(tmp_path: Path) -> None:
    memory = 64 << 10
    env = environment(**{"taskmanager.memory.managed.size": str(memory)})
    kind = Types.TUPLE([Types.LONG(), Types.STRING()])
    count = 6_000
    left = env.generate_sequence(1, count).map(lambda n: (n, f"{n:060d}"), kind)
    right = env.generate_sequence(1, count).map(lambda n: (n * 2, f"{n:060d}"), kind)
    joined = left.join(right, JoinHint.REPARTITION_HASH_SECOND).where(0).equal_to(0).apply(lambda a, b: (a[0], b[1]), kind)
    joined.sort_partition(0).set_parallelism(1).write_text(str(tmp_path / "sorted")).set_parallelism(1)
    result = env.execute()
    lines = [line for file in sorted((tmp_path / "sorted").rglob("part*")) for line in file.read_text().splitlines()]
    assert lines == [f"({n},{n // 2:060d})" for n in range(2, count + 1, 2)]
    # Each of the two tasks of the join had more than three times what it may keep, and the sort twice.
    assert result.metrics["spilledBytes"] > 6 * memory


def test_a_delta_iteration_with_an_aggregator(tmp_path: Path) -> None:
    vertices, edges = some_graph()
    iteration, better = components(environment(), vertices, edges, Counted())
    iteration.register_aggregation_convergence_criterion("changes", LongSumAggregator(), AtMost(0))
    solution = iteration.close_with(better, better)
    solution.map(str).write_text(str(tmp_path / "labels"))
    done = rounds_of(solution.get_execution_environment().execute())
    labels, work = expected_components(vertices, edges)
    lines = [line for file in (tmp_path / "labels").rglob("part*") for line in file.read_text().splitlines()]
    assert sorted(lines) == sorted(str(pair) for pair in labels.items())
    assert [(r.records, r.value) for r in done] == [(n, {"changes": n}) for n in work]
