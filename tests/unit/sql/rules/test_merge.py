"""Projections and filters that follow each other become one of each."""

from __future__ import annotations

import pytest

from tests.unit.sql.rules.plans import environment, plan, shape
from wiesel.sql.rules.merge import merged
from wiesel.table import DataTypes
from wiesel.table.udf import udf

CASES = {
    "SELECT n + 1 FROM (SELECT n FROM (SELECT n, text FROM numbers WHERE n > 1) WHERE text <> '')": "Project(Filter(TableScan))",
    "SELECT m + 1 FROM (SELECT n * 2 AS m FROM numbers)": "Project(TableScan)",
    "SELECT n, text, other FROM numbers": "TableScan",
    "SELECT m FROM (SELECT n * 2 AS m FROM numbers) WHERE m > 3": "Project(Filter(TableScan))",
    # What is computed once for several columns stays so.
    "SELECT m + 1, m + 2 FROM (SELECT n * 2 AS m FROM numbers)": "Project(Project(TableScan))",
    # What has another value each time, and functions of users, are not computed for the filter and again for the column.
    "SELECT m FROM (SELECT RAND() AS m FROM numbers) WHERE m > 0.5": "Filter(Project(TableScan))",
    "SELECT m FROM (SELECT add_one(n) AS m FROM numbers) WHERE m > 3": "Filter(Project(TableScan))",
}


@pytest.mark.parametrize("sql", CASES)
def test_what_is_merged(sql: str) -> None:
    t_env = environment()
    t_env.create_temporary_function("add_one", udf(lambda n: n + 1, result_type=DataTypes.BIGINT()))
    before = plan(t_env, sql)
    after = merged(before)
    assert after.fields == before.fields
    assert shape(after) == CASES[sql]


def test_merged_projections_compute_what_they_did() -> None:
    t_env = environment(**{"execution_runtime-mode": "BATCH"})
    table = t_env.sql_query("SELECT m + 1 AS a, k FROM (SELECT n * 2 AS m, n AS k FROM numbers WHERE n > 17) WHERE m < 40")
    assert sorted(zip(*table.to_arrow().to_pydict().values(), strict=True)) == [(37, 18), (39, 19)]
