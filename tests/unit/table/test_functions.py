"""Functions of users in queries, and the statements that name them."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wiesel.columnar.functions.user_functions import UserFunction
from wiesel.common import Configuration, Row
from wiesel.core.errors import ProgramError, SqlParseError
from wiesel.table import DataTypes, EnvironmentSettings, FunctionContext, ScalarFunction, TableEnvironment
from wiesel.table.udf import udf
from wiesel.types.logical import BigIntType


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
    assert rows(t_env, "SELECT twice(4)") == [Row(8)]
    t_env.execute_sql("DROP FUNCTION twice")
    with pytest.raises(ProgramError, match="there is no function"):
        t_env.execute_sql("DROP FUNCTION twice")
    problems = {"my_functions.nothing": "cannot be loaded", "plain": "cannot be loaded", "my_functions.plain": "no function of SQL"}
    for name, problem in problems.items():
        with pytest.raises(ProgramError, match=problem):
            t_env.execute_sql(f"CREATE FUNCTION f AS '{name}' LANGUAGE PYTHON")
    with pytest.raises(ProgramError, match="functions in JAVA cannot be called"):
        t_env.execute_sql("CREATE FUNCTION f AS 'a.B'")
    sys.modules.pop("my_functions")


MODULE = """
import asyncio
from wiesel.table import DataTypes
from wiesel.table.udf import AggregateFunction, AsyncScalarFunction, ScalarFunction, udaf, udf, udtf

letters = udtf(lambda text: ((each, place) for place, each in enumerate(text)), result_types=["STRING", "INT"])

class Longest(AggregateFunction):
    def create_accumulator(self):
        return [""]
    def accumulate(self, accumulator, text):
        accumulator[0] = max(accumulator[0], text or "", key=len)
    def get_value(self, accumulator):
        return accumulator[0]
    def get_result_type(self):
        return DataTypes.STRING()

longest = udaf(Longest())

class Numbered(ScalarFunction):
    def open(self, function_context):
        self.where = (function_context.get_index_of_this_subtask(), function_context.get_job_parameter("who", "nobody"))
        function_context.get_metric_group().counter("calls").inc()
    def eval(self, text):
        return f"{text} {self.where}"

numbered = udf(Numbered(), result_type="STRING")

class Waiting(AsyncScalarFunction):
    running = most = 0
    async def eval(self, number):
        Waiting.running += 1
        Waiting.most = max(Waiting.most, Waiting.running)
        await asyncio.sleep(0.001 * (3 - number))
        Waiting.running -= 1
        return number * 2

waiting = udf(Waiting(), result_type="INT")
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "functions_of_all_kinds.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("functions_of_all_kinds")
    sys.modules.pop("functions_of_all_kinds")


@pytest.mark.usefixtures("module")
def test_statements_name_functions_of_all_kinds(t_env: TableEnvironment) -> None:
    for name in ("letters", "longest", "numbered"):
        t_env.execute_sql(f"CREATE TEMPORARY FUNCTION {name} AS 'functions_of_all_kinds.{name}' LANGUAGE PYTHON")
    values = "(VALUES (1, 'ab'), (1, 'c'), (2, 'def'), (2, '')) AS t (k, s)"
    found = rows(t_env, f"SELECT k, l, p FROM {values}, LATERAL TABLE(letters(s)) AS f (l, p) WHERE p < 2")
    assert sorted(map(tuple, found)) == [(1, "a", 0), (1, "b", 1), (1, "c", 0), (2, "d", 0), (2, "e", 1)]
    lonely = rows(t_env, f"SELECT s, l FROM {values} LEFT JOIN LATERAL TABLE(letters(s)) AS f (l, p) ON TRUE WHERE k = 2")
    assert sorted(map(tuple, lonely)) == [("", None), ("def", "d"), ("def", "e"), ("def", "f")]
    t_env.get_config().set("execution.runtime-mode", "BATCH")
    grouped = rows(t_env, f"SELECT k, longest(s) AS l FROM {values} GROUP BY k HAVING LONGEST(s) <> 'x'")
    assert sorted(map(tuple, grouped)) == [(1, "ab"), (2, "def")]


def test_functions_are_told_of_their_task(t_env: TableEnvironment, module: Any) -> None:
    t_env.create_temporary_function("numbered", module.numbered)
    t_env.get_config().set("pipeline.global-job-parameters", "who:me").set("parallelism.default", "1")
    assert rows(t_env, "SELECT numbered('a')") == [Row("a (0, 'me')")]


def test_asynchronous_functions_wait_for_several_rows_at_once(t_env: TableEnvironment, module: Any) -> None:
    t_env.create_temporary_function("waiting", module.waiting)
    found = rows(t_env, "SELECT n, waiting(n) FROM (VALUES (1), (2), (3)) AS t (n)")
    assert sorted(map(tuple, found)) == [(1, 2), (2, 4), (3, 6)]
    assert module.Waiting.most == 3


def test_the_settings_of_a_job_are_those_of_its_asynchronous_calls(t_env: TableEnvironment, module: Any) -> None:
    t_env.create_temporary_function("waiting", module.waiting)
    t_env.get_config().set("table.exec.async-scalar.max-concurrent-operations", "2").set("parallelism.default", "1")
    assert len(rows(t_env, "SELECT waiting(n) FROM (VALUES (1), (2), (3)) AS t (n)")) == 3
    assert module.Waiting.most == 2


def test_event_loops_of_asynchronous_functions_are_closed() -> None:
    function = UserFunction("waiting", len, BigIntType(), kind="async")
    loop = function.loop()
    assert function.loop() is loop and not loop.is_closed()
    del function
    gc.collect()
    assert loop.is_closed()


class Counted(ScalarFunction):
    """Notes its life in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def open(self, function_context: FunctionContext) -> None:
        self._note(f"open {function_context.get_index_of_this_subtask()}")

    def close(self) -> None:
        self._note("close")

    def eval(self, number: int) -> int:
        self._note("eval")
        return number + 1

    def _note(self, line: str) -> None:
        with self._path.open("a") as file:
            file.write(f"{line}\n")


def test_functions_are_opened_before_and_closed_behind_their_calls(t_env: TableEnvironment, tmp_path: Path) -> None:
    log = tmp_path / "log"
    t_env.get_config().set("parallelism.default", "1")
    t_env.create_temporary_function("counted", udf(Counted(log), result_type=DataTypes.BIGINT()))
    t_env.create_temporary_view("numbers", t_env.from_elements([(1,), (2,)], ["n"]))
    for _ in range(2):
        found = rows(t_env, "SELECT COUNTED(n) FROM numbers WHERE COUNTED(n) > 2")
        assert found == [Row(3)]
    lines = log.read_text().splitlines()
    middle = lines.index("close") + 1
    while lines[middle] == "close":
        middle += 1
    for one in (lines[:middle], lines[middle:]):
        assert one[0] == "open 0" and one[-1] == "close"
        assert one.count("open 0") == one.count("close") and one.count("eval") >= 2
