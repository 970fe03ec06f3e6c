"""The table format ``orc``: files of real Flink (``record_orc_table.py``) are read as Flink reads them, and ours hold the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from wiesel.common import Configuration
from wiesel.core.errors import ConfigurationError, JobExecutionError, ProgramError
from wiesel.table import TableEnvironment

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
RECORDED = [tuple(row) for row in json.loads((HERE / "flink_orc_table.json").read_text())]


def statements(out: Path) -> list[str]:
    return (HERE / "orc_table.sql").read_text().replace("${out}", str(out)).strip().rstrip(";").split(";\n")


def environment(parallelism: int = 1) -> TableEnvironment:
    config = Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", "BATCH")
    return TableEnvironment.create(config.set("parallelism.default", str(parallelism)).set("table.local-time-zone", "UTC"))


def rows(t_env: TableEnvironment, query: str) -> set[tuple[str, ...]]:
    return {tuple(row[1:]) for row in t_env.execute_sql(query).text_rows()}


def test_files_of_flink_are_read(tmp_path: Path) -> None:
    files = sorted(HERE.glob("flink_table_*.orc"))
    assert len(files) == 2
    for file in files:
        shutil.copy(file, tmp_path / file.name)
    create, *_, query = statements(tmp_path)
    t_env = environment()
    t_env.execute_sql(create)
    assert rows(t_env, query) == set(RECORDED)
    assert rows(t_env, "SELECT o, a FROM t WHERE a IS NOT NULL") == {("9223372036854775807", "1")}


@pytest.mark.parametrize("parallelism", [1, 3])
def test_what_is_written_is_read_again(tmp_path: Path, parallelism: int) -> None:
    t_env = environment(parallelism)
    *changes, query = statements(tmp_path)
    for statement in changes:
        t_env.execute_sql(statement).wait()
    assert rows(t_env, query) == set(RECORDED)


@pytest.mark.parametrize("codec", ["none", "SNAPPY", "ZSTD", "LZ4"])
def test_many_rows_in_several_stripes(tmp_path: Path, codec: str) -> None:
    t_env = environment()
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'orc', 'orc.compress' = '{codec}'"
    t_env.execute_sql(f"CREATE TABLE many (n BIGINT, t STRING) WITH ({options})")
    t_env.execute_sql(
        "CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '150000', 'fields.n.kind' = 'sequence', "
        "'fields.n.start' = '1', 'fields.n.end' = '150000')"
    )
    t_env.execute_sql("INSERT INTO many SELECT n, CAST(n AS STRING) FROM numbers").wait()
    assert rows(t_env, "SELECT COUNT(*), SUM(n), MAX(CAST(t AS BIGINT)) FROM many") == {("150000", "11250075000", "150000")}
    t_env.execute_sql(f"CREATE TABLE another (more INT, n INT) WITH ({options})")
    assert rows(t_env, "SELECT COUNT(*), COUNT(more), SUM(n) FROM another WHERE n <= 10") == {("10", "0", "55")}


def test_what_orc_cannot_hold_is_refused(tmp_path: Path) -> None:
    t_env = environment()
    where = f"'connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'orc'"
    t_env.execute_sql(f"CREATE TABLE times (at TIME(0)) WITH ({where})")
    with pytest.raises(ProgramError, match="no type for times"):
        t_env.execute_sql("SELECT * FROM times")
    t_env.execute_sql(f"CREATE TABLE coded (a INT) WITH ({where}, 'orc.compress' = 'best')")
    with pytest.raises(ConfigurationError, match=r"orc\.compress"):
        t_env.execute_sql("INSERT INTO coded VALUES (1)")
    (tmp_path / "no.orc").write_text("this is no such file")
    t_env.execute_sql(f"CREATE TABLE wrong (a INT) WITH ({where})")
    with pytest.raises(JobExecutionError) as caught:
        list(t_env.execute_sql("SELECT * FROM wrong").text_rows())
    assert "no.orc: Not an ORC file" in str(caught.value) + str(caught.value.__cause__)
