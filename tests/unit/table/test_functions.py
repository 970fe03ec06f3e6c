"""Functions of users in queries, and the statements that name them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from wiesel.common import Configuration, Row
from wiesel.core.errors import ProgramError, SqlParseError
from wiesel.table import DataTypes, EnvironmentSettings, TableEnvironment
from wiesel.table.udf import udf


@udf(result_type=DataTypes.BIGINT())
def count_char(text: str, letter: str) -> int:
    return text.count(letter)


@pytest.fixture
def t_env() -> TableEnvironment:
    configuration = Configuration().set("wiesel.engine", "local")
    return TableEnvironment.create(EnvironmentSettings.new_instance().with_configuration(configuration).build())


def rows(t_env: TableEnvironment, query: str) -> list[Row]:
    with t_env.execute_sql(query).collect() as found:
        return list(found)


def test_temporary_functions_come_and_go(t_env: TableEnvironment) -> None:
    t_env.create_temporary_function("count_char", count_char)
    assert rows(t_env, "SELECT COUNT_CHAR(s, 'a') FROM (VALUES ('banana')) AS t (s)") == [Row(3)]
    assert t_env.list_user_defined_functions() == ["count_char"]
    t_env.execute_sql("CREATE VIEW v AS SELECT Count_Char(s, 'n') AS n FROM (VALUES ('banana')) AS t (s)")
    assert rows(t_env, "SELECT n + 1 FROM v") == [Row(3)]
    with pytest.raises(ProgramError, match=r"there is a function .*Count_Char` already"):
        t_env.create_temporary_function("Count_Char", count_char)
    assert t_env.drop_temporary_function("count_char") and not t_env.drop_temporary_function("count_char")
    with pytest.raises(SqlParseError, match="there is no function 'COUNT_CHAR'"):
        rows(t_env, "SELECT count_char('a', 'a')")


def test_functions_take_results_of_groups(t_env: TableEnvironment) -> None:
    t_env.create_temporary_system_function("count_char", count_char)
    query = "SELECT k, COUNT_CHAR(MAX(s), 'a') FROM (VALUES (1, 'banana')) AS t (k, s) GROUP BY k HAVING COUNT_CHAR(MAX(s), 'n') = 2"
    assert rows(t_env, query) == [Row(1, 3)]


def test_functions_of_the_system_come_before_those_of_flink(t_env: TableEnvironment) -> None:
    t_env.create_temporary_system_function("upper", udf(lambda text: text + "!", result_type="STRING"))
    assert rows(t_env, "SELECT UPPER('a')") == [Row("a!")]
    assert t_env.drop_temporary_system_function("UPPER")
    assert rows(t_env, "SELECT UPPER('a')") == [Row("A")]


def test_statements_load_functions_of_modules(t_env: TableEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_functions.py").write_text(
        "from wiesel.table.udf import udf\ntwice = udf(lambda n: 2 * n, result_type='INT')\nplain = len\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    t_env.execute_sql("CREATE TEMPORARY FUNCTION twice AS 'my_functions.twice' LANGUAGE PYTHON")
    t_env.execute_sql("CREATE FUNCTION IF NOT EXISTS twice AS 'my_functions.twice' LANGUAGE PYTHON")
    assert rows(t_env, "SELECT twice(21)") == [Row(42)]
    t_env.execute_sql("DROP TEMPORARY FUNCTION twice")
    with pytest.raises(ProgramError, match="there is no function"):
        t_env.execute_sql("DROP FUNCTION twice")
    problems = {"my_functions.nothing": "cannot be loaded", "plain": "cannot be loaded", "my_functions.plain": "no function of SQL"}
    for name, problem in problems.items():
        with pytest.raises(ProgramError, match=problem):
            t_env.execute_sql(f"CREATE FUNCTION f AS '{name}' LANGUAGE PYTHON")
    with pytest.raises(ProgramError, match="functions in JAVA cannot be called"):
        t_env.execute_sql("CREATE FUNCTION f AS 'a.B'")
    sys.modules.pop("my_functions")
