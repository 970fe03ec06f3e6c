"""Joins within bounds of time: any of them is what brute force gives, comes out once, and keeps nothing that no row can be joined with."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from tests.unit.runtime.harness import OperatorHarness, Record
from wiesel.columnar.expressions import InputRef, Literal
from wiesel.columnar.functions.registry import call
from wiesel.columnar.row_batch import RowBatch
from wiesel.runtime.table.join.interval_join import IntervalJoinSpec, interval_join_operator
from wiesel.runtime.table.join.join_state import JoinSide
from wiesel.runtime.table.join.regular_join import JoinSpec
from wiesel.types import logical as t

TIME = pa.timestamp("ms")
ROWS = pa.schema([("k", pa.string()), ("id", pa.int64()), ("ts", TIME), ("n", pa.int64())])
PAIRS = pa.schema([pa.field(f"f{index}", of.type) for index, of in enumerate((*ROWS, *ROWS))])
Row = tuple[str | None, int, int, int]


def harness(kind: str, lower: int, upper: int, *, null_safe: bool = False, smaller: bool = True) -> OperatorHarness:
    # Times stand in a column of numbers, too: the bounds are part of the condition.
    left, right = InputRef(t.BigIntType(), 3), InputRef(t.BigIntType(), 7)
    difference = call("-", [left, right])
    parts = [call(">=", [difference, _number(lower)]), call("<=", [difference, _number(upper)])]
    if smaller:
        parts.append(call("<", [InputRef(t.BigIntType(), 1), InputRef(t.BigIntType(), 5)]))
    condition = parts[0]
    for part in parts[1:]:
        condition = call("AND", [condition, part])
    sides = (JoinSide((0,), (null_safe,), ROWS, True), JoinSide((0,), (null_safe,), ROWS, True))
    spec = IntervalJoinSpec(JoinSpec(kind, sides, condition, PAIRS), (2, 2), lower, upper)
    return OperatorHarness(interval_join_operator, payload=spec)


def _number(value: int) -> Literal:
    return Literal(t.BigIntType(False), value)


def batch(rows: list[Row]) -> RowBatch:
    columns = [
        pa.array(list(values), pa.int64() if of.type == TIME else of.type).cast(of.type)
        for values, of in zip(zip(*rows, strict=True), ROWS, strict=True)
    ]
    return RowBatch(pa.RecordBatch.from_arrays(columns, schema=ROWS))


def out(over: OperatorHarness, watermarks: list[int]) -> list[tuple[Any, ...]]:
    found = []
    for event in over.take():
        if isinstance(event, Record):
            columns = [column.cast(pa.int64()) if column.type == TIME else column for column in event.value.rows.columns]
            rows = list(zip(*(column.to_pylist() for column in columns), strict=True))
            assert event.value.kinds is None
            assert all(time is None or time > max(watermarks, default=-1) for row in rows for time in (row[2], row[6]))
            found += rows
        else:
            watermarks.append(event.timestamp)
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["INNER", "LEFT", "RIGHT", "FULL"])
@pytest.mark.parametrize("bounds", [(-10, 5), (0, 0), (3, 20), (-20, -4)])
def test_any_join_is_what_brute_force_gives(kind: str, bounds: tuple[int, int], seed: int) -> None:
    print("seed", seed)
    rng = random.Random(seed)
    lower, upper = bounds
    null_safe, smaller = rng.random() < 0.5, rng.random() < 0.5
    over = harness(kind, lower, upper, null_safe=null_safe, smaller=smaller)
    given: tuple[list[Row], list[Row]] = ([], [])
    found: list[tuple[Any, ...]] = []
    watermark, watermarks = 0, list[int]()
    over.watermark(watermark)
    for number in range(80):
        times = [watermark + 1 + rng.randrange(15) for _ in range(rng.randrange(1, 4))]
        rows = [(rng.choice(["a", "b", None]), 10 * number + place, time, time) for place, time in enumerate(times)]
        side = rng.randrange(2)
        given[side].extend(rows)
        over.push([batch(rows)], input_index=side)
        found += out(over, watermarks)
        if rng.random() < 0.2:
            over = over.restored(over.snapshot())
            over.watermark(watermark)
        if rng.random() < 0.5:
            watermark += rng.randrange(8)
            over.watermark(watermark)
        found += out(over, watermarks)
        for table, wait in zip(over.operator._tables, (-lower, upper), strict=True):
            kept = [row[3] + wait for _, _, entries in table.items() for row, _ in entries.values()]
            assert all(expiry > watermark for expiry in kept)
    over.watermark(10_000)
    found += out(over, [])
    assert not any(list(table.items()) for table in over.operator._tables)

    def fits(left: Row, right: Row) -> bool:
        equal = left[0] == right[0] and (null_safe or left[0] is not None)
        return equal and lower <= left[2] - right[2] <= upper and (not smaller or left[1] < right[1])

    none = (None,) * 4
    expected = [left + right for left in given[0] for right in given[1] if fits(left, right)]
    if kind in ("LEFT", "FULL"):
        expected += [left + none for left in given[0] if not any(fits(left, right) for right in given[1])]  # type: ignore[misc]
    if kind in ("RIGHT", "FULL"):
        expected += [none + right for right in given[1] if not any(fits(left, right) for left in given[0])]  # type: ignore[misc]
    assert Counter(found) == Counter(expected)


def test_late_rows_find_what_is_kept_and_are_not_kept_themselves() -> None:
    over = harness("LEFT", -10, 10, smaller=False)
    over.push([batch([("a", 1, 50, 50)])], input_index=1)
    over.watermark(55)
    over.take()
    over.push([batch([("a", 2, 41, 41), ("a", 3, 20, 20), ("a", 4, 44, 44)])])
    assert sorted(row[1:6:4] for row in out(over, [])) == [(2, 1), (3, None), (4, 1)]
    over.watermark(60)
    assert not any(list(table.items()) for table in over.operator._tables) and out(over, []) == []


def test_watermarks_wait_for_rows() -> None:
    over = harness("INNER", -10, 4)
    for watermark in (5, 30):
        over.watermark(watermark)
    over.end_input(2)
    assert over.watermarks[:2] == [-5, 20] and over.watermarks[-1] == 2**63 - 1
