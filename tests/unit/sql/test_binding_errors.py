"""Errors of queries show their place: every place in the code of binding that refuses something is reached, and says where."""

from __future__ import annotations

import ast
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

import wiesel.sql.binding
from tests.differential.process_functions.functions import FUNCTIONS
from wiesel.common import Configuration
from wiesel.core.errors import SqlParseError
from wiesel.table import DataTypes, TableEnvironment
from wiesel.table.udf import AggregateFunction, TableAggregateFunction, udaf, udf, udtaf, udtf

QUERIES = (Path(__file__).parent / "binding_errors.txt").read_text().splitlines()
BINDING = Path(wiesel.sql.binding.__file__).parent
OTHERS = ("built.py", "hints.py", "lookups.py", "match_patterns.py", "matching.py", "state_ttl.py", "temporal.py")
"""Modules that have tests of their errors of their own."""
NOT_REACHED = {
    "DISTINCT ON is not supported": "the parser refuses it before",
    "is not a column of the table": "the columns of one table are not merged by a join",
    "windows of a number of rows go by processing time": "the Table API alone has them: tests/unit/table/test_count_windows.py",
    "a window counts rows or goes by time": "as above",
    "rows, each {slide} behind another": "as above",
    "of.as_summary_string()}\", hint=_parts(of))": "batch mode alone refuses it: the case agg_distinct_error_maps",
    "or {_STREAMING}": "batch mode alone refuses it: the cases group_nested_error_map and set_error_maps",
    "type(node).__name__.upper()} is not supported in FROM": "the parser reads nothing else there",
    "type(node).__name__.upper()} is not supported in this version": "the parser reads no other queries",
}


def environment() -> TableEnvironment:
    t_env = TableEnvironment.create(Configuration().set("wiesel.engine", "local"))
    t_env.execute_sql(
        "CREATE TABLE orders (id INT, who STRING, item STRING, amount INT, price DECIMAL(6, 2), flag BOOLEAN, tags ARRAY<STRING>, "
        "home ROW<street STRING>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen')"
    )
    t_env.execute_sql("CREATE MODEL shout INPUT (t STRING) OUTPUT (o STRING) WITH ('provider' = 'python', 'function' = 'builtins.str')")
    t_env.execute_sql("LOAD MODULE hive")
    t_env.create_temporary_system_function("letters", udtf(sorted, result_types=["STRING"]))
    t_env.create_temporary_system_function("plain", udf(len, result_type="INT"))
    t_env.create_temporary_system_function("latest", udaf(Latest(), result_type="INT"))
    t_env.create_temporary_system_function("latest_rows", udtaf(LatestRows(), result_type=DataTypes.ROW([])))
    for name in ("Counting", "Greeting", "Joining", "Multiples", "Passing", "Reminders", "Retracting", "RowUpserting"):
        t_env.create_temporary_system_function(name, FUNCTIONS[name])
    return t_env


class Latest(AggregateFunction[Any, list[Any]]):
    def create_accumulator(self) -> list[Any]:
        return []

    def accumulate(self, accumulator: list[Any], *args: Any) -> None:
        accumulator[:] = args

    def get_value(self, accumulator: list[Any]) -> Any:
        return accumulator[0]


class LatestRows(TableAggregateFunction[Any, list[Any]]):
    create_accumulator, accumulate = Latest.create_accumulator, Latest.accumulate

    def emit_value(self, accumulator: list[Any]) -> list[Any]:
        return accumulator


def refused(query: str) -> SqlParseError:
    with pytest.raises(SqlParseError) as caught:
        environment().sql_query(query)
    return caught.value


@pytest.mark.parametrize("query", QUERIES)
def test_an_error_shows_its_place(query: str) -> None:
    error = refused(query)
    first, shown, marks = error.message.splitlines()[:3]
    column = error.details["column"]
    assert first.startswith(f"line 1, column {column}: ")
    assert error.hint
    assert "^" in marks
    # The marks stand below what is at the column.
    assert shown[marks.index("^")] == query[column - 1]


def sites() -> dict[tuple[str, int], tuple[int, str]]:
    """Return the statements of binding that raise: module and first line, with the last line and the text."""
    found = {}
    for path in BINDING.glob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)):
            # A class alone, as in ``raise _UnknownPartError``, has no message: it is caught within binding.
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and path.name not in OTHERS:
                found[path.name, node.lineno] = (node.end_lineno or node.lineno, ast.get_source_segment(text, node) or "")
    return found


def passed(error: BaseException | None) -> set[tuple[str, int]]:
    """Return the lines of modules that an error came through."""
    found: set[tuple[str, int]] = set()
    while error is not None:
        trace: TracebackType | None = error.__traceback__
        found |= {(Path(frame.filename).name, frame.lineno or 0) for frame in traceback.extract_tb(trace) if "binding" in frame.filename}
        error = error.__cause__ or error.__context__
    return found


def test_every_place_that_refuses_something_is_reached() -> None:
    lines: set[tuple[str, int]] = set()
    for query in QUERIES:
        lines |= passed(refused(query))
    left = {
        place: text
        for place, (last, text) in sites().items()
        if not any((place[0], line) in lines for line in range(place[1], last + 1)) and not any(known in text for known in NOT_REACHED)
    }
    assert not left, "\n".join(f"{place}: {text}" for place, text in left.items())


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("SELECT idd FROM orders", "did you mean `id`?"),
        ("SELECT o.id FROM orders AS oo", "did you mean `oo`?"),
        ("SELECT id FROM odrers", "did you mean `orders`?"),
        ("SELECT UPPPER(who) FROM orders", "did you mean UPPER?"),
        ("SELECT o.home.sreet FROM orders AS o", "did you mean `street`?"),
        ("SELECT ordres.* FROM orders", "did you mean `orders`?"),
        ("SELECT id FROM orders GROUP BY idd", "did you mean `id`?"),
        ("SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(tss), INTERVAL '1' HOUR))", "did you mean `ts`?"),
        ("SELECT SUM(id) OVER ww FROM orders WINDOW w AS (ORDER BY ts)", "did you mean `w`?"),
        ("SELECT * FROM orders JOIN orders AS o USING (idd)", "did you mean `id`?"),
        ("SELECT TIMESTAMPDIFF(MINUT, ts, ts) FROM orders", "did you mean MINUTE?"),
        ("SELECT * FROM TABLE(TUMBEL(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR))", "did you mean TUMBLE?"),
        ("SELECT * FROM TABLE(letters('ab'))", "one of users is called as LATERAL TABLE(f(...)) AS t (a, b)"),
        ("SELECT id FROM orders WHERE who = \"a\"", "write strings between single quotes ('a'), names between backticks (`a`)"),
        ("SELECT id::BIGINT FROM orders", "write CAST(a AS INT) for a::INT"),
        ("SELECT id FROM orders WHERE id == 1", "write ="),
        ("SELECT * FROM TABLE(TUMBLE(DATA => TABLE orders, TIMECOOL => DESCRIPTOR(ts)))", "did you mean TIMECOL?"),
    ],
)
def test_what_was_probably_meant_is_said(query: str, meant: str) -> None:
    assert refused(query).hint == meant
