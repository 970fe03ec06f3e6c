"""What EXPLAIN tells besides the plan: estimates by closed forms, the operators as JSON, and advice."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.sql.rules.plans import environment
from wiesel.core.errors import ProgramError, SqlParseError
from wiesel.sql.costs.cost import shown
from wiesel.table import ExplainDetail, TableEnvironment

JOIN = "SELECT big.v FROM big JOIN mid ON big.k = mid.k JOIN small ON mid.m = small.m WHERE small.name = 'a'"


def _tables(folder: Path, *, analyzed: bool = True) -> TableEnvironment:
    t_env = environment(**{"execution_runtime-mode": "BATCH"})
    ints = pa.int32()
    tables = {
        "big": ("k INT, v BIGINT", {"k": pa.array([n % 100 for n in range(1000)], ints), "v": pa.array(range(1000), pa.int64())}),
        "mid": ("k INT, m INT", {"k": pa.array([n % 100 for n in range(500)], ints), "m": pa.array([n % 10 for n in range(500)], ints)}),
        "small": ("m INT, name STRING", {"m": pa.array(range(2), ints), "name": ["a", "b"]}),
    }
    for name, (columns, rows) in tables.items():
        (folder / name).mkdir()
        pq.write_table(pa.table(rows), folder / name / "part.parquet")
        options = f"'connector' = 'filesystem', 'path' = '{folder / name}', 'format' = 'parquet'"
        t_env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({options})")
        if analyzed:
            t_env.execute_sql(f"ANALYZE TABLE {name} COMPUTE STATISTICS FOR ALL COLUMNS")
    return t_env


def test_estimated_costs_stand_behind_each_operator(tmp_path: Path) -> None:
    t_env = _tables(tmp_path)
    plain = t_env.explain_sql("SELECT v FROM big WHERE k = 7")
    assert "rowcount" not in plain
    text = t_env.explain_sql("SELECT v FROM big WHERE k = 7", ExplainDetail.ESTIMATED_COST)
    lines = text.split("== Operators ==\n")[1].splitlines()
    # 1000 rows of an INT and a BIGINT are read (12 bytes each), a hundredth is left.
    read = "{1000.0 rows, 0.0 cpu, 12000.0 io, 0.0 network, 0.0 memory}"
    assert [line.split("]): ")[1] for line in lines] == [
        "rowcount = 10.0, cumulative cost = {1020.0 rows, 1010.0 cpu, 12000.0 io, 0.0 network, 0.0 memory}",
        "rowcount = 10.0, cumulative cost = {1010.0 rows, 1000.0 cpu, 12000.0 io, 0.0 network, 0.0 memory}",
        f"rowcount = 1000.0, cumulative cost = {read}",
    ]


def test_a_table_of_which_nothing_is_known_has_as_many_rows_as_in_flink() -> None:
    text = environment().explain_sql("SELECT id FROM orders", ExplainDetail.ESTIMATED_COST)
    assert "rowcount = 1.0E8, cumulative cost = {1.0E8 rows, 0.0 cpu" in text


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, "0.5"), (9999999.0, "9999999.0"), (1e7, "1.0E7"), (3.6e9, "3.6E9"), (1.25e10, "1.25E10")]
)
def test_numbers_are_written_as_java_writes_them(value: float, text: str) -> None:
    assert shown(value) == text


def test_the_operators_as_json(tmp_path: Path) -> None:
    t_env = _tables(tmp_path)
    t_env.get_config().set("table.optimizer.join.broadcast-threshold", "-1")
    for statement in (JOIN, f"EXPLAIN JSON_EXECUTION_PLAN {JOIN}"):
        if statement is JOIN:
            text = t_env.explain_sql(statement, ExplainDetail.JSON_EXECUTION_PLAN)
        else:
            (row,) = t_env.execute_sql(statement).collect()
            text = row[0]
        nodes = json.loads(text.split("== Physical Execution Plan ==\n")[1])["nodes"]
        kinds = [node["type"] for node in nodes]
        assert [kinds.count(name) for name in ("Source: big", "Source: mid", "Source: small", "Join")] == [1, 1, 1, 2]
        assert all(set(node) - {"predecessors"} == {"id", "type", "pact", "contents", "parallelism"} for node in nodes)
        joins = [node for node in nodes if node["type"] == "Join"]
        assert all(node["contents"].startswith("HashJoin(joinType=[InnerJoin], where=[(") for node in joins)
        (big,) = (node for node in nodes if node["type"] == "Source: big")
        assert big["contents"] == "TableSourceScan(table=[[default_catalog, default_database, big]], fields=[k, v])"
        assert all(edge["ship_strategy"] == "HASH" for node in joins for edge in node["predecessors"])
    t_env.execute_sql("CREATE TABLE nothing (v BIGINT) WITH ('connector' = 'blackhole')")
    t_env.execute_sql("CREATE TABLE none (v BIGINT) WITH ('connector' = 'blackhole')")
    together = t_env.create_statement_set()
    together.add_insert_sql(f"INSERT INTO nothing {JOIN}")
    together.add_insert_sql(f"INSERT INTO none {JOIN}")
    nodes = json.loads(together.explain(ExplainDetail.JSON_EXECUTION_PLAN).split("== Physical Execution Plan ==\n")[1])["nodes"]
    # Both read one join.
    assert [[node["type"] for node in nodes].count(name) for name in ("Source: big", "Join")] == [1, 2]
    assert len([node for node in nodes if node["pact"] == "Data Sink"]) == 2
    # What was explained is no part of later jobs.
    assert sorted(row[0] for row in t_env.execute_sql(JOIN).collect()) == sorted(5 * [n for n in range(1000) if n % 10 == 0])


def test_the_grammar_of_flink() -> None:
    t_env = environment()
    query = "SELECT id FROM orders WHERE id > 1"
    (row,) = t_env.execute_sql(f"EXPLAIN PLAN FOR {query}").collect()
    assert row[0] == t_env.explain_sql(query)
    (row,) = t_env.execute_sql(f"EXPLAIN changelog_mode, Estimated_Cost {query}").collect()
    assert row[0] == t_env.explain_sql(query, ExplainDetail.ESTIMATED_COST, ExplainDetail.CHANGELOG_MODE)
    (row,) = t_env.execute_sql(f"EXPLAIN CREATE TABLE made WITH ('connector' = 'blackhole') AS {query}").collect()
    assert row[0].startswith("== Abstract Syntax Tree ==\nLogicalSink(table=[default_catalog.default_database.made], fields=[id])\n")
    assert "made" not in t_env.list_tables()
    with pytest.raises(SqlParseError, match="named twice"):
        t_env.execute_sql(f"EXPLAIN CHANGELOG_MODE, CHANGELOG_MODE {query}")
    for statement in ("CREATE TABLE made (a INT)", "SHOW TABLES"):
        with pytest.raises(ProgramError, match="EXPLAIN takes"):
            t_env.execute_sql(f"EXPLAIN {statement}")


@pytest.mark.parametrize("mode", ["BATCH", "STREAMING"])
def test_groups_of_split_distinct_values_have_three_operators(mode: str) -> None:
    options = {"execution_runtime-mode": mode, "table_exec_mini-batch_enabled": "true", "table_exec_mini-batch_allow-latency": "1 s"}
    more = {"table_exec_mini-batch_size": "3", "table_optimizer_distinct-agg_split_enabled": "true"}
    t_env = environment(**options, **more)
    text = t_env.explain_sql("SELECT item, COUNT(DISTINCT id) AS n FROM orders GROUP BY item", ExplainDetail.JSON_EXECUTION_PLAN)
    plan, _, nodes = text.partition("== Physical Execution Plan ==\n")
    names = re.findall(r"(\w*Aggregate)\(", plan.partition("== Optimized Execution Plan ==")[2].partition("== Operators ==")[0])
    outer = ("HashAggregate", "LocalHashAggregate") if mode == "BATCH" else ("GlobalGroupAggregate", "LocalGroupAggregate")
    assert names == [outer[0], "IncrementalGroupAggregate", outer[1]]
    contents = {node["type"]: node["contents"] for node in json.loads(nodes)["nodes"]}
    assert contents["IncrementalGroupAggregate"].startswith("IncrementalGroupAggregate(partialAggGrouping=[item, $bucket], ")


def _advice(t_env: TableEnvironment, sql: str) -> list[str]:
    return t_env.explain_sql(sql, ExplainDetail.PLAN_ADVICE).split("== Advice ==\n")[1].splitlines()


def test_a_better_order_of_joins_is_advised(tmp_path: Path) -> None:
    t_env = _tables(tmp_path)
    (advice,) = _advice(t_env, JOIN)
    # big and mid: 1000 * 500 / 100, and a tenth of 500 / 2 each; mid and small: 500 * 1 / 10.
    found = re.fullmatch(r"Joins return (\S+) rows together, and (\S+) in another order: set '.*join-reorder-enabled' = 'true' .*", advice)
    assert found is not None
    before, after = map(float, found.groups())
    assert before == pytest.approx(5500)
    assert after == pytest.approx(550)
    t_env.get_config().set("table.optimizer.join-reorder-enabled", "true")
    assert _advice(t_env, JOIN) == ["No available advice"]


def test_statistics_are_advised_where_there_are_none() -> None:
    t_env = environment(**{"execution_runtime-mode": "BATCH"})
    sql = "SELECT a.id FROM orders AS a JOIN orders AS b ON a.id = b.id JOIN orders AS c ON b.id = c.id"
    assert [line for line in _advice(t_env, sql) if "ANALYZE TABLE" in line] == [
        "Nothing is known of the rows of default_catalog.default_database.orders: ANALYZE TABLE, so that the order of joins can be chosen."
    ]


@pytest.mark.parametrize("mode", ["BATCH", "STREAMING"])
def test_joins_without_an_equation_are_named(mode: str) -> None:
    t_env = environment(**{"execution_runtime-mode": mode})
    sql = "SELECT a.id FROM orders AS a JOIN orders AS b ON a.id < b.id"
    assert any(line.startswith("A Join has no equation between its sides") for line in _advice(t_env, sql))
    assert "no equation" not in t_env.explain_sql(sql)
