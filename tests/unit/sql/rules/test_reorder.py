"""Inner joins are done in the order in which they make the fewest rows; results stay what they are."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.sql.rules.plans import environment, plan
from wiesel.sql.plan.relations import Relation, TableScan
from wiesel.sql.rules.optimizer import optimized
from wiesel.table import TableEnvironment

CHAIN = "SELECT SUM(big.v) AS s FROM big JOIN mid ON big.k = mid.k JOIN small ON mid.m = small.m WHERE small.name = 'a'"


def _tables(folder: Path) -> TableEnvironment:
    t_env = environment(**{"execution_runtime-mode": "BATCH"})
    ints = pa.int32()
    tables = {
        "big": {"k": pa.array([n % 100 for n in range(10_000)], ints), "v": pa.array(range(10_000), pa.int64())},
        "mid": {"k": pa.array([n % 100 for n in range(500)], ints), "m": pa.array([n % 10 for n in range(500)], ints)},
        "small": {"m": pa.array(range(3), ints), "name": ["a", "b", "c"]},
    }
    for name, columns in tables.items():
        (folder / name).mkdir()
        made = pa.table(columns)
        pq.write_table(made, folder / name / "part.parquet")
        kinds = {"int32": "INT", "int64": "BIGINT", "string": "STRING"}
        declared = ", ".join(f"{field.name} {kinds[str(field.type)]}" for field in made.schema)
        t_env.execute_sql(
            f"CREATE TABLE {name} ({declared}) WITH ('connector' = 'filesystem', 'path' = '{folder / name}', 'format' = 'parquet')"
        )
        t_env.execute_sql(f"ANALYZE TABLE {name} COMPUTE STATISTICS FOR ALL COLUMNS")
    return t_env


def _order(relation: Relation) -> object:
    """Return how tables are joined, as nested pairs."""
    if isinstance(relation, TableScan):
        return relation.identifier.object_name
    parts = [_order(each) for each in relation.inputs]
    return parts[0] if len(parts) == 1 else tuple(parts)


def _ordered(t_env: TableEnvironment, sql: str, *, most: str = "12", reorders: str = "true") -> object:
    t_env.get_config().set("table.optimizer.join-reorder-enabled", reorders)
    t_env.get_config().set("table.optimizer.bushy-join-reorder-threshold", most)
    return _order(optimized([plan(t_env, sql)], t_env.get_config().get_configuration())[0])


@pytest.mark.parametrize("most", ["12", "2"])
def test_the_small_result_is_made_first(most: str, tmp_path: Path) -> None:
    t_env = _tables(tmp_path)
    assert _ordered(t_env, CHAIN, most=most, reorders="false") == (("big", "mid"), "small")
    assert _ordered(t_env, CHAIN, most=most) == ("big", ("mid", "small"))
    expected = 5 * sum(n for n in range(10_000) if n % 100 % 10 == 0)
    assert [row[0] for row in t_env.execute_sql(CHAIN).collect()] == [expected]


def test_what_is_joined_with_nothing_comes_last(tmp_path: Path) -> None:
    t_env = _tables(tmp_path)
    sql = "SELECT * FROM big CROSS JOIN small JOIN mid ON big.k = mid.k AND mid.m > 7 CROSS JOIN small AS other WHERE other.m = 1"
    order = _ordered(t_env, sql)
    assert order != _ordered(t_env, sql, reorders="false")
    assert str(order).index("mid") < str(order).index("small") or ("big", "mid") in order  # type: ignore[operator]


def test_joins_that_somebody_has_set_up_stay_as_they_are(tmp_path: Path) -> None:
    t_env = _tables(tmp_path)
    for sql in (
        CHAIN.replace("SELECT", "SELECT /*+ STATE_TTL('big' = '1 d') */", 1),
        "SELECT COUNT(big.v) AS n FROM big LEFT JOIN mid ON big.k = mid.k LEFT JOIN small ON mid.m = small.m",
        CHAIN.replace("big.k = mid.k", "big.k = mid.k AND RAND() < 2"),
    ):
        assert _ordered(t_env, sql) == (("big", "mid"), "small")


def test_random_joins_return_what_duckdb_returns(tmp_path: Path) -> None:
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    rng = random.Random(seed)
    t_env = environment(**{"execution_runtime-mode": "BATCH"})
    names = ["t0", "t1", "t2", "t3", "t4"]
    tables = {}
    for name in names:
        rows = rng.randrange(1, 40)
        tables[name] = pa.table({c: pa.array([rng.choice([None, *range(6)]) for _ in range(rows)], pa.int32()) for c in "xyz"})
        (tmp_path / name).mkdir()
        pq.write_table(tables[name], tmp_path / name / "part.parquet")
        path = f"'connector' = 'filesystem', 'path' = '{tmp_path / name}', 'format' = 'parquet'"
        t_env.execute_sql(f"CREATE TABLE {name} (x INT, y INT, z INT) WITH ({path})")
        if rng.random() < 0.7:
            t_env.execute_sql(f"ANALYZE TABLE {name} COMPUTE STATISTICS FOR ALL COLUMNS")
    t_env.get_config().set("table.optimizer.join-reorder-enabled", "true")
    reference = duckdb.connect()
    for name, rows in tables.items():
        reference.register(name, rows)
    for number in range(12):
        t_env.get_config().set("table.optimizer.bushy-join-reorder-threshold", rng.choice(["12", "2"]))
        sql = _random_join(rng, rng.sample(names, rng.randrange(3, 5)))
        found = Counter(tuple(row) for row in t_env.execute_sql(sql).collect())
        assert found == Counter(reference.execute(sql).fetchall()), f"seed {seed}, query {number}: {sql}"


def _random_join(rng: random.Random, names: list[str]) -> str:
    conditions = []
    for one, other in itertools.pairwise(names):
        conditions.append(f"{one}.{rng.choice('xyz')} = {other}.{rng.choice('xyz')}")
        if rng.random() < 0.3:
            conditions.append(f"{one}.{rng.choice('xyz')} {rng.choice(['<', '>=', '<>'])} {other}.{rng.choice('xyz')}")
    if rng.random() < 0.4:
        conditions.append(f"{rng.choice(names)}.y + {rng.choice(names)}.z > {rng.randrange(6)}")
    rng.shuffle(conditions)
    first = f"{names[0]}.x AS a, {names[-1]}.y AS b, {rng.choice(names)}.z AS c"
    return f"SELECT {first} FROM {', '.join(rng.sample(names, len(names)))} WHERE {' AND '.join(conditions)}"
