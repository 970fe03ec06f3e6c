"""State that has not been written for longer than its time to live is gone: results by a clock that the tests set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from wiesel.common import Row, Types, WatermarkStrategy
from wiesel.spi.table.schema import ResolvedSchema
from wiesel.sql.plan.relations import StreamScan
from wiesel.sql.session.translation import to_stream
from wiesel.table import StreamTableEnvironment
from wiesel.testing import ManualSource, local_environment
from wiesel.types.logical import RowField, RowType
from wiesel.types.logical_parser import parse_data_type

SECOND = 1_000
TYPES = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()])


class Run:
    """A query over the tables ``a`` and ``b``, to which rows are given at times of a clock."""

    def __init__(self, query: str, ttl: str | None) -> None:
        env = local_environment(parallelism=1, config={} if ttl is None else {"table.exec.state.ttl": ttl})
        t_env = StreamTableEnvironment.create(env)
        self.sources = {}
        row_type = RowType([RowField("k", parse_data_type("STRING")), RowField("v", parse_data_type("INT"))])
        for name in "ab":
            self.sources[name] = ManualSource(type_info=TYPES)
            stream = env.from_source(self.sources[name], WatermarkStrategy.no_watermarks(), name, TYPES)
            t_env._catalogs.create_temporary_view(t_env._catalogs.qualify(name), StreamScan(stream, ResolvedSchema.physical(row_type)))
        self.out = env.collect(to_stream(env, t_env.sql_query(query)._plan, changelog=True))
        self.job = env.start()
        self.seen = 0

    def at(self, second: float, table: str, *rows: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Return the changes that rows make at a time."""
        self.job.set_processing_time(int(second * SECOND))
        self.sources[table].push_all([Row(*row) for row in rows])
        self.job.settle()
        new = self.out.values[self.seen :]
        self.seen += len(new)
        return [(str(row.get_row_kind()), *row) for row in new]


def changes_at(query: str, ttl: str | None, steps: Sequence[tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
    run = Run(query, ttl)
    with run.job:
        return [run.at(*step) for step in steps]


JOIN = "SELECT {hint} a.v AS x, b.v AS y FROM a JOIN b ON a.k = b.k"
STEPS = [(1, "a", ("k", 1)), (2.5, "b", ("k", 2)), (3.75, "a", ("k", 3)), (5, "b", ("k", 4))]


@pytest.mark.parametrize(
    ("hint", "ttl", "expected"),
    [
        ("", None, [[], [(1, 2)], [(3, 2)], [(1, 4), (3, 4)]]),
        ("", "1 s", [[], [], [], []]),
        ("", "2 s", [[], [(1, 2)], [(3, 2)], [(3, 4)]]),
        ("/*+ STATE_TTL('a' = '1 s', 'b' = '1 d') */", None, [[], [], [(3, 2)], []]),
        ("/*+ STATE_TTL('b' = '1 s') */", None, [[], [(1, 2)], [], [(1, 4), (3, 4)]]),
        ("/*+ STATE_TTL('a' = '0 s') */", "1 s", [[], [(1, 2)], [], [(1, 4), (3, 4)]]),
    ],
)
def test_rows_of_each_side_of_a_join_expire_by_themselves(hint: str, ttl: str | None, expected: list[list[tuple[int, int]]]) -> None:
    found = changes_at(JOIN.format(hint=hint), ttl, STEPS)
    assert [sorted(row[1:] for row in step) for step in found] == expected
    assert {row[0] for step in found for row in step} <= {"+I"}


def test_the_sides_of_several_joins_have_their_own_times() -> None:
    query = (
        "SELECT /*+ STATE_TTL('x' = '1 s', 'y' = '3 s', 'z' = '1 d') */ x.v, y.v, z.v FROM a AS x JOIN b AS y ON x.k = y.k "
        "JOIN a AS z ON y.k = z.k AND z.v > 10"
    )
    # Of x and y the first pair is made at 0.5 s; what the first join keeps of x is gone at 2 s, what it keeps of y is not.
    steps = [(0, "a", ("k", 1)), (0.5, "b", ("k", 2)), (2, "b", ("k", 3)), (2.5, "a", ("k", 11))]
    found = [sorted(row[1:] for row in step) for step in changes_at(query, None, steps)]
    assert found == [[], [], [], [(1, 2, 11), (11, 2, 11), (11, 3, 11)]]


@pytest.mark.parametrize(
    ("hint", "ttl"), [("/*+ STATE_TTL('a' = '1 s') */", None), ("", "1 s"), ("/*+ STATE_TTL('t' = '1 s') */", "1 d")]
)
def test_groups_begin_anew(hint: str, ttl: str | None) -> None:
    table = "a AS t" if "'t'" in hint else "a"
    query = f"SELECT {hint} k, COUNT(*) AS n, COUNT(DISTINCT v) AS d FROM {table} GROUP BY k"
    steps = [(1, "a", ("k", 5), ("l", 1)), (1.75, "a", ("k", 5)), (2.5, "a", ("k", 6), ("l", 1)), (4, "a", ("k", 5))]
    assert changes_at(query, ttl, steps) == [
        [("+I", "k", 1, 1), ("+I", "l", 1, 1)],
        [("-U", "k", 1, 1), ("+U", "k", 2, 1)],
        [("-U", "k", 2, 1), ("+U", "k", 3, 2), ("+I", "l", 1, 1)],
        [("+I", "k", 1, 1)],
    ]


def test_an_update_without_a_change_is_sent_so_that_it_does_not_expire_further_down() -> None:
    steps = [(1, "a", ("k", 5)), (1.5, "a", ("k", 5))]
    assert changes_at("SELECT k, MAX(v) AS m FROM a GROUP BY k", "1 s", steps)[1] == [("-U", "k", 5), ("+U", "k", 5)]
    assert changes_at("SELECT k, MAX(v) AS m FROM a GROUP BY k", None, steps)[1] == []


def test_distinct_rows_are_new_again() -> None:
    steps = [(1, "a", ("k", 5)), (1.5, "a", ("k", 5)), (3, "a", ("k", 5))]
    assert changes_at("SELECT DISTINCT k FROM a", None, steps) == [[("+I", "k")], [], []]
    assert changes_at("SELECT DISTINCT k FROM a", "1 s", steps)[2] == [("+I", "k")]


TOP = "SELECT k, v{number} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM a) WHERE rn <= 1"


def test_top_n_forgets_partitions() -> None:
    steps = [(1, "a", ("k", 9)), (1.5, "a", ("k", 3)), (3, "a", ("k", 5))]
    assert changes_at(TOP.format(number=", rn"), None, steps) == [[("+I", "k", 9, 1)], [], []]
    assert changes_at(TOP.format(number=", rn"), "1 s", steps) == [[("+I", "k", 9, 1)], [], [("+I", "k", 5, 1)]]


@pytest.mark.parametrize(("order", "later"), [("ASC", []), ("DESC", [("-U", "k", 9), ("+U", "k", 3)])])
def test_deduplication_forgets_keys(order: str, later: list[tuple[Any, ...]]) -> None:
    query = (
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY now "
        f"{order}) AS rn FROM (SELECT *, PROCTIME() AS now FROM a)) WHERE rn = 1"
    )
    steps = [(1, "a", ("k", 9)), (1.5, "a", ("k", 3)), (4, "a", ("k", 5))]
    assert changes_at(query, "1 s", steps) == [[("+I", "k", 9)], later, [("+I", "k", 5)]]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, COUNT(*) AS n FROM a GROUP BY k",
        "SELECT x.k, y.v FROM a AS x JOIN a AS y ON x.k = y.k",
        "SELECT k FROM a UNION SELECT k FROM a",
    ],
)
def test_nothing_expires_in_batch_mode(query: str) -> None:
    """There the state is what the result is made of; a job may well take longer than its time to live."""
    found = []
    for ttl in ("0 s", "1 s"):
        env = local_environment(config={"table.exec.state.ttl": ttl, "execution.runtime-mode": "BATCH"})
        t_env = StreamTableEnvironment.create(env)
        source = ManualSource(type_info=TYPES)
        row_type = RowType([RowField("k", parse_data_type("STRING")), RowField("v", parse_data_type("INT"))])
        plan = StreamScan(env.from_source(source, WatermarkStrategy.no_watermarks(), "a", TYPES), ResolvedSchema.physical(row_type))
        t_env._catalogs.create_temporary_view(t_env._catalogs.qualify("a"), plan)
        out = env.collect(to_stream(env, t_env.sql_query(query)._plan))
        with env.start() as job:
            for second, key in ((1, "k"), (2, "l"), (4, "m"), (8, "k")):
                job.set_processing_time(second * SECOND)
                source.push(Row(key, second))
                job.settle()
            job.set_processing_time(20 * SECOND)
            job.finish()
        found.append(sorted(tuple(row) for row in out.values))
    assert found[0] == found[1] and found[0]
