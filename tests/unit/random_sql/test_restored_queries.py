"""Replayed changelogs are the batch result: for each operator, with a checkpoint in the middle and another parallelism behind it.

The data changes while the query runs: rows are taken back and updated where the operator reads changes. DuckDB says what must be left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.unit.random_sql.choices import Choices
from tests.unit.random_sql.engines import Duck, NotComparable, final_rows
from tests.unit.random_sql.queries import Query, random_query
from tests.unit.random_sql.restored import restored_changes
from tests.unit.random_sql.tables import Data, random_data, tables_in

pytestmark = pytest.mark.slow

FEATURES = (
    "join", "left join", "right join", "full join", "cross join", "using", "in", "not in", "exists", "not exists", "scalar", "group",
    "global", "distinct", "grouping sets", "union", "union all", "intersect", "except", "top-n", "limit", "with", "over", "window groups",
    "window rows", "window sets", "window of windows", "window top-n", "legacy windows", "unnest",
    "window join", "over changes", "intersect all", "except all",
    "values", "having", "computed key", "interval join", "one of each",
)  # fmt: skip
OF_EACH = 2


def queries_with(feature: str) -> Iterator[tuple[int, Query, Data]]:
    """Yield seeds, and queries and data made of them, in which an operator comes."""
    first = FEATURES.index(feature) * 100_000
    for seed in range(first, first + 100_000):
        query = random_query(Choices(seed))
        text = query.sql.flink
        if feature in query.features and not query.ordered and not query.in_batch and len(text) < 700 and tables_in(text):
            yield seed, query, random_data(Choices(seed))


@pytest.mark.parametrize("feature", FEATURES)
def test_restored_at_another_parallelism_a_query_comes_to_the_batch_result(feature: str) -> None:
    compared = 0
    for seed, query, data in queries_with(feature):
        duck = Duck(data)
        try:
            expected = Counter(duck.rows(query.sql.duck.replace("$GLOBAL", "")))
            sql = query.sql.flink.replace("$GLOBAL", "")
            found = final_rows(restored_changes(sql, data, seed))
        except NotComparable:
            continue
        if found != expected and "global" in query.features:
            # Flink's streaming mode returns no group of all rows as long as there is none.
            expected = Counter(duck.rows(query.sql.duck.replace("$GLOBAL", " HAVING COUNT(*) > 0")))
        assert found == expected, f"seed {seed}: {sql}\n{data}"
        compared += bool(expected)
        if compared == OF_EACH:
            return
