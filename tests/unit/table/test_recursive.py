"""WITH RECURSIVE in batch mode returns what DuckDB returns; Flink 2.3 refuses it."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from tests.unit.sql.rules.plans import environment
from wiesel.core.errors import ProgramError, SqlParseError
from wiesel.table import TableEnvironment

QUERIES = (
    "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 10) SELECT x FROM n",
    "WITH RECURSIVE f (n, a, b) AS (SELECT 1, 0, 1 UNION ALL SELECT n + 1, b, a + b FROM f WHERE n < 20) SELECT n, a FROM f",
    "WITH RECURSIVE t (s) AS (SELECT 'a' UNION ALL SELECT s || 'bc' FROM t WHERE CHAR_LENGTH(s) < 9) SELECT s FROM t",
    "WITH RECURSIVE r (v) AS (SELECT b FROM edges WHERE a = 0 UNION SELECT e.b FROM r JOIN edges AS e ON r.v = e.a) SELECT v FROM r",
    "WITH RECURSIVE r (a, b) AS (SELECT a, b FROM edges UNION SELECT r.a, e.b FROM r JOIN edges AS e ON r.b = e.a) "
    "SELECT a, COUNT(*) AS n FROM r GROUP BY a",
    "WITH RECURSIVE p (v, steps) AS (SELECT 0, 0 UNION ALL SELECT e.b, p.steps + 1 FROM p JOIN edges AS e ON p.v = e.a WHERE p.steps < 4) "
    "SELECT v, steps, COUNT(*) AS n FROM p GROUP BY v, steps",
    "WITH RECURSIVE some_ (x) AS (SELECT 3 UNION ALL SELECT 5), n (x, k) AS (SELECT x, x FROM some_ UNION ALL "
    "SELECT n.x, n.k - 1 FROM n WHERE n.k > 0) SELECT n.x, n.k, m.x AS other FROM n JOIN some_ AS m ON n.k = m.x",
    "WITH RECURSIVE r (v) AS (SELECT CAST(NULL AS INTEGER) UNION SELECT CASE WHEN v IS NULL THEN 1 ELSE v END FROM r) SELECT v FROM r",
    "WITH RECURSIVE r (v) AS (SELECT CAST('NaN' AS DOUBLE) UNION SELECT v FROM r) SELECT COUNT(*) AS n FROM r",
    "WITH RECURSIVE n (x) AS (SELECT a FROM edges WHERE FALSE UNION ALL SELECT x FROM n) SELECT x FROM n",
)


def _environment(edges: list[tuple[int, int]]) -> TableEnvironment:
    t_env = environment(**{"execution_runtime-mode": "BATCH"})
    t_env.create_temporary_view("edges", t_env.from_arrow(_rows(edges)))
    return t_env


def _rows(edges: list[tuple[int, int]]) -> pa.Table:
    return pa.table({"a": pa.array([a for a, _ in edges], pa.int32()), "b": pa.array([b for _, b in edges], pa.int32())})


@pytest.mark.parametrize("sql", QUERIES)
def test_recursive_queries_return_what_duckdb_returns(sql: str) -> None:
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    rng = random.Random(seed)
    edges = [(rng.randrange(8), rng.randrange(8)) for _ in range(rng.randrange(1, 14))]
    reference = duckdb.connect()
    reference.register("edges", _rows(edges))
    expected = Counter(reference.execute(sql).fetchall())
    assert Counter(tuple(row) for row in _environment(edges).execute_sql(sql).collect()) == expected, f"seed {seed}"


def test_results_can_be_written(tmp_path: Path) -> None:
    t_env = _environment([(0, 1), (1, 2), (2, 0)])
    t_env.execute_sql(f"CREATE TABLE found (v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')")
    t_env.execute_sql(
        "INSERT INTO found WITH RECURSIVE r (v) AS (SELECT 0 UNION SELECT e.b FROM r JOIN edges AS e ON r.v = e.a) SELECT v FROM r"
    ).wait()
    assert sorted(row[0] for row in t_env.execute_sql("SELECT v FROM found").collect()) == [0, 1, 2]


def test_the_plan_shows_both_parts_and_runs_nothing() -> None:
    text = _environment([(0, 1)]).explain_sql(QUERIES[3])
    assert "Recursion(name=[r], fields=[v], all=[false]" in text
    assert "RecursiveScan(name=[r], fields=[v]" in text


def test_one_without_end_is_given_up() -> None:
    t_env = _environment([(0, 1)])
    t_env.execute_sql("SET 'table.exec.recursion.max-rounds' = '5'")
    with pytest.raises(ProgramError, match="no end after 5 rounds"):
        t_env.execute_sql("WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n").collect()


def test_streams_and_what_is_no_union_are_refused() -> None:
    t_env = _environment([(0, 1)])
    for sql, message in (
        ("WITH RECURSIVE n (x) AS (SELECT x + 1 FROM n) SELECT x FROM n", "no UNION"),
        ("WITH RECURSIVE n (x) AS (SELECT x FROM n UNION ALL SELECT 1) SELECT x FROM n", "first part"),
        ("WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT 'a' || CAST(x AS STRING) FROM n) SELECT x FROM n", "second part"),
        ("WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x, x FROM n) SELECT x FROM n", "1 and 2 columns"),
        ("WITH RECURSIVE n (x, y) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x FROM n", "names 2 columns"),
    ):
        with pytest.raises(SqlParseError, match=message):
            t_env.execute_sql(sql)
    t_env.get_config().set("execution.runtime-mode", "STREAMING")
    with pytest.raises(ProgramError, match="streaming mode"):
        t_env.execute_sql(QUERIES[0])
