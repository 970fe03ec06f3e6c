"""Process table functions return what those in Java return in Flink; their state and timers are restored at another parallelism."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.differential.process_functions.functions import FUNCTIONS, Adding, Counting, Joining, Multiples, Sequence
from tests.differential.process_functions.record import SQL_CASES, UPSERTS, VIEWS, queries
from tests.unit.table.aggregate_cases import EVENT_TYPES, add_events, event_rows
from wiesel.common import Configuration, Row, WatermarkStrategy
from wiesel.core.errors import ProgramError, WieselError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.sql.session.translation import to_stream
from wiesel.table import ChangelogMode, DataTypes, ListView, MapView, Schema, StreamTableEnvironment, TableEnvironment
from wiesel.table.expressions import col, descriptor, lit
from wiesel.table.process_functions import ArgumentHint, ArgumentTrait, ProcessTableFunction, StateHint, udptf
from wiesel.testing import ManualSource, local_environment

HERE = Path(__file__).parents[2] / "differential" / "process_functions"
RECORDS = [json.loads(line) for line in (HERE / "goldens.jsonl").read_text().splitlines()]
GOLDENS = {golden["query"]: golden for golden in RECORDS}
SETS = ArgumentTrait.SET_SEMANTIC_TABLE
HOUR = datetime.timedelta(hours=1)


def environment(parallelism: int = 1, of: Any = TableEnvironment, **options: str) -> Any:
    config = Configuration().set("wiesel.engine", "local").set("parallelism.default", str(parallelism)).set("table.local-time-zone", "UTC")
    for key, value in options.items():
        config.set(key.replace("__", ".").replace("_", "-"), value)
    env = StreamExecutionEnvironment.get_execution_environment(config)
    t_env = of.create(config if of is TableEnvironment else env)
    for name in ("orders", "customers", "canal_products"):
        t_env.execute_sql((SQL_CASES / "tables" / f"{name}.sql").read_text().replace("${data}", str(SQL_CASES / "data")).strip(" ;\n"))
    for view in VIEWS:
        t_env.execute_sql(view)
    for name, function in FUNCTIONS.items():
        t_env.create_temporary_system_function(name, function)
    return t_env


def plain(kind: str) -> str:
    return kind.replace(" *ROWTIME*", "").removesuffix(" NOT NULL")


def rows_of(result: Any) -> Counter[tuple[str, ...]]:
    rows: Counter[tuple[str, ...]] = Counter()
    for kind, *values in result:
        rows[tuple(values)] += 1 if kind in ("+I", "+U") else -1
    return Counter({row: count for row, count in rows.items() if count})


def test_there_is_an_outcome_for_every_query() -> None:
    assert list(GOLDENS) == [*queries(), *UPSERTS]
    assert len(GOLDENS) == len(RECORDS)


@pytest.mark.parametrize("query", UPSERTS)
def test_upserts_are_those_of_flink(query: str) -> None:
    t_env = environment(of=StreamTableEnvironment)
    schema = Schema.new_builder().column("who", "STRING NOT NULL").column("total", "INT").column("mode", "STRING").primary_key("who")
    stream = t_env.to_changelog_stream(t_env.sql_query(query), schema.build(), ChangelogMode.upsert())
    with stream.execute_and_collect() as rows:
        found = [[str(row.get_row_kind()), *row] for row in rows]
    golden = GOLDENS[query]["upserts"]
    for who in {row[1] for row in golden}:
        assert [row for row in found if row[1] == who] == [row for row in golden if row[1] == who]
    assert len(found) == len(golden)


@pytest.mark.parametrize("query", queries())
def test_functions_return_what_flink_returns(query: str) -> None:
    golden = GOLDENS[query]
    if "error" in golden:
        with pytest.raises(WieselError) as caught:
            list(environment().execute_sql(query).text_rows())
        assert caught.value.hint
        return
    result = environment().execute_sql(query)
    columns = [[column.name, plain(column.data_type.as_summary_string())] for column in result.get_resolved_schema().columns]
    assert columns == [[name, plain(kind)] for name, kind in golden["columns"]]
    assert rows_of(result.text_rows()) == rows_of(golden["rows"])


def test_the_table_api_calls_them_as_sql_does() -> None:
    t_env = environment()
    orders, customers = t_env.from_path("orders"), t_env.from_path("customers")
    by_who = orders.partition_by(col("who"))
    reminders = "SELECT * FROM Reminders(input => TABLE orders PARTITION BY who, on_time => DESCRIPTOR(ts))"
    calls = {
        "SELECT * FROM Counting(input => TABLE orders PARTITION BY who)": by_who.process(Counting),
        "SELECT * FROM Multiples(input => TABLE orders, factor => 3)": orders.process(Multiples, 3),
        reminders: by_who.process("Reminders", descriptor("ts").as_argument("on_time")),
        "SELECT * FROM Joining(a => TABLE orders PARTITION BY who, b => TABLE customers PARTITION BY name)": t_env.from_call(
            Joining, by_who.as_argument("a"), customers.partition_by(col("name")).as_argument("b")
        ),
        "SELECT * FROM Sequence(input => TABLE readings PARTITION BY who ORDER BY (ts ASC, amount DESC))": t_env.from_path("readings")
        .partition_by(col("who"))
        .order_by(col("ts"), col("amount").desc)
        .process(Sequence),
        "SELECT * FROM Adding(1, 2)": t_env.from_call(Adding, lit(1).as_argument("a"), lit(2).as_argument("b")),
    }
    for query, table in calls.items():
        assert rows_of(table.execute().text_rows()) == rows_of(GOLDENS[query]["rows"]), query


@dataclass
class Seen:
    """Of a key."""

    count: int = 0
    latest: int = 0


@udptf(
    result_type="ROW<id INT, n INT, ids STRING, times INT>",
    arguments=[ArgumentHint("input", SETS)],
    states=[StateHint("seen", Seen), StateHint("ids", ListView), StateHint("kinds", MapView), StateHint("last", "ROW<id INT>")],
)
class Remembering(ProcessTableFunction):
    """Returns for each row how many there were, and the one before; an hour behind the last row of a key its end."""

    def eval(self, ctx: Any, seen: Seen, ids: Any, kinds: Any, last: Row, row: Row) -> Iterator[Row]:
        seen.count += 1
        ids.add(row.id)
        kinds[row.id % 3] = kinds[row.id % 3] + 1 if row.id % 3 in kinds else 1
        yield Row(last.id, seen.count, ",".join(map(str, ids)), kinds[row.id % 3])
        last.id = row.id
        ctx.time_context().register_on_time("end", ctx.time_context().time() + HOUR)

    def on_timer(self, ctx: Any, seen: Seen, ids: Any, kinds: Any, last: Row) -> Row:
        result = Row(-1, seen.count, f"{ctx.current_timer()} {last.id}", len(list(kinds)))
        ctx.clear_all()
        return result


def expected(rows: list[Any]) -> Counter[Any]:
    """Return what Remembering returns for all rows of each key at once."""
    found: Counter[Any] = Counter()
    for key in {row[1] for row in rows}:
        ids: list[int] = []
        for row in (row for row in rows if row[1] == key):
            kinds = [each % 3 for each in ids]
            found[key, ids[-1] if ids else None, len(ids) + 1, ",".join(map(str, [*ids, row[0]])), kinds.count(row[0] % 3) + 1] += 1
            ids.append(row[0])
        found[key, -1, len(ids), f"end {ids[-1]}", len({each % 3 for each in ids})] += 1
    return found


def test_state_and_timers_are_restored_at_another_parallelism() -> None:
    rows = event_rows()
    source = ManualSource(type_info=EVENT_TYPES)

    def started(parallelism: int, source: ManualSource, restore_from: Any = None) -> Any:
        env = local_environment(parallelism=parallelism, config={"table.local-time-zone": "UTC"})
        t_env = StreamTableEnvironment.create(env)
        add_events(t_env, env.from_source(source, WatermarkStrategy.no_watermarks(), "events", EVENT_TYPES))
        table = t_env.from_path("e").partition_by(col("k")).process(Remembering, descriptor("ts").as_argument("on_time"))
        out = env.collect(to_stream(env, table._plan, changelog=True))
        return env.start(restore_from=restore_from), out

    job, out = started(2, source)
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
    job, out = started(3, source, snapshot)
    with job:
        source.push_all(rows[21:])
        job.settle()
        job.fail()
        job.finish()
    assert Counter(tuple(row)[:-1] for row in [*before, *out.committed]) == expected(rows)


class Plain(ProcessTableFunction):
    def eval(self, row: Row) -> Row:
        return row


class Ringing(Plain):
    def on_timer(self) -> None:
        """Do nothing."""


ROW = StateHint("memory", "ROW<n INT>")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ArgumentHint("a"), "a value without a type"),
        (lambda: ArgumentHint("a", SETS, ArgumentTrait.ROW_SEMANTIC_TABLE), "several things at once"),
        (lambda: ArgumentHint("a", ArgumentTrait.ROW_SEMANTIC_TABLE, ArgumentTrait.OPTIONAL_PARTITION_BY), "has no partitions"),
        (lambda: ArgumentHint("a", ArgumentTrait.SUPPORT_UPDATES, data_type="INT"), "is no table"),
        (
            lambda: ArgumentHint("a", SETS, ArgumentTrait.SUPPORT_UPDATES, ArgumentTrait.PASS_COLUMNS_THROUGH),
            "takes updates, and passes columns through",
        ),
        (lambda: StateHint("s", "INT"), "give a row type, a class, ListView or MapView"),
        (lambda: udptf(len, "INT"), "is no process table function"),
        (lambda: udptf(Plain, None), "the result type of 'Plain' is None"),
        (lambda: udptf(Plain, "INT", [ArgumentHint("a", SETS)], [ROW]), r"declare eval\(self, \[ctx\], memory, a\)"),
        (lambda: udptf(Plain, "INT", [ArgumentHint("a", data_type="INT")], [ROW]), "has state, but no table with keys"),
        (lambda: udptf(Ringing, "INT", [ArgumentHint("a", SETS, ArgumentTrait.PASS_COLUMNS_THROUGH)]), "has timers, and passes"),
        (
            lambda: udptf(Plain, "INT", [ArgumentHint("a", SETS), ArgumentHint("b", ArgumentTrait.ROW_SEMANTIC_TABLE)]),
            "takes several tables",
        ),
    ],
)
def test_declarations_that_contradict_themselves_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        make()


class Wrong(ProcessTableFunction):
    def __init__(self, result: Any) -> None:
        self._result = result

    def eval(self, ctx: Any, row: Row) -> Any:
        return self._result(ctx, row)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda ctx, row: Row(1, 2), "returned a row of 2 values, but its result has 1 columns"),
        (lambda ctx, row: "text", "returned a value that does not fit its result type"),
        (lambda ctx, row: 1 // 0, "raised ZeroDivisionError"),
        (lambda ctx, row: ctx.time_context().register_on_time(row.ts), r"has no on_timer\(\)"),
        (lambda ctx, row: ctx.clear_state("memory"), "there is no state 'memory'"),
        (lambda ctx, row: ctx.table_semantics_for("other"), "there is no table argument 'other'"),
        (lambda ctx, row: ctx.time_context(str), r"time_context\(\) takes datetime or int"),
    ],
)
def test_functions_that_fail_are_named(result: Any, message: str) -> None:
    function = udptf(Wrong(result), DataTypes.INT(), [ArgumentHint("input", SETS)])
    table = environment().from_path("orders").partition_by(col("who")).process(function)
    with pytest.raises(WieselError, match=message):
        list(table.execute().text_rows())


def test_they_run_in_streaming_mode_only() -> None:
    table = environment(execution__runtime_mode="BATCH").from_path("orders").partition_by(col("who")).process(Counting)
    with pytest.raises(ProgramError, match="runs in streaming mode only"):
        table.execute()
