"""Joins with queries in their ON condition return what SQLite returns, in streaming and in batch mode; Flink 2.3 refuses most of them."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter

import pyarrow as pa
import pytest

from tests.unit.sql.rules.plans import environment, found, plan
from wiesel.core.errors import SqlParseError
from wiesel.sql.plan.relations import Join
from wiesel.table import TableEnvironment

JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
CONDITIONS = (
    # Queries that read the left side, the right side, both, or none.
    "t.k = u.k AND t.n IN (SELECT x FROM v)",
    "t.k = u.k AND t.n NOT IN (SELECT x FROM v)",
    "t.k = u.k AND u.x IN (SELECT x FROM v WHERE v.k = u.k)",
    "t.k = u.k AND u.x NOT IN (SELECT x FROM v WHERE v.k = u.k)",
    "t.k = u.k AND (t.n IN (SELECT x FROM v) OR u.x > 4)",
    "t.k = u.k AND NOT (t.n IN (SELECT x FROM v) AND u.x > 4)",
    "t.k = u.k AND (u.x NOT IN (SELECT x FROM v) OR t.n > 5)",
    "t.n + u.x IN (SELECT x FROM v)",
    "t.k = u.k AND (t.n + u.x NOT IN (SELECT x FROM v) OR t.id = u.id)",
    "t.k = u.k AND EXISTS (SELECT 1 FROM v WHERE v.x > 6)",
    "t.k = u.k AND NOT EXISTS (SELECT 1 FROM v WHERE v.x > 6)",
    "t.k = u.k AND EXISTS (SELECT 1 FROM v WHERE v.k = t.k AND v.x > 3)",
    "t.k = u.k AND NOT EXISTS (SELECT 1 FROM v WHERE v.k = u.k AND v.x > u.x)",
    "EXISTS (SELECT 1 FROM v WHERE v.k = t.k AND v.x = u.x)",
    "t.k = u.k AND NOT EXISTS (SELECT 1 FROM v WHERE v.x < t.n AND v.x > u.x)",
    "t.k = u.k AND t.n > (SELECT MIN(x) FROM v)",
    "t.k = u.k AND t.n + u.x > (SELECT AVG(x) FROM v WHERE v.k = t.k)",
    "t.n < (SELECT MAX(x) FROM v WHERE v.k = u.k)",
    "t.n < (SELECT COUNT(*) FROM v WHERE v.k = u.k OR v.x = t.id)",
    "CASE WHEN t.n IN (SELECT x FROM v) THEN u.x > 3 ELSE t.id = u.id END",
)
QUERIES = (
    *(f"SELECT t.id, u.id AS o FROM t {join} u ON {condition}" for condition in CONDITIONS for join in JOINS),
    "SELECT t.id, u.id AS o, v.id AS p FROM t LEFT JOIN u ON t.k = u.k AND t.n IN (SELECT x FROM v) "
    "JOIN v ON v.x = u.x AND EXISTS (SELECT 1 FROM u WHERE u.x = t.n)",
    "SELECT t.id FROM t WHERE EXISTS ("
    "SELECT 1 FROM u JOIN v ON u.k = v.k AND u.x IN (SELECT n FROM t) AND v.x > (SELECT MIN(n) FROM t) WHERE u.k = t.k)",
    "SELECT k, COUNT(*) AS c FROM (SELECT t.k FROM t LEFT JOIN u ON t.n + u.x IN (SELECT x FROM v)) AS s GROUP BY k",
)


def _tables(rng: random.Random) -> dict[str, pa.Table]:
    def table(number: str) -> pa.Table:
        ids = range(rng.randrange(1, 9))
        keys = pa.array([rng.choice([None, "a", "b", "c"]) for _ in ids], pa.string())
        return pa.table(
            {"id": pa.array(ids, pa.int32()), "k": keys, number: pa.array([rng.choice([None, *range(9)]) for _ in ids], pa.int32())}
        )

    return {"t": table("n"), "u": table("x"), "v": table("x")}


def _environment(mode: str, tables: dict[str, pa.Table]) -> TableEnvironment:
    t_env = environment(**{"execution_runtime-mode": mode})
    for name, rows in tables.items():
        t_env.create_temporary_view(name, t_env.from_arrow(rows))
    return t_env


def _reference(tables: dict[str, pa.Table]) -> sqlite3.Connection:
    reference = sqlite3.connect(":memory:")
    for name, rows in tables.items():
        reference.execute(f"CREATE TABLE {name} ({', '.join(rows.column_names)})")
        reference.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", [tuple(row.values()) for row in rows.to_pylist()])
    return reference


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize("sql", QUERIES)
def test_results_are_those_of_sqlite(sql: str, mode: str) -> None:
    seed = random.randrange(1 << 30)
    tables = _tables(random.Random(seed))
    expected = Counter(_reference(tables).execute(sql).fetchall())
    rows: Counter[tuple[object, ...]] = Counter()
    for row in _environment(mode, tables).execute_sql(sql).collect():
        rows[tuple(row)] += 1 if str(row.get_row_kind()).startswith("+") else -1
    assert {row: count for row, count in rows.items() if count} == expected, f"seed {seed}"


def test_hints_are_for_the_joins_of_from() -> None:
    t_env = _environment("STREAMING", _tables(random.Random(1)))
    hint = "STATE_TTL('t' = '1 h', 'u' = '2 h', 'w' = '3 h')"
    conditions = ("t.n IN (SELECT x FROM v)", "u.x > (SELECT MIN(x) FROM v)", "NOT EXISTS (SELECT * FROM v WHERE v.x = t.n)")
    joins = [(kind, on) for kind in JOINS for on in conditions] + [("JOIN", "t.n + u.x IN (SELECT x FROM v)")]
    for kind, on in joins:
        sql = f"SELECT /*+ {hint} */ t.id FROM t {kind} u ON t.k = u.k AND {on} JOIN v AS w ON w.k = u.k"
        ttls = [join.ttl for join in found(plan(t_env, sql), "Join") if isinstance(join, Join) and join.ttl != (None, None)]
        assert ttls == [(3_600_000, 7_200_000), (None, 10_800_000)], sql


def test_names_of_both_sides_must_be_told_apart() -> None:
    sql = "SELECT t.id FROM t LEFT JOIN u ON EXISTS (SELECT 1 FROM (SELECT x FROM v) AS w WHERE w.x = id)"
    with pytest.raises(SqlParseError, match="column `id` is ambiguous"):
        _environment("BATCH", _tables(random.Random(1))).execute_sql(sql)
