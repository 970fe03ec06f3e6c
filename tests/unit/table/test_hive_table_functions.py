"""Table functions of Hive return the rows that Hive itself returns (recorded by ``record_hive_table_functions.py``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wiesel.common import Configuration, Row
from wiesel.core.errors import ProgramError
from wiesel.table import EnvironmentSettings, TableEnvironment

GOLDENS = json.loads((Path(__file__).parents[2] / "differential" / "goldens" / "hive_table_functions.json").read_text())


def environment(mode: str = "STREAMING") -> TableEnvironment:
    settings = EnvironmentSettings.new_instance().with_configuration(Configuration().set("wiesel.engine", "local"))
    settings = settings.in_batch_mode() if mode == "BATCH" else settings.in_streaming_mode()
    t_env = TableEnvironment.create(settings.build())
    t_env.execute_sql("LOAD MODULE hive")
    return t_env


@pytest.fixture(scope="module")
def tables() -> TableEnvironment:
    return environment("BATCH")


def text(value: Any) -> str | None:
    """Return a value as Spark, which called Hive, shows it."""
    if isinstance(value, Row):
        return f"{{{', '.join(str(part) for part in value)}}}"
    return None if value is None else str(value)


@pytest.mark.parametrize("call", GOLDENS)
def test_rows_are_those_of_hive(call: str, tables: TableEnvironment) -> None:
    golden, query = GOLDENS[call], f"SELECT * FROM LATERAL TABLE({call})"
    if "fails" in golden:
        with pytest.raises(ProgramError):
            tables.sql_query(query)
        return
    table = tables.sql_query(query)
    assert table.get_schema().get_field_names() == golden["columns"]
    with table.execute().collect() as found:
        assert [[text(value) for value in row] for row in found] == golden["rows"]


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_rows_come_beside_those_that_they_are_made_of(mode: str) -> None:
    t_env = environment(mode)
    values = "(VALUES (1, ARRAY['a', 'b'], '{\"x\": 1}'), (2, CAST(NULL AS ARRAY<STRING>), 'no'), (3, ARRAY['c'], '{}')) AS t (id, vs, js)"

    def rows(query: str) -> list[tuple[Any, ...]]:
        with t_env.sql_query(query).execute().collect() as found:
            return [tuple(row) for row in found]

    assert rows(f"SELECT id, v FROM {values}, LATERAL TABLE(explode(vs)) AS f (v)") == [(1, "a"), (1, "b"), (3, "c")]
    outer = rows(f"SELECT id, pos, val FROM {values} LEFT JOIN LATERAL TABLE(posexplode(vs)) ON TRUE")
    assert outer == [(1, 0, "a"), (1, 1, "b"), (2, None, None), (3, 0, "c")]
    assert rows(f"SELECT id, x FROM {values}, LATERAL TABLE(json_tuple(js, 'x')) AS f (x)") == [(1, "1"), (2, None), (3, None)]
    stacked = rows(f"SELECT id, n, a FROM {values}, LATERAL TABLE(stack(2, 'first', id, 'second', id * 10)) AS f (n, a) WHERE id > 1")
    assert stacked == [(2, "first", 2), (2, "second", 20), (3, "first", 3), (3, "second", 30)]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT explode(ARRAY[1])", r"returns tables"),
        ("SELECT * FROM LATERAL TABLE(levenshtein('a', 'b'))", "is no table function"),
        ("SELECT * FROM LATERAL TABLE(explode(1))", "one ARRAY or MAP"),
        ("SELECT * FROM LATERAL TABLE(inline(ARRAY[1]))", "takes one array of rows"),
        ("SELECT * FROM LATERAL TABLE(json_tuple('{}'))", "names of parts"),
        ("SELECT * FROM LATERAL TABLE(stack(2, 1, 'x'))", "values of several types: INT NOT NULL, CHAR"),
    ],
)
def test_what_they_do_not_take_is_refused(query: str, message: str, tables: TableEnvironment) -> None:
    with pytest.raises(ProgramError, match=message):
        tables.sql_query(query)


def test_without_the_module_they_are_not_there() -> None:
    t_env = environment()
    t_env.execute_sql("UNLOAD MODULE hive")
    with pytest.raises(ProgramError, match="there is no function explode"):
        t_env.sql_query("SELECT * FROM LATERAL TABLE(explode(ARRAY[1]))")
