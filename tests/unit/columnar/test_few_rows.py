"""Few rows take other ways than many; what comes of them is the same."""

from __future__ import annotations

import datetime
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from wiesel.columnar.grouping import FEW, group_by
from wiesel.columnar.windows import milliseconds, timestamps

TIME = datetime.datetime(2024, 1, 1, 10, 0, 0, 123000)
VALUES: list[tuple[pa.DataType, list[Any]]] = [
    (pa.int64(), [1, 2, None, 0, -1]),
    (pa.int8(), [1, 0, None]),
    (pa.bool_(), [True, False, None]),
    (pa.string(), ["a", "", "\u00fc", None]),
    (pa.binary(), [b"a", b"", b"\xff", None]),
    (pa.timestamp("ns", "UTC"), [TIME, None, TIME + datetime.timedelta(microseconds=1)]),
    (pa.date32(), [TIME.date(), None, datetime.date(1969, 1, 1)]),
    (pa.time32("ms"), [datetime.time(1), None, datetime.time(2)]),
    (pa.float64(), [0.0, -0.0, float("nan"), None, 1.5]),
]


def test_groups_of_few_rows_are_those_that_they_are_among_many() -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    for _ in range(300):
        length = chance.randrange(1, 12)
        chosen = [chance.choice(VALUES) for _ in range(chance.randrange(1, 4))]
        rows = [tuple(chance.choice(values) for _, values in chosen) for _ in range(length)]
        # Behind them the first row again and again: the groups stay, and there are too many rows for the other way.
        more = [*rows, *[rows[0]] * FEW]
        few, many = (
            group_by([pa.array([row[place] for row in each], kind) for place, (kind, _) in enumerate(chosen)], len(each))
            for each in (rows, more)
        )
        assert few.count == many.count
        assert few.ids.tolist() == many.ids[:length].tolist()


@pytest.mark.parametrize("kind", [pa.timestamp("ms"), pa.timestamp("ms", "UTC"), pa.timestamp("us"), pa.timestamp("us", "UTC")])
def test_times_in_milliseconds_and_back(kind: pa.DataType) -> None:
    times = np.array([-1, 0, 1_704_103_200_123], np.int64)
    column = timestamps(times, kind)
    assert column.type == kind
    epoch = datetime.datetime(1970, 1, 1, tzinfo=None if kind.tz is None else datetime.timezone.utc)
    assert column.to_pylist() == [epoch + datetime.timedelta(milliseconds=each) for each in times.tolist()]
    assert milliseconds(column).tolist() == times.tolist()
