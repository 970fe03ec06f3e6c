"""Connectors stop reading when there are rows enough, and conditions go below watermarks where these do not matter."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.unit.sql.rules.plans import environment, found, plan, shape
from wiesel.sql.rules.optimizer import optimized
from wiesel.table import TableEnvironment

BATCH = {"execution_runtime-mode": "BATCH"}


def _limits(t_env: TableEnvironment, sql: str) -> list[int | None]:
    (relation,) = optimized([plan(t_env, sql)], t_env.get_config().get_configuration())
    return [scan.limit for scan in found(relation, "TableScan")]


def test_limits_are_told_where_any_rows_do() -> None:
    t_env = environment()
    t_env.execute_sql("CREATE TABLE files (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'csv')")
    t_env.execute_sql("CREATE TABLE log (a INT) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'debezium-json')")
    assert _limits(t_env, "SELECT * FROM files LIMIT 5") == [5]
    assert _limits(t_env, "SELECT a + 1 AS b FROM files LIMIT 5 OFFSET 3") == [8]
    assert _limits(t_env, "SELECT * FROM files WHERE a > 1 LIMIT 5") == [None]
    assert _limits(t_env, "SELECT * FROM files ORDER BY a LIMIT 5") == [None]
    assert _limits(t_env, "SELECT a, COUNT(*) AS n FROM files GROUP BY a LIMIT 5") == [None]
    assert _limits(t_env, "SELECT * FROM log LIMIT 5") == [None]
    assert _limits(t_env, "SELECT a FROM (SELECT * FROM files LIMIT 5) UNION ALL SELECT a FROM files") == [None, None]


def test_the_rest_of_a_file_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "part.parquet"
    pq.write_table(pa.table({"a": pa.array(range(100), pa.int32())}), file, row_group_size=10)
    damaged = bytearray(file.read_bytes())
    group = pq.ParquetFile(file).metadata.row_group(5).column(0)
    start = group.dictionary_page_offset or group.data_page_offset
    damaged[start : start + group.total_compressed_size] = bytes(group.total_compressed_size)
    file.write_bytes(damaged)
    for options in ({}, BATCH):
        t_env = environment(**options)
        t_env.execute_sql(f"CREATE TABLE files (a INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'parquet')")
        assert [row[0] for row in t_env.execute_sql("SELECT a FROM files LIMIT 12").collect()] == list(range(12))


def test_conditions_go_below_watermarks_in_batch_mode_only() -> None:
    sql = "SELECT id FROM orders WHERE id > 3"
    for options, expected, told in (
        (BATCH, "Project(WatermarkAssigner(Filter(TableScan)))", ["(id > 3)"]),
        ({}, "Project(Filter(WatermarkAssigner(TableScan)))", []),
    ):
        t_env = environment(**options)
        (relation,) = optimized([plan(t_env, sql)], t_env.get_config().get_configuration())
        (scan,) = found(relation, "TableScan")
        assert shape(relation).replace("Project(WatermarkAssigner(Project(", "Project(WatermarkAssigner(") in (expected, f"{expected})")
        assert list(map(str, scan.filters)) == told
