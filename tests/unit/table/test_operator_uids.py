"""State finds its operator when other parts of a program in SQL are edited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from tests.unit.sql.rules.plans import environment, plan
from tests.unit.table.aggregate_cases import EVENT_TYPES, add_events, event_rows
from wiesel.common import WatermarkStrategy
from wiesel.core.errors import WieselError
from wiesel.sql.plan.operator_uids import OperatorUids
from wiesel.sql.plan.relations import Relation, walk
from wiesel.sql.rules.optimizer import optimized
from wiesel.sql.session.translation import to_stream
from wiesel.table import StreamTableEnvironment
from wiesel.testing import ManualSource, local_environment

GROUPS = "SELECT k, COUNT(*) AS n, SUM(CAST(t AS INT)) AS total FROM small GROUP BY k"


def uid_of(
    sql: str, *others: str, kind: str = "Aggregate", views: tuple[str, ...] = (), options: Mapping[str, str] | None = None
) -> str | None:
    t_env = environment()
    for name, value in (options or {}).items():
        t_env.get_config().set(name, value)
    for view in views:
        t_env.execute_sql(view)
    roots: list[Relation] = optimized([plan(t_env, each) for each in (sql, *others)], t_env.get_config().get_configuration())
    (found,) = (each for each in walk(roots[0]) if each.name == kind)
    return OperatorUids().of(found)


COUNTED = "SELECT item, COUNT(*) AS n FROM orders WHERE id > 3 GROUP BY item"
JOINED = "SELECT a.item, b.price FROM orders AS a JOIN orders AS b ON a.id = b.id"


def test_what_makes_no_difference() -> None:
    expected = uid_of(COUNTED)
    assert uid_of("SELECT COUNT(*) AS m, item AS thing /* how many */ FROM orders WHERE id > 3 GROUP BY item") == expected
    assert uid_of(COUNTED, "SELECT day_, MAX(price) FROM orders GROUP BY day_") == expected
    view = "CREATE VIEW {} AS SELECT price, item AS thing, id FROM orders WHERE id > 3"
    for name in ("one", "other"):
        assert uid_of(f"SELECT thing, COUNT(*) FROM {name} GROUP BY thing", views=(view.format(name),)) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT item, COUNT(*) AS n FROM orders WHERE id > 4 GROUP BY item",
        "SELECT item, COUNT(id) AS n FROM orders WHERE id > 3 GROUP BY item",
        "SELECT day_, COUNT(*) AS n FROM orders WHERE id > 3 GROUP BY day_",
        "SELECT item, COUNT(*) AS n, MAX(price) FROM orders WHERE id > 3 GROUP BY item",
    ],
)
def test_what_makes_a_difference(sql: str) -> None:
    assert uid_of(sql) != uid_of(COUNTED)


FIRST = "SELECT item, at_ FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY at_) AS r FROM timed) WHERE r = 1"
TIMED = "CREATE TABLE timed (item STRING, at_ TIMESTAMP(3), WATERMARK FOR at_ AS at_) WITH ('connector' = 'datagen')"
MINI_BATCH = {"table.exec.mini-batch.enabled": "true", "table.exec.mini-batch.allow-latency": "1 s", "table.exec.mini-batch.size": "10"}


def test_first_rows_that_wait_for_the_watermark_take_no_state_of_those_that_come_at_once() -> None:
    at_once = uid_of(FIRST, kind="TopN", views=(TIMED,), options=MINI_BATCH)
    # That of an older version, which knew no other first rows: they are restored.
    assert at_once == "TopN-1240652d1145"
    assert uid_of(FIRST, kind="TopN", views=(TIMED,)) != at_once


def test_joins_are_told_by_what_they_keep() -> None:
    assert uid_of(JOINED, kind="Join") == uid_of("SELECT b.price + 1, a.item FROM orders AS a JOIN orders AS b ON a.id = b.id", kind="Join")
    assert uid_of(JOINED, kind="Join") != uid_of("SELECT a.item, b.day_ FROM orders AS a JOIN orders AS b ON a.id = b.id", kind="Join")


def test_equal_operators_of_one_job_have_numbers() -> None:
    uids = OperatorUids()
    assert [uids.unique("Sink(a)") for _ in range(3)] == ["Sink(a)", "Sink(a)#2", "Sink(a)#3"]


def _started(queries: list[str], view: str, source: ManualSource, restore_from: Any = None) -> Any:
    env = local_environment(parallelism=2)
    t_env = StreamTableEnvironment.create(env)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "events", EVENT_TYPES).uid("events")
    add_events(t_env, stream)
    t_env.create_temporary_view("small", t_env.sql_query(view))
    outs = [env.collect(to_stream(env, t_env.sql_query(query)._plan, changelog=True)) for query in queries]
    return env.start(restore_from=restore_from), outs[-1]


def _left(changes: list[Any], order: tuple[int, ...]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for row in changes:
        found[tuple(row[place] for place in order)] += 1 if row.get_row_kind().name in ("INSERT", "UPDATE_AFTER") else -1
    return +found


def test_an_edited_job_goes_on_from_the_state_of_the_old_one() -> None:
    rows = event_rows()
    source = ManualSource(type_info=EVENT_TYPES)
    job, out = _started([GROUPS], "SELECT k, t FROM e WHERE t IS NOT NULL", source)
    with job:
        source.push_all(rows[:20])
        job.settle()
        snapshot = job.checkpoint()
        before = list(out.committed)
    edited = "SELECT COUNT(*) AS many, SUM(CAST(number AS INT)) AS s, k AS letter FROM small GROUP BY k -- in another order"
    queries = ["SELECT v, COUNT(*) FROM e GROUP BY v", edited]
    job, out = _started(queries, "SELECT id, t AS number, k, v FROM e WHERE t IS NOT NULL", source, snapshot)
    with job:
        source.push_all(rows[20:])
        job.finish()
    after = _left(list(out.committed), (2, 0, 1))
    counts: Counter[Any] = Counter(row[1] for row in rows if row[7] is not None)
    touched = {row[1] for row in rows[20:]}
    expected = {(key, count, sum(row[7] for row in rows if row[1] == key and row[7] is not None)) for key, count in counts.items()}
    # Groups that were not touched since are among what the old job said.
    old = _left(before, (0, 1, 2))
    assert {row for row in after if row[0] in touched} | {row for row in old if row[0] not in touched} == expected


def test_state_of_another_computation_is_not_taken() -> None:
    source = ManualSource(type_info=EVENT_TYPES)
    job, _ = _started([GROUPS], "SELECT k, t FROM e", source)
    with job:
        source.push_all(event_rows()[:5])
        job.settle()
        snapshot = job.checkpoint()
    with pytest.raises(WieselError, match="Aggregate"):
        _started([GROUPS.replace("SUM", "MAX")], "SELECT k, t FROM e", source, snapshot)


def test_sliding_windows_take_the_state_of_older_versions() -> None:
    windows = "TABLE(HOP(TABLE timed, DESCRIPTOR(at_), INTERVAL '1' SECOND, INTERVAL '3' SECOND))"
    sql = f"SELECT item, COUNT(*) c FROM {windows} GROUP BY item, window_start, window_end"
    # That of an older version, which joined their slices in another order.
    assert uid_of(sql, kind="WindowAggregate", views=(TIMED,)) == "WindowAggregate-26ef766a810a"


def test_first_rows_of_counts_have_state_of_their_own_where_each_row_makes_changes() -> None:
    counts = "SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC, item) r FROM (SELECT item, COUNT(*) n FROM timed GROUP BY item)"
    sql = f"SELECT item, n FROM ({counts}) WHERE r < 3"
    by_row = uid_of(sql, kind="TopN", views=(TIMED,), options={"wiesel.table.changelog-per-record": "true"})
    assert by_row != uid_of(sql, kind="TopN", views=(TIMED,))
