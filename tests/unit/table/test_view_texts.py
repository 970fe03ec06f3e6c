"""SHOW CREATE VIEW shows the expanded query, as real Flink does (``tests/differential/record_view_queries.py``)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from tests.differential.record_view_queries import definition, queries
from wiesel.common import Configuration
from wiesel.table import TableEnvironment

GOLDENS: dict[str, str] = json.loads((Path(__file__).parents[2] / "differential/goldens/view_queries.json").read_text())

AS_WRITTEN = frozenset({"match"})
"""Queries that are shown as they were written."""


@cache
def environment() -> TableEnvironment:
    t_env = TableEnvironment.create(Configuration().set("wiesel.engine", "local"))
    for table in queries()[0]:
        t_env.execute_sql(table)
    return t_env


def shown(name: str) -> str:
    ((text,),) = environment().execute_sql(f"SHOW CREATE VIEW v_{name}").collect()
    return str(text)


@pytest.mark.parametrize("name", GOLDENS)
def test_the_query_is_expanded(name: str) -> None:
    query = queries()[1][name]
    environment().execute_sql(definition(name, query))
    if name in AS_WRITTEN:
        assert shown(name).endswith(f"AS {query}\n")
        assert shown(name) != GOLDENS[name], "no difference any more: take it off the list"
    else:
        assert shown(name) == GOLDENS[name]


def test_all_queries_are_recorded() -> None:
    assert GOLDENS.keys() == queries()[1].keys()
