"""Queries of Hive return what Hive returns (recorded by ``record_hive_queries.py``), in batch mode and on streams."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.unit.table.hive_tables import hive_environment, hive_text, same
from wiesel.core.errors import ProgramError
from wiesel.table import TableEnvironment
from wiesel.types.row import RowKind

FOLDER = Path(__file__).parents[2] / "differential"
GOLDENS = json.loads((FOLDER / "goldens" / "hive_queries.json").read_text())
RETURNING = [query for query, golden in GOLDENS.items() if "rows" in golden]
SORTED_OR_OVER = re.compile(
    r"^ordered: (?!.*LIMIT)|OVER \(PARTITION BY dept\)|FOLLOWING|WINDOW w|percentile|percent_rank|cume_dist|id > 100"
)
"""Queries that streams refuse as Flink does, as they need all rows at once; and one that returns nothing there: an aggregate of no rows."""


@pytest.fixture(scope="module")
def batch() -> TableEnvironment:
    return hive_environment("BATCH")


@pytest.fixture(scope="module")
def streaming() -> TableEnvironment:
    return hive_environment("STREAMING")


def rows_of(t_env: TableEnvironment, query: str) -> list[str]:
    """Return the rows of a query as Hive prints them, without those that were retracted."""
    found: list[str] = []
    table = t_env.sql_query(query)
    types = table.get_schema().get_field_data_types()
    with table.execute().collect() as rows:
        for row in rows:
            text = "\t".join(map(hive_text, row, types))
            if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER):
                found.append(text)
            else:
                found.remove(text)
    return found


def assert_same(found: list[str], wanted: list[str]) -> None:
    values, expected = ([row.split("\t") for row in rows] for rows in (found, wanted))
    assert [len(row) for row in values] == [len(row) for row in expected]
    assert all(same(*pair) for row, other in zip(values, expected, strict=True) for pair in zip(row, other, strict=True)), (found, wanted)


@pytest.mark.parametrize("query", RETURNING)
def test_batch_queries_return_the_rows_of_hive(query: str, batch: TableEnvironment) -> None:
    found, wanted = rows_of(batch, query.removeprefix("ordered: ")), GOLDENS[query]["rows"]
    if not query.startswith("ordered: "):
        found, wanted = sorted(found), sorted(wanted)
    assert_same(found, wanted)


@pytest.mark.parametrize("query", [query for query in RETURNING if not SORTED_OR_OVER.search(query)])
def test_streaming_queries_end_with_the_rows_of_hive(query: str, streaming: TableEnvironment) -> None:
    found = rows_of(streaming, query.removeprefix("ordered: "))
    assert_same(sorted(found), sorted(GOLDENS[query]["rows"]))


def test_sort_by_has_no_effect_on_streams(streaming: TableEnvironment) -> None:
    assert sorted(rows_of(streaming, "SELECT name FROM emp DISTRIBUTE BY dept SORT BY name")) == ["Ann", "Bob", "Cy", "Di", "Ed", "Flo"]
    with pytest.raises(ProgramError, match="without end rows can be sorted"):
        rows_of(streaming, "SELECT name FROM emp ORDER BY name")
