"""Columns that nobody reads are left out."""

from __future__ import annotations

import pytest

from tests.unit.sql.rules.plans import environment, found, names, plan
from wiesel.sql.rules.prune import pruned

CASES = {
    "SELECT item FROM orders": ["item", "at_time"],
    "SELECT paid FROM orders": ["price", "at_time"],
    # Rows without columns could not be counted.
    "SELECT COUNT(*) FROM orders": ["id", "at_time"],
    "SELECT item, SUM(price) FROM orders GROUP BY item": ["item", "price", "at_time"],
    "SELECT item FROM (SELECT item, MAX(price) AS most, COUNT(*) AS n FROM orders GROUP BY item)": ["item", "at_time"],
    "SELECT a.item FROM orders AS a JOIN orders AS b ON a.id = b.id": ["id", "item", "at_time"],
    "SELECT item FROM orders WHERE id > 3": ["id", "item", "at_time"],
    "SELECT item FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY price) AS n FROM orders) WHERE n = 1": [
        "id", "item", "price", "at_time",
    ],
    "SELECT item FROM orders UNION ALL SELECT day_ FROM orders": ["item", "at_time", "day_"],
    "SELECT SUM(price) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(at_time), INTERVAL '1' SECOND)) GROUP BY window_start, window_end": [
        "price", "at_time",
    ],
    "SELECT item, SUM(price) OVER (PARTITION BY item ORDER BY at_time) FROM orders": ["item", "price", "at_time"],
    "SELECT id, item, SUM(price) FROM orders GROUP BY CUBE (id, item)": ["id", "item", "price", "at_time"],
}  # fmt: skip


@pytest.mark.parametrize("sql", CASES)
def test_tables_are_read_for_what_is_needed(sql: str) -> None:
    before = plan(environment(), sql)
    (after,) = pruned([before])
    assert after.fields == before.fields
    for scan in found(after, "TableScan"):
        assert names(scan) == CASES[sql]


def test_all_readings_of_a_table_read_the_same() -> None:
    t_env = environment()
    roots = pruned([plan(t_env, "SELECT item FROM orders"), plan(t_env, "SELECT day_ FROM orders")])
    assert [names(scan) for root in roots for scan in found(root, "TableScan")] == [["item", "at_time", "day_"]] * 2


def test_results_that_nobody_reads_are_not_computed() -> None:
    t_env = environment()
    (after,) = pruned([plan(t_env, "SELECT item, most FROM (SELECT item, COUNT(*), MAX(price) AS most FROM orders GROUP BY item)")])
    (groups,) = found(after, "Aggregate")
    assert [call.function for call in groups.calls] == ["MAX"]


def test_a_connector_that_gives_all_columns_is_asked_for_all() -> None:
    (after,) = pruned([plan(environment(), "SELECT n FROM numbers")])
    assert [names(scan) for scan in found(after, "TableScan")] == [["n", "text", "other"]]
