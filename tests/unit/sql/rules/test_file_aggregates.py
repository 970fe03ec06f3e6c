"""COUNT, MIN and MAX of whole tables come from the metadata of their files."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from tests.unit.sql.rules.plans import environment, plan, shape
from wiesel.sql.rules.optimizer import optimized
from wiesel.table import TableEnvironment

COLUMNS = "a INT, b BIGINT, c DATE, d DECIMAL(10, 2), e STRING, f DOUBLE, g TIMESTAMP(3), h INT"
TABLE = pa.table(
    {
        "a": pa.array([1, None, 7], pa.int32()),
        "b": pa.array([10, -5, None], pa.int64()),
        "c": pa.array([datetime.date(2024, 1, 1), datetime.date(1969, 12, 31), None]),
        "d": pa.array([Decimal("1.50"), Decimal("-2.25"), None], pa.decimal128(10, 2)),
        "e": ["x", "yy", None],
        "f": [1.5, float("nan"), 0.0],
        "g": pa.array([datetime.datetime(1969, 1, 1, 0, 0, 0, 1000), None, datetime.datetime(2024, 1, 1)], pa.timestamp("ms")),
    }
)
KNOWN = {
    "COUNT(*) AS n, COUNT(1) AS one, COUNT(a) AS a, COUNT(e) AS e, COUNT(h) AS h": (6, 6, 4, 4, 0),
    "MIN(a) AS least, MAX(a) AS most, MIN(b) AS other": (1, 7, -5),
    "MIN(c) AS least, MAX(c) AS most": (datetime.date(1969, 12, 31), datetime.date(2024, 1, 1)),
    "MIN(d) AS least, MAX(d) AS most": (Decimal("-2.25"), Decimal("1.50")),
    "MIN(g) AS least, MAX(g) AS most": (datetime.datetime(1969, 1, 1, 0, 0, 0, 1000), datetime.datetime(2024, 1, 1)),
    "MIN(h) AS least, MAX(a) + COUNT(*) AS more": (None, 13),
}
COMPUTED = (
    "MIN(e) AS least",
    "MAX(f) AS most",
    "SUM(a) AS total",
    "COUNT(DISTINCT a) AS n",
    "COUNT(*) FILTER (WHERE a > 1) AS n",
    "MIN(a + 1) AS n",
)


def _files(folder: Path, **options: str) -> TableEnvironment:
    t_env = environment(**{"execution_runtime-mode": "BATCH"}, **options)
    pq.write_table(TABLE, folder / "one.parquet", row_group_size=2)
    pq.write_table(TABLE, folder / "two.parquet")
    t_env.execute_sql(f"CREATE TABLE files ({COLUMNS}) WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'parquet')")
    return t_env


def _shape(t_env: TableEnvironment, sql: str) -> str:
    """Return the kinds of relations, without a projection of the results."""
    found = shape(optimized([plan(t_env, sql)], t_env.get_config().get_configuration())[0])
    return found.removeprefix("Project(").removesuffix(")") if found.startswith("Project(") else found


@pytest.mark.parametrize("select", KNOWN)
def test_what_metadata_tells_is_not_computed(select: str, tmp_path: Path) -> None:
    t_env = _files(tmp_path)
    sql = f"SELECT {select} FROM files"
    assert _shape(t_env, sql) == "StatisticsScan"
    assert [tuple(row) for row in t_env.execute_sql(sql).collect()] == [KNOWN[select]]
    t_env.get_config().set("table.optimizer.source.aggregate-pushdown-enabled", "false")
    assert "TableScan" in _shape(t_env, sql)
    assert [tuple(row) for row in t_env.execute_sql(sql).collect()] == [KNOWN[select]]


@pytest.mark.parametrize("select", COMPUTED)
def test_what_metadata_does_not_tell_is_computed(select: str, tmp_path: Path) -> None:
    assert "TableScan" in _shape(_files(tmp_path), f"SELECT {select} FROM files")


def test_rows_are_not_read_for_it(tmp_path: Path) -> None:
    t_env = _files(tmp_path)
    for file in tmp_path.iterdir():
        size = pq.ParquetFile(file).metadata.row_group(0).column(0).total_compressed_size
        damaged = bytearray(file.read_bytes())
        damaged[4 : 4 + size] = bytes(size)
        file.write_bytes(damaged)
    assert [tuple(row) for row in t_env.execute_sql("SELECT COUNT(*) AS n, MAX(a) AS most FROM files").collect()] == [(6, 7)]


def test_groups_conditions_and_streams_are_left_alone(tmp_path: Path) -> None:
    t_env = _files(tmp_path)
    assert "TableScan" in _shape(t_env, "SELECT a, COUNT(*) AS n FROM files GROUP BY a")
    assert "TableScan" in _shape(t_env, "SELECT COUNT(*) AS n FROM files WHERE a > 1")
    t_env.get_config().set("execution.runtime-mode", "STREAMING")
    assert "TableScan" in _shape(t_env, "SELECT COUNT(*) AS n FROM files")


def test_folders_tell_the_values_of_partitions(tmp_path: Path) -> None:
    t_env = environment(**{"execution_runtime-mode": "BATCH"})
    for day, rows in ((1, 3), (2, 5), (7, 0)):
        (tmp_path / f"p={day}").mkdir()
        pq.write_table(pa.table({"a": pa.array(range(rows), pa.int32())}), tmp_path / f"p={day}" / "part.parquet")
    t_env.execute_sql(
        "CREATE TABLE days (a INT, p INT) PARTITIONED BY (p) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'parquet')"
    )
    expected = {"": (8, 1, 2, 4), " WHERE p = 1": (3, 1, 1, 2), " WHERE p > 1 AND p <> 2": (0, None, None, None)}
    for where, row in expected.items():
        sql = f"SELECT COUNT(*) AS n, MIN(p) AS first_day, MAX(p) AS last_day, MAX(a) AS most FROM days{where}"
        assert _shape(t_env, sql) == "StatisticsScan"
        assert [tuple(each) for each in t_env.execute_sql(sql).collect()] == [row]


def test_files_of_orc_tell_how_many_rows_they_have(tmp_path: Path) -> None:
    t_env = environment(**{"execution_runtime-mode": "BATCH"})
    orc.write_table(pa.table({"a": pa.array(range(11), pa.int32())}), str(tmp_path / "part.orc"))
    t_env.execute_sql(f"CREATE TABLE files (a INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'orc')")
    assert _shape(t_env, "SELECT COUNT(*) AS n FROM files") == "StatisticsScan"
    assert "TableScan" in _shape(t_env, "SELECT MAX(a) AS n FROM files")
    assert [tuple(row) for row in t_env.execute_sql("SELECT COUNT(*) AS n FROM files").collect()] == [(11,)]
