"""Queries that read the rows around them return what DuckDB returns, also where Flink refuses them or loses rows with NULL."""

from __future__ import annotations

import random
from collections import Counter

import duckdb
import pyarrow as pa
import pytest

from tests.unit.sql.rules.plans import environment
from wiesel.core.errors import SqlParseError
from wiesel.table import TableEnvironment

QUERIES = (
    "SELECT t.id, s.x FROM t, LATERAL (SELECT x, id FROM u WHERE u.k = t.k ORDER BY x DESC, id LIMIT 2) AS s",
    "SELECT t.id, s.x FROM t LEFT JOIN LATERAL (SELECT x FROM u WHERE u.x < t.n ORDER BY x, id LIMIT 1 OFFSET 1) AS s ON TRUE",
    "SELECT t.id, s.x FROM t LEFT JOIN LATERAL (SELECT x FROM u WHERE u.k = t.k OR u.id = t.id) AS s ON TRUE",
    "SELECT t.id, s.a, s.b FROM t LEFT JOIN LATERAL (SELECT COUNT(*) AS a, MAX(x) AS b FROM u WHERE u.k = t.k) AS s ON TRUE",
    "SELECT t.id, s.a FROM t LEFT JOIN LATERAL (SELECT COUNT(*) AS a FROM u WHERE u.k = t.k OR t.k IS NULL) AS s ON TRUE",
    "SELECT t.id, s.a, s.b FROM t, LATERAL (SELECT a.x AS a, b.x AS b FROM u AS a JOIN u AS b ON a.k = b.k AND b.x < t.n) AS s",
    "SELECT t.id, s.a, s.b FROM t, LATERAL (SELECT a.x AS a, b.x AS b FROM u AS a LEFT JOIN u AS b ON a.id = b.x AND b.x < t.n) AS s",
    "SELECT t.id, s.x FROM t, LATERAL (SELECT x FROM u WHERE u.k = t.k UNION ALL SELECT x + t.n FROM u WHERE u.id = t.id) AS s",
    "SELECT t.id, s.x FROM t, LATERAL (SELECT t.n + 1 AS x) AS s",
    "SELECT t.id, s.x, s.r FROM t, LATERAL (SELECT x, ROW_NUMBER() OVER (PARTITION BY k ORDER BY x, id) AS r FROM u WHERE u.x < t.n) AS s",
    "SELECT t.id, s.x, s.y FROM t, LATERAL ("
    "SELECT u.x, r.y FROM u, LATERAL (SELECT v.x AS y FROM u AS v WHERE v.x > u.x AND v.k = t.k) AS r WHERE u.k = t.k) AS s",
    "SELECT t.id FROM t WHERE EXISTS (SELECT x FROM u WHERE u.k = t.k ORDER BY x LIMIT 1 OFFSET 1)",
    "SELECT t.id FROM t WHERE n IN (SELECT x FROM u WHERE u.k = t.k UNION ALL SELECT x FROM u WHERE u.id = t.id)",
    "SELECT t.id, (SELECT x FROM u WHERE u.k = t.k ORDER BY x DESC LIMIT 1) AS m FROM t",
    "SELECT t.id, n > ALL (SELECT x FROM u WHERE u.k = t.k) AS f, n <> ANY (SELECT x FROM u) AS g FROM t",
    "SELECT id, SUM(n) AS s FROM t GROUP BY id HAVING id > (SELECT MIN(x) FROM u) OR EXISTS (SELECT 1 FROM u WHERE u.id = t.id + 1)",
    "SELECT k, EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.x > 3) AS e, SUM(n) AS s FROM t GROUP BY k",
)


def _tables(rng: random.Random) -> dict[str, pa.Table]:
    def numbers(size: int, below: int) -> pa.Array:
        return pa.array([rng.choice([None, *range(below)]) for _ in range(size)], pa.int32())

    def keys(size: int) -> pa.Array:
        return pa.array([rng.choice([None, "a", "b", "c"]) for _ in range(size)], pa.string())

    sizes = rng.randrange(1, 8), rng.randrange(1, 10)
    t, u = (pa.array(range(size), pa.int32()) for size in sizes)
    first = pa.table({"id": t, "k": keys(sizes[0]), "n": numbers(sizes[0], 9)})
    return {"t": first, "u": pa.table({"k": keys(sizes[1]), "id": u, "x": pa.array([rng.randrange(9) for _ in u], pa.int32())})}


def _environment(mode: str, tables: dict[str, pa.Table]) -> TableEnvironment:
    t_env = environment(**{"execution_runtime-mode": mode})
    for name, rows in tables.items():
        t_env.create_temporary_view(name, t_env.from_arrow(rows))
    return t_env


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize("sql", QUERIES)
def test_correlated_queries_return_what_duckdb_returns(sql: str, mode: str) -> None:
    seed = random.randrange(1 << 30)
    tables = _tables(random.Random(seed))
    reference = duckdb.connect()
    for name, rows in tables.items():
        reference.register(name, rows)
    expected = Counter(reference.execute(sql).fetchall())
    found: Counter[tuple[object, ...]] = Counter()
    for row in _environment(mode, tables).execute_sql(sql).collect():
        found[tuple(row)] += 1 if str(row.get_row_kind()).startswith("+") else -1
    assert {row: count for row, count in found.items() if count} == expected, f"seed {seed}"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT t.id FROM t FULL JOIN LATERAL (SELECT x FROM u WHERE u.k = t.k) AS s ON TRUE", "a FULL JOIN cannot have LATERAL"),
        ("SELECT t.id FROM t LEFT JOIN LATERAL (SELECT x FROM u WHERE u.k = t.k) AS s", "a LEFT JOIN needs a condition"),
        ("SELECT t.id FROM t NATURAL JOIN LATERAL (SELECT x FROM u WHERE u.k = t.k) AS s", "LATERAL cannot be joined by columns"),
        ("SELECT t.id FROM t, LATERAL (SELECT x FROM u) AS t", "there are two tables `t`"),
        ("SELECT t.id FROM t, LATERAL (SELECT x FROM u) AS s (a, b)", "the alias names 2 columns, but there are 1"),
        ("SELECT t.id FROM t, LATERAL (SELECT x FROM u WHERE u.k = v.k) AS s", "table `v` is not known here"),
        (
            "SELECT t.id FROM t, LATERAL (SELECT a.x FROM u AS a FULL JOIN u AS b ON a.x = t.n) AS s",
            "Join cannot be computed for each row of the query around it",
        ),
        (
            "SELECT t.id, s.c FROM t LEFT JOIN LATERAL (SELECT COLLECT(x) AS c FROM u WHERE u.k = t.k) AS s ON TRUE",
            "COLLECT without GROUP BY cannot be computed for each row",
        ),
        ("SELECT id FROM t WHERE (id, n) > ALL (SELECT id, x FROM u)", "rows of several values can be compared"),
        ("SELECT id FROM t WHERE id > ALL (SELECT id, x FROM u)", "compares 1 values with a query of 2 columns"),
        ("SELECT k FROM t GROUP BY k HAVING EXISTS (SELECT 1 FROM u WHERE u.x = t.n)", "column `n` is neither in GROUP BY"),
    ],
)
def test_what_cannot_be_computed_is_refused_at_its_place(sql: str, message: str) -> None:
    with pytest.raises(SqlParseError, match=message.replace("(", r"\(")) as caught:
        _environment("BATCH", _tables(random.Random(1))).execute_sql(sql)
    assert caught.value.hint
