"""Spark's tables as a catalog: Wiesel reads what Spark has written, and Spark what Wiesel has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.parity.conftest import time_limit
from wiesel.common import Configuration
from wiesel.core.errors import ProgramError
from wiesel.engine.spark.session import spark_session
from wiesel.table import EnvironmentSettings, TableEnvironment
from wiesel.table.catalog import CatalogDatabase, ObjectPath

SETTINGS = {"wiesel.spark.master": "local[64]", "execution.runtime-mode": "BATCH", "parallelism.default": "2"}
ROWS = """
  (1, 1.50, DATE '2020-02-29', TIMESTAMP '2020-01-01 10:00:00.123456 UTC', ARRAY('a', NULL), NAMED_STRUCT('x', 1L), 'north'),
  (2, NULL, NULL, NULL, NULL, NULL, 'south'), (3, -0.05, DATE '1969-12-31', TIMESTAMP '1969-12-31 23:59:59 UTC', ARRAY(), NULL, NULL)
"""
COLUMNS = "id INT, price DECIMAL(9, 2), day DATE, at TIMESTAMP, words ARRAY<STRING>, pair STRUCT<x: BIGINT>, region STRING"


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    with time_limit(400):
        yield


@pytest.fixture
def session(tmp_path: Path) -> Iterator[SparkSession]:
    session = spark_session(Configuration.from_dict(SETTINGS), 2)
    session.sql(f"CREATE DATABASE shop LOCATION '{tmp_path / 'shop'}'")
    yield session
    session.sql("DROP DATABASE shop CASCADE")


@pytest.fixture
def t_env(session: SparkSession) -> TableEnvironment:
    settings = EnvironmentSettings.new_instance().with_configuration(Configuration.from_dict(SETTINGS)).build()
    t_env = TableEnvironment.create(settings)
    t_env.execute_sql("CREATE CATALOG spark WITH ('type' = 'spark', 'default-database' = 'shop')")
    t_env.execute_sql("USE CATALOG spark")
    return t_env


def rows(t_env: TableEnvironment, query: str) -> list[list[str]]:
    return sorted(row[1:] for row in t_env.execute_sql(query).text_rows())


@pytest.mark.parametrize("partitioned", ["", "PARTITIONED BY (region)"])
def test_what_spark_has_written_is_read(session: SparkSession, t_env: TableEnvironment, partitioned: str) -> None:
    session.sql(f"CREATE TABLE shop.orders ({COLUMNS}) USING parquet {partitioned}")
    session.sql(f"INSERT INTO shop.orders VALUES {ROWS}")
    assert t_env.list_tables() == ["orders"]
    assert rows(t_env, "SELECT id, price, day, at, words, pair.x, region FROM orders") == [
        ["1", "1.50", "2020-02-29", "2020-01-01 10:00:00.123456", "[a, NULL]", "1", "north"],
        ["2", "<NULL>", "<NULL>", "<NULL>", "<NULL>", "<NULL>", "south"],
        ["3", "-0.05", "1969-12-31", "1969-12-31 23:59:59.000000", "[]", "<NULL>", "<NULL>"],
    ]
    assert rows(t_env, "SELECT COUNT(*) FROM orders WHERE region = 'north'") == [["1"]]


def test_spark_reads_what_is_written(session: SparkSession, t_env: TableEnvironment) -> None:
    t_env.execute_sql("CREATE TABLE sums (n BIGINT, name STRING, kind STRING) PARTITIONED BY (kind) WITH ('format' = 'parquet')")
    t_env.execute_sql("INSERT INTO sums VALUES (1, 'a', 'x'), (2, 'b', 'y'), (3, CAST(NULL AS STRING), 'x')").wait()
    session.sql("MSCK REPAIR TABLE shop.sums")
    assert sorted(map(tuple, session.sql("SELECT n, name, kind FROM shop.sums").collect())) == [
        (1, "a", "x"),
        (2, "b", "y"),
        (3, None, "x"),
    ]
    t_env.execute_sql("DROP TABLE sums")
    assert not session.catalog.tableExists("shop.sums")


def test_what_is_no_file_is_refused(session: SparkSession, t_env: TableEnvironment) -> None:
    session.sql("CREATE VIEW shop.v AS SELECT 1 AS a")
    session.sql("CREATE TABLE shop.headed (a STRING) USING csv OPTIONS (header 'true')")
    assert t_env.list_tables() == ["headed"]
    with pytest.raises(ProgramError, match="headers"):
        t_env.execute_sql("SELECT a FROM headed")
    for statement, problem in (
        ("CREATE TABLE t (a INT, b AS a + 1) WITH ('format' = 'parquet')", "plain columns"),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'datagen')", "are files"),
        ("CREATE VIEW w AS SELECT 1 AS a", "tables only"),
    ):
        with pytest.raises(ProgramError, match=problem) as caught:
            t_env.execute_sql(statement)
        assert caught.value.hint


def test_a_table_that_is_renamed_keeps_its_rows(session: SparkSession, t_env: TableEnvironment) -> None:
    session.sql("CREATE TABLE shop.old (n INT) USING parquet")
    session.sql("INSERT INTO shop.old VALUES (1), (2)")
    t_env.execute_sql("ALTER TABLE old RENAME TO newer")
    assert t_env.list_tables() == ["newer"]
    assert rows(t_env, "SELECT n FROM newer") == [["1"], ["2"]]
    catalog = t_env.get_catalog("spark")
    assert catalog is not None
    catalog.rename_table(ObjectPath("shop", "newer"), "newest", False)
    assert sorted(row.n for row in session.table("shop.newest").collect()) == [1, 2]


def test_a_database_is_altered(session: SparkSession, t_env: TableEnvironment) -> None:
    catalog = t_env.get_catalog("spark")
    assert catalog is not None
    catalog.alter_database("shop", CatalogDatabase.create_instance({"keeper": "ann"}, "what is sold"), False)
    assert catalog.get_database("shop").get_comment() == "what is sold"
    told = {row[0]: row[1] for row in session.sql("DESCRIBE DATABASE EXTENDED shop").collect()}
    assert "(keeper,ann)" in told["Properties"].replace(" ", "")
