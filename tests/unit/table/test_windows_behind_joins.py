"""Windows over what a join within bounds of event time returns: its rows come before the watermark that ends their window."""

from __future__ import annotations

import csv
import datetime
import decimal
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.sql_cases.case_files import Case
from wiesel.common import Configuration
from wiesel.table import TableEnvironment

CASE = """-- uses: orders, payments
CREATE TEMPORARY VIEW pairs AS SELECT o.who, o.ts, p.amount FROM orders AS o JOIN payments AS p
  ON o.id = p.id AND o.ts BETWEEN p.ts - INTERVAL '1' MINUTE AND p.ts + INTERVAL '1' MINUTE;
SELECT window_start, COUNT(*) AS n, SUM(amount) AS total FROM TABLE(TUMBLE(TABLE pairs, DESCRIPTOR(ts), INTERVAL '30' SECOND))
GROUP BY window_start, window_end;
"""


def rows(case: Case, name: str) -> list[list[str]]:
    with Path(case.data, f"{name}.csv").open() as file:
        return list(csv.reader(file))


def expected(case: Case) -> dict[datetime.datetime, tuple[int, decimal.Decimal]]:
    """Return number and sum of the amounts of the pairs of each window, by definition."""
    found: dict[Any, list[decimal.Decimal]] = defaultdict(list)
    for order in rows(case, "orders"):
        ordered = datetime.datetime.fromisoformat(order[5])
        for payment in rows(case, "payments"):
            apart = abs(ordered - datetime.datetime.fromisoformat(payment[3]))
            if order[0] == payment[0] and apart <= datetime.timedelta(minutes=1):
                found[ordered - datetime.timedelta(seconds=ordered.second % 30)].append(decimal.Decimal(payment[2]))
    return {start: (len(amounts), sum(amounts, decimal.Decimal())) for start, amounts in found.items()}


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_window_has_all_pairs_of_its_time(parallelism: int, tmp_path: Path) -> None:
    case = Case("windows behind joins", CASE)
    config = Configuration().set("wiesel.engine", "local").set("parallelism.default", str(parallelism))
    t_env = TableEnvironment.create(config)
    *before, query = case.statements(str(tmp_path))
    for statement in before:
        t_env.execute_sql(statement)
    assert "IntervalJoin(" in t_env.explain_sql(query)
    found = {row[0]: (row[1], row[2]) for row in t_env.execute_sql(query).collect()}
    assert found == expected(case) and len(found) >= 3
