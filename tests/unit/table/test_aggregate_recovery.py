"""State of aggregates: after failures, and restored at another parallelism."""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from tests.differential.sql_events import ROWS
from tests.unit.table.aggregate_cases import EVENT_TYPES, add_events, event_rows
from wiesel.common import WatermarkStrategy
from wiesel.sql.rules.mini_batches import ALLOW_LATENCY, ENABLED, SIZE
from wiesel.sql.rules.split_distinct import BUCKETS, SPLIT
from wiesel.sql.rules.two_phases import PHASES, RATE, SAMPLED
from wiesel.sql.session.translation import to_stream
from wiesel.table import StreamTableEnvironment
from wiesel.testing import ManualSource, local_environment

pytestmark = pytest.mark.slow

LATE = (15, 27, 33)
START = datetime.datetime(2024, 1, 1, 10)
ON_TIME = [row for row in ROWS if row[0] not in LATE]


def seconds(row: tuple[Any, ...]) -> int:
    return int((row[-1] - START).total_seconds())


def time(second: int) -> datetime.datetime:
    return START + datetime.timedelta(seconds=second)


def hopping() -> Counter[Any]:
    found: dict[Any, list[Any]] = defaultdict(list)
    for row in ON_TIME:
        start = seconds(row) // 10 * 10
        for begin in (start, start - 10):
            found[row[1], begin].append(row)
    return Counter(
        (key, time(begin), len(rows), sum(row[7] for row in rows), len({row[8] for row in rows} - {None}))
        for (key, begin), rows in found.items()
    )


def sessions() -> Counter[Any]:
    found: list[Any] = []
    for key in {row[1] for row in ON_TIME}:
        last = None
        for row in sorted((row for row in ON_TIME if row[1] == key), key=seconds):
            if last is None or seconds(row) - last > 8:
                found.append([key, time(seconds(row)), 0])
            last = seconds(row)
            found[-1][2] += 1
    return Counter(map(tuple, found))


def groups() -> Counter[Any]:
    by_key: dict[Any, list[Any]] = defaultdict(list)
    for row in ON_TIME:
        by_key[row[1]].append(row)
    return Counter(
        (key, len(rows), max(row[7] for row in rows), len({row[2] for row in rows} - {None}), rows[-1][0]) for key, rows in by_key.items()
    )


def changing() -> Counter[Any]:
    counts = Counter(row[1] for row in ON_TIME)
    sums = {key: sum(row[7] for row in ON_TIME if row[1] == key) for key in counts}
    return Counter([(min(counts.values()), max(sums.values()), len(counts))])


def running() -> Counter[Any]:
    found = []
    for row in ON_TIME:
        mine = sorted((each for each in ON_TIME if each[1] == row[1] and seconds(each) <= seconds(row)), key=seconds)
        texts, numbers = [each[1] for each in mine if each[1]], [each[2] for each in mine if each[2] is not None]
        bounds = (max(each[7] for each in mine), min(numbers, default=None), min(texts, default=None))
        found.append((row[0], sum(each[7] for each in mine), *bounds, len({each[2] for each in mine[-4:]} - {None})))
    return Counter(found)


CASES: list[tuple[str, Callable[[], Counter[Any]]]] = [
    (
        "SELECT k, window_start, COUNT(*) AS n, SUM(CAST(t AS INT)) AS s, COUNT(DISTINCT b) AS c FROM TABLE(HOP(TABLE e, DESCRIPTOR(ts), "
        "INTERVAL '10' SECOND, INTERVAL '20' SECOND)) GROUP BY k, window_start, window_end",
        hopping,
    ),
    (
        "SELECT k, window_start, COUNT(*) AS n FROM TABLE(SESSION(TABLE e PARTITION BY k, DESCRIPTOR(ts), INTERVAL '8' SECOND)) "
        "GROUP BY k, window_start, window_end",
        sessions,
    ),
    (
        "SELECT id, SUM(CAST(t AS INT)) OVER w AS s, MAX(t) OVER w AS x, MIN(v) OVER w AS i, FIRST_VALUE(k) OVER w AS f, "
        "COUNT(DISTINCT v) OVER (PARTITION BY k ORDER BY ts "
        "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS d FROM e WINDOW w AS (PARTITION BY k ORDER BY ts)",
        running,
    ),
    ("SELECT k, COUNT(*) AS n, MAX(t) AS x, COUNT(DISTINCT v) AS d, MAX(id) AS l FROM e GROUP BY k", groups),
    (
        "SELECT MIN(n) AS a, MAX(s) AS b, COUNT(*) AS c FROM (SELECT k, COUNT(*) AS n, SUM(CAST(t AS INT)) AS s FROM e GROUP BY k) AS g",
        changing,
    ),
]


WAYS: dict[str, dict[str, str]] = {
    "two phases": {},
    "one phase": {PHASES: "ONE_PHASE"},
    "rows as they are": {SAMPLED: "1", RATE: "0"},
    "mini-batches": {ENABLED: "true", ALLOW_LATENCY: "1 h", SIZE: "4"},
    "split": {SPLIT: "true", BUCKETS: "3", ENABLED: "true", ALLOW_LATENCY: "1 h", SIZE: "2"},
    "lmdb": {"state.backend.type": "lmdb"},
}
OTHER_WAYS = {"two phases": "one phase", "one phase": "mini-batches", "rows as they are": "two phases"}


def started(
    query: str,
    source: ManualSource,
    parallelism: int,
    restore_from: Any = None,
    zone: str = "UTC",
    start_time: int = 0,
    way: str = "two phases",
) -> Any:
    config = {"table.local-time-zone": zone, **WAYS[way]}
    env = local_environment(parallelism=parallelism, start_time=start_time, config=config)
    t_env = StreamTableEnvironment.create(env)
    add_events(t_env, env.from_source(source, WatermarkStrategy.no_watermarks(), "events", EVENT_TYPES))
    out = env.collect(to_stream(env, t_env.sql_query(query)._plan, changelog=True))
    return env.start(restore_from=restore_from), out


def left(changes: list[Any]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for row in changes:
        found[tuple(row)] += 1 if row.get_row_kind().name in ("INSERT", "UPDATE_AFTER") else -1
    assert min(found.values(), default=0) >= 0
    return +found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("query", "expected"), CASES)
def test_results_after_failures_and_at_another_parallelism(query: str, expected: Callable[[], Counter[Any]], way: str) -> None:
    rows = [row for row in event_rows() if row[0] not in LATE]
    source = ManualSource(type_info=EVENT_TYPES)
    job, out = started(query, source, 2, way=way)
    with job:
        source.push_all(rows[:13])
        job.settle()
        job.checkpoint()
        source.push_all(rows[13:21])
        job.settle()
        job.fail()
        job.settle()
        snapshot = job.checkpoint()
        before = list(out.committed)
    # State is the same in one phase and in two, however rows wait; only what is split is kept elsewhere.
    job, out = started(query, source, 3, snapshot, way=OTHER_WAYS.get(way, way))
    with job:
        source.push_all(rows[21:])
        job.settle()
        job.fail()
        job.finish()
    assert left([*before, *out.committed]) == expected()


@pytest.mark.parametrize("window", ["TUMBLE", "SESSION"])
def test_windows_of_processing_time(window: str) -> None:
    table = {
        "TUMBLE": "TUMBLE(TABLE timed, DESCRIPTOR(now), INTERVAL '10' SECOND)",
        "SESSION": "SESSION(TABLE timed PARTITION BY k, DESCRIPTOR(now), INTERVAL '10' SECOND)",
    }[window]
    query = (
        f"WITH timed AS (SELECT k, PROCTIME() AS now FROM e) SELECT k, window_start, COUNT(*) AS n FROM TABLE({table}) "
        "GROUP BY k, window_start, window_end"
    )
    source = ManualSource(type_info=EVENT_TYPES)
    job, out = started(query, source, 2)
    with job:
        job.set_processing_time(100_000)
        source.push_all(event_rows()[:4])
        job.settle()
        job.set_processing_time(109_000)
        source.push_all(event_rows()[4:5])
        job.settle()
        assert out.values == []
        job.checkpoint()
        job.fail()
        job.settle()
        job.set_processing_time(119_500)
        job.settle()
        starts = {"TUMBLE": (100, 100), "SESSION": (100, 109)}[window]
        first, second = (datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=start) for start in starts)
        assert left(out.values) == Counter({("a", first, 2): 1, ("b", first, 1): 1, (None, first, 1): 1, ("c", second, 1): 1})


@pytest.mark.parametrize("window", ["TUMBLE", "SESSION"])
def test_windows_of_processing_time_go_by_the_clocks_of_the_zone(window: str) -> None:
    """The night in which summer time ends in New York: the hour from one to two comes twice and is one window."""
    table = {
        "TUMBLE": "TUMBLE(TABLE timed, DESCRIPTOR(now), INTERVAL '1' HOUR)",
        "SESSION": "SESSION(TABLE timed PARTITION BY k, DESCRIPTOR(now), INTERVAL '1' HOUR)",
    }[window]
    timed = "WITH timed AS (SELECT k, PROCTIME() AS now FROM e WHERE k = 'a')"
    query = f"{timed} SELECT window_start, window_end, COUNT(*) AS n FROM TABLE({table}) GROUP BY k, window_start, window_end"
    one = int(datetime.datetime(2024, 11, 3, 5, 30, tzinfo=datetime.timezone.utc).timestamp()) * 1_000  # half past one, for the first time
    source = ManualSource(type_info=EVENT_TYPES)
    rows = [row for row in event_rows() if row[1] == "a"]
    job, out = started(query, source, 1, zone="America/New_York", start_time=one)
    with job:
        source.push_all(rows[:2])
        job.settle()
        job.set_processing_time(one + 3_600_000)  # half past one again
        source.push_all(rows[2:3])
        job.settle()
        assert out.values == []
        job.set_processing_time(one + 2 * 3_600_000)
        job.settle()
        start, end = {"TUMBLE": (1, 2), "SESSION": (1.5, 2.5)}[window]
        midnight = datetime.datetime(2024, 11, 3)
        borders = [midnight + datetime.timedelta(hours=hours) for hours in (start, end)]
        assert left(out.values) == Counter({(*borders, 3): 1})
