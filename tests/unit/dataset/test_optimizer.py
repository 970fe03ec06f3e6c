"""What the optimiser chooses, and that it says why, without running anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wiesel.common import Configuration
from wiesel.core.errors import ProgramError
from wiesel.dataset import DataSet, ExecutionEnvironment, JoinHint
from wiesel.types import Types


@pytest.fixture
def env() -> ExecutionEnvironment:
    # An engine that does not exist: nothing here may run.
    settings = Configuration.from_dict({"taskmanager.memory.managed.size": "1mb"})
    return ExecutionEnvironment.get_execution_environment(settings).set_parallelism(4)


def _sized(env: ExecutionEnvironment, records: float, record_bytes: float = 100) -> DataSet:
    return env.generate_sequence(1, 10).map(lambda n: (n, n)).with_hints(records, record_bytes)


def _joined(left: DataSet, right: DataSet) -> str:
    return left.join(right).where(0).equal_to(0).explain()


def test_a_small_input_is_broadcast_whichever_it_is(env: ExecutionEnvironment) -> None:
    small, large = _sized(env, 100), _sized(env, 1_000_000)
    plan = _joined(large, small)
    assert "hash join, hash table of input 2 in every subtask" in plan
    assert "because it is the cheapest" in plan
    assert "hash join, hash table of input 1 in every subtask" in _joined(small, large)


def test_inputs_of_one_size_are_sent_by_key(env: ExecutionEnvironment) -> None:
    plan = _joined(_sized(env, 2_000), _sized(env, 3_000))
    assert "hash join, hash table of input 1\n" in plan
    assert plan.count("hash by (0) (blocking)") == 2
    assert "hash table of input 2\n" in _joined(_sized(env, 3_000), _sized(env, 2_000))


def test_inputs_far_beyond_the_memory_are_sorted_or_hashed_by_cost(env: ExecutionEnvironment) -> None:
    large = _sized(env, 10_000_000)
    plan = _joined(large, _sized(env, 10_000_000))
    assert "~1e+07 records, 953.7 MB" in plan
    chosen = next(line.strip() for line in plan.splitlines() if line.startswith("    ") and "join" in line and "because" not in line)
    assert "in every subtask" not in chosen
    # Each of the others is named with its cost, and none is cheaper.
    reason = next(line for line in plan.splitlines() if "because it is the cheapest" in line)
    own = float(reason.split(" at ")[1].split(" ")[0].replace(",", ""))
    others = [float(part.rsplit(": ", 1)[1].rstrip(")").replace(",", "")) for part in reason.split("(", 1)[1].split("; ")]
    assert len(others) == 4
    assert own <= min(others)


def test_an_outer_join_never_broadcasts_the_side_that_it_keeps(env: ExecutionEnvironment) -> None:
    small, large = _sized(env, 100), _sized(env, 1_000_000)
    assert "broadcast (blocking)" in large.left_outer_join(small).where(0).equal_to(0).explain()
    assert "broadcast (blocking)" not in small.left_outer_join(large).where(0).equal_to(0).explain()
    assert "broadcast (blocking)" not in small.full_outer_join(large).where(0).equal_to(0).explain()


def test_hints_come_first(env: ExecutionEnvironment) -> None:
    small, large = _sized(env, 100), _sized(env, 1_000_000)
    plan = small.join(large, JoinHint.REPARTITION_SORT_MERGE).where(0).equal_to(0).explain()
    assert "    sort-merge join\n    because asked for by the hint REPARTITION_SORT_MERGE" in plan
    assert "input 2 in every subtask" in small.join_with_tiny(large).where(0).equal_to(0).explain()
    assert "input 1 in every subtask" in large.join_with_huge(small).where(0).equal_to(0).explain()
    with pytest.raises(ProgramError, match="left outer join cannot be done as BROADCAST_HASH_FIRST"):
        small.left_outer_join(large, JoinHint.BROADCAST_HASH_FIRST)


def test_unknown_sizes_are_said_to_be_unknown(env: ExecutionEnvironment, tmp_path: Path) -> None:
    unknown = env.read_text_file(str(tmp_path / "not there yet")).map(lambda line: (line, 1))
    plan = _joined(unknown, _sized(env, 10))
    assert "size unknown" in plan
    assert "the size of input 1 is not known; with_hints(records=...)" in plan
    assert "hash table of input 2\n" in plan
    assert "hash table of input 1\n" in _joined(_sized(env, 10), unknown)


def test_sizes_of_sources_are_measured(env: ExecutionEnvironment, tmp_path: Path) -> None:
    (tmp_path / "lines").mkdir()
    for name in ("a", "b"):
        (tmp_path / "lines" / name).write_text("123456789\n" * 500)
    assert "~1,000 records, 9.8 KB" in env.read_text_file(str(tmp_path / "lines")).explain()
    assert "~50 records" in env.from_collection(range(50)).explain()
    assert "~11 records, 99 B" in env.generate_sequence(5, 15).explain()
    assert "~6 records" in env.generate_sequence(5, 15).filter(lambda n: n).explain()


def test_a_partitioning_that_is_there_is_used_again(env: ExecutionEnvironment) -> None:
    sums = _sized(env, 50_000).group_by(0).sum(1)
    plan = sums.join(_sized(env, 50_000)).where(0).equal_to(0).explain()
    assert "because input 1 is already partitioned by (0)" in plan
    assert plan.count("hash by (0)") == 2  # of the sum, and of the other input
    again = sums.filter(lambda r: r[1] > 3).group_by(0).reduce_group(lambda values: values).explain()
    assert "because the input is already partitioned by (0)" in again
    other_key = sums.group_by(1).reduce_group(lambda values: values).explain()
    assert "already partitioned" not in other_key


def test_a_function_takes_the_partitioning_away_unless_it_forwards_the_fields(env: ExecutionEnvironment) -> None:
    partitioned = _sized(env, 1_000).partition_by_hash(0)
    assert "already" not in partitioned.map(lambda r: r).group_by(0).sum(1).explain()
    assert "already" in partitioned.map(lambda r: r).with_forwarded_fields(0).group_by(0).sum(1).explain()
    assert "already" not in partitioned.set_parallelism(2).group_by(0).sum(1).explain()


def test_results_with_a_partitioning_used_again_are_right() -> None:
    settings = Configuration.from_dict({"wiesel.engine": "local"})
    env = ExecutionEnvironment.get_execution_environment(settings).set_parallelism(3)
    numbers = [(i % 11, i) for i in range(100)]
    sums = env.from_collection(numbers).group_by(0).sum(1)
    both = sums.join(env.from_collection(numbers), JoinHint.REPARTITION_HASH_FIRST).where(0).equal_to(0).apply(lambda s, r: (*r, s[1]))
    expected = sorted((k, n, sum(m for j, m in numbers if j == k)) for k, n in numbers)
    assert sorted(both.collect()) == expected
    top = sums.filter(lambda r: r[0] > 3).group_by(0).reduce_group(lambda values: list(values))
    assert sorted(top.collect()) == sorted({(k, s) for k, _, s in expected if k > 3})


def test_the_smaller_input_of_a_cross_is_sent_everywhere(env: ExecutionEnvironment) -> None:
    small, large = _sized(env, 10), _sized(env, 1_000)
    assert "all pairs, input 2 in every subtask\n    because input 2 is the smaller one" in large.cross(small).explain()
    assert "all pairs, input 1 in every subtask" in small.cross(large).explain()


def test_the_plan_as_json_marks_what_blocks(env: ExecutionEnvironment, tmp_path: Path) -> None:
    env.generate_sequence(1, 9).map(lambda n: (n % 2, n)).group_by(0).sum(1).write_text(str(tmp_path))
    nodes = json.loads(env.get_execution_plan())["nodes"]
    assert [n["type"] for n in nodes] == ["source", "map", "reduce", "sink"]
    assert [n["pact"] for n in nodes] == ["Data Source", "Operator", "Operator", "Data Sink"]
    modes = [n["predecessors"][0]["exchange_mode"] for n in nodes[1:]]
    assert modes == ["PIPELINED", "BATCH", "PIPELINED"]
    assert nodes[0]["estimates"][1] == {"name": "Est. Cardinality", "value": 9.0}


def test_wrong_keys_are_found_where_they_are_named(env: ExecutionEnvironment) -> None:
    pairs = env.from_collection([(1, "a")], Types.TUPLE([Types.INT(), Types.STRING()]))
    with pytest.raises(ProgramError, match=r"names field 2 of a type with 2 fields.*test_optimizer.py"):
        pairs.group_by(2)
    with pytest.raises(ProgramError, match="names fields, but the records are of type Long"):
        env.generate_sequence(1, 2).group_by(0)
    with pytest.raises(ProgramError, match="where\\(\\) names 2 fields and equal_to\\(\\) 1"):
        pairs.join(pairs).where(0, 1).equal_to(0)
    with pytest.raises(ProgramError, match="needs a key"):
        pairs.group_by()
