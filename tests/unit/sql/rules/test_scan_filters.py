"""Connectors leave out files and parts of files by the conditions on their rows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.unit.sql.rules.plans import environment, found, plan
from wiesel.sql.rules.optimizer import optimized
from wiesel.table import TableEnvironment

BATCH = {"execution_runtime-mode": "BATCH"}


def test_conditions_are_told_where_a_table_is_read_once() -> None:
    t_env = environment()
    t_env.execute_sql("CREATE TABLE files (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'csv')")
    options = t_env.get_config().get_configuration()
    (once,) = optimized([plan(t_env, "SELECT a FROM files WHERE a > 3 AND b = 'x' AND a < RAND() * 9")], options)
    assert [list(map(str, scan.filters)) for scan in found(once, "TableScan")] == [["(a > 3)", "(b = 'x')"]]
    (twice,) = optimized([plan(t_env, "SELECT a FROM files WHERE a > 3 UNION ALL SELECT a FROM files WHERE a < 1")], options)
    assert [scan.filters for scan in found(twice, "TableScan")] == [(), ()]


def _numbers(t_env: TableEnvironment, sql: str) -> list[int]:
    return sorted(row[0] for row in t_env.execute_sql(sql).collect())


def test_row_groups_are_left_out_by_their_least_and_greatest_values(tmp_path: Path) -> None:
    file = tmp_path / "part.parquet"
    pq.write_table(pa.table({"a": pa.array(range(100), pa.int32()), "b": [f"t{n:02}" for n in range(100)]}), file, row_group_size=10)
    # What is in a group that is not read need not even be readable.
    damaged = bytearray(file.read_bytes())
    group = pq.ParquetFile(file).metadata.row_group(0).column(0)
    start = group.dictionary_page_offset or group.data_page_offset
    damaged[start : start + group.total_compressed_size] = bytes(group.total_compressed_size)
    file.write_bytes(damaged)
    t_env = environment(**BATCH)
    t_env.execute_sql(
        f"CREATE TABLE files (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'parquet')"
    )
    assert _numbers(t_env, "SELECT a FROM files WHERE a >= 95") == list(range(95, 100))
    assert _numbers(t_env, "SELECT a FROM files WHERE b > 't97'") == [98, 99]
    assert _numbers(t_env, "SELECT a FROM files WHERE 50 = a") == [50]


def test_folders_are_left_out_by_their_values(tmp_path: Path) -> None:
    for day in ("1", "2"):
        (tmp_path / f"day={day}").mkdir()
        (tmp_path / f"day={day}" / "part.csv").write_text("7,x\n8,x\n" if day == "1" else "not a number,x\n")
    t_env = environment(**BATCH)
    t_env.execute_sql(
        f"CREATE TABLE files (a INT, b STRING, `day` INT) PARTITIONED BY (`day`) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
    )
    assert _numbers(t_env, "SELECT a FROM files WHERE `day` = 1") == [7, 8]
    assert _numbers(t_env, "SELECT `day` FROM files WHERE b = 'x'") == [1, 1, 2]
