"""Which part of rows conditions leave, by hand."""

from __future__ import annotations

import pytest

from tests.unit.sql.rules.plans import environment, found, plan
from wiesel.sql.costs.estimates import ColumnEstimate, Estimate
from wiesel.sql.costs.selectivity import selectivity
from wiesel.sql.plan.relations import Filter
from wiesel.sql.rules.merge import merged

# a: 0 to 100, 50 different values; b: 10 different values, a fifth NULL; c: nothing is known
COLUMNS = (ColumnEstimate(50, 0.0, 0, 100), ColumnEstimate(10, 0.2, 1, 10), ColumnEstimate())
CASES = {
    "a > 75": 0.25,
    "a >= 25 AND a < 75": 0.5,
    "25 <= a": 0.75,
    "a > 100": 0.0,
    "a < 0": 0.0,
    "a >= 0": 1.0,
    "a = 7": 1 / 50,
    "a = 101": 0.0,
    "a <> 7": 1 - 1 / 50,
    "a IN (1, 2, 3)": 3 / 50,
    "b IS NULL": 0.2,
    "b IS NOT NULL": 0.8,
    "a > 75 AND b = 3": 0.25 / 10,
    "a > 75 OR b = 3": 0.25 + 0.1 - 0.025,
    "NOT (a > 75 OR b = 3)": 1 - (0.25 + 0.1 - 0.025),
    "a = b": 1 / 50,
    "c = 5": 0.15,
    "c > 5": 0.5,
    "c IS NULL": 0.1,
    "CAST(c AS STRING) LIKE 'x%'": 0.05,
    "a > 50 AND a < 10": 0.0,
}


@pytest.mark.parametrize("condition", CASES)
def test_part_that_a_condition_leaves(condition: str) -> None:
    t_env = environment()
    t_env.execute_sql("CREATE TABLE t (a INT, b INT, c INT) WITH ('connector' = 'datagen')")
    (filtered,) = found(merged(plan(t_env, f"SELECT * FROM t WHERE {condition}")), "Filter")
    assert isinstance(filtered, Filter)
    assert selectivity(filtered.condition, Estimate(1000, COLUMNS)) == pytest.approx(CASES[condition])
