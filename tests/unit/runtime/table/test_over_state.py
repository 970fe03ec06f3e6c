"""What OVER keeps: of keys that get no more rows, nothing for longer than a frame looks back."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.unit.runtime.harness import OperatorHarness, Record
from wiesel.columnar.aggregates.calls import BoundCall
from wiesel.columnar.aggregates.registry import Spec
from wiesel.columnar.row_batch import RowBatch
from wiesel.runtime.table.over.aggregate import OverSpec
from wiesel.runtime.table.over.unbounded import over_operator
from wiesel.types import logical as t

TIME = pa.timestamp("ms")
ROWS = pa.schema([("k", pa.string()), ("ts", TIME)])
PRECEDING = 100


def harness(*, by_rows: bool) -> OperatorHarness:
    count = BoundCall("COUNT", Spec((), t.BigIntType(False)), ())
    spec = OverSpec((0,), 1, False, by_rows, PRECEDING, (count,), pa.schema([*ROWS, ("n", pa.int64())]))
    return OperatorHarness(over_operator, payload={"spec": spec})


def batch(rows: list[tuple[str, int]]) -> RowBatch:
    keys, times = zip(*rows, strict=True)
    return RowBatch(pa.RecordBatch.from_arrays([pa.array(keys), pa.array(times, pa.int64()).cast(TIME)], schema=ROWS))


@pytest.mark.parametrize("restores", [False, True])
def test_keys_without_rows_are_forgotten_where_frames_are_times(restores: bool) -> None:
    over = harness(by_rows=False)
    sizes, counts = [], []
    for number in range(60):
        start = number * PRECEDING
        over.push([batch([(f"key{number}", start + offset) for offset in (0, 50, 99)] + [("all", start + 98)])])
        over.watermark(start + 99)
        snapshot = over.snapshot(number + 1)
        sizes.append(len(list(over.operator._table.items())))
        counts += [row for event in over.take() if isinstance(event, Record) for row in event.value.rows.column("n").to_pylist()]
        over = over.restored(snapshot) if restores else over
    assert max(sizes) <= 5
    assert counts == [1, 2, 1, 3] + [1, 2, 2, 3] * 59


def test_the_last_rows_of_each_key_stay_where_frames_are_rows() -> None:
    over = harness(by_rows=True)
    for number in range(10):
        over.push([batch([(f"key{number}", number * PRECEDING)])])
        over.watermark(number * PRECEDING)
    over.snapshot()
    assert len(list(over.operator._table.items())) == 10
