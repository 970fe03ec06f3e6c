"""How joins are done in batch mode: what hints and sizes decide, and that results are those of DuckDB in every way."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.sql.rules.plans import environment, found, plan
from wiesel.core.errors import ConfigurationError
from wiesel.runtime.table.join import build_probe_join
from wiesel.sql.plan.relations import Join
from wiesel.sql.rules.optimizer import optimized
from wiesel.table import TableEnvironment

HINTS = ("", "BROADCAST(l)", "BROADCAST(r)", "SHUFFLE_HASH(l)", "SHUFFLE_HASH(r)", "SHUFFLE_MERGE(l)", "NEST_LOOP(r)")
JOINS = (
    "SELECT {} l.a, l.s, r.b, r.d FROM l {} JOIN r ON l.k = r.k",
    "SELECT {} l.a, l.s, r.b, r.d FROM l {} JOIN r ON l.s = r.s AND l.a + r.b > 9",
    "SELECT {} l.a, l.s, r.b, r.d FROM l {} JOIN r ON l.k = r.k AND l.s = r.s",
    "SELECT {} l.a, l.s, r.b, r.d FROM l {} JOIN r ON l.d = r.d AND l.a < r.b",
    "SELECT {} l.a, l.s, r.b, r.d FROM l {} JOIN r ON l.f = r.f",
    "SELECT {} l.a, l.s, r.b, r.d FROM l {} JOIN r ON l.k + 1 = r.k",
    "SELECT {} l.a, l.s, r.b, r.d FROM l {} JOIN r ON l.a * 2 < r.b AND l.s <> r.s",
)
SUBQUERIES = (
    "SELECT {} l.a, l.s FROM l WHERE l.k IN (SELECT r.k FROM r)",
    "SELECT {} l.a, l.s FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND r.b > l.a)",
    "SELECT {} l.a, l.s FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.b < l.a)",
)


def _table(rng: random.Random, rows: int, number: str) -> pa.Table:
    def column(values: list[object], kind: pa.DataType) -> pa.Array:
        return pa.array([rng.choice([None, *values]) for _ in range(rows)], kind)

    return pa.table(
        {
            number: column(list(range(12)), pa.int32()),
            "k": column(list(range(6)), pa.int32()),
            "s": column(["", "x", "ü", "long text"], pa.string()),
            "d": column([Decimal("1.50"), Decimal("-2.25"), Decimal("0.00")], pa.decimal128(6, 2)),
            "f": column([0.5, 1.5, -3.0], pa.float64()),
        }
    )


def _environment(folder: Path, tables: dict[str, pa.Table], **options: str) -> TableEnvironment:
    t_env = environment(**{"execution_runtime-mode": "BATCH"}, **options)
    for name, number in (("l", "a"), ("r", "b")):
        (folder / name).mkdir(exist_ok=True)
        pq.write_table(tables[name], folder / name / "part.parquet")
        t_env.execute_sql(
            f"CREATE TABLE {name} ({number} INT, k INT, s STRING, d DECIMAL(6, 2), f DOUBLE) "
            f"WITH ('connector' = 'filesystem', 'path' = '{folder / name}', 'format' = 'parquet')"
        )
    return t_env


@pytest.mark.parametrize("parallelism", ["1", "3"])
def test_every_way_returns_what_duckdb_returns(parallelism: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Small parts and a small memory: rows wait in files, and pairs are looked at part by part.
    monkeypatch.setattr(build_probe_join, "_PAIRS_AT_ONCE", 50)
    monkeypatch.setattr(build_probe_join, "_WAITING_BYTES", 100)
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    rng = random.Random(seed)
    tables = {"l": _table(rng, rng.randrange(60), "a"), "r": _table(rng, rng.randrange(40), "b")}
    t_env = _environment(tmp_path, tables, parallelism_default=parallelism)
    reference = duckdb.connect()
    for name, rows in tables.items():
        reference.register(name, rows)
    queries = [each.format("{}", kind) for each in JOINS for kind in ("INNER", "LEFT", "RIGHT", "FULL")]
    for sql in [*rng.sample(queries, 5), rng.choice(SUBQUERIES)]:
        expected = Counter(reference.execute(sql.format("")).fetchall())
        for hint in rng.sample(HINTS, 3) if sql not in SUBQUERIES else [""]:
            t_env.get_config().set("table.optimizer.join.broadcast-threshold", rng.choice(["-1", "1048576"]))
            hinted = sql.format(f"/*+ {hint} */" if hint else "")
            rows = Counter(tuple(row) for row in t_env.execute_sql(hinted).collect())
            assert rows == expected, f"seed {seed}: {hinted}"


def _strategy(t_env: TableEnvironment, sql: str) -> str | None:
    (relation,) = optimized([plan(t_env, sql)], t_env.get_config().get_configuration())
    (join,) = found(relation, "Join")
    assert isinstance(join, Join)
    assert (f"strategy=[{join.strategy}]" in t_env.explain_sql(sql)) == (join.strategy is not None)
    return None if join.strategy is None else str(join.strategy)


def test_a_side_that_is_small_is_sent_to_all_tasks(tmp_path: Path) -> None:
    rng = random.Random(7)
    t_env = _environment(tmp_path, {"l": _table(rng, 5000, "a"), "r": _table(rng, 20, "b")})
    sql = "SELECT l.a FROM l {} JOIN r ON l.k = r.k"
    assert _strategy(t_env, sql.format("INNER")) == "BROADCAST(right)"
    assert _strategy(t_env, "SELECT l.a FROM r JOIN l ON l.k = r.k") == "BROADCAST(left)"
    assert _strategy(t_env, sql.format("LEFT")) == "BROADCAST(right)"
    assert _strategy(t_env, sql.format("FULL")) is None
    assert _strategy(t_env, "SELECT l.a FROM l JOIN r ON l.k < r.k") == "NEST_LOOP(right)"
    # The side that may be sent has 5000 rows of one INT: 20000 bytes.
    t_env.get_config().set("table.optimizer.join.broadcast-threshold", "19999")
    assert _strategy(t_env, sql.format("RIGHT")) is None
    t_env.get_config().set("table.optimizer.join.broadcast-threshold", "-1")
    assert _strategy(t_env, sql.format("INNER")) is None
    t_env.get_config().set("execution.runtime-mode", "STREAMING")
    assert _strategy(t_env, sql.format("INNER")) is None


def test_hints_decide_where_they_can(tmp_path: Path) -> None:
    rng = random.Random(7)
    t_env = _environment(tmp_path, {"l": _table(rng, 50, "a"), "r": _table(rng, 20, "b")})
    t_env.get_config().set("table.optimizer.join.broadcast-threshold", "-1")
    sql = "SELECT /*+ {} */ l.a FROM l {} JOIN r ON l.k = r.k"
    assert _strategy(t_env, sql.format("BROADCAST(l)", "INNER")) == "BROADCAST(left)"
    assert _strategy(t_env, sql.format("SHUFFLE_HASH(r)", "LEFT")) == "SHUFFLE_HASH(right)"
    assert _strategy(t_env, sql.format("BROADCAST(l), SHUFFLE_HASH(r)", "INNER")) == "BROADCAST(left)"
    assert _strategy(t_env, sql.format("SHUFFLE_MERGE(r)", "INNER")) is None
    # Rows of the left side come out without a partner: it cannot be the one that is kept.
    assert _strategy(t_env, sql.format("BROADCAST(l)", "LEFT")) is None
    assert _strategy(t_env, sql.format("BROADCAST(r)", "FULL")) is None


def test_tables_of_which_nothing_is_known_are_not_sent_to_all(tmp_path: Path) -> None:
    t_env = environment(**{"execution_runtime-mode": "BATCH"})
    assert _strategy(t_env, "SELECT a.id FROM orders AS a JOIN orders AS b ON a.id = b.id") is None


def test_rows_come_out_once_where_one_side_is_complete(tmp_path: Path) -> None:
    rng = random.Random(7)
    t_env = _environment(tmp_path, {"l": _table(rng, 50, "a"), "r": _table(rng, 20, "b")})
    sql = "SELECT l.a FROM l LEFT JOIN r ON l.k = r.k"
    assert "Join(joinType=[LEFT]" in t_env.explain_sql(sql)
    assert "changelogMode=[I,D]" not in t_env.explain_sql(sql)
    t_env.get_config().set("table.optimizer.join.broadcast-threshold", "-1")
    assert "changelogMode=[I,D]" in t_env.explain_sql(sql)


def test_options_that_are_no_numbers(tmp_path: Path) -> None:
    t_env = environment(**{"execution_runtime-mode": "BATCH"})
    t_env.get_config().set("table.optimizer.join.broadcast-threshold", "1 mb")
    with pytest.raises(ConfigurationError, match="broadcast-threshold is '1 mb'"):
        t_env.explain_sql("SELECT a.id FROM orders AS a JOIN orders AS b ON a.id = b.id")
