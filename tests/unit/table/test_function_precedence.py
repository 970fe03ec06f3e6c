"""Functions of users with the names of built-in ones are called where real Flink calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.differential.function_precedence_cases import KINDS, SQL, TABLE, outcome
from wiesel.common import Configuration
from wiesel.sql.catalog.core_functions import CORE_FUNCTIONS
from wiesel.table import DataTypes, TableEnvironment, expressions
from wiesel.table.expressions import col
from wiesel.table.udf import udf

GOLDENS: dict[str, list[str]] = json.loads((Path(__file__).parents[2] / "differential/goldens/function_precedence.json").read_text())


def environment() -> TableEnvironment:
    return TableEnvironment.create(Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", "BATCH"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("api", "case"), [(api, case) for api, cases in (("sql", SQL), ("table", TABLE)) for case in range(len(cases))])
def test_the_function_that_flink_calls_is_called(api: str, kind: str, case: int) -> None:
    assert outcome(environment(), api, kind, case, udf, DataTypes, expressions) == GOLDENS[f"{api} {kind}"][case]


def test_the_names_of_flinks_module_are_known() -> None:
    assert sorted(CORE_FUNCTIONS) == GOLDENS["core"]


def test_values_come_from_the_functions_of_the_user() -> None:
    t_env = environment()
    t_env.create_temporary_system_function("plus", udf(lambda a, b: a * 10 + b, result_type=DataTypes.INT()))
    t_env.create_temporary_system_function("upper", udf(lambda text: f"<{text}>", result_type=DataTypes.STRING()))
    table = t_env.from_elements(
        [(3, "x")], DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT()), DataTypes.FIELD("s", DataTypes.STRING())])
    )
    rows = table.filter(col("n") + 1 == 31).select(1 + col("n"), col("s").upper_case, col("n") - 1).execute().collect()
    assert [tuple(row) for row in rows] == [(13, "<x>", 2)]
    t_env.create_temporary_view("rows_", table)
    assert [tuple(row) for row in t_env.execute_sql("SELECT n + 1, UPPER(s) FROM rows_").collect()] == [(4, "<x>")]
    t_env.drop_temporary_system_function("plus")
    assert [tuple(row) for row in table.select(col("n") + 1).execute().collect()] == [(4,)]


def test_a_function_of_a_database_has_a_name_that_the_module_does_not_have() -> None:
    t_env = environment()
    t_env.create_temporary_function("lower", udf(lambda text: "mine", result_type=DataTypes.STRING()))
    t_env.create_temporary_function("char_length", udf(lambda text: -1, result_type=DataTypes.INT()))
    assert [tuple(row) for row in t_env.execute_sql("SELECT LOWER('A'), CHAR_LENGTH('abc')").collect()] == [("a", -1)]
