"""Joins FOR SYSTEM_TIME AS OF processing time: each row gets what a table has for its key when the row comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.table.lookup_tables import ASKED, FAILURES, PEOPLE, SLOW, WAYS, forget
from wiesel.common import Configuration, Row, RowKind, Types, WatermarkStrategy
from wiesel.core.errors import ConfigurationError, SqlParseError, WieselError
from wiesel.spi.table.schema import ResolvedSchema
from wiesel.sql.catalog import table_factories
from wiesel.sql.plan.relations import StreamScan
from wiesel.sql.session.translation import to_stream
from wiesel.table import StreamTableEnvironment, TableEnvironment
from wiesel.testing import ManualSource, local_environment
from wiesel.types.logical import RowField, RowType
from wiesel.types.logical_parser import parse_data_type

TYPES = Types.ROW_NAMED(["id", "who"], [Types.INT(), Types.STRING()])
JOIN = "SELECT {hint} a.id, p.{column} FROM a {kind} JOIN people FOR SYSTEM_TIME AS OF a.now AS p ON a.who = p.name"


@pytest.fixture(autouse=True)
def _connector(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(table_factories._BUILT_IN, "people", "tests.unit.table.lookup_tables:PeopleFactory")
    forget()
    yield
    forget()


def environment(options: str = "", *, changes: bool = False, parallelism: int = 1, **config: str) -> tuple[Any, Any, ManualSource]:
    env = local_environment(parallelism=parallelism, config={key.replace("_", "."): value for key, value in config.items()})
    t_env = StreamTableEnvironment.create(env)
    source = ManualSource(type_info=TYPES)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "a", TYPES)
    row_type = RowType([RowField("id", parse_data_type("INT")), RowField("who", parse_data_type("STRING"))])
    kinds = frozenset(RowKind) if changes else frozenset({RowKind.INSERT})
    scan = StreamScan(stream, ResolvedSchema.physical(row_type), kinds)
    t_env._catalogs.create_temporary_view(t_env._catalogs.qualify("plain"), scan)
    t_env.execute_sql("CREATE TEMPORARY VIEW a AS SELECT *, PROCTIME() AS now FROM plain")
    t_env.execute_sql(
        f"CREATE TABLE people (name STRING, age INT, city STRING, old AS age > 30) WITH ('connector' = 'people' {options})"
    )
    return env, t_env, source


class Run:
    """A query to which rows are given at times of a clock."""

    def __init__(self, query: str, options: str = "", **settings: Any) -> None:
        env, t_env, self.source = environment(options, **settings)
        self.out = env.collect(to_stream(env, t_env.sql_query(query)._plan, changelog=True))
        self.job = env.start()
        self.seen = 0

    def push(self, *rows: Any, at: int | None = None) -> list[tuple[Any, ...]]:
        """Return the rows that come out when others go in together."""
        if at is not None:
            self.job.set_processing_time(at)
        self.source.push_all([row if isinstance(row, Row) else Row(*row) for row in rows])
        self.job.settle()
        return self.new()

    def new(self) -> list[tuple[Any, ...]]:
        found = self.out.values[self.seen :]
        self.seen += len(found)
        return [tuple(row) for row in found]


def rows(query: str, given: list[Any], options: str = "", **settings: Any) -> list[tuple[Any, ...]]:
    run = Run(query, options, **settings)
    with run.job:
        run.push(*given)
        run.job.finish()
        return [tuple(row) for row in run.out.values]


def asked() -> list[str]:
    """Return the names that were looked up."""
    return [name for keys in ASKED for (name,) in keys]


GIVEN = [(1, "ann"), (2, "eve"), (3, "cid"), (4, None), (5, "bob")]


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("parallelism", [1, 2])
def test_rows_of_the_table_stand_beside(way: str, parallelism: int) -> None:
    options = f", 'way' = '{way}'"
    inner = rows(JOIN.format(hint="", column="age", kind=""), GIVEN, options, parallelism=parallelism)
    assert Counter(inner) == Counter([(1, 31), (3, 25), (3, 26), (5, None)])
    left = rows(JOIN.format(hint="", column="city", kind="LEFT"), GIVEN, options, parallelism=parallelism)
    assert Counter(left) == Counter([(1, "Rome"), (2, None), (3, "Rome"), (3, "Bern"), (4, None), (5, "Oslo")])


@pytest.mark.parametrize("way", ["sync", "async"])
def test_conditions_computed_columns_and_constants(way: str) -> None:
    options = f", 'way' = '{way}'"
    more = JOIN.format(hint="", column="old", kind="LEFT")
    assert Counter(rows(f"{more} AND p.age > 25 AND a.id < 9", GIVEN, options)) == Counter(
        [(1, True), (2, None), (3, False), (4, None), (5, None)]
    )
    assert rows(f"{more.replace('LEFT', '')} AND p.city = 'Rome' AND p.old", GIVEN, options) == [(1, True)]
    assert sorted(key for keys in ASKED for key in keys)[-1] == ("eve", "Rome")


def test_a_view_that_filters_and_projects_is_asked() -> None:
    env, t_env, source = environment()
    t_env.execute_sql("CREATE TEMPORARY VIEW v AS SELECT UPPER(city) AS town, name AS who FROM people WHERE age < 26")
    query = "SELECT a.id, v.town FROM a LEFT JOIN v FOR SYSTEM_TIME AS OF a.now ON a.who = v.who"
    out = env.collect(to_stream(env, t_env.sql_query(query)._plan))
    source.push_all([Row(*row) for row in GIVEN])
    with env.start() as job:
        job.finish()
    assert sorted(map(tuple, out.values)) == [(1, None), (2, None), (3, "ROME"), (4, None), (5, None)]


def test_each_key_of_a_batch_is_asked_once_and_null_never() -> None:
    _, t_env, _ = environment()
    names = ["'ann'", "'ann'", "CAST(NULL AS STRING)", "'bob'", "'ann'", "'cid'"]
    given = ", ".join(f"({number}, {name})" for number, name in enumerate(names))
    batch = f"(SELECT *, PROCTIME() AS now FROM (VALUES {given}) AS v (id, who))"
    found = t_env.execute_sql(JOIN.format(hint="", column="city", kind="").replace("FROM a ", f"FROM {batch} AS a "))
    expected = [(0, "Rome"), (1, "Rome"), (4, "Rome"), (3, "Oslo"), (5, "Rome"), (5, "Bern")]
    assert Counter(map(tuple, found.collect())) == Counter(expected)
    assert ASKED == [[("ann",), ("bob",)], [("cid",)]]


def test_a_cache_remembers_for_some_time() -> None:
    run = Run(
        JOIN.format(hint="", column="age", kind="LEFT"), ", 'lookup.cache' = 'PARTIAL', 'lookup.partial-cache.expire-after-write' = '10 s'"
    )
    with run.job:
        assert run.push((1, "ann"), (2, "eve"), at=1_000) == [(1, 31), (2, None)]
        PEOPLE[0] = ("ann", 32, "Rome")
        PEOPLE.append(("eve", 7, "Rome"))
        assert run.push((3, "ann"), (4, "eve"), at=10_999) == [(3, 31), (4, None)]
        assert run.push((5, "ann"), (6, "eve"), at=11_000) == [(5, 32), (6, 7)]
    assert asked() == ["ann", "eve", "ann", "eve"]


def test_a_cache_forgets_what_is_not_asked_for_and_what_there_is_no_room_for() -> None:
    cache = "'lookup.cache' = 'PARTIAL', 'lookup.partial-cache.expire-after-access' = '10 s', 'lookup.partial-cache.max-rows' = '3'"
    run = Run(JOIN.format(hint="", column="age", kind=""), f", {cache}, 'lookup.partial-cache.cache-missing-key' = 'false'")
    with run.job:
        for at in (0, 9_000, 18_000):
            run.push((1, "ann"), (2, "eve"), at=at)
        assert asked() == ["ann", "eve", "eve", "eve"]
        run.push((3, "ann"), at=28_000)
        run.push((4, "cid"))  # ann and two rows of cid
        run.push((5, "ann"), (6, "cid"))
        assert asked()[4:] == ["ann", "cid"]
        run.push((7, "bob"))  # which makes ann go, the one that was not asked for longest
        run.push((8, "cid"), (9, "bob"))
        run.push((10, "ann"))
        assert asked()[6:] == ["bob", "ann"]


def test_a_full_cache_loads_the_table_now_and_then() -> None:
    cache = "'lookup.cache' = 'FULL', 'lookup.full-cache.periodic-reload.interval' = '1 min'"
    run = Run(JOIN.format(hint="", column="age", kind=""), f", {cache}")
    with run.job:
        assert run.push((1, "ann"), (2, "cid"), (3, "eve"), at=1_000) == [(1, 31), (2, 25), (2, 26)]
        PEOPLE[0] = ("ann", 32, "Rome")
        assert run.push((4, "ann"), at=60_999) == [(4, 31)]
        assert run.push((5, "ann"), at=61_000) == [(5, 32)]
    assert ASKED == [[], []]


@pytest.mark.parametrize(("hint", "expected"), [("", ["slow", "ann"]), ("'output-mode' = 'allow_unordered'", ["ann", "slow"])])
def test_asynchronous_results_leave_in_order_unless_they_need_not(hint: str, expected: list[str]) -> None:
    hint = f"/*+ LOOKUP('table' = 'p', {hint}) */" if hint else ""
    run = Run(JOIN.format(hint=hint, column="name", kind=""), ", 'way' = 'async'")
    with run.job:
        assert run.push((1, SLOW)) == []
        early = run.push((2, "ann"))
        run.job.advance_processing_time(6_000)
        run.job.settle()
        assert [name for _, name in [*early, *run.new()]] == expected


def test_no_more_lookups_run_at_a_time_than_the_hint_says() -> None:
    query = JOIN.format(hint="/*+ LOOKUP('table' = 'p', 'capacity' = '1') */", column="name", kind="")
    run = Run(query, ", 'way' = 'both'")
    with run.job:
        run.push((1, SLOW), (2, "ann"))
        assert len(ASKED) == 1
        run.job.advance_processing_time(6_000)
        run.job.settle()
        assert run.new() == [(1, "slow"), (2, "ann")]


def test_lookups_on_their_way_are_made_again_after_a_failure() -> None:
    run = Run(JOIN.format(hint="", column="name", kind=""), ", 'way' = 'async'")
    with run.job:
        run.push((1, SLOW), (2, "ann"))
        run.job.checkpoint()
        run.job.fail()
        run.job.settle()
        run.job.advance_processing_time(6_000)
        run.job.finish()
        assert [tuple(row) for row in run.out.committed] == [(1, "slow"), (2, "ann")]


@pytest.mark.parametrize(("hint", "way"), [("'async' = 'false'", "sync"), ("'async' = 'true'", "async"), ("", "async")])
def test_the_hint_chooses_between_both_ways(hint: str, way: str) -> None:
    hint = f"/*+ LOOKUP('table' = 'people', {hint}) */" if hint else ""
    query = JOIN.format(hint=hint, column="city", kind="").replace(" AS p", "").replace("p.", "people.")
    assert rows(query, [(1, "ann"), (2, "bob")], ", 'way' = 'both'") == [(1, "Rome"), (2, "Oslo")]
    assert {way} == WAYS


@pytest.mark.parametrize("way", ["sync", "async"])
def test_lookups_that_fail_are_tried_again(way: str) -> None:
    options = f", 'way' = '{way}', 'lookup.max-retries' = '2'"
    FAILURES[:] = [OSError("away"), OSError("away")]
    assert rows(JOIN.format(hint="", column="city", kind=""), [(1, "ann")], options) == [(1, "Rome")]
    assert len(ASKED) == 3
    FAILURES[:] = [OSError("away")] * 3
    with pytest.raises(WieselError, match="away"):
        rows(JOIN.format(hint="", column="city", kind=""), [(1, "ann")], options)


@pytest.mark.parametrize("way", ["sync", "async"])
def test_keys_without_a_row_are_asked_for_again(way: str) -> None:
    retry = "'retry-predicate' = 'lookup_miss', 'retry-strategy' = 'fixed_delay', 'fixed-delay' = '1 ms', 'max-attempts' = '2'"
    query = JOIN.format(hint=f"/*+ LOOKUP('table' = 'p', {retry}) */", column="city", kind="LEFT")
    assert Counter(rows(query, [(1, "ann"), (2, "eve")], f", 'way' = '{way}'")) == Counter([(1, "Rome"), (2, None)])
    assert [key for keys in ASKED for key in keys].count(("eve",)) == 3
    assert [key for keys in ASKED for key in keys].count(("ann",)) == 1


def test_changes_of_the_left_side_pass() -> None:
    run = Run(JOIN.format(hint="", column="city", kind=""), changes=True)
    with run.job:
        run.source.push_all([Row.of_kind(RowKind.INSERT, 1, "ann"), Row.of_kind(RowKind.UPDATE_BEFORE, 1, "ann")])
        run.source.push_all([Row.of_kind(RowKind.UPDATE_AFTER, 1, "bob"), Row.of_kind(RowKind.DELETE, 1, "bob")])
        run.job.settle()
        found = [(str(row.get_row_kind()), *row) for row in run.out.values]
    assert found == [("+I", 1, "Rome"), ("-U", 1, "Rome"), ("+U", 1, "Oslo"), ("-D", 1, "Oslo")]


@pytest.mark.parametrize("way", ["sync", "async"])
def test_in_batch_mode(way: str) -> None:
    t_env = TableEnvironment.create(Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", "BATCH"))
    t_env.execute_sql(f"CREATE TABLE people (name STRING, age INT, city STRING) WITH ('connector' = 'people', 'way' = '{way}')")
    given = "(SELECT *, PROCTIME() AS now FROM (VALUES (1, 'ann'), (2, 'eve')) AS v (id, who))"
    found = t_env.execute_sql(JOIN.format(hint="", column="city", kind="LEFT").replace("FROM a ", f"FROM {given} AS a "))
    assert sorted(map(tuple, found.collect())) == [(1, "Rome"), (2, None)]


HINT = JOIN.format(hint="/*+ LOOKUP({}) */", column="city", kind="")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (HINT.format("'async' = 'true'"), "LOOKUP does not say for which table"),
        (HINT.format("'table' = 'q'"), "LOOKUP names a table that is not in FROM: 'q'"),
        (HINT.format("'table' = 'p', 'asink' = 'true'"), "LOOKUP has no option 'asink'"),
        (HINT.format("'table' = 'p', 'async' = 'perhaps'"), "LOOKUP: 'async': "),
        (HINT.format("'table' = 'p', 'capacity' = '0'"), "LOOKUP: 'capacity': '0' is not above 0"),
        (HINT.format("'table' = 'p', 'output-mode' = 'wild'"), "'wild' is not one of ordered, allow_unordered"),
        (HINT.format("'table' = 'p', 'retry-predicate' = 'lookup_miss'"), "LOOKUP has 'retry-predicate', but not 'retry-strategy', "),
        (JOIN.format(hint="", column="city", kind="").replace("a.who = p.name", "a.who > p.name"), "there is nothing to look it up by"),
        (JOIN.format(hint="", column="city", kind="").replace("a.who = p.name", "p.name = 'ann'"), "there is nothing to look it up by"),
        (JOIN.format(hint="", column="city", kind="RIGHT"), "a RIGHT JOIN with FOR SYSTEM_TIME"),
        (JOIN.format(hint="", column="city", kind="").replace("JOIN people", "JOIN grouped"), "needs a table on its right side"),
    ],
)
def test_wrong_joins_and_hints(query: str, message: str) -> None:
    _, t_env, _ = environment()
    t_env.execute_sql("CREATE TEMPORARY VIEW grouped AS SELECT name, MAX(city) AS city FROM people GROUP BY name")
    with pytest.raises(SqlParseError, match=message):
        t_env.sql_query(query)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("'lookup.cache' = 'PARTIAL'", "a partial cache needs a limit"),
        ("'lookup.partial-cache.max-rows' = '5'", "is for 'lookup.cache' = 'PARTIAL'"),
        ("'lookup.cache' = 'FULL'", "goes with 'lookup.full-cache.periodic-reload.interval'"),
        ("'lookup.cache' = 'SOME'", "option lookup.cache: "),
        ("'lookup.cash' = 'NONE'", "unsupported options for 'people': lookup.cash"),
    ],
)
def test_wrong_options(options: str, message: str) -> None:
    env, t_env, _ = environment(f", {options}")
    with pytest.raises(ConfigurationError, match=message) as caught:
        to_stream(env, t_env.sql_query(JOIN.format(hint="", column="city", kind=""))._plan)
    assert caught.value.hint and "lookup for joining table" in str(caught.value)


def test_a_table_that_can_only_be_looked_up_cannot_be_read() -> None:
    env, t_env, _ = environment()
    with pytest.raises(WieselError, match="tables of connector 'people' can be looked up only, not read"):
        to_stream(env, t_env.sql_query("SELECT * FROM people")._plan)


def test_plans_tell_what_is_remembered() -> None:
    _, t_env, _ = environment(", 'lookup.cache' = 'PARTIAL', 'lookup.partial-cache.max-rows' = '5'")
    plan = t_env.explain_sql(JOIN.format(hint="", column="city", kind=""))
    assert "LookupJoin(joinType=[INNER], table=[default_catalog.default_database.people], lookup=[name=who]" in plan
