"""Slots of rows of which each is a group of its own: what the same rows come to among others."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from wiesel.columnar.aggregates.slots import Slot
from wiesel.columnar.grouping import Groups, group_by

COLUMNS = [
    pa.array([3, 1, 2], pa.int32()),
    pa.array([1.5, -0.0, 2.0]),
    pa.array(["b", None, "a"]),
    pa.array([Decimal("1.50"), Decimal("-2.00"), Decimal("0.00")], pa.decimal128(10, 2)),
    pa.array([datetime.date(2024, 1, 2), None, datetime.date(2024, 1, 1)]),
    pa.array([None, 7, 8], pa.int64()),
]
CASES = [
    *((how, column, column.type) for how in ("min", "max", "first", "last") for column in COLUMNS),
    ("sum", COLUMNS[0], pa.int64()),
    ("sum", COLUMNS[1], pa.float64()),
    ("sum", COLUMNS[3], pa.decimal128(38, 2)),
]


@pytest.mark.parametrize(("how", "column", "kind"), CASES)
def test_slots_are_those_that_the_rows_have_among_others(how: str, column: Any, kind: pa.DataType) -> None:
    slot = Slot(how, kind, Decimal(0) if pa.types.is_decimal(kind) else 0)
    alone = slot.reduce(column, Groups.each(len(column)))
    # The same groups with one more behind them, which has no rows: they are not apart then.
    among = slot.reduce(column, Groups(np.arange(len(column)), len(column) + 1)).slice(0, len(column))
    assert alone.type == among.type == kind
    assert list(map(repr, alone.to_pylist())) == list(map(repr, among.to_pylist()))


def test_which_groups_are_apart() -> None:
    assert group_by([pa.array(["x", None, "y"])], 3).apart
    assert Groups.each(0).apart
    assert not group_by([pa.array(["x", "y", "x"])], 3).apart
    assert not Groups(np.array([1, 0]), 2).apart
    assert not Groups.each(3).take(np.array([0, 2])).apart
