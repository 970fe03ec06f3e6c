"""Recorded changelogs and watermarks of Flink, row by row, on Spark with two subtasks."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.parity.conftest import SPARK_MASTER, time_limit
from wiesel.common import Configuration, Row, Types
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.table import StreamTableEnvironment

DIFFERENTIAL = Path(__file__).parents[1] / "differential"
sys.path.insert(0, str(DIFFERENTIAL))

import changelog_cases  # noqa: E402
import table_watermark_cases as watermark_cases  # noqa: E402
from record_table_programs import shown  # noqa: E402

from tests.unit.table.test_changelog_per_record import KINDS, TYPES  # noqa: E402
from tests.unit.table.test_table_watermarks import X  # noqa: E402

# Each with the columns by which its rows are partitioned: changes of one key are in order.
KEYED = {
    "count_sum/changes": (0,),
    "two_keys/changes": (0, 1),
    "top_numbered/changes": (1,),
    "over_rows/changes": (1,),
    "kept_last/new": (1,),
    "left_condition/joined_changes": (),
}
WATERMARKS = ("late_rows_alone", "windows_with_late_rows", "timers", "windows_with_lateness", "late_records_of_windows")


def environment(parallelism: int, **options: str) -> StreamExecutionEnvironment:
    settings = {"wiesel.engine": "spark", "wiesel.spark.master": SPARK_MASTER, "restart-strategy.type": "none", **options}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.set_parallelism(parallelism)
    return env


def tables(env: StreamExecutionEnvironment) -> StreamTableEnvironment:
    t_env = StreamTableEnvironment.create(env)
    t_env.get_config().set("table.local-time-zone", "UTC").set("wiesel.table.changelog-per-record", "true")
    return t_env


def source(env: StreamExecutionEnvironment, t_env: StreamTableEnvironment, given: str) -> None:
    """Register the input of cases as the table that their queries read."""
    columns = changelog_cases.SIDED if given.startswith("joined") else changelog_cases.COLUMNS
    rows = []
    for kind, values in changelog_cases.INPUTS[given]:
        rows.append(Row(*values))
        rows[-1].set_row_kind(KINDS[kind])
    stream = env.from_collection(rows, Types.ROW_NAMED([name for name, _ in columns], [TYPES[of] for _, of in columns]))
    t_env.create_temporary_view("t", t_env.from_data_stream(stream) if given == "new" else t_env.from_changelog_stream(stream))
    if given.startswith("joined"):
        for view, side in (("l", "L"), ("r", "R")):
            t_env.execute_sql(f"CREATE TEMPORARY VIEW {view} AS SELECT id, k, v, d, s FROM t WHERE side = '{side}'")


def together(streams: Iterable[tuple[str, Any]]) -> dict[str, list[list[Any]]]:
    """Run one job for all streams; return the records of each in their order."""
    tagged = [stream.map(lambda value, name=name: (name, value)) for name, stream in streams]
    found: dict[str, list[list[Any]]] = defaultdict(list)
    with time_limit(300):
        for name, value in tagged[0].union(*tagged[1:]).execute_and_collect():
            found[name].append(value)
    return found


def by_key(changes: list[list[Any]], columns: tuple[int, ...]) -> dict[str, list[list[Any]]]:
    found = defaultdict(list)
    for change in changes:
        found[repr([change[1 + column] for column in columns])].append(change)
    return found


def rows_left(changes: list[list[Any]]) -> dict[str, int]:
    """The rows that changes leave, with their number."""
    counts: dict[str, int] = defaultdict(int)
    for kind, *row in changes:
        counts[repr(row)] += 1 if kind[0] == "+" else -1
    return {row: count for row, count in counts.items() if count}


def test_rows_make_the_changes_that_they_make_in_flink() -> None:
    goldens = json.loads((DIFFERENTIAL / "goldens" / "changelogs.json").read_text(encoding="utf-8"))
    env = environment(2)
    environments: dict[str, StreamTableEnvironment] = {}
    streams = []
    for name in KEYED:
        given, sql = changelog_cases.CASES[name]
        if given not in environments:
            environments[given] = tables(env)
            source(env, environments[given], given)
        stream = environments[given].to_changelog_stream(environments[given].sql_query(sql))
        streams.append((name, stream.map(lambda row: [str(row.get_row_kind()), *map(shown, row)])))
    found = together(streams)
    for name, columns in KEYED.items():
        if columns:
            assert by_key(found[name], columns) == by_key(goldens[name], columns), name
        else:
            # Rows meet there that came by several ways: which one is the first is not defined.
            assert rows_left(found[name]) == rows_left(goldens[name]), name


def test_watermarks_come_between_rows_as_in_flink() -> None:
    goldens = json.loads((DIFFERENTIAL / "goldens" / "table_watermarks.json").read_text(encoding="utf-8"))
    # One subtask reads the rows, so that their order is known; two have the keys.
    env = environment(1, **{"table.exec.operator-parallelism": "WindowAggregate:2"})
    streams = []
    for name in WATERMARKS:
        t_env = tables(env)
        made = watermark_cases.CASES[name](X, env, t_env)
        if hasattr(made, "get_resolved_schema"):
            made = t_env.to_data_stream(made).map(lambda row: [shown(value) for value in row])
        streams.append((name, made.set_parallelism(2)))
    found = together(streams)
    for name in WATERMARKS:
        assert sorted(found[name], key=repr) == sorted(goldens[name], key=repr), name
