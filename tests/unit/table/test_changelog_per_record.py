"""With ``wiesel.table.changelog-per-record`` queries make the changelogs of real Flink (``tests/differential/record_changelogs.py``).

Where a row of a join has several partners, Flink goes through them in the order of its state; here they come in the order of their arrival.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

DIFFERENTIAL = Path(__file__).parents[2] / "differential"
sys.path.insert(0, str(DIFFERENTIAL))

import changelog_cases as cases  # noqa: E402
from record_table_programs import shown  # noqa: E402

from wiesel.common import Row, RowKind, Types, WatermarkStrategy  # noqa: E402
from wiesel.table import StreamTableEnvironment  # noqa: E402
from wiesel.testing import ManualSource, local_environment  # noqa: E402

GOLDENS = json.loads((DIFFERENTIAL / "goldens" / "changelogs.json").read_text(encoding="utf-8"))
KINDS = {"+I": RowKind.INSERT, "-U": RowKind.UPDATE_BEFORE, "+U": RowKind.UPDATE_AFTER, "-D": RowKind.DELETE}
TYPES = {"INT": Types.INT(), "STRING": Types.STRING(), "DOUBLE": Types.DOUBLE()}
WITHOUT_BEFORE = ("top_one_numbered/new", "top_one_numbered/new2")
"""Flink takes ``rn = 1`` out of the first rows and forgets that they change: its plan says that there are new rows only."""


def cut(changes: list[cases.Change], draw: random.Random, *, by_side: bool) -> list[list[cases.Change]]:
    """Cut changes into batches, which have rows of one side only: what comes first of two sides must stay so."""
    found = []
    start = 0
    while start < len(changes):
        end = min(len(changes), start + draw.choice((1, 2, 3, 5, 8, 13)))
        if by_side:
            side = changes[start][1][0]
            end = next((place for place in range(start, end) if changes[place][1][0] != side), end)
        found.append(changes[start:end])
        start = end
    return found


def changelog(name: str, batches: list[list[cases.Change]], options: dict[str, str]) -> list[list[Any]]:
    """Run a case; return what comes out of each batch."""
    given, sql = cases.CASES[name]
    # So that what is pushed at once goes on as one batch.
    env = local_environment(parallelism=1, config={"execution.buffer-timeout.interval": "10 ms"})
    t_env = StreamTableEnvironment.create(env)
    for key, value in {"table.local-time-zone": "UTC", **options}.items():
        t_env.get_config().set(key, value)
    columns = cases.SIDED if given.startswith("joined") else cases.COLUMNS
    info = Types.ROW_NAMED([column for column, _ in columns], [TYPES[of] for _, of in columns])
    source = ManualSource(type_info=info)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "changes")
    appends = all(kind == "+I" for kind, _ in cases.INPUTS[given])
    t_env.create_temporary_view("t", t_env.from_data_stream(stream) if appends else t_env.from_changelog_stream(stream))
    if given.startswith("joined"):
        for view, side in (("l", "L"), ("r", "R")):
            t_env.execute_sql(f"CREATE TEMPORARY VIEW {view} AS SELECT id, k, v, d, s FROM t WHERE side = '{side}'")
    out = env.collect(t_env.to_changelog_stream(t_env.sql_query(sql)))
    found: list[list[Any]] = []
    done = 0
    with env.start() as job:
        for batch in batches:
            rows = []
            for kind, values in batch:
                rows.append(Row(*values))
                rows[-1].set_row_kind(KINDS[kind])
            source.push_all(rows)
            job.advance_processing_time(100)
            found.append([[str(row.get_row_kind()), *map(shown, row)] for row in out.values[done:]])
            done = len(out.values)
    return found


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] if name.endswith("2") else []) for name in cases.CASES])
def test_changes_are_those_of_flink_however_rows_are_cut(name: str) -> None:
    given, _ = cases.CASES[name]
    seed = random.randrange(1 << 30)
    print("seed", seed)
    batches = cut(cases.INPUTS[given], random.Random(seed), by_side=given.startswith("joined"))
    found = changelog(name, batches, {"wiesel.table.changelog-per-record": "true"})
    rows = [row for each in found for row in each]
    if name in WITHOUT_BEFORE:
        rows = [row for row in rows if row[0] != "-U"]
    golden = GOLDENS[name]
    if rows == golden or not given.startswith("joined"):
        assert rows == golden
        return
    assert len(rows) == len(golden)
    start = 0
    for each in found:
        assert Counter(map(repr, each)) == Counter(map(repr, golden[start : start + len(each)]))
        start += len(each)


def test_every_case_is_recorded() -> None:
    assert list(GOLDENS) == list(cases.CASES)
    assert not [name for name, golden in GOLDENS.items() if isinstance(golden, dict)]


def test_without_the_option_a_group_changes_once_per_batch() -> None:
    # A task that has just started takes one record first, then more and more.
    changes = cases.INPUTS["new"]
    batches = [changes[:1], changes[1:2], changes[2:4], changes[4:8], changes[8:36]]
    found = changelog("in_all/new", batches, {})
    assert len(found[-1]) < 28
    assert found[-1][-1] == GOLDENS["in_all/new"][-1]


def test_phases_and_mini_batches_are_off() -> None:
    batches = [[("+I", (0, "a", 1, None, None)), ("+I", (1, "a", 2, None, None))]]
    options = {
        "wiesel.table.changelog-per-record": "true",
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "10 s",
        "table.exec.mini-batch.size": "100",
        "table.optimizer.agg-phase-strategy": "TWO_PHASE",
    }
    found = changelog("count_sum/new", batches, options)
    assert found == [[["+I", "a", 1, 1, 1], ["-U", "a", 1, 1, 1], ["+U", "a", 2, 2, 3]]]


@pytest.mark.parametrize("distributed", [False, True], ids=["one subtask", "by key"])
def test_changes_of_a_key_stay_in_their_order_with_two_subtasks(distributed: bool) -> None:
    env = local_environment(parallelism=2)
    t_env = StreamTableEnvironment.create(env)
    t_env.get_config().set("wiesel.table.changelog-per-record", "true")
    info = Types.ROW_NAMED([column for column, _ in cases.COLUMNS], [TYPES[of] for _, of in cases.COLUMNS])
    rows = []
    for kind, values in cases.INPUTS["changes"]:
        rows.append(Row(*values))
        rows[-1].set_row_kind(KINDS[kind])
    stream = env.from_collection(rows, info)
    if distributed:
        stream = stream.key_by(lambda row: row[1]).map(lambda row: row, info)
    t_env.create_temporary_view("t", t_env.from_changelog_stream(stream))
    changes = t_env.to_changelog_stream(t_env.sql_query(cases.CASES["count_sum/changes"][1]))
    found = [[str(row.get_row_kind()), *map(shown, row)] for row in changes.execute_and_collect()]
    for key in ("a", "b", "c", None):
        assert [row for row in found if row[1] == key] == [row for row in GOLDENS["count_sum/changes"] if row[1] == key]
