"""Joins, queries in conditions and set operations against what real Flink returned (``goldens/sql_joins.json``)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.differential.canonical import canonical
from tests.unit.table.aggregate_cases import DIFFERENTIAL, materialized
from tests.unit.table.join_cases import Database
from wiesel.core.errors import ProgramError, SqlParseError

GOLDENS: dict[str, Any] = json.loads((DIFFERENTIAL / "goldens" / "sql_joins.json").read_text())


def queries(*sections: str) -> list[str]:
    """Return the queries below some of the headings."""
    section, found = "", []
    for line in (DIFFERENTIAL / "sql_joins.txt").read_text().splitlines():
        section = line[2:] if line.startswith("# ") else section
        if line and not line.startswith("#") and section in sections:
            found.append(line)
    return found


def left_by_flink(rows: list[list[Any]]) -> Any:
    """Return what is left of a recorded changelog. Where Flink sends no ``-U`` rows, the last column of these queries is the key."""
    kinds = {row[0] for row in rows}
    if "UPDATE_AFTER" in kinds and "UPDATE_BEFORE" not in kinds:
        rows = list({json.dumps(row[-1]): ["INSERT", *row[1:]] for row in rows}.values())
    return materialized([(kind, json.dumps(values)) for kind, *values in rows])


def check(query: str, parallelism: int = 1, mode: str = "STREAMING") -> None:
    database = Database(parallelism, mode)
    fields = database.t_env.sql_query(query)._plan.fields
    golden = GOLDENS[query]
    assert [field.data_type.as_summary_string() for field in fields] == [of.replace(" *ROWTIME*", "") for of in golden["types"]]
    assert [field.name for field in fields] == golden["names"]
    found = [(row.get_row_kind().name, json.dumps([canonical(value) for value in row])) for row in database.changes(query)]
    assert materialized(found) == left_by_flink(golden["rows"])
    assert mode != "BATCH" or all(kind == "INSERT" for kind, _ in found)


QUERIES = queries("Joins", "Queries in conditions", "Queries in ON", "Set operations")


@pytest.mark.parametrize("query", QUERIES)
def test_results_are_those_of_flink(query: str) -> None:
    check(query)


@pytest.mark.parametrize("query", QUERIES[::3])
def test_results_at_another_parallelism(query: str) -> None:
    check(query, 3)


@pytest.mark.parametrize("query", QUERIES[::2])
def test_final_rows_in_batch_mode(query: str) -> None:
    check(query, 2, "BATCH")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT id FROM orders AS o JOIN people AS p ON o.who = p.name AND ts > p.ts", "column `ts` is ambiguous"),
        ("SELECT * FROM orders LEFT JOIN people", "a LEFT JOIN needs a condition"),
        ("SELECT who FROM orders UNION SELECT name, city FROM people", "must have as many columns, these have 1 and 2"),
        ("SELECT id FROM orders WHERE who IN (SELECT name, city FROM people)", "compares 1 values with a query of 2 columns"),
        ("SELECT id FROM orders UNION SELECT name FROM people", "has types without a common one: INT and"),
    ],
)
def test_what_flink_refuses_is_refused(query: str, message: str) -> None:
    assert "fails" in GOLDENS[query]
    with pytest.raises(SqlParseError, match=message):
        Database().t_env.sql_query(query)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM orders AS o JOIN orders AS o ON TRUE", "there are two tables `o`"),
        (
            "SELECT o.id FROM orders AS o LEFT JOIN LATERAL (SELECT age FROM people WHERE name = o.who) AS p "
            "ON p.age > (SELECT MAX(age) FROM people)",
            "is not supported here",
        ),
        ("SELECT o.id FROM orders AS o JOIN people AS p ON o.id IN (SELECT age, name FROM people)", "compares 1 values with a query of 2"),
        ("SELECT o.id FROM orders AS o LEFT JOIN people AS p ON (SELECT MAX(age) FROM people)", "a condition must be BOOLEAN"),
    ],
)
def test_what_is_not_supported_is_refused(query: str, message: str) -> None:
    with pytest.raises(SqlParseError, match=message):
        Database().t_env.sql_query(query)


TOPS = queries("Top-N")


@pytest.mark.parametrize("query", TOPS)
def test_top_n_is_that_of_flink(query: str) -> None:
    check(query)


@pytest.mark.parametrize("query", TOPS[::2])
def test_top_n_at_another_parallelism(query: str) -> None:
    check(query, 3)


@pytest.mark.parametrize("query", TOPS[1::2])
def test_top_n_in_batch_mode(query: str) -> None:
    check(query, 2, "BATCH")


def test_order_by_in_batch_mode_keeps_the_order() -> None:
    found = [row[0] for row in Database(2, "BATCH").changes("SELECT id FROM orders ORDER BY amount DESC NULLS LAST, id")]
    assert found == [6, 8, 10, 2, 9, 11, 1, 4, 3, 7, 5, 12]


def test_sorting_without_end_is_refused_in_streaming() -> None:
    with pytest.raises(ProgramError, match="sorted or numbered up to a last place only"):
        Database().changes("SELECT id FROM orders ORDER BY amount")


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT id FROM orders LIMIT 0",
        "SELECT who, COUNT(*) FROM orders GROUP BY who ORDER BY who LIMIT 0 OFFSET 2",
        "SELECT id FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY who ORDER BY id) AS n FROM orders) AS t WHERE n < -5",
        "SELECT id, n FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY who ORDER BY id) AS n FROM orders) AS t WHERE n >= 3 AND n <= 2",
    ],
)
def test_no_place_has_no_rows(query: str, mode: str) -> None:
    assert Database(2, mode).changes(query) == []


def test_changes_of_one_row_do_not_overtake_each_other_behind_union() -> None:
    query = "SELECT COUNT(*) AS n FROM orders UNION ALL SELECT CAST(id AS BIGINT) FROM orders WHERE id > 10"
    for seed in range(30):
        database = Database(3, **{"wiesel.local.seed": str(seed), "execution.buffer-timeout.interval": "0 ms"})
        found = [(row.get_row_kind().name, str(row[0])) for row in database.changes(query)]
        assert materialized(found) == {"12": 2, "11": 1}


@pytest.mark.parametrize(
    ("options", "query"),
    [
        # Both sides of the union run in one subtask each, what reads it does not.
        ({}, "SELECT n FROM (SELECT COUNT(*) n FROM orders) WHERE n < 9 UNION SELECT s FROM (SELECT SUM(id) s FROM orders) WHERE s < 9"),
        # The join has another parallelism than what reads it.
        (
            {"table.exec.operator-parallelism": "Join:3"},
            "SELECT DISTINCT x FROM (SELECT o.id + 0 AS x, p.id AS y FROM orders o LEFT JOIN orders p ON o.id = p.id) WHERE y IS NULL",
        ),
    ],
)
def test_no_change_overtakes_the_one_before_it_on_the_way_to_several_subtasks(options: dict[str, str], query: str) -> None:
    changed = 0
    for seed in range(20):
        database = Database(2, **{"wiesel.local.seed": str(seed), "execution.buffer-timeout.interval": "0 ms"}, **options)
        found = [(row.get_row_kind().name, str(row[0])) for row in database.changes(query)]
        changed += bool(found)
        assert not materialized(found)
    assert changed
