"""Iterations of data sets on the local engine against plain loops, alone and in parallel, within and beyond the memory."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wiesel.common import Configuration
from wiesel.core.errors import JobExecutionError, ProgramError
from wiesel.dataset import (
    CoGroupFunction,
    ConvergenceCriterion,
    DataSet,
    DoubleSumAggregator,
    ExecutionEnvironment,
    FlatJoinFunction,
    JoinHint,
    LongSumAggregator,
    MapFunction,
)
from wiesel.iteration import rounds_of
from wiesel.types import Types

SEED = random.randrange(1 << 30)
PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])
Edges = list[tuple[int, int]]


@pytest.fixture(params=[(1, "64mb"), (3, "64mb"), (2, "4kb")], ids=["alone", "parallel", "spilling"])
def env(request: pytest.FixtureRequest) -> ExecutionEnvironment:
    parallelism, memory = request.param
    print(f"seed {SEED}")
    settings = {"wiesel.engine": "local", "taskmanager.memory.managed.size": memory, "execution.checkpointing.interval": "50 ms"}
    return ExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings)).set_parallelism(parallelism)


def some_graph(size: int = 40, edges: int = 34) -> tuple[list[int], Edges]:
    """Return a random graph that has several components, its edges in both directions."""
    source = random.Random(SEED)
    pairs = {tuple(sorted(source.sample(range(size), 2))) for _ in range(edges)}
    return list(range(size)), sorted({edge for a, b in pairs for edge in ((a, b), (b, a))})


# Bulk iterations


def test_a_bulk_iteration_is_a_loop(env: ExecutionEnvironment) -> None:
    start = env.generate_sequence(1, 20).map(lambda n: (n, 1))
    loop = start.iterate(6)
    result = loop.close_with(loop.map(lambda r: (r[0], r[1] * r[0])))
    assert sorted(result.collect()) == [(n, n**6) for n in range(1, 21)]
    assert loop.get_max_iterations() == 6


def page_rank(env: ExecutionEnvironment, vertices: list[int], edges: Edges, enough: float) -> DataSet:
    """Flink's example program: ranks until none changes by more than a little."""
    count = len(vertices)
    links: dict[int, list[int]] = {}
    for a, b in edges:
        links.setdefault(a, []).append(b)
    out = env.from_collection(sorted(links.items()))
    ranks = env.from_collection([(v, 1 / count) for v in vertices])
    loop = ranks.iterate(200)
    sent = loop.join(out).where(0).equal_to(0).flat_map(lambda pair: [(b, pair[0][1] / len(pair[1][1])) for b in pair[1][1]])
    zero = env.from_collection([(v, 0.0) for v in vertices])
    after = sent.union(zero).group_by(0).sum(1).map(lambda r: (r[0], r[1] * 0.85 + 0.15 / count))
    changed = after.join(loop).where(0).equal_to(0).filter(lambda pair: abs(pair[0][1] - pair[1][1]) > enough)
    return loop.close_with(after, changed)


def test_page_rank_ends_when_the_termination_criterion_is_empty(env: ExecutionEnvironment) -> None:
    vertices, edges = some_graph()
    result = page_rank(env, vertices, edges, 1e-6)
    lines: list[Any] = sorted(result.collect())
    # Recomputed over the whole graph.
    ranks, rounds, before = dict.fromkeys(vertices, 1 / len(vertices)), 0, None
    degree = {v: sum(a == v for a, _ in edges) for v in vertices}
    while before is None or any(abs(ranks[v] - before[v]) > 1e-6 for v in vertices):
        before, rounds = ranks, rounds + 1
        ranks = {v: 0.15 / len(vertices) + 0.85 * sum(before[a] / degree[a] for a, b in edges if b == v) for v in vertices}
    assert dict(lines) == pytest.approx(ranks, abs=1e-9)
    assert len(lines) == len(vertices)
    assert rounds < 200


class Nearest(MapFunction):
    """The classic program: centres are a broadcast set that changes with each round, the points stay as they are."""

    def open(self, runtime_context: Any) -> None:
        self.centres = runtime_context.get_broadcast_variable("centres")

    def map(self, value: tuple[float, float]) -> tuple[int, float, float, int]:
        nearest = min(self.centres, key=lambda c: (c[1] - value[0]) ** 2 + (c[2] - value[1]) ** 2)
        return nearest[0], value[0], value[1], 1


def test_k_means_with_a_broadcast_set_that_changes(env: ExecutionEnvironment) -> None:
    source = random.Random(SEED)
    points = [(source.gauss(x, 1), source.gauss(y, 1)) for x, y in ((0, 0), (9, 0), (0, 9)) for _ in range(30)]
    start = [(i, *points[i * 30]) for i in range(3)]
    loop = env.from_collection(start).iterate(5)
    placed = env.from_collection(points).map(Nearest()).with_broadcast_set(loop, "centres")
    sums = placed.group_by(0).reduce(lambda a, b: (a[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]))
    result = loop.close_with(sums.map(lambda s: (s[0], s[1] / s[3], s[2] / s[3])))
    centres = {i: (x, y) for i, x, y in start}
    for _ in range(5):
        groups: dict[int, list[tuple[float, float]]] = {}
        for x, y in points:
            groups.setdefault(min(centres, key=lambda i: (centres[i][0] - x) ** 2 + (centres[i][1] - y) ** 2), []).append((x, y))
        centres = {i: (sum(x for x, _ in g) / len(g), sum(y for _, y in g) / len(g)) for i, g in groups.items()}
    found = {i: (x, y) for i, x, y in result.collect()}
    assert found.keys() == centres.keys()
    for i, centre in centres.items():
        assert found[i] == pytest.approx(centre, abs=1e-9)


@pytest.mark.parametrize("hint", JoinHint)
def test_every_join_works_in_rounds(env: ExecutionEnvironment, hint: JoinHint) -> None:
    vertices, edges = some_graph()
    loop = env.from_collection([(v, 1) for v in vertices], PAIR).iterate(3)
    walks = loop.join(env.from_collection(edges, PAIR), hint).where(0).equal_to(0).apply(lambda v, e: (e[1], v[1]), PAIR)
    result = loop.close_with(walks.group_by(0).sum(1)).collect()
    counts = dict.fromkeys(vertices, 1)
    for _ in range(3):
        counts = {v: total for v in vertices if (total := sum(counts.get(a, 0) for a, b in edges if b == v))}
    assert sorted(result) == sorted(counts.items())


# Aggregators


class Halve(MapFunction):
    """Halves numbers; tells the sum, and notes what it learns of rounds."""

    def open(self, runtime_context: Any) -> None:
        self.sum = runtime_context.get_iteration_aggregator("sum")
        self.round = runtime_context.get_superstep_number()
        self.before = runtime_context.get_previous_iteration_aggregate("sum")

    def map(self, value: tuple[float, Any]) -> tuple[float, Any]:
        number, seen = value
        self.sum.aggregate(number / 2)
        return number / 2, (*seen, (self.round, self.before))


def test_an_aggregate_ends_the_iteration_and_is_known_in_the_next_round(env: ExecutionEnvironment) -> None:
    loop = env.from_collection([(float(n), ()) for n in range(1, 9)]).iterate(100)
    loop.register_aggregation_convergence_criterion("sum", DoubleSumAggregator(), lambda number, value: value < 5)
    result = loop.close_with(loop.rebalance().map(Halve()))
    found = result.collect()
    sums = [36 / 2, 36 / 4, 36 / 8]
    assert sorted(number for number, _ in found) == [n / 8 for n in range(1, 9)]
    for _, seen in found:
        assert seen == ((1, None), (2, sums[0]), (3, sums[1]))


class AtMost(ConvergenceCriterion):
    def __init__(self, limit: int) -> None:
        self.limit = limit

    def is_converged(self, iteration: int, value: Any) -> bool:
        return bool(value <= self.limit) and iteration > 1


class Counted(FlatJoinFunction):
    def open(self, runtime_context: Any) -> None:
        self.changes = runtime_context.get_iteration_aggregator("changes")

    def join(self, first: Any, second: Any) -> Iterator[Any]:
        if first[1] < second[1]:
            self.changes.aggregate(1)
            yield first


# Delta iterations


def components(env: ExecutionEnvironment, vertices: list[int], edges: Edges, changes: Any, rounds: int = 100) -> tuple[Any, Any]:
    labels = env.from_collection([(v, v) for v in vertices], PAIR)
    iteration = labels.iterate_delta(labels, rounds, 0)
    offers = iteration.get_workset().join(env.from_collection(edges, PAIR)).where(0).equal_to(0).apply(lambda w, e: (e[1], w[1]), PAIR)
    least = offers.group_by(0).min(1)
    better = least.join(iteration.get_solution_set()).where(0).equal_to(0).apply(changes, PAIR)
    return iteration, better


def expected_components(vertices: list[int], edges: Edges, rounds: int = 100) -> tuple[dict[int, int], list[int]]:
    """Recompute labels and the number of changes round by round."""
    labels, changed, work = {v: v for v in vertices}, set(vertices), list[int]()
    while changed and len(work) < rounds:
        offers = {v: min([labels[a] for a, b in edges if b == v and a in changed], default=None) for v in vertices}
        better = {v: offer for v, offer in offers.items() if offer is not None and offer < labels[v]}
        labels.update(better)
        changed = set(better)
        work.append(len(changed))
    return labels, work


class Better(FlatJoinFunction):
    def join(self, first: Any, second: Any) -> Iterator[Any]:
        if first[1] < second[1]:
            yield first


@pytest.mark.parametrize("rounds", [2, 100])
def test_components_with_less_and_less_work(env: ExecutionEnvironment, rounds: int, tmp_path: Path) -> None:
    vertices, edges = some_graph()
    iteration, better = components(env, vertices, edges, Better(), rounds)
    iteration.close_with(better, better).map(str).write_text(str(tmp_path / "labels"))
    done = rounds_of(env.execute())
    labels, work = expected_components(vertices, edges, rounds)
    lines = [line for file in (tmp_path / "labels").rglob("part*") for line in file.read_text().splitlines()]
    assert sorted(lines) == sorted(str(pair) for pair in labels.items())
    assert [r.records for r in done] == work


class FirstOffer(CoGroupFunction):
    """Finds at most one record of the solution set, and none for keys that it does not have."""

    def co_group(self, first: Iterator[Any], second: Iterator[Any]) -> Iterator[Any]:
        offers, known = list(first), next(second, None)
        best = min(hops for _, hops in offers)
        if known is None or best < known[1]:
            yield offers[0][0], best


def test_a_solution_set_grows_by_co_group(env: ExecutionEnvironment) -> None:
    edges = some_graph(edges=60)[1]
    start = env.from_collection([(0, 0)], PAIR)
    iteration = start.iterate_delta(start, 100, lambda r: r[0]).name("Hops").parallelism(2)
    offers = iteration.get_workset().join(env.from_collection(edges)).where(0).equal_to(0).apply(lambda w, e: (e[1], w[1] + 1), PAIR)
    key = iteration._key.selector
    nearer = offers.co_group(iteration.get_solution_set()).where(0).equal_to(key).apply(FirstOffer(), PAIR)
    hops, now = {0: 0}, [0]
    while now:
        now = sorted({b for a, b in edges if a in now and b not in hops})
        hops.update({v: max(hops.values()) + 1 for v in now} if now else {})
    assert dict(iteration.close_with(nearer, nearer).collect()) == hops


def test_a_delta_iteration_ends_by_its_own_criterion(env: ExecutionEnvironment, tmp_path: Path) -> None:
    vertices, edges = some_graph()
    work = expected_components(vertices, edges)[1]
    limit = work[1]
    iteration, better = components(env, vertices, edges, Counted())
    iteration.register_aggregation_convergence_criterion("changes", LongSumAggregator(), AtMost(limit))
    iteration.close_with(better, better).map(str).write_text(str(tmp_path / "labels"))
    done = rounds_of(env.execute())
    assert [r.value for r in done] == [{"changes": n} for n in work[:2]]


def test_two_iterations_follow_each_other(env: ExecutionEnvironment) -> None:
    first = env.generate_sequence(1, 5).iterate(2)
    doubled = first.close_with(first.map(lambda n: n * 2))
    second = doubled.iterate(3)
    assert sorted(second.close_with(second.map(lambda n: n + 1)).collect()) == [n * 4 + 3 for n in range(1, 6)]


# The plan, and what cannot be.


def test_the_plan_shows_the_four_parts(env: ExecutionEnvironment) -> None:
    loop = env.generate_sequence(1, 5).iterate(7)
    result = loop.close_with(loop.map(lambda n: n + 1), loop.filter(lambda n: n < 0))
    plan = result.explain()
    assert "[head of an iteration of at most 7 rounds]" in plan
    assert "(input of the iteration)" in plan
    assert "[step of iteration #2]" in plan
    assert "(next partial solution, feedback to #2)" in plan
    assert "(termination criterion)" in plan
    assert "[tail and result of iteration #2]" in plan
    result.write_text("nowhere")
    nodes = json.loads(env.get_execution_plan())["nodes"]
    bulk = next(node for node in nodes if node["pact"] == "Bulk Iteration")
    assert [node["pact"] for node in bulk["step_function"]] == ["Partial Solution", "Operator", "Operator"]
    assert bulk["partial_solution"] == bulk["step_function"][0]["id"]
    assert bulk["next_partial_solution"] == bulk["step_function"][1]["id"]


def test_the_plan_of_a_delta_iteration(env: ExecutionEnvironment) -> None:
    iteration, better = components(env, *some_graph(), Better())
    plan = iteration.close_with(better, better).explain()
    assert "(delta of the solution set, feedback to" in plan
    assert "(next workset, feedback to" in plan
    assert "(initial solution set)" in plan
    assert "input 2 is the same in all rounds, and so is its hash table" in plan


def test_what_cannot_be_iterated(env: ExecutionEnvironment) -> None:
    data = env.generate_sequence(1, 5)
    loop = data.iterate(3)
    step = loop.map(lambda n: n + 1)
    with pytest.raises(ProgramError, match="nothing leaves but its result"):
        step.collect()
    with pytest.raises(ProgramError, match="which its step does not make"):
        data.iterate(3).close_with(data.map(lambda n: n)).collect()
    with pytest.raises(ProgramError, match="which its step does not make"):
        (unchanged := data.iterate(3)).close_with(unchanged).collect()
    result = loop.close_with(step)
    with pytest.raises(ProgramError, match="was closed before"):
        loop.close_with(step)
    inner = step.iterate(2)
    with pytest.raises(ProgramError, match="one is inside the other"):
        inner.close_with(inner.map(lambda n: n)).collect()
    assert sorted(result.collect()) == [4, 5, 6, 7, 8]
    with pytest.raises(ProgramError, match="max_iterations"):
        data.iterate(0)


def test_what_cannot_be_done_with_a_solution_set(env: ExecutionEnvironment) -> None:
    pairs = env.from_collection([(1, 1)], PAIR)
    iteration = pairs.iterate_delta(pairs, 3, 0)
    solution, workset = iteration.get_solution_set(), iteration.get_workset()
    with pytest.raises(ProgramError, match="cannot use a solution set"):
        solution.map(lambda r: r).explain()
    with pytest.raises(ProgramError, match="cannot use a solution set"):
        workset.left_outer_join(solution).where(0).equal_to(0).explain()
    with pytest.raises(ProgramError, match=r"by \(1\), but its key is \(0\)"):
        workset.join(solution).where(0).equal_to(1).explain()


class Misplaced(MapFunction):
    def open(self, runtime_context: Any) -> None:
        runtime_context.get_superstep_number()

    def map(self, value: Any) -> Any:
        return value


class Unknown(Misplaced):
    def open(self, runtime_context: Any) -> None:
        runtime_context.get_iteration_aggregator("number")


def test_errors_of_functions_say_what_to_do(env: ExecutionEnvironment) -> None:
    named = env.from_collection([("EUR", 1)])
    data = env.generate_sequence(1, 5)
    with pytest.raises(JobExecutionError, match="is in no iteration"):
        data.map(Misplaced()).with_broadcast_set(named, "names").collect()
    loop = data.iterate(2).register_aggregator("sum", LongSumAggregator())
    with pytest.raises(JobExecutionError, match="'number' is no aggregator"):
        loop.close_with(loop.map(Unknown())).collect()
    with pytest.raises(ProgramError, match="already has an aggregator 'sum'"):
        loop.register_aggregator("sum", LongSumAggregator())


def test_static_records_are_the_same_in_each_round_whatever_functions_do_with_them(env: ExecutionEnvironment) -> None:
    lists = env.from_collection([[1], [2], [3]])

    class Grow(MapFunction):
        def open(self, runtime_context: Any) -> None:
            self.sums = runtime_context.get_broadcast_variable("sums")

        def map(self, value: list[int]) -> int:
            value.append(sum(self.sums))
            return sum(value)

    loop = env.from_elements(1).iterate(3)
    grown = lists.map(Grow()).with_broadcast_set(loop, "sums")
    result = loop.close_with(grown.reduce(lambda a, b: a + b)).collect()
    total = 1
    for _ in range(3):
        total = 6 + 3 * total
    assert result == [total]
