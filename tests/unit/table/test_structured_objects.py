"""Structured objects: rows with the name of a class. The texts are those that real Flink 2.3 prints."""

from __future__ import annotations

import pytest

from wiesel.common import Configuration
from wiesel.core.errors import ProgramError
from wiesel.table import EnvironmentSettings, TableEnvironment
from wiesel.table.expressions import col, object_of

PRINTED = """\
+--------------------------------+
|                              o |
+--------------------------------+
|          (x=1, y=text, d=1.50) |
+--------------------------------+
1 row in set
"""


@pytest.fixture
def t_env() -> TableEnvironment:
    settings = EnvironmentSettings.new_instance().with_configuration(Configuration().set("wiesel.engine", "local"))
    return TableEnvironment.create(settings.in_batch_mode().build())


def test_objects_are_printed_with_the_names_of_fields(t_env: TableEnvironment, capsys: pytest.CaptureFixture[str]) -> None:
    made = "OBJECT_OF('a.B', 'x', v, 'y', 'text', 'd', CAST(1.5 AS DECIMAL(4, 2)))"
    t_env.execute_sql(f"SELECT {made} AS o FROM (VALUES (1)) AS t (v)").print()
    assert capsys.readouterr().out == PRINTED


def test_tables_hold_objects(t_env: TableEnvironment) -> None:
    t_env.execute_sql("CREATE TEMPORARY VIEW w AS SELECT OBJECT_OF('a.B', 'x', v) AS o FROM (VALUES (1), (2)) AS t (v)")
    with t_env.execute_sql("DESCRIBE w").collect() as described:
        assert [row[1] for row in described] == ["STRUCTURED<'a.B', `x` INT NOT NULL>"]
    with t_env.sql_query("SELECT o, w.o.x + 1 FROM w WHERE w.o.x > 1").execute().collect() as found:
        assert [(tuple(row[0]), row[1]) for row in found] == [((2,), 3)]
    t_env.execute_sql("CREATE TABLE p (o STRUCTURED<'a.B', x INT>) WITH ('connector' = 'blackhole')")
    t_env.execute_sql("INSERT INTO p SELECT o FROM w").wait()


def test_expressions_make_objects(t_env: TableEnvironment) -> None:
    table = t_env.from_elements([(1, "a")], ["v", "s"])
    made = table.select(object_of("a.B", "x", col("v"), "y", col("s")).alias("o")).select(col("o").object_update("y", "new").alias("o"))
    with made.execute().collect() as found:
        assert [tuple(row[0]) for row in found] == [(1, "new")]
    with pytest.raises(ProgramError, match="is no name of a class"):
        table.select(object_of("no class", "x", col("v")))
