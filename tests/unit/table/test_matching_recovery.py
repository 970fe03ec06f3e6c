"""State of MATCH_RECOGNIZE: after failures, and restored at another parallelism in the middle of matches."""

from __future__ import annotations

import datetime
import random
from collections import Counter, defaultdict
from typing import Any

import pytest

from wiesel.columnar.expressions import InputRef
from wiesel.common import Row, Types, WatermarkStrategy
from wiesel.spi.table.schema import ResolvedSchema
from wiesel.sql.plan.relations import Project, StreamScan, WatermarkAssigner
from wiesel.sql.session.translation import to_stream
from wiesel.table import StreamTableEnvironment
from wiesel.testing import ManualSource, local_environment
from wiesel.types.logical import RowField, RowType
from wiesel.types.logical_parser import parse_data_type

START = datetime.datetime(2024, 1, 1)
COLUMNS = {"id": "INT", "k": "STRING", "price": "INT", "ts": "TIMESTAMP(3)", "wm": "TIMESTAMP(3)"}
ROW = Types.ROW_NAMED(list(COLUMNS), [Types.INT(), Types.STRING(), Types.INT(), Types.SQL_TIMESTAMP(), Types.SQL_TIMESTAMP()])
FALLS = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
 MEASURES A.id AS a, LAST(D.id) AS d, U.id AS u, COUNT(D.id) AS n, SUM(D.price) AS s
 AFTER MATCH SKIP PAST LAST ROW PATTERN (A D+ U)
 DEFINE D AS D.price < A.price AND COUNT(D.id) <= 3, U AS U.price > A.price)"""

Event = tuple[int, str, int, datetime.datetime]


def events(seed: int, count: int) -> list[Event]:
    """Return rows, some of them before those they follow in time."""
    chosen = random.Random(seed)  # noqa: S311 - a test
    rows = [(i, chosen.choice("abcde"), chosen.randrange(10), START + datetime.timedelta(seconds=i)) for i in range(count)]
    for i in range(0, count - 1, 7):
        rows[i], rows[i + 1] = rows[i + 1], rows[i]
    return rows


def expected(rows: list[Event]) -> Counter[Any]:
    """Return the matches by brute force: from each row the falls behind it, as long as they go on."""
    by_key: dict[str, list[Event]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row[3]):
        by_key[row[1]].append(row)
    found: Counter[Any] = Counter()
    for key, mine in by_key.items():
        begin = 0
        while begin < len(mine):
            end = begin + 1
            while end < len(mine) and end - begin <= 3 and mine[end][2] < mine[begin][2]:
                end += 1
            falls = mine[begin + 1 : end]
            if falls and end < len(mine) and mine[end][2] > mine[begin][2]:
                found[key, mine[begin][0], falls[-1][0], mine[end][0], len(falls), sum(row[2] for row in falls)] += 1
                begin = end + 1
            else:
                begin += 1
    return found


def started(source: ManualSource, parallelism: int, restore_from: Any = None) -> Any:
    env = local_environment(parallelism=parallelism)
    t_env = StreamTableEnvironment.create(env)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "rows", ROW)
    scan = StreamScan(stream, ResolvedSchema.physical(RowType([RowField(name, parse_data_type(of)) for name, of in COLUMNS.items()])))
    columns = [InputRef(field.data_type, place, field.name) for place, field in enumerate(scan.fields)]
    # The watermark is a column: its expression is not what is tested here.
    timed = WatermarkAssigner(scan, 3, columns[4])
    t_env._catalogs.create_temporary_view(t_env._catalogs.qualify("t"), Project(timed, tuple(columns[:4]), timed.fields[:4]))
    out = env.collect(to_stream(env, t_env.sql_query(FALLS)._plan, changelog=True))
    return env.start(restore_from=restore_from), out


@pytest.mark.parametrize(("before", "after"), [(1, 3), (2, 3), (3, 1)])
def test_matches_go_on_after_failures_and_at_another_parallelism(before: int, after: int) -> None:
    seed = 100 * before + after
    print(f"seed {seed}")
    rows = events(seed, 240)
    given = [Row(*row, row[3] - datetime.timedelta(seconds=2)) for row in rows]
    source = ManualSource(type_info=ROW)
    job, out = started(source, before)
    with job:
        source.push_all(given[:70])
        job.settle()
        job.checkpoint()
        source.push_all(given[70:130])
        job.settle()
        job.fail()
        job.settle()
        snapshot = job.checkpoint()
        committed = list(out.committed)
    assert committed
    job, out = started(source, after, snapshot)
    with job:
        source.push_all(given[130:])
        job.settle()
        job.fail()
        job.finish()
    found = Counter(tuple(row) for row in [*committed, *out.committed])
    assert len(expected(rows)) > len(committed)
    assert found == expected(rows)
