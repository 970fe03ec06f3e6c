"""State of users' aggregates: after failures, and restored at another parallelism; against a computation of all rows at once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.differential.sql_events import ROWS
from tests.unit.table.aggregate_cases import EVENT_TYPES, add_events, event_rows
from tests.unit.table.test_aggregate_recovery import LATE, ON_TIME, left, seconds, time
from wiesel.common import Row, WatermarkStrategy
from wiesel.sql.session.translation import to_stream
from wiesel.table import DataTypes, ListView, StreamTableEnvironment, Table
from wiesel.table.expressions import col, lit
from wiesel.table.udf import AggregateFunction, TableAggregateFunction, udaf, udtaf
from wiesel.table.window import Tumble
from wiesel.testing import ManualSource, local_environment


class Texts(AggregateFunction[str, Any]):
    """The texts of a group, in order."""

    def create_accumulator(self) -> Any:
        return ListView()

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        accumulator.add(str(args[0]))

    def retract(self, accumulator: Any, *args: Any) -> None:
        rest = list(accumulator)
        rest.remove(str(args[0]))
        accumulator.clear()
        accumulator.add_all(rest)

    def get_value(self, accumulator: Any) -> str:
        return ",".join(sorted(accumulator))


class Greatest(TableAggregateFunction[Row, Any]):
    """The two greatest values of a group."""

    def create_accumulator(self) -> Any:
        return []

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        accumulator[:] = sorted([*accumulator, args[0]])[-2:]

    def emit_value(self, accumulator: Any) -> Iterator[Row]:
        for value in accumulator:
            yield Row(value)


texts = udaf(Texts(), result_type=DataTypes.STRING())
greatest = udtaf(Greatest(), result_type=DataTypes.ROW([DataTypes.FIELD("top", DataTypes.INT())]))


def by_key(rows: list[Any]) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = defaultdict(list)
    for row in rows:
        found[row[1]].append(row)
    return found


def shown(values: Any) -> str:
    return ",".join(sorted(map(str, values)))


def in_groups() -> Counter[Any]:
    return Counter((key, shown(row[0] for row in rows), len(rows)) for key, rows in by_key(ON_TIME).items())


def of_changes() -> Counter[Any]:
    return Counter([(shown(len(rows) for rows in by_key(ON_TIME).values()),)])


def in_windows() -> Counter[Any]:
    found: dict[Any, list[Any]] = defaultdict(list)
    for row in ON_TIME:
        found[row[1], seconds(row) // 10 * 10].append(row[0])
    return Counter((key, time(start), shown(ids)) for (key, start), ids in found.items())


def tops() -> Counter[Any]:
    return Counter((key, row[0]) for key, rows in by_key(ON_TIME).items() for row in sorted(rows)[-2:])


def tumbled(table: Table) -> Table:
    windowed = table.window(Tumble.over(lit(10).seconds).on(col("ts")).alias("w")).group_by(col("k"), col("w"))
    return windowed.select(col("k"), col("w").start.alias("start"), texts(col("id")).alias("ids"))


def counted(table: Table) -> Table:
    return table.group_by(col("k")).select(col("k"), col("id").count.alias("n")).select(texts(col("n")).alias("all"))


CASES: list[tuple[Callable[[Table], Table], Callable[[], Counter[Any]]]] = [
    (lambda e: e.group_by(col("k")).select(col("k"), texts(col("id")).alias("ids"), lit(1).count.alias("n")), in_groups),
    (counted, of_changes),
    (tumbled, in_windows),
    (lambda e: e.group_by(col("k")).flat_aggregate(greatest(col("id"))).select(col("k"), col("top")), tops),
]


def started(make: Callable[[Table], Table], source: ManualSource, parallelism: int, restore_from: Any = None) -> Any:
    env = local_environment(parallelism=parallelism, config={"table.local-time-zone": "UTC"})
    t_env = StreamTableEnvironment.create(env)
    add_events(t_env, env.from_source(source, WatermarkStrategy.no_watermarks(), "events", EVENT_TYPES))
    out = env.collect(to_stream(env, make(t_env.from_path("e"))._plan, changelog=True))
    return env.start(restore_from=restore_from), out


@pytest.mark.parametrize(("make", "expected"), CASES)
def test_results_after_failures_and_at_another_parallelism(
    make: Callable[[Table], Table], expected: Callable[[], Counter[Any]]
) -> None:
    rows = [row for row in event_rows() if row[0] not in LATE]
    assert len(rows) == len(ON_TIME) and len(ROWS) > len(rows)
    source = ManualSource(type_info=EVENT_TYPES)
    job, out = started(make, source, 2)
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
    job, out = started(make, source, 3, snapshot)
    with job:
        source.push_all(rows[21:])
        job.settle()
        job.fail()
        job.finish()
    assert left([*before, *out.committed]) == expected()
