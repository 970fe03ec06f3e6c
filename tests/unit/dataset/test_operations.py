"""Each operation of data sets on the local engine against plain Python, alone and in parallel, within and beyond the memory."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any, ClassVar

import pytest

from wiesel.common import Configuration
from wiesel.core.errors import JobExecutionError, ProgramError
from wiesel.dataset import (
    Aggregations,
    CoGroupFunction,
    DataSet,
    ExecutionEnvironment,
    FlatJoinFunction,
    GroupReduceFunction,
    JoinHint,
    MapFunction,
    Order,
)
from wiesel.types import Row, Types

SEED = random.randrange(1 << 30)
PAIR = Types.TUPLE([Types.INT(), Types.STRING()])


@pytest.fixture(params=[(1, "64mb"), (3, "64mb"), (2, "4kb")], ids=["alone", "parallel", "spilling"])
def env(request: pytest.FixtureRequest) -> ExecutionEnvironment:
    parallelism, memory = request.param
    print(f"seed {SEED}")
    settings = {"wiesel.engine": "local", "taskmanager.memory.managed.size": memory}
    return ExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings)).set_parallelism(parallelism)


def _records(count: int = 300, keys: int = 17, start: int = 0) -> list[tuple[int, str]]:
    source = random.Random(SEED + start)
    return [(source.randrange(start, start + keys), f"v{source.randrange(1000)}") for _ in range(count)]


def _by_key(records: list[Any], key: Callable[[Any], Any] = lambda r: r[0]) -> dict[Any, list[Any]]:
    groups: dict[Any, list[Any]] = defaultdict(list)
    for record in records:
        groups[key(record)].append(record)
    return groups


def test_records_one_by_one(env: ExecutionEnvironment) -> None:
    data = env.from_collection(_records()).rebalance()
    result = data.map(lambda r: r[0] * 2).filter(lambda n: n % 3).flat_map(lambda n: [n, -n]).collect()
    kept = [r[0] * 2 for r in _records() if r[0] * 2 % 3]
    assert Counter(result) == Counter(kept + [-n for n in kept])


def test_map_partition(env: ExecutionEnvironment) -> None:
    def summed(values: Iterator[int]) -> Iterator[tuple[int, int]]:
        numbers = list(values)
        yield len(numbers), sum(numbers)

    parts = env.generate_sequence(1, 500).map_partition(summed).collect()
    assert len(parts) == env.get_parallelism()
    assert (sum(n for n, _ in parts), sum(s for _, s in parts)) == (500, 125_250)


@pytest.mark.parametrize("declared", [None, PAIR])
def test_reduce_by_key(env: ExecutionEnvironment, declared: Any) -> None:
    data = env.from_collection(_records(), declared)
    result = data.group_by(0).reduce(lambda a, b: (a[0], max(a[1], b[1]))).collect()
    assert sorted(result) == sorted((k, max(v for _, v in group)) for k, group in _by_key(_records()).items())


def test_reduce_with_many_keys(env: ExecutionEnvironment) -> None:
    result = env.generate_sequence(1, 1_000).map(lambda n: (f"key {n % 700}", n)).group_by(lambda r: r[0]).reduce(_added).collect()
    expected = {k: sum(n for _, n in g) for k, g in _by_key([(f"key {n % 700}", n) for n in range(1, 1_001)]).items()}
    assert sorted(result) == sorted(expected.items())


def _added(a: tuple[str, int], b: tuple[str, int]) -> tuple[str, int]:
    return a[0], a[1] + b[1]


def test_reduce_and_aggregate_all(env: ExecutionEnvironment) -> None:
    data = env.generate_sequence(1, 200).map(lambda n: (n, -n))
    assert env.generate_sequence(1, 200).reduce(lambda a, b: a + b).collect() == [20_100]
    assert data.sum(0).and_aggregate(Aggregations.MIN, 1).collect() == [(20_100, -200)]
    assert env.from_collection([]).reduce(lambda a, b: a + b).collect() == []


def test_aggregations_of_groups_and_rows(env: ExecutionEnvironment) -> None:
    kind = Types.ROW_NAMED(["key", "n", "m"], [Types.STRING(), Types.LONG(), Types.LONG()])
    rows = [Row(key=f"k{i % 4}", n=i, m=-i) for i in range(50)]
    result = env.from_collection(rows, kind).group_by("key").sum("n").and_aggregate(Aggregations.MAX, "m").collect()
    expected = {(f"k{k}", sum(range(k, 50, 4)), -k) for k in range(4)}
    assert {tuple(row) for row in result} == expected
    assert all(row._fields == ["key", "n", "m"] for row in result)


def test_min_by_and_max_by(env: ExecutionEnvironment) -> None:
    records = [(i % 3, (i * 37) % 101, i) for i in range(100)]
    data = env.from_collection(records)
    assert sorted(data.group_by(0).min_by(1).collect()) == sorted(min(g, key=lambda r: r[1]) for g in _by_key(records).values())
    assert data.max_by(1).collect() == [max(records, key=lambda r: r[1])]


def test_reduce_group(env: ExecutionEnvironment) -> None:
    def described(values: Iterator[tuple[int, str]]) -> Iterator[tuple[int, int]]:
        records = list(values)
        yield records[0][0], len(records)

    result = env.from_collection(_records(), PAIR).group_by(0).reduce_group(described).collect()
    assert sorted(result) == sorted((k, len(g)) for k, g in _by_key(_records()).items())
    assert env.from_collection(_records()).reduce_group(lambda values: [sum(1 for _ in values)]).collect() == [300]


def test_a_group_need_not_be_read_to_its_end(env: ExecutionEnvironment) -> None:
    result = env.from_collection(_records()).group_by(0).reduce_group(lambda values: [next(values)[0]]).collect()
    assert sorted(result) == sorted(_by_key(_records()))


class _CountedByCombining(GroupReduceFunction):
    def reduce(self, values: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        return self.combine(values)

    def combine(self, values: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        key, total = 0, 0
        for key, count in values:  # noqa: B007 - the last one is used
            total += count
        yield key, total


def test_groups_are_combined_before_they_are_sent(env: ExecutionEnvironment) -> None:
    data = env.from_collection(_records()).map(lambda r: (r[0], 1))
    counted = sorted((k, len(g)) for k, g in _by_key(_records()).items())
    assert sorted(data.group_by(0).reduce_group(_CountedByCombining()).collect()) == counted
    parts = data.group_by(0).combine_group(_CountedByCombining().combine).group_by(0).sum(1)
    assert sorted(parts.collect()) == counted


def test_sorted_groups_and_the_first_of_each(env: ExecutionEnvironment) -> None:
    records = [(i % 5, (i * 7) % 13, i) for i in range(200)]
    groups = env.from_collection(records).group_by(0).sort_group(1, Order.DESCENDING).sort_group(2)
    expected = {k: sorted(g, key=lambda r: (-r[1], r[2])) for k, g in _by_key(records).items()}
    result = groups.reduce_group(lambda values: [list(values)]).collect()
    assert {g[0][0]: g for g in result} == expected
    assert sorted(groups.first(3).collect()) == sorted(r for g in expected.values() for r in g[:3])


def test_distinct(env: ExecutionEnvironment) -> None:
    numbers = [i % 23 for i in range(200)]
    assert sorted(env.from_collection(numbers).distinct().collect()) == list(range(23))
    result = env.from_collection(_records()).distinct(0).collect()
    assert sorted(k for k, _ in result) == sorted(_by_key(_records()))
    assert set(result) <= set(_records())


def test_first(env: ExecutionEnvironment) -> None:
    result = env.generate_sequence(1, 100).first(7).collect()
    assert len(set(result)) == 7
    assert set(result) <= set(range(1, 101))
    assert len(env.from_elements(1, 2).first(5).collect()) == 2


def test_union(env: ExecutionEnvironment) -> None:
    one, two, three = env.from_elements(1, 2), env.generate_sequence(2, 4), env.from_elements("a")
    assert Counter(map(str, one.union(two, three).map(lambda v: v).collect())) == Counter("12234a")
    assert sorted(one.union(two).group_by(lambda n: n % 2).reduce(lambda a, b: a + b).collect()) == [4, 8]


def test_sort_partition(env: ExecutionEnvironment) -> None:
    data = env.from_collection(_records(), PAIR)
    everything = data.sort_partition(0, Order.DESCENDING).sort_partition(1).set_parallelism(1).collect()
    assert everything == sorted(_records(), key=lambda r: (-r[0], r[1]))
    parts = data.partition_by_hash(0).sort_partition(lambda r: r[1]).map_partition(lambda values: [list(values)]).collect()
    assert all(part == sorted(part, key=lambda r: r[1]) for part in parts)
    assert Counter(r for part in parts for r in part) == Counter(_records())


def test_partition_by_hash_brings_keys_together(env: ExecutionEnvironment) -> None:
    parts = env.from_collection(_records()).partition_by_hash(0).map_partition(lambda values: [{r[0] for r in values}]).collect()
    assert sum(map(len, parts)) == len(_by_key(_records()))


HINTS = list(JoinHint)


@pytest.mark.parametrize("hint", HINTS, ids=lambda h: h.name)
@pytest.mark.parametrize("kind", ["inner", "left", "right", "full"])
def test_joins(env: ExecutionEnvironment, kind: str, hint: JoinHint) -> None:
    left, right = _records(60, 12), _records(50, 12, start=6)
    by_left, by_right = _by_key(left), _by_key(right)
    expected = Counter(pair for k in by_left for pair in product(by_left[k], by_right.get(k, ())))
    if kind in ("left", "full"):
        expected.update((r, None) for r in left if r[0] not in by_right)
    if kind in ("right", "full"):
        expected.update((None, r) for r in right if r[0] not in by_left)
    first, second = env.from_collection(left, PAIR), env.from_collection(right)
    join = {"inner": first.join, "left": first.left_outer_join, "right": first.right_outer_join, "full": first.full_outer_join}[kind]
    forbidden = {"left": "BROADCAST_HASH_FIRST", "right": "BROADCAST_HASH_SECOND", "full": "BROADCAST_HASH_FIRST BROADCAST_HASH_SECOND"}
    if hint.name in forbidden.get(kind, "").split():
        with pytest.raises(ProgramError, match="outer join cannot be done as"):
            join(second, hint)
        return
    assert Counter(join(second, hint).where(0).equal_to(lambda r: r[0]).collect()) == expected


class _Words(FlatJoinFunction[Any, Any, Any]):
    def join(self, first: Any, second: Any) -> Iterator[str]:
        for _ in range(first[0] % 3):
            yield first[1] + second[1]


def test_functions_of_joins(env: ExecutionEnvironment) -> None:
    left, right = _records(80, 20), _records(30, 20, start=3)
    pairs = [(a, b) for a in left for b in right if a[0] == b[0]]
    joined = env.from_collection(left).join(env.from_collection(right)).where(0).equal_to(0)
    odd = joined.apply(lambda a, b: a[1] + b[1] if a[0] % 2 else None)
    assert Counter(odd.collect()) == Counter(a[1] + b[1] for a, b in pairs if a[0] % 2)
    assert Counter(joined.apply(_Words()).collect()) == Counter(a[1] + b[1] for a, b in pairs for _ in range(a[0] % 3))


class _Sizes(CoGroupFunction):
    def co_group(self, first: Iterator[Any], second: Iterator[Any]) -> Iterator[tuple[int, int, int]]:
        a, b = list(first), list(second)
        yield (a or b)[0][0], len(a), len(b)


def test_co_group(env: ExecutionEnvironment) -> None:
    left, right = _records(90, 12), _records(70, 12, start=6)
    by_left, by_right = _by_key(left), _by_key(right)
    result = env.from_collection(left).co_group(env.from_collection(right)).where(0).equal_to(0).apply(_Sizes()).collect()
    assert sorted(result) == sorted((k, len(by_left.get(k, ())), len(by_right.get(k, ()))) for k in by_left.keys() | by_right.keys())


def test_cross(env: ExecutionEnvironment) -> None:
    one, two = env.generate_sequence(1, 30), env.from_elements("a", "b", "c")
    assert Counter(one.cross(two).collect()) == Counter(product(range(1, 31), "abc"))
    for crossed in (one.cross_with_tiny(two), one.cross_with_huge(two)):
        assert Counter(crossed.apply(lambda n, c: f"{n}{c}").collect()) == Counter(f"{n}{c}" for n in range(1, 31) for c in "abc")


class _Known(MapFunction):
    opened: ClassVar[int] = 0

    def open(self, runtime_context: Any) -> None:
        self._names = dict(runtime_context.get_broadcast_variable("names"))

    def map(self, value: int) -> str:
        return self._names.get(value % 4, "?")


def test_broadcast_sets(env: ExecutionEnvironment) -> None:
    names = env.from_elements((0, "zero"), (1, "one"), (2, "two"))
    numbers = env.generate_sequence(1, 100)
    result = numbers.map(_Known()).with_broadcast_set(names, "names").collect()
    assert Counter(result) == Counter({"one": 25, "two": 25, "?": 25, "zero": 25})


class _Scaled(GroupReduceFunction):
    def open(self, runtime_context: Any) -> None:
        (self._factor,) = runtime_context.get_broadcast_variable("factor")

    def reduce(self, values: Iterator[tuple[int, int]]) -> Iterator[int]:
        yield self._factor * sum(n for _, n in values)


def test_broadcast_set_of_a_group_function_that_is_computed_itself(env: ExecutionEnvironment) -> None:
    numbers = env.generate_sequence(1, 100)
    factor = numbers.filter(lambda n: n <= 4).reduce(lambda a, b: a + b)
    result = numbers.map(lambda n: (n % 2, n)).group_by(0).reduce_group(_Scaled()).with_broadcast_set(factor, "factor").collect()
    assert sorted(result) == [25_000, 25_500]


def test_count_and_print(env: ExecutionEnvironment, capsys: pytest.CaptureFixture[str]) -> None:
    assert env.generate_sequence(1, 321).count() == 321
    env.from_collection([(1, "a")], PAIR).print()
    assert capsys.readouterr().out.splitlines()[-1] == "(1,a)"


def test_files(env: ExecutionEnvironment, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("name,n\nann,1\nbob,2\nann,3\n")
    types = [Types.STRING(), Types.INT()]
    tuples = env.read_csv(str(tmp_path / "in.csv"), types, ignore_first_line=True)
    rows = env.read_csv(str(tmp_path / "in.csv"), types, ["name", "n"], ignore_first_line=True)
    assert sorted(rows.map(lambda row: row.name).collect()) == ["ann", "ann", "bob"]
    tuples.group_by(0).sum(1).write_csv(str(tmp_path / "sums"), "|").set_parallelism(1)
    env.read_text_file(str(tmp_path / "in.csv")).write_text(str(tmp_path / "copy"))
    env.execute("files")
    assert _lines(tmp_path / "sums") == ["ann|4", "bob|2"]
    assert _lines(tmp_path / "copy") == ["ann,1", "ann,3", "bob,2", "name,n"]
    with pytest.raises(ProgramError, match="no sinks were added"):
        env.execute()


def _lines(directory: Path) -> list[str]:
    return sorted(line for file in directory.rglob("*") if file.is_file() for line in file.read_text().splitlines())


def test_a_program_of_many_operations(env: ExecutionEnvironment) -> None:
    people = [(i, f"p{i}", i % 7) for i in range(70)]
    orders = [(i % 90, float(i % 11)) for i in range(400)]
    spent = (
        env.from_collection(people)
        .join(env.from_collection(orders))
        .where(0)
        .equal_to(0)
        .apply(lambda person, order: (person[2], order[1]))
        .group_by(0)
        .sum(1)
    )
    expected: dict[int, float] = defaultdict(float)
    for (who, _, city), (customer, amount) in product(people, orders):
        if who == customer:
            expected[city] += amount
    assert sorted(spent.collect()) == sorted(expected.items())


def _failing(env: ExecutionEnvironment, fail: Callable[..., Any]) -> list[DataSet[Any]]:
    data = env.from_collection([(1, 1), (1, 2)])
    return [
        data.group_by(0).reduce(fail),
        data.group_by(0).reduce_group(lambda values: fail(next(values), 0)),
        data.join(data).where(0).equal_to(0).apply(fail),
        data.map_partition(lambda values: fail(next(values), 0)),
        data.sort_partition(lambda r: fail(r, 0)),
    ]


def test_errors_of_functions_are_about_their_records() -> None:
    settings = Configuration.from_dict({"wiesel.engine": "local"})
    env = ExecutionEnvironment.get_execution_environment(settings)

    def fail(a: Any, b: Any) -> Any:
        raise ValueError("not this one")

    for data in _failing(env, fail):
        with pytest.raises(JobExecutionError, match="not this one"):
            data.collect()


@pytest.mark.parametrize("declared", [None, PAIR])
def test_ranges_are_ordered_against_each_other(env: ExecutionEnvironment, declared: Any) -> None:
    records = _records(3_000, keys=400)
    data = env.from_collection(records, declared).rebalance()
    parts = data.partition_by_range(0).map_partition(lambda values: [list(values)]).collect()
    full = sorted((part for part in parts if part), key=lambda part: part[0][0])
    for before, after in pairwise(full):
        assert max(r[0] for r in before) < min(r[0] for r in after)
    assert Counter(r for part in parts for r in part) == Counter(records)
    # A sample of 100 per range: shares of a third or a half are off by less than a quarter of all for any seed that will ever come.
    assert len(full) == env.get_parallelism()
    assert all(abs(len(part) / len(records) - 1 / len(full)) < 0.25 for part in full)


def test_sorted_ranges_are_sorted_as_a_whole(env: ExecutionEnvironment) -> None:
    data = env.from_collection(_records(500, keys=1_000)).partition_by_range(0, 1).sort_partition(0).sort_partition(1)
    parts = data.map_partition(lambda values: [list(values)]).collect()
    assert [r for part in sorted(filter(None, parts)) for r in part] == sorted(_records(500, keys=1_000))


def test_ranges_of_few_keys_or_none(env: ExecutionEnvironment) -> None:
    one_key = env.from_collection([(1, n) for n in range(50)]).rebalance().partition_by_range(0)
    assert sorted(len(p) for p in one_key.map_partition(lambda v: [list(v)]).collect())[-1] == 50
    assert env.generate_sequence(1, 9).filter(lambda n: n < 0).partition_by_range(lambda n: n).collect() == []


def test_groups_in_ranges_stay_there(env: ExecutionEnvironment) -> None:
    ranges = env.from_collection(_records()).partition_by_range(0)
    counts = ranges.map(lambda r: (r[0], 1)).with_forwarded_fields(0).group_by(0).sum(1)
    assert "the input is already partitioned by (0)" in counts.explain()
    assert dict(counts.collect()) == Counter(r[0] for r in _records())
    # A join needs both sides where the hash of the key is.
    joined = ranges.join(env.from_collection(_records()), JoinHint.REPARTITION_HASH_SECOND).where(0).equal_to(0)
    assert joined.explain().count("hash by (0)") == 2
    assert len(joined.collect()) == sum(count**2 for count in Counter(r[0] for r in _records()).values())


def test_partition_custom(env: ExecutionEnvironment) -> None:
    data = env.generate_sequence(0, 99).partition_custom(lambda key, n: key % n, lambda n: n // 10)
    parts = data.map_partition(lambda values: [{n // 10 % env.get_parallelism() for n in values}]).collect()
    assert sorted(map(len, parts)) == [1] * env.get_parallelism()
    with pytest.raises(JobExecutionError, match="returned 99 for"):
        env.generate_sequence(0, 9).partition_custom(lambda key, n: 99, lambda n: n).collect()


def test_ranges_in_the_rounds_of_an_iteration(env: ExecutionEnvironment) -> None:
    loop = env.from_collection(list(range(100))).iterate(3)
    ranges = loop.partition_by_range(lambda n: n).map_partition(lambda values: [n + 1 for n in values])
    assert sorted(loop.close_with(ranges).collect()) == list(range(3, 103))
