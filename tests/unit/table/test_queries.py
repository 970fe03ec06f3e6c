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


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT idd FROM t", "line 1, column 8: column `idd` was not found"),
        ("SELECT id,\n  id + name FROM t", "line 2, column 3: cannot apply '\\+' to arguments of type"),
        ("SELECT FOO(id) FROM t", "column 8: there is no function 'FOO'"),
        ("SELECT id FROM tt", "column 16: table `tt` was not found"),
        ("SELECT x.id FROM t", "column 10: table `x` is not known here"),
    ],
)
def test_errors_show_their_place(query: str, message: str) -> None:
    with pytest.raises(SqlParseError, match=message):
        Tables(1).t_env.sql_query(query)


def test_only_queries_are_taken() -> None:
    with pytest.raises(ProgramError, match="takes a query"):
        Tables(1).t_env.sql_query("DROP TABLE t")
