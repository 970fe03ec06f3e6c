"""Catalogs that outlive their environment: a file of SQLite, and the store of which catalogs there are."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from wiesel.common import Configuration
from wiesel.core.errors import ConfigurationError, ProgramError
from wiesel.platform.cli import main
from wiesel.sql.catalog.store import CatalogStore
from wiesel.table import TableEnvironment

SRC = Path(__file__).parents[3] / "src"
MODULE = """
from wiesel.table import DataTypes
from wiesel.table.udf import udf

@udf(result_type=DataTypes.BIGINT())
def twice(n):
    return n * 2
"""
EVERYTHING = """
CREATE TABLE `a ``b` (
  id BIGINT NOT NULL COMMENT 'it''s the key',
  r ROW<x DECIMAL(10, 2), y ARRAY<MAP<STRING, TIMESTAMP_LTZ(3)>>>,
  c CHAR(3), d BINARY(2), e TIME(0), f MULTISET<INT>, g VARCHAR(9) NOT NULL,
  source STRING METADATA FROM 'file.path' VIRTUAL,
  at TIMESTAMP(3) METADATA,
  ts AS CAST(at AS TIMESTAMP(3)),
  now AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) COMMENT 'all there is' PARTITIONED BY (g) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json')
"""


def environment(**options: str) -> TableEnvironment:
    config = Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", "BATCH")
    for key, value in options.items():
        config.set(key.replace("__", "-").replace("_", "."), value)
    return TableEnvironment.create(config)


def opened(path: Path) -> TableEnvironment:
    t_env = environment()
    t_env.execute_sql(f"CREATE CATALOG kept WITH ('type' = 'sqlite', 'path' = '{path / 'catalog.db'}')")
    t_env.use_catalog("kept")
    return t_env


def shown(t_env: TableEnvironment, statement: str) -> list[list[str]]:
    return [row[1:] for row in t_env.execute_sql(statement).text_rows()]


def test_what_is_made_is_there_in_the_next_session(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.execute_sql(EVERYTHING)
    first.execute_sql("CREATE DATABASE sales COMMENT 'sold' WITH ('a' = 'b')")
    first.execute_sql("ALTER DATABASE sales SET ('c' = 'd')")
    first.execute_sql(
        "CREATE TABLE sales.numbers (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '2', "
        "'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '2')"
    )
    first.execute_sql("USE sales")
    first.execute_sql("CREATE VIEW tens (ten) COMMENT 'by ten' AS SELECT n * 10 FROM numbers")
    statements = (
        "SHOW CREATE TABLE `default`.`a ``b`",
        "DESCRIBE `default`.`a ``b`",
        "SHOW CREATE VIEW tens",
        "DESCRIBE DATABASE EXTENDED sales",
        "SHOW DATABASES",
        "SHOW TABLES",
        "SHOW VIEWS",
    )
    second = opened(tmp_path)
    second.execute_sql("USE sales")
    for statement in statements:
        assert shown(second, statement) == shown(first, statement)
    assert sorted(shown(second, "SELECT ten FROM tens")) == [["10"], ["20"]]
    second.execute_sql("ALTER TABLE numbers SET ('number-of-rows' = '1')")
    assert shown(first, "SELECT ten FROM tens") == [["10"]]
    second.execute_sql("DROP VIEW tens")
    second.execute_sql("ALTER TABLE numbers RENAME TO figures")
    assert shown(first, "SHOW TABLES") == [["figures"]]
    first.use_database("default")
    with pytest.raises(ProgramError, match="not empty"):
        first.execute_sql("DROP DATABASE sales RESTRICT")
    second.use_database("default")
    second.execute_sql("DROP DATABASE sales CASCADE")
    assert shown(first, "SHOW DATABASES") == [["default"]]


def test_processes_share_the_file(tmp_path: Path) -> None:
    create = f"CREATE CATALOG kept WITH ('type' = 'sqlite', 'path' = '{tmp_path / 'catalog.db'}'); USE CATALOG kept;"

    def run(name: str) -> str:
        command = [sys.executable, "-c", "from wiesel.platform.cli import main; main()", "sql", "-D", "wiesel.engine=local"]
        statement = f"CREATE TABLE {name} (a INT) WITH ('connector' = 'datagen'); SHOW TABLES;"
        done = subprocess.run(
            [*command, "-e", create + statement], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(SRC)}, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(run, ["one", "two", "three"]))
    assert opened(tmp_path).list_tables() == ["one", "three", "two"]


def test_two_sessions_cannot_make_the_same_table(tmp_path: Path) -> None:
    t_env = opened(tmp_path)
    other = opened(tmp_path)
    t_env.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'datagen')")
    with pytest.raises(ProgramError, match="already exists"):
        other.execute_sql("CREATE TABLE t (b INT) WITH ('connector' = 'datagen')")
    other.execute_sql("CREATE TABLE IF NOT EXISTS t (b INT) WITH ('connector' = 'datagen')")
    assert shown(other, "DESCRIBE t")[0][0] == "a"


def test_functions_are_kept_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kept_functions.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    opened(tmp_path).execute_sql("CREATE FUNCTION twice AS 'kept_functions.twice' LANGUAGE PYTHON")
    t_env = opened(tmp_path)
    assert t_env.list_user_defined_functions() == ["twice"]
    assert shown(t_env, "SELECT twice(CAST(21 AS BIGINT))") == [["42"]]
    with pytest.raises(ProgramError, match="already"):
        t_env.execute_sql("CREATE FUNCTION Twice AS 'kept_functions.twice' LANGUAGE PYTHON")
    t_env.execute_sql("CREATE FUNCTION IF NOT EXISTS twice AS 'kept_functions.twice' LANGUAGE PYTHON")
    t_env.execute_sql("DROP FUNCTION twice")
    assert opened(tmp_path).list_user_defined_functions() == []


def test_models_are_kept(tmp_path: Path) -> None:
    model = (
        "CREATE MODEL {} INPUT (text STRING) OUTPUT (size INT) COMMENT 'how long' WITH ('provider' = 'python', 'function' = 'builtins.len')"
    )
    first = opened(tmp_path)
    first.execute_sql(model.format("sizes"))
    t_env = opened(tmp_path)
    assert t_env.list_models() == ["sizes"]
    assert "COMMENT 'how long'" in shown(t_env, "SHOW CREATE MODEL sizes")[0][0]
    predicted = "SELECT size FROM ML_PREDICT(TABLE (SELECT 'abc' AS t), MODEL sizes, DESCRIPTOR(t))"
    assert shown(t_env, predicted) == [["3"]]
    with pytest.raises(ProgramError, match="already exists"):
        t_env.execute_sql(model.format("sizes"))
    t_env.execute_sql("ALTER MODEL sizes SET ('task' = 'x')")
    t_env.execute_sql("ALTER MODEL sizes RENAME TO lengths")
    assert first.list_models() == ["lengths"]
    t_env.execute_sql("CREATE DATABASE d")
    t_env.execute_sql(model.format("d.m"))
    with pytest.raises(ProgramError, match="is not empty"):
        t_env.execute_sql("DROP DATABASE d RESTRICT")
    t_env.execute_sql("DROP DATABASE d CASCADE")
    t_env.execute_sql("DROP MODEL lengths")
    assert opened(tmp_path).list_models() == []


def test_files_of_before_models_are_read(tmp_path: Path) -> None:
    opened(tmp_path).execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'datagen')")
    with sqlite3.connect(tmp_path / "catalog.db") as file:
        file.execute("DROP TABLE IF EXISTS models")
    t_env = opened(tmp_path)
    assert (t_env.list_tables(), t_env.list_models()) == (["t"], [])


def test_a_function_whose_code_is_gone_is_an_error_where_it_is_called(tmp_path: Path) -> None:
    opened(tmp_path)
    with sqlite3.connect(tmp_path / "catalog.db") as file:
        file.execute("INSERT INTO functions VALUES ('default', 'LOST', 'no_module.of_that_name', 'PYTHON')")
    t_env = opened(tmp_path)
    assert shown(t_env, "SELECT 1") == [["1"]]
    with pytest.raises(ProgramError, match="no_module"):
        t_env.execute_sql("SELECT lost(1)")


def test_what_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    t_env = opened(tmp_path)
    with pytest.raises(ProgramError, match="a program made"):
        t_env.create_view("v", t_env.sql_query("SELECT 1 AS a"))
    (tmp_path / "other.db").write_text("this is no database at all, but long enough to be looked at")
    for options, problem in (
        ("'type' = 'sqlite'", "'path' is missing"),
        ("'type' = 'sqlite', 'path' = 'x', 'pth' = 'y'", "unknown options"),
        (f"'type' = 'sqlite', 'path' = '{tmp_path / 'other.db'}'", "not a database"),
        (f"'type' = 'sqlite', 'path' = '{tmp_path / 'no' / 'folder.db'}'", "cannot be opened"),
        ("'type' = 'sqlit', 'path' = 'x'", "no type of catalog 'sqlit'"),
    ):
        with pytest.raises(ProgramError, match=problem) as caught:
            t_env.execute_sql(f"CREATE CATALOG x WITH ({options})")
        assert caught.value.hint


def test_a_file_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "catalog.db") as file:
        file.execute("PRAGMA user_version = 99")
    with pytest.raises(ProgramError, match="later version"):
        opened(tmp_path)


def test_checking_a_script_changes_no_catalog(tmp_path: Path) -> None:
    opened(tmp_path).execute_sql("CREATE TABLE there (a INT) WITH ('connector' = 'datagen')")
    before = (tmp_path / "catalog.db").read_bytes()
    create = f"CREATE CATALOG kept WITH ('type' = 'sqlite', 'path' = '{tmp_path / 'catalog.db'}'); USE CATALOG kept;"
    script = f"{create} SELECT a FROM there; CREATE TABLE more (b INT) WITH ('connector' = 'datagen'); SELECT b FROM more;"
    result = CliRunner().invoke(main, ["sql", "check", "-"], input=script)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "catalog.db").read_bytes() == before
    new = script.replace("catalog.db", "new.db")
    assert CliRunner().invoke(main, ["sql", "check", "-"], input=new).exit_code == 1
    assert not (tmp_path / "new.db").exists()


# The store: files and answers as real Flink 2.3 has them with the same statements.


def stored(path: Path) -> TableEnvironment:
    return environment(table_catalog__store_kind="file", table_catalog__store_file_path=f"file://{path}")


def test_the_store_knows_catalogs_in_the_next_session(tmp_path: Path) -> None:
    stored(tmp_path).execute_sql("CREATE CATALOG c COMMENT 'about it' WITH ('type'='generic_in_memory','default-database'='d1')")
    assert (tmp_path / "c.yaml").read_text() == 'default-database: "d1"\ntype: "generic_in_memory"\n'
    t_env = stored(tmp_path)
    assert t_env.list_catalogs() == ["c", "default_catalog"]
    with pytest.raises(ProgramError, match="already exists"):
        stored(tmp_path).execute_sql("CREATE CATALOG c WITH ('type'='generic_in_memory')")
    t_env.execute_sql("USE CATALOG c")
    assert shown(t_env, "SHOW DATABASES") == [["d1"]]
    t_env.execute_sql("USE CATALOG default_catalog")
    t_env.execute_sql("DROP CATALOG c")
    assert list(tmp_path.iterdir()) == []
    assert stored(tmp_path).list_catalogs() == ["default_catalog"]


def test_a_catalog_that_cannot_be_opened_is_not_stored(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="no type of catalog"):
        stored(tmp_path).execute_sql("CREATE CATALOG broken WITH ('type'='nothing')")
    assert not list(tmp_path.iterdir())


def test_tables_of_a_stored_catalog_are_found(tmp_path: Path) -> None:
    first = stored(tmp_path)
    first.execute_sql(f"CREATE CATALOG kept WITH ('type' = 'sqlite', 'path' = '{tmp_path / 'c.db'}')")
    first.execute_sql("CREATE TABLE kept.`default`.t (a INT) WITH ('connector' = 'datagen')")
    assert shown(stored(tmp_path), "SHOW TABLES IN kept.`default`") == [["t"]]
    assert shown(stored(tmp_path), "DESCRIBE kept.`default`.t")[0][0] == "a"


def test_options_of_any_text_come_back(tmp_path: Path) -> None:
    store = CatalogStore(tmp_path)
    options = {"type": "x", "Odd key: #": "line\none \"two\" 'three' ä: {}", "empty": "", "number": "007"}
    store.put("c", options)
    assert store.options_of("c") == options
    for name in ("", "a/b", ".hidden"):
        with pytest.raises(ProgramError, match="cannot be kept"):
            store.put(name, options)


def test_a_store_without_a_path_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="not set"):
        environment(table_catalog__store_kind="file")
    with pytest.raises(ConfigurationError, match="'files'"):
        environment(table_catalog__store_kind="files")
