"""How many rows relations have, by closed forms over tables of which all is known."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.sql.rules.plans import environment, plan
from wiesel.sql.costs.estimator import Estimator
from wiesel.sql.rules.optimizer import optimized
from wiesel.table import TableEnvironment

ROWS = {
    "SELECT * FROM facts": 10_000,
    "SELECT k FROM facts WHERE k = 7": 100,
    "SELECT k, COUNT(*) FROM facts GROUP BY k": 100,
    "SELECT k, m, COUNT(*) FROM facts GROUP BY k, m": 1000,
    "SELECT COUNT(*), SUM(m) FROM facts": 1,
    "SELECT * FROM facts LIMIT 7": 7,
    "SELECT * FROM facts ORDER BY id LIMIT 5 OFFSET 3": 5,
    "SELECT * FROM facts UNION ALL SELECT * FROM facts": 20_000,
    "SELECT * FROM facts JOIN sizes ON facts.k = sizes.k": 10_000,
    "SELECT * FROM facts JOIN sizes ON facts.k = sizes.k WHERE sizes.k < 99 / 2.0": 5000,
    "SELECT * FROM facts LEFT JOIN sizes ON facts.k = sizes.k AND sizes.name = 'n5'": 10_000,
    "SELECT * FROM facts CROSS JOIN sizes": 1_000_000,
    "SELECT * FROM facts JOIN sizes ON facts.k + 1000 = sizes.k WHERE FALSE": 0,
    "SELECT * FROM facts WHERE k IN (SELECT k FROM sizes)": 10_000,
    "SELECT * FROM days WHERE p = 2": 30,
}


@pytest.fixture(scope="module")
def t_env(tmp_path_factory: pytest.TempPathFactory) -> TableEnvironment:
    folder = tmp_path_factory.mktemp("tables")
    made = environment(**{"execution_runtime-mode": "BATCH"})
    numbers = range(10_000)
    facts = {"id": pa.array(numbers, pa.int64()), "k": pa.array([n % 100 for n in numbers], pa.int32())}
    _write(folder / "facts", {**facts, "m": pa.array([n // 100 % 10 for n in numbers], pa.int32())})
    _write(folder / "sizes", {"k": pa.array(range(100), pa.int32()), "name": [f"n{n}" for n in range(100)]})
    for day in (1, 2):
        _write(folder / "days" / f"p={day}", {"a": pa.array(range(15 * day), pa.int32())})
    options = "WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{}')"
    made.execute_sql(f"CREATE TABLE facts (id BIGINT, k INT, m INT) {options.format(folder / 'facts')}")
    made.execute_sql(f"CREATE TABLE sizes (k INT, name STRING) {options.format(folder / 'sizes')}")
    made.execute_sql(f"CREATE TABLE days (a INT, p INT) PARTITIONED BY (p) {options.format(folder / 'days')}")
    made.execute_sql("ANALYZE TABLE facts COMPUTE STATISTICS FOR ALL COLUMNS")
    made.execute_sql("ANALYZE TABLE sizes COMPUTE STATISTICS FOR ALL COLUMNS")
    return made


def _write(folder: Path, columns: dict[str, object]) -> None:
    folder.mkdir(parents=True)
    pq.write_table(pa.table(columns), folder / "part.parquet")


def _estimated(t_env: TableEnvironment, sql: str, **options: bool) -> float:
    (relation,) = optimized([plan(t_env, sql)], t_env.get_config().get_configuration())
    return Estimator(**options).of(relation).rows


@pytest.mark.parametrize("sql", ROWS)
def test_rows_of_queries_over_tables_that_are_known(t_env: TableEnvironment, sql: str) -> None:
    # Half a join's rows by an open bound of a range that is one wider than its values: a hundredth at most.
    assert _estimated(t_env, sql) == pytest.approx(ROWS[sql], rel=0.01)


def test_connectors_tell_what_the_catalog_does_not_know(t_env: TableEnvironment) -> None:
    assert _estimated(t_env, "SELECT * FROM days") == 45
    assert _estimated(t_env, "SELECT * FROM days", asks_connectors=False) == 1e8


def test_partitions_that_were_analyzed_count_together(t_env: TableEnvironment) -> None:
    t_env.execute_sql("ANALYZE TABLE days PARTITION (p) COMPUTE STATISTICS")
    assert _estimated(t_env, "SELECT * FROM days", asks_connectors=False) == 45


def test_nothing_is_asked_of_a_table_that_is_not_there() -> None:
    t_env = environment(**{"execution_runtime-mode": "BATCH"})
    assert _estimated(t_env, "SELECT id FROM orders") == 1e8
