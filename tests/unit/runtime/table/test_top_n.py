"""Top-N of random changelogs: what is left of the result is the Top-N of what is left of the input, sorted anew."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.runtime.harness import OperatorHarness
from tests.unit.runtime.table.test_join import replayed
from wiesel.columnar.row_batch import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, RowBatch
from wiesel.runtime.table.rank.top_n import TopNSpec, top_n_operator

SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int64()), ("n", pa.int32())])
NUMBERED = pa.schema([*SCHEMA, ("rn", pa.int64())])


def spec(**changes: Any) -> TopNSpec:
    """Return the Top-N by ``v`` descending with NULLs last, then ``n``."""
    numbered = changes.get("numbered", False)
    values: dict[str, Any] = {
        "partition": (0,),
        "keys": ((1, False, False), (2, True, True)),
        "latest_first": False,
        "first": 1,
        "last": 2,
        "numbered": False,
        "in_place": False,
        "appends": True,
        "schema": SCHEMA,
        "results": NUMBERED if numbered else SCHEMA,
    }
    return TopNSpec(**{**values, **changes})


def batch(changes: list[tuple[int, tuple[Any, ...]]]) -> RowBatch:
    columns = [pa.array(column, of.type) for column, of in zip(zip(*(row for _, row in changes), strict=True), SCHEMA, strict=True)]
    kinds = np.array([kind for kind, _ in changes], np.uint8)
    return RowBatch(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), kinds if kinds.any() else None)


def expected(rows: list[tuple[Any, ...]], of: TopNSpec) -> Counter[Any]:
    """Return the Top-N by its definition; rows differ in ``n``."""
    found: Counter[Any] = Counter()
    for key in {row[0] for row in rows} if of.partition else {None}:
        mine = [row for row in rows if not of.partition or row[0] == key]
        mine.sort(key=lambda row: (row[1] is None, -(row[1] or 0), row[2]))
        for place, row in enumerate(mine[of.first - 1 : of.last], of.first):
            found[(*row, place) if of.numbered else row] += 1
    return found


@pytest.mark.parametrize("appends", [True, False])
@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("bounds", [(1, 1), (1, 3), (2, 4)])
def test_random_changelogs(appends: bool, numbered: bool, bounds: tuple[int, int]) -> None:
    for seed in range(10):
        rng = random.Random(f"{appends} {numbered} {bounds} {seed}")
        partition = (0,) if seed % 3 else ()
        payload = spec(appends=appends, numbered=numbered, first=bounds[0], last=bounds[1], partition=partition)
        harness = OperatorHarness(top_n_operator, payload=payload)
        rows: list[tuple[Any, ...]] = []
        left: Counter[Any] = Counter()
        number = 0
        for step in range(8):
            changes: list[tuple[int, tuple[Any, ...]]] = []
            for _ in range(rng.choice([1, 2, 9])):
                number += 1
                fresh = (rng.choice(["a", "b", None]), rng.choice([1, 2, 3, 4, None]), number)
                old = rng.choice(rows) if rows and not appends and rng.random() < 0.5 else None
                if old is None:
                    changes.append((INSERT, fresh))
                    rows.append(fresh)
                    continue
                rows.remove(old)
                if rng.random() < 0.5:
                    changes.append((DELETE, old))
                else:
                    rows.append(fresh)
                    changes += [(UPDATE_BEFORE, old), (UPDATE_AFTER, fresh)]
            harness.push([batch(changes)])
            replayed(harness.values, left)
            harness.take()
            assert +left == expected(rows, payload), f"seed {seed}, step {step}"
            if step == 4:
                harness = OperatorHarness(top_n_operator, payload=payload, restore_from=harness.snapshot())


@pytest.mark.parametrize(("latest_first", "kept"), [(False, 1), (True, 4)])
def test_first_and_last_row_in_time_of_arrival(latest_first: bool, kept: int) -> None:
    harness = OperatorHarness(top_n_operator, payload=spec(keys=(), last=1, in_place=True, latest_first=latest_first))
    harness.push([batch([(INSERT, ("a", 5, 1)), (INSERT, ("b", 5, 2))])])
    harness.push([batch([(INSERT, ("a", 5, 3)), (INSERT, ("a", 5, 4))])])
    left: Counter[Any] = Counter()
    replayed(harness.values, left)
    assert +left == Counter({("a", 5, kept): 1, ("b", 5, 2): 1})
    later = harness.values[1:]
    assert [batch.kinds.tolist() for batch in later] == ([[UPDATE_BEFORE, UPDATE_AFTER]] if latest_first else [])


def test_batch_mode_sorts_all_rows_at_the_end() -> None:
    rng = random.Random(7)
    rows = [(rng.choice(["a", "b"]), rng.choice([1, 2, None]), number) for number in range(50)]
    payload = spec(partition=(), last=None)
    harness = OperatorHarness(top_n_operator, payload=payload, config={"execution.runtime-mode": "BATCH"})
    for start in range(0, 50, 10):
        harness.push([batch([(INSERT, row) for row in rows[start : start + 10]])])
    assert not harness.values
    harness.operator.finish()
    while harness.operator.has_more:
        harness.operator.finish()
    found = [tuple(row.values()) for each in harness.values for row in each.rows.to_pylist()]
    assert found == sorted(rows, key=lambda row: (row[1] is None, -(row[1] or 0), row[2]))
