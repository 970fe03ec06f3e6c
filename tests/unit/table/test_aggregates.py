"""GROUP BY and DISTINCT against what real Flink returned (``goldens/sql_aggregates.json``)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.differential.canonical import canonical
from tests.differential.sql_events import ROWS
from tests.unit.table.aggregate_cases import DIFFERENTIAL, Events, materialized
from wiesel.common import Row
from wiesel.core.errors import ProgramError, SqlParseError

GOLDENS: dict[str, Any] = json.loads((DIFFERENTIAL / "goldens" / "sql_aggregates.json").read_text())


def queries(*sections: str) -> list[str]:
    """Return the queries below some of the headings."""
    section, found = "", []
    for line in (DIFFERENTIAL / "sql_aggregates.txt").read_text().splitlines():
        section = line[2:] if line.startswith("# ") else section
        if line and not line.startswith("#") and section in sections:
            found.append(line)
    return found


def shown(values: list[Any]) -> str:
    return json.dumps([_rounded(value) for value in values])


def _rounded(value: Any) -> Any:
    """Leave out the digits that depend on the order of additions, and what a FLOAT has more in Python than in Java."""
    if isinstance(value, dict):
        return float(f"{float(value['__float__']):.6g}") if "__float__" in value else value
    if isinstance(value, list):  # the entries of a map
        return {"__dict__": sorted([entry["__tuple__"] for entry in value], key=json.dumps)}
    return value


def by_flink(query: str) -> Any:
    """Return what is left of a recorded changelog."""
    return materialized([(kind, shown(values)) for kind, *values in GOLDENS[query]["rows"]])


def check(query: str, parallelism: int = 1) -> None:
    events = Events(parallelism)
    fields = events.t_env.sql_query(query)._plan.fields
    assert [field.data_type.as_summary_string() for field in fields] == [of.replace(" *ROWTIME*", "") for of in GOLDENS[query]["types"]]
    assert [field.name for field in fields] == GOLDENS[query]["names"]
    found = [(row.get_row_kind().name, shown([canonical(value) for value in row])) for row in events.changes(query)]
    assert materialized(found) == by_flink(query)


WINDOWED = queries("Windows of tables", "Windows in GROUP BY")


@pytest.mark.parametrize("query", WINDOWED)
def test_windows_are_those_of_flink(query: str) -> None:
    check(query)


OVER = [
    query for query in queries("OVER") if not any(word in query for word in ("ROW_NUMBER", "3 PRECEDING AND CURRENT ROW) AS b"))
]


@pytest.mark.parametrize("query", OVER)
def test_rows_around_each_row_are_those_of_flink(query: str) -> None:
    check(query)


def test_frames_of_several_lengths_in_one_query() -> None:
    """Flink refuses them."""
    query = (
        "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS a, "
        "SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS b FROM e WHERE id < 12"
    )
    expected = []
    for row in ROWS[:11]:
        before = sorted((each for each in ROWS[:11] if each[1] == row[1] and each[-1] <= row[-1]), key=lambda each: each[-1])
        sums = [[each[2] for each in before[-count:] if each[2] is not None] for count in (2, 4)]
        expected.append((row[0], *(sum(values) if values else None for values in sums)))
    assert sorted(tuple(row) for row in Events().changes(query)) == expected


SECTIONS = ("Grouping sets", "Types and values", "DISTINCT and FILTER", "Keys and conditions", "Input that changes")
QUERIES = queries(*SECTIONS)
ORDERED = ("FIRST_VALUE", "LAST_VALUE", "LISTAGG", "COLLECT")


@pytest.mark.parametrize("query", QUERIES)
def test_results_are_those_of_flink(query: str) -> None:
    check(query)


@pytest.mark.parametrize("query", [query for query in QUERIES[::3] if not any(word in query for word in ORDERED)])
def test_results_at_another_parallelism(query: str) -> None:
    check(query, 3)


@pytest.mark.parametrize("query", [query for query in QUERIES[::4] if not any(part in query for part in ("100", "n < 5", "(n) AS a"))])
def test_batch_mode_returns_the_final_rows_only(query: str) -> None:
    found = Events(mode="BATCH").changes(query)
    assert all(row.get_row_kind().name == "INSERT" for row in found)
    assert materialized([("INSERT", shown([canonical(value) for value in row])) for row in found]) == by_flink(query)


def test_batch_mode_returns_a_row_for_no_rows() -> None:
    found = Events(mode="BATCH").changes("SELECT COUNT(*) AS n, SUM(v) AS s FROM e WHERE id > 100")
    assert found == [Row(0, None)]


def test_variances_of_whole_numbers_are_cut_off() -> None:
    """Flink adds row by row in binary fractions, so that its results may miss a whole number that is reached exactly."""
    for query in queries("Variances of whole numbers"):
        found = {row[0]: list(row)[1:] for row in Events().changes(query)}
        expected = {values[0]: values[1:] for _, *values in GOLDENS[query]["rows"]}
        assert found.keys() == expected.keys()
        for key, values in expected.items():
            assert all(0 <= mine - theirs <= 1 for mine, theirs in zip(found[key], values, strict=True))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT k, v FROM e GROUP BY k", "column 11: column `v` is neither in GROUP BY nor within an aggregate function"),
        ("SELECT k, SUM(k) FROM e GROUP BY k", "column 11: cannot apply 'SUM' to arguments of type \\(<STRING>\\)"),
        ("SELECT SUM(COUNT(*)) FROM e", "column 12: an aggregate function cannot stand within another one"),
        ("SELECT k FROM e WHERE COUNT(*) > 1 GROUP BY k", "column 23: aggregate functions cannot stand in WHERE"),
        ("SELECT * FROM e GROUP BY k", "\\* cannot be used with GROUP BY"),
        ("SELECT AVG(b) FROM e", "cannot apply 'AVG' to arguments of type \\(<BOOLEAN>\\)"),
        ("SELECT LISTAGG(v) FROM e", "cannot apply 'LISTAGG' to arguments of type \\(<INT>\\)"),
        ("SELECT id, LAST_VALUE(v) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts) AS s FROM e", "IGNORE NULLS and RESPECT NULLS with OVER"),
        ("SELECT id, RANK() OVER (PARTITION BY k) AS s FROM e", "RANK needs an ORDER BY"),
        ("SELECT id, RANK() OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM e", "RANK takes no ROWS or RANGE"),
        ("SELECT id, NTILE(v) OVER (ORDER BY ts) AS s FROM e", "a whole number from 1 on that is written out"),
        ("SELECT id, NTILE(0) OVER (ORDER BY ts) AS s FROM e", "a whole number from 1 on that is written out"),
        ("SELECT id, NTH_VALUE(v, 2) OVER (ORDER BY ts) AS s FROM e", "NTH_VALUE with OVER is not supported"),
        ("SELECT id, SUM(v) OVER (ORDER BY v, ts RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM e", "ORDER BY of one column"),
        ("SELECT id, SUM(v) OVER (ORDER BY ts ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING) FROM e", "ends before it begins"),
        (
            "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(v), INTERVAL '10' SECOND)) GROUP BY window_start",
            "`v` is a INT without watermark",
        ),
        (
            "SELECT window_start, COUNT(*) FROM TABLE(HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '7' SECOND, INTERVAL '10' SECOND)) "
            "GROUP BY window_start, window_end",
            "HOP needs a size that is a multiple of the slide",
        ),
        ("SELECT COUNT(*) FROM e GROUP BY TUMBLE(v, INTERVAL '10' SECOND)", "TUMBLE needs a column with the time of the rows"),
        (
            "SELECT TUMBLE_START(ts, INTERVAL '20' SECOND) FROM e GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)",
            "TUMBLE_START needs the same window in GROUP BY",
        ),
        ("SELECT SUM(*) FROM e", "\\* can be used in COUNT\\(\\*\\) only"),
    ],
)
def test_what_flink_refuses_is_refused(query: str, message: str) -> None:
    if query in GOLDENS:
        assert "fails" in GOLDENS[query]
    with pytest.raises(SqlParseError, match=message):
        Events().t_env.sql_query(query)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT id, LEAD(v) OVER (PARTITION BY k ORDER BY ts) AS s FROM e", "LEAD with OVER in the order of time"),
        ("SELECT id, SUM(v) OVER (PARTITION BY k) AS s FROM e", "OVER in a job without end needs an ORDER BY"),
        ("SELECT id, SUM(v) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM e", "need an ORDER BY of the time"),
        ("SELECT id, SUM(v) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM e", "up to the current one only"),
        (
            "SELECT k, SUM(v) OVER (ORDER BY ts) FROM "
            "(SELECT k, v, ts, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM e) WHERE n = 1",
            "read tables of new rows only",
        ),
    ],
)
def test_what_only_batch_mode_can_compute_of_rows_around_rows(query: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message) as caught:
        Events().changes(query)
    assert caught.value.hint


def test_streams_of_new_rows_do_not_take_changes() -> None:
    t_env = Events().t_env
    with pytest.raises(ProgramError, match="to_data_stream\\(\\) takes new rows only"):
        t_env.to_data_stream(t_env.sql_query("SELECT k, COUNT(*) AS n FROM e GROUP BY k"))


def test_arrays_of_all_values() -> None:
    query = "SELECT b, ARRAY_AGG(v) AS a FROM e WHERE id < 9 GROUP BY b"
    left = {row[0]: row[1] for row in Events().changes(query) if row.get_row_kind().name in ("INSERT", "UPDATE_AFTER")}
    assert left == {
        flag: [row[2] for row in ROWS[:8] if row[8] == flag] for flag in (True, False, None) if any(row[8] == flag for row in ROWS[:8])
    }
