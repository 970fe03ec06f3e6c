"""ANALYZE TABLE: what it finds, and where that is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiesel.common import Configuration
from wiesel.core.errors import ProgramError
from wiesel.spi.table.statistics import ColumnStatistics, TableStatistics
from wiesel.table import TableEnvironment

ROWS = "1,ann,1.5,true,2024-03-01,2024-03-01 00:00:10\n2,,2.5,false,,\n2,bobby,-0.25,true,1970-01-11,1970-01-01 00:00:01.5\n"
COLUMNS = "id INT, name STRING, price DECIMAL(6, 2), paid BOOLEAN, `day` DATE, ts TIMESTAMP(3), more AS id + 1"
FOUND = {
    "id": ColumnStatistics(distinct=2, nulls=0, least=1, greatest=2),
    "name": ColumnStatistics(distinct=2, nulls=1, average_length=4.0, greatest_length=5),
    "price": ColumnStatistics(distinct=3, nulls=0, least=-0.25, greatest=2.5),
    "paid": ColumnStatistics(nulls=0, true_count=2, false_count=1),
    "day": ColumnStatistics(distinct=2, nulls=1, least=10, greatest=19783),
    "ts": ColumnStatistics(distinct=2, nulls=1, least=1.5, greatest=1709251210),
}


def _environment(catalog: Path | None = None) -> TableEnvironment:
    config = Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", "BATCH")
    t_env = TableEnvironment.create(config)
    if catalog is not None:
        t_env.execute_sql(f"CREATE CATALOG kept WITH ('type' = 'sqlite', 'path' = '{catalog}')")
        t_env.execute_sql("USE CATALOG kept")
    return t_env


def _orders(t_env: TableEnvironment, folder: Path) -> None:
    folder.mkdir()
    (folder / "part.csv").write_text(ROWS)
    options = f"'connector' = 'filesystem', 'path' = '{folder}', 'format' = 'csv', 'csv.null-literal' = ''"
    t_env.execute_sql(f"CREATE TABLE orders ({COLUMNS}) WITH ({options})")


def _known(t_env: TableEnvironment, table: str = "orders") -> dict[tuple[str | None, ...], TableStatistics]:
    return dict(t_env._catalogs.find_table(table)[1].statistics)


@pytest.mark.parametrize("kept", [False, True])
def test_statistics_are_kept_in_the_catalog(kept: bool, tmp_path: Path) -> None:
    catalog = tmp_path / "catalog.db" if kept else None
    t_env = _environment(catalog)
    _orders(t_env, tmp_path / "orders")
    assert _known(t_env) == {}
    t_env.execute_sql("ANALYZE TABLE orders COMPUTE STATISTICS")
    assert _known(t_env) == {(): TableStatistics(3)}
    t_env.execute_sql("ANALYZE TABLE orders COMPUTE STATISTICS FOR COLUMNS id, name")
    assert _known(t_env) == {(): TableStatistics(3, {name: FOUND[name] for name in ("id", "name")})}
    t_env.execute_sql("ANALYZE TABLE orders COMPUTE STATISTICS FOR ALL COLUMNS")
    assert _known(t_env) == {(): TableStatistics(3, FOUND)}
    (tmp_path / "orders" / "more.csv").write_text("9,x,1,true,2000-01-01,2000-01-01 00:00:00\n")
    t_env.execute_sql("ANALYZE TABLE orders COMPUTE STATISTICS")
    assert _known(t_env) == {(): TableStatistics(4, FOUND)}
    again = _environment(catalog) if kept else t_env
    assert _known(again) == {(): TableStatistics(4, FOUND)}


def test_a_column_that_is_another_has_none(tmp_path: Path) -> None:
    t_env = _environment()
    _orders(t_env, tmp_path / "orders")
    t_env.execute_sql("ANALYZE TABLE orders COMPUTE STATISTICS FOR COLUMNS id, name")
    t_env.execute_sql("ALTER TABLE orders RENAME name TO who")
    t_env.execute_sql("ALTER TABLE orders RENAME TO others")
    assert _known(t_env, "others") == {(): TableStatistics(3, {"id": FOUND["id"]})}


def test_each_partition_has_its_own(tmp_path: Path) -> None:
    t_env = _environment()
    for day, rows in (("1", "7\n8\n"), ("2", "9\n"), ("__DEFAULT_PARTITION__", "1\n1\n1\n")):
        (tmp_path / f"p={day}").mkdir()
        (tmp_path / f"p={day}" / "part.csv").write_text(rows)
    t_env.execute_sql(
        f"CREATE TABLE t (a INT, p INT) PARTITIONED BY (p) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
    )
    t_env.execute_sql("ANALYZE TABLE t PARTITION (p = '2') COMPUTE STATISTICS FOR COLUMNS a")
    nine = ColumnStatistics(1, 0, 9, 9)
    assert _known(t_env, "t") == {("2",): TableStatistics(1, {"a": nine})}
    t_env.execute_sql("ANALYZE TABLE t PARTITION (p) COMPUTE STATISTICS")
    assert _known(t_env, "t") == {("1",): TableStatistics(2), ("2",): TableStatistics(1, {"a": nine}), (None,): TableStatistics(3)}


def test_temporary_tables_and_streams_are_refused(tmp_path: Path) -> None:
    t_env = _environment()
    _orders(t_env, tmp_path / "orders")
    t_env.get_config().set("execution.runtime-mode", "STREAMING")
    with pytest.raises(ProgramError, match="streaming mode"):
        t_env.execute_sql("ANALYZE TABLE orders COMPUTE STATISTICS")
