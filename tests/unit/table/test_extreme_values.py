"""Times and numbers beyond what Python or a type can hold: shown where there is a way, refused with a hint where there is none."""

from __future__ import annotations

import re

import pytest

from wiesel.common import Configuration
from wiesel.core.errors import WieselError
from wiesel.table import TableEnvironment

CYCLE_DAYS = 146_097
"""Days of 400 years: the calendar begins anew with them."""


@pytest.fixture
def t_env() -> TableEnvironment:
    return TableEnvironment.create(Configuration().set("wiesel.engine", "local"))


def rows_of(t_env: TableEnvironment, query: str) -> list[tuple[object, ...]]:
    with t_env.execute_sql(query).collect() as rows:
        return [tuple(row) for row in rows]


@pytest.mark.parametrize("cycles", [68, -6])
def test_texts_of_times_outside_pythons_years(t_env: TableEnvironment, cycles: int) -> None:
    days, year = cycles * CYCLE_DAYS, 2020 + 400 * cycles
    shown = f"{year:04d}" if year >= 0 else f"-{-year:04d}"
    query = (
        f"SELECT CAST(TIMESTAMPADD(DAY, {days}, TIMESTAMP '2020-02-29 01:02:03') AS STRING), "
        f"CAST(TIMESTAMPADD(DAY, {days}, TIMESTAMP '2020-02-29 01:02:03.456') AS STRING), "
        f"CAST(TIMESTAMPADD(DAY, {days}, DATE '2020-02-29') AS STRING)"
    )
    assert rows_of(t_env, query) == [(f"{shown}-02-29 01:02:03", f"{shown}-02-29 01:02:03.456", f"{shown}-02-29")]


@pytest.mark.parametrize("value", ["TIMESTAMP '2020-01-01 00:00:00'", "DATE '2020-01-01'", "ARRAY[TIMESTAMP '2020-01-01 00:00:00']"])
def test_objects_of_times_outside_pythons_years_are_refused(t_env: TableEnvironment, value: str) -> None:
    inner = value.removeprefix("ARRAY[").removesuffix("]")
    query = f"SELECT {value.replace(inner, f'{inner} + INTERVAL {chr(39)}9999999{chr(39)} DAY')}"
    with pytest.raises(WieselError, match="no Python representation") as failed:
        rows_of(t_env, query)
    assert "years 1 to 9999" in str(failed.value)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT INTERVAL '99999999999999999999' DAY", "line 1, column 17: an interval of 99999999999999999999 is too long"),
        ("SELECT INTERVAL '2147483648' MONTH", "an interval of 2147483648 is too long"),
        ("SELECT 1e400", "line 1, column 8: 1e400 is out of the range of DOUBLE"),
        ("SELECT a FROM (VALUES (2), (1)) AS v(a) ORDER BY 1e10", "line 1, column 50: ORDER BY 1e10: there are 1 columns"),
    ],
)
def test_numbers_that_are_too_large(t_env: TableEnvironment, query: str, message: str) -> None:
    with pytest.raises(WieselError, match=re.escape(message)):
        rows_of(t_env, query)


def test_order_by_takes_the_whole_part_of_a_number(t_env: TableEnvironment) -> None:
    t_env.get_config().set("execution.runtime-mode", "batch")
    assert rows_of(t_env, "SELECT a FROM (VALUES (2), (1)) AS v(a) ORDER BY 1.5") == [(1,), (2,)]
