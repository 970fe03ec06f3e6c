"""Windows of a number of rows: window ``n`` of a key has its rows from ``n * slide`` on, and comes out when it is full."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from tests.unit.runtime.harness import OperatorHarness, Record
from wiesel.columnar.aggregates.calls import BoundCall
from wiesel.columnar.aggregates.registry import Spec
from wiesel.columnar.row_batch import RowBatch
from wiesel.common import Configuration
from wiesel.core.errors import ProgramError
from wiesel.runtime.table.window.count_windows import CountWindowSpec, count_window_operator
from wiesel.table import TableEnvironment
from wiesel.table.expressions import col, lit, row_interval
from wiesel.table.window import Slide, Tumble
from wiesel.types import logical as t

ROWS = [(place, "ab"[place * 7 % 5 % 2], None if place % 6 == 4 else place * place % 11) for place in range(37)]


def environment(mode: str = "STREAMING", parallelism: int = 2) -> TableEnvironment:
    config = Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", mode).set("parallelism.default", str(parallelism))
    t_env = TableEnvironment.create(config)
    values = ", ".join(f"({a}, '{b}', {'CAST(NULL AS INT)' if c is None else c})" for a, b, c in ROWS)
    t_env.execute_sql(f"CREATE TEMPORARY VIEW e AS SELECT a, b, c, PROCTIME() AS p FROM (VALUES {values}) AS t (a, b, c)")
    return t_env


def windows(rows: list[tuple[int, str, int | None]], size: int, slide: int) -> list[tuple[int, int | None, int]]:
    """Return sum, count and last number of each full window."""
    found = []
    for start in range(0, len(rows) - size + 1, slide):
        mine = [c for _, _, c in rows[start : start + size] if c is not None]
        found.append((sum(mine) if mine else None, len(mine), rows[start + size - 1][0]))
    return found


@pytest.mark.parametrize("size, slide", [(1, 1), (3, 3), (5, 5), (5, 2), (4, 1), (2, 5), (40, 40)])
@pytest.mark.parametrize("keyed", [True, False])
def test_windows_are_those_of_the_rows_of_each_key(size: int, slide: int, keyed: bool) -> None:
    table = environment().from_path("e")
    if size == slide:
        window = Tumble.over(row_interval(size)).on(col("p")).alias("w")
    else:
        window = Slide.over(row_interval(size)).every(row_interval(slide)).on(col("p")).alias("w")
    grouped = table.window(window).group_by(*([col("b")] if keyed else []), col("w"))
    result = grouped.select(*([col("b")] if keyed else []), col("c").sum, col("c").count, col("a").max)
    found = sorted((tuple(row) for row in result.execute().collect()), key=repr)
    if keyed:
        expected = [(key, *each) for key in "ab" for each in windows([row for row in ROWS if row[1] == key], size, slide)]
    else:
        expected = [tuple(each) for each in windows(ROWS, size, slide)]
    assert found == sorted(expected, key=repr)


def test_windows_that_are_not_full_are_restored() -> None:
    chance = random.Random(5)
    print("seed 5")
    schema = pa.schema([("b", pa.string()), ("c", pa.int32())])
    calls = (BoundCall("SUM", Spec((t.IntType(),), t.IntType()), (1,)),)
    for size, slide in ((3, 3), (5, 2), (2, 5)):
        spec = CountWindowSpec((0,), calls, size, slide, schema, pa.schema([("b", pa.string()), ("s", pa.int32())]))
        operator = OperatorHarness(count_window_operator, payload=spec)
        found: list[tuple[str, int | None]] = []
        left = list(ROWS)
        number = 0
        while left:
            count = chance.randrange(1, 6)
            part, left = left[:count], left[count:]
            arrays = [pa.array([row[1] for row in part]), pa.array([row[2] for row in part], pa.int32())]
            operator.push([RowBatch(pa.RecordBatch.from_arrays(arrays, schema=schema))])
            found += [tuple(row.values()) for event in operator.take() if isinstance(event, Record) for row in event.value.rows.to_pylist()]
            number += 1
            operator = operator.restored(operator.snapshot(number))
        for key in "ab":
            mine = [each[0] for each in windows([row for row in ROWS if row[1] == key], size, slide)]
            assert [value for name, value in found if name == key] == mine


def test_what_cannot_be_counted_is_refused() -> None:
    t_env = environment()
    table = t_env.from_path("e")
    mixed = Slide.over(row_interval(4)).every(lit(5).minutes).on(col("p")).alias("w")
    with pytest.raises(ProgramError, match="counts rows or goes by time"):
        table.window(mixed).group_by(col("w")).select(col("c").sum)
    with pytest.raises(ProgramError, match="go by processing time"):
        table.window(Tumble.over(row_interval(4)).on(col("a")).alias("w")).group_by(col("w")).select(col("c").sum)
    with pytest.raises(ProgramError, match="a window of 0 rows"):
        table.window(Tumble.over(row_interval(0)).on(col("p")).alias("w")).group_by(col("w")).select(col("c").sum)
    window = Tumble.over(row_interval(4)).on(col("p")).alias("w")
    with pytest.raises(ProgramError, match="which batch mode does not have"):
        environment("BATCH").from_path("e").window(window).group_by(col("w")).select(col("c").sum).execute()
