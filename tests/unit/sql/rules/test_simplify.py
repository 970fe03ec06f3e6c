"""What does not depend on rows is computed once; conditions lose what says nothing."""

from __future__ import annotations

import pytest

from tests.unit.sql.rules.plans import environment, plan
from wiesel.columnar.evaluation import Session
from wiesel.sql.plan.relations import Filter, Project, TableScan
from wiesel.sql.rules.simplify import simplified

EXPRESSIONS = {
    "n + 2 * 3": "(n + 6)",
    "UPPER('a') || text": "('A' || text)",
    "CAST('7' AS INT) + other": "(7 + other)",
    "RAND() * 2": "(RAND() * 2.0)",
    # What fails is not computed ahead: no row, no failure.
    "1 / 0 + n": "(CAST((1 / 0) AS BIGINT) + n)",
    "n > 1 AND 1 = 2": "False",
    # A value equals itself, NaN too.
    "other = other": "OR(IS NOT NULL(other), NULL)",
    "n + 1 <> n + 1": "AND(IS NULL((n + 1)), NULL)",
    "n IN (n, 1)": "OR(IS NOT NULL(n), NULL)",
    "n IS NOT DISTINCT FROM n": "True",
    "n IS DISTINCT FROM n": "False",
    "RAND() = RAND()": "(RAND() = RAND())",
    # It fails for texts that are no numbers, as it is asked first.
    "CAST(text AS INT) > 1 AND 1 = 2": "AND((CAST(text AS INT) > 1), False)",
}
CONDITIONS = {
    "n > 1 AND 1 = 1": "(n > 1)",
    "n > 1 OR 1 = 1": None,
    "n > 1 AND n > 1": "(n > 1)",
    "NOT (NOT (n > 1))": "(n > 1)",
    "n > 1 OR 1 = 2": "(n > 1)",
    "n > 1 AND 1 = 2": "False",
    "1 = 1": None,
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions(text: str) -> None:
    found = simplified(plan(environment(), f"SELECT {text} FROM numbers"), Session())
    assert isinstance(found, Project)
    shown = str(found.expressions[0])
    assert shown == EXPRESSIONS[text]


@pytest.mark.parametrize("text", CONDITIONS)
def test_conditions(text: str) -> None:
    found = simplified(plan(environment(), f"SELECT n FROM numbers WHERE {text}"), Session())
    while isinstance(found, Project):
        found = found.input
    expected = CONDITIONS[text]
    if expected is None:
        assert isinstance(found, TableScan)
    else:
        assert isinstance(found, Filter)
        assert str(found.condition) == expected
