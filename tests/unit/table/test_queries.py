"""Queries on the local engine."""

from __future__ import annotations

from typing import Any

import pytest

from wiesel.common import Configuration, Row, Types
from wiesel.core.errors import ProgramError, SqlParseError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.table import StreamTableEnvironment

NAMES = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
ROWS = [Row(1, "a"), Row(2, None), Row(3, "c"), Row(None, "d")]


class Tables:
    """A table ``t`` of a few rows."""

    def __init__(self, parallelism: int) -> None:
        env = StreamExecutionEnvironment.get_execution_environment(Configuration().set("wiesel.engine", "local"))
        env.set_parallelism(parallelism)
        self.t_env = StreamTableEnvironment.create(env)
        self.t_env.create_temporary_view("t", self.t_env.from_data_stream(env.from_collection(ROWS, NAMES)))

    def rows(self, query: str) -> list[Any]:
        with self.t_env.to_data_stream(self.t_env.sql_query(query)).execute_and_collect() as results:
            return sorted(results, key=repr)


@pytest.fixture(params=[1, 3])
def tables(request: pytest.FixtureRequest) -> Tables:
    return Tables(request.param)


def test_projections_filters_and_unions(tables: Tables) -> None:
    found = tables.rows("SELECT id * 2 AS twice, name FROM (SELECT * FROM t WHERE id > 1) AS s WHERE s.name IS NOT NULL")
    assert found == [Row(twice=6, name="c")]
    assert tables.rows("SELECT id FROM t WHERE id = 1 UNION ALL SELECT id FROM t WHERE id = 3") == [Row(id=1), Row(id=3)]
    assert tables.rows("SELECT id, id FROM t WHERE name = 'd'") == [Row(id=None, id0=None)]


def test_aliases_with_and_stars(tables: Tables) -> None:
    assert tables.rows("SELECT s.n, s.* FROM t AS s(i, n) WHERE i = 1") == [Row(n="a", i=1, n0="a")]
    query = "WITH a(x) AS (SELECT id FROM t), b AS (SELECT x + 1 AS y FROM a) SELECT * FROM b UNION ALL SELECT * FROM a WHERE x = 3"
    assert tables.rows(query) == [Row(y=2), Row(y=3), Row(y=3), Row(y=4), Row(y=None)]


def test_values_and_queries_of_nothing(tables: Tables) -> None:
    assert tables.rows("VALUES (1, 'a'), (2, NULL)") == [Row(**{"EXPR$0": 1, "EXPR$1": "a"}), Row(**{"EXPR$0": 2, "EXPR$1": None})]
    assert tables.rows("SELECT x, n FROM (VALUES (1, 'a'), (2, 'bb')) AS v(x, n) WHERE x > 1") == [Row(x=2, n="bb")]
    assert tables.rows("SELECT 1 + 1 AS two") == [Row(two=2)]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT idd FROM t", "line 1, column 8: column `idd` was not found"),
        ("SELECT id,\n  id + name FROM t", "line 2, column 3: cannot apply '\\+' to arguments of type"),
        ("SELECT /*+ STATE_TTL('u' = '1d') */ id FROM t", "STATE_TTL names a table that is not in FROM: `u`"),
        ("SELECT /*+ STATE_TTL('t' = 'soon') */ id FROM t", "STATE_TTL: 'soon' is not a duration"),
        ("SELECT /*+ STATE_TTL('t') */ id FROM t", "STATE_TTL takes names of tables with times"),
        ("SELECT FOO(id) FROM t", "column 8: there is no function 'FOO'"),
        ("SELECT id FROM tt", "column 16: table `tt` was not found"),
        ("SELECT x.id FROM t", "column 10: table `x` is not known here"),
        ("SELECT x.* FROM t", "column 8: table `x` is not known here"),
        ("SELECT id FROM t UNION ALL SELECT * FROM t", "the queries of UNION must have as many columns, these have 1 and 2"),
        ("SELECT id FROM t UNION ALL SELECT name FROM t", "column 1 of the queries of UNION has types without a common one: INT and"),
        ("VALUES (1), ('a')", "column 1 of VALUES has types without a common one: INT NOT NULL and CHAR"),
        ("SELECT * FROM t AS s(a)", "column 15: the alias names 1 columns, but there are 2"),
    ],
)
def test_errors_show_their_place(query: str, message: str) -> None:
    with pytest.raises(SqlParseError, match=message):
        Tables(1).t_env.sql_query(query)


def test_only_queries_are_taken() -> None:
    with pytest.raises(ProgramError, match="takes a query"):
        Tables(1).t_env.sql_query("DROP TABLE t")
