"""Joins FOR SYSTEM_TIME AS OF return what real Flink returned (``sql_joins.json``), and refuse what cannot be joined so."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.differential.canonical import canonical
from tests.differential.record_sql import VERSIONS
from tests.differential.sql_tables import WATERMARK
from tests.unit.runtime.harness import OperatorHarness, Record
from tests.unit.table.join_cases import Database
from tests.unit.table.test_joins import GOLDENS, left_by_flink, materialized
from wiesel.columnar.row_batch import DELETE, INSERT, RowBatch
from wiesel.core.errors import SqlParseError, WieselError
from wiesel.runtime.table.join.temporal_join import TemporalJoinSpec, temporal_join_operator
from wiesel.sql.catalog.relations import bind_text
from wiesel.sql.plan.relations import WatermarkAssigner

QUERIES = [query for query in GOLDENS if "FOR SYSTEM_TIME" in query and "fails" not in GOLDENS[query]]


def timed(parallelism: int = 1, mode: str = "STREAMING") -> Database:
    """Return the tables with event time, and one with versions."""
    database = Database(parallelism, mode)
    catalogs = database.t_env._catalogs
    for name in ("orders", "people"):
        plan = database.t_env.sql_query(f"SELECT * FROM {name}")._plan
        time = [field.name for field in plan.fields].index("ts")
        view = WatermarkAssigner(plan, time, bind_text(WATERMARK, plan.fields))
        catalogs.create_temporary_view(catalogs.qualify(f"timed_{name}"), view)
    database.t_env.execute_sql(VERSIONS.replace("FROM people", "FROM timed_people"))
    return database


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("query", QUERIES)
def test_versions_are_those_of_flink(query: str, parallelism: int) -> None:
    changes = timed(parallelism).changes(query.replace("FROM orders", "FROM timed_orders"))
    found = [(row.get_row_kind().name, json.dumps([canonical(value) for value in row])) for row in changes]
    assert materialized(found) == left_by_flink(GOLDENS[query]["rows"])


def test_there_are_recorded_queries() -> None:
    assert len(QUERIES) >= 3


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT o.id FROM timed_orders AS o RIGHT JOIN versions FOR SYSTEM_TIME AS OF o.ts AS p ON o.who = p.name", "a RIGHT JOIN with"),
        ("SELECT o.id FROM orders AS o JOIN versions FOR SYSTEM_TIME AS OF o.ts AS p ON o.who = p.name", "that has event time"),
        ("SELECT o.id FROM timed_orders AS o JOIN people FOR SYSTEM_TIME AS OF o.ts AS p ON o.who = p.name", "one column with event time"),
        ("SELECT o.id FROM timed_orders AS o JOIN timed_people FOR SYSTEM_TIME AS OF o.ts AS p ON o.who = p.name", "with a primary key"),
        ("SELECT o.id FROM timed_orders AS o JOIN versions FOR SYSTEM_TIME AS OF o.ts AS p ON o.item = p.city", "must compare the primary"),
        ("SELECT o.id FROM timed_orders AS o JOIN versions FOR SYSTEM_TIME AS OF o.ts AS p", "needs a condition"),
        (
            "SELECT o.id FROM timed_orders AS o JOIN points FOR SYSTEM_TIME AS OF o.ts AS p ON o.who = p.name",
            r"must have event time of the same type, these are TIMESTAMP\(3\) and TIMESTAMP_LTZ\(3\)",
        ),
    ],
)
def test_other_joins_are_refused(query: str, message: str) -> None:
    t_env = timed().t_env
    t_env.execute_sql(
        "CREATE TABLE points (name STRING, at TIMESTAMP_LTZ(3), WATERMARK FOR at AS at, PRIMARY KEY (name) NOT ENFORCED) "
        "WITH ('connector' = 'datagen')"
    )
    with pytest.raises(SqlParseError, match=message):
        t_env.sql_query(query)


def test_it_is_refused_in_batch_mode() -> None:
    with pytest.raises(WieselError, match="not supported in BATCH mode"):
        timed(mode="BATCH").changes(QUERIES[0].replace("FROM orders", "FROM timed_orders"))


RIGHT = pa.schema([("key", pa.string()), ("value", pa.int64()), ("since", pa.timestamp("ms"))])
LEFT = pa.schema([("id", pa.int64()), ("key", pa.string()), ("at", pa.timestamp("ms"))])


def join_harness() -> OperatorHarness:
    spec = TemporalJoinSpec(
        outer=True,
        left_keys=(1,),
        right_keys=(0,),
        left_time=2,
        right_time=2,
        width=3,
        condition=None,
        left=LEFT,
        right=RIGHT,
        schema=pa.schema([*LEFT, *(pa.field(f"{of.name}_", of.type) for of in RIGHT)]),
    )
    return OperatorHarness(temporal_join_operator, payload=spec)


def versions_of(harness: OperatorHarness) -> dict[Any, list[tuple[Any, Any]]]:
    """Return the versions that are kept of each key: since when, and the value (None for a deletion)."""
    kept = {key: value for key, _, value in harness.operator._versions.items()}
    return {key[0]: [(since, None if row is None else row[1]) for since, row in found] for key, found in kept.items()}


def rows_of(schema: pa.Schema, rows: list[tuple[Any, ...]], kinds: list[int] | None = None) -> RowBatch:
    times = ("at", "since")
    columns = [
        pa.array(values, pa.int64()).cast(of.type) if of.name in times else pa.array(values, of.type)
        for values, of in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    return RowBatch(pa.RecordBatch.from_arrays(columns, schema=schema), None if kinds is None else np.array(kinds, np.uint8))


def test_versions_that_the_watermark_has_passed_are_dropped() -> None:
    harness = join_harness()
    changes = [("a", 1, 10), ("a", 2, 20), ("a", 3, 30), ("b", 4, 10), ("b", 4, 25), ("c", 5, 50)]
    harness.push([rows_of(RIGHT, changes, [INSERT, INSERT, INSERT, INSERT, DELETE, INSERT])], input_index=1)
    harness.watermark(9)
    assert versions_of(harness) == {"a": [(10, 1), (20, 2), (30, 3)], "b": [(10, 4), (25, None)], "c": [(50, 5)]}
    harness.watermark(20)
    assert versions_of(harness) == {"a": [(20, 2), (30, 3)], "b": [(10, 4), (25, None)], "c": [(50, 5)]}
    harness.watermark(1_000)
    assert versions_of(harness) == {"a": [(30, 3)], "c": [(50, 5)]}


def test_rows_wait_for_the_watermark_also_over_a_restore() -> None:
    harness = join_harness()
    harness.push([rows_of(RIGHT, [("a", 1, 10)])], input_index=1)
    harness.push([rows_of(LEFT, [(1, "a", 12), (2, "a", 30), (3, "b", 12)])])
    harness = harness.restored(harness.snapshot())
    harness.push([rows_of(RIGHT, [("a", 2, 25)])], input_index=1)
    harness.watermark(29)
    assert sorted(row[::4] for row in values_of(harness)) == [(1, 1), (3, None)]
    harness = harness.restored(harness.snapshot())
    harness.watermark(30)
    assert [row[::4] for row in values_of(harness)] == [(2, 2)]
    harness.snapshot()
    assert not list(harness.operator._rows.items())


def values_of(harness: OperatorHarness) -> list[tuple[Any, ...]]:
    batches = [record.value for record in harness.output if isinstance(record, Record)]
    return [row for batch in batches for row in zip(*(column.to_pylist() for column in batch.rows.columns), strict=True)]


@pytest.mark.parametrize("seed", range(20))
def test_any_order_of_arrival_gives_what_is_true_at_the_time(seed: int) -> None:
    """Versions and rows may come in any order before the watermark."""
    rng = random.Random(seed)
    print("seed", seed)
    times = rng.sample(range(100), 30)
    versions = [(rng.choice("ab"), number, time) for number, time in enumerate(times)]
    lefts = [(number, rng.choice("abc"), rng.randrange(110)) for number in range(40)]
    harness = join_harness()
    events: list[tuple[int, Any]] = [*((1, row) for row in versions), *((0, row) for row in lefts)]
    limits = [0, 30, 60, 110]
    for start, end in zip([-1, *limits], limits, strict=False):
        now = [(side, row) for side, row in events if start < row[2] <= end]
        rng.shuffle(now)
        for side, row in now:
            harness.push([rows_of(RIGHT if side else LEFT, [row])], input_index=side)
        harness.watermark(end)

    def version_at(key: str, time: int) -> int | None:
        return max(((since, number) for name, number, since in versions if name == key and since <= time), default=(0, None))[1]

    assert sorted((row[0], row[4]) for row in values_of(harness)) == [(number, version_at(key, time)) for number, key, time in lefts]
    assert {key: len(kept) for key, kept in versions_of(harness).items()} == {key: 1 for key, _, _ in versions}
