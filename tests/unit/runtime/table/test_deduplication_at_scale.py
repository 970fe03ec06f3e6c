"""M8: the first row of each of ever more keys: the work per row does not grow with the keys that are known, in memory and on disk."""

from __future__ import annotations

import random
import statistics
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.runtime.harness import OperatorHarness
from wiesel.columnar.row_batch import RowBatch
from wiesel.runtime.table.top_n import TopNSpec, top_n_operator

SCHEMA = pa.schema([("key", pa.string()), ("at", pa.int64())])
ROWS, BATCHES = 5_000, 32
MOST = 3.0
"""How many times as long as at the beginning a batch may take at the end, when there are 15 times as many keys."""


def spec() -> TopNSpec:
    """``ROW_NUMBER() OVER (PARTITION BY key ORDER BY at) = 1``."""
    return TopNSpec((0,), ((1, True, False),), False, 1, 1, False, True, True, SCHEMA, SCHEMA)


def batch(rng: random.Random, known: int, start: int) -> RowBatch:
    """Return rows in the order of their times: half of new keys, half of keys that have come."""
    new = [f"key-{known + number:09}" for number in range(ROWS // 2)]
    old = [f"key-{rng.randrange(max(known, 1)):09}" for _ in range(ROWS - len(new))]
    keys = new + (old if known else new)
    rng.shuffle(keys)
    return RowBatch(pa.RecordBatch.from_arrays([pa.array(keys), pa.array(np.arange(start, start + len(keys)))], schema=SCHEMA))


@pytest.mark.parametrize("backend", ["hashmap", "lmdb"])
def test_the_rate_holds_while_keys_grow(backend: str, tmp_path: Path) -> None:
    rng = random.Random(8)
    harness = OperatorHarness(top_n_operator, payload=spec(), backend=backend, local_dir=str(tmp_path))
    seconds, first = [], dict[str, int]()
    for number in range(BATCHES):
        rows = batch(rng, len(first), number * ROWS)
        for key, at in zip(*(column.to_pylist() for column in rows.rows.columns), strict=True):
            first.setdefault(key, at)
        before = time.process_time()
        harness.push([rows])
        seconds.append(time.process_time() - before)
    assert len(first) == ROWS // 2 * BATCHES
    found = [row for each in harness.values for row in each.rows.to_pylist()]
    assert len(found) == len(first) and {row["key"]: row["at"] for row in found} == first
    early, late = statistics.median(seconds[2:8]), statistics.median(seconds[-6:])
    assert late <= MOST * early, f"{ROWS} rows took {early:.3f} s at the beginning, {late:.3f} s with {len(first)} keys"
    print(f"{backend}: {ROWS / early:,.0f} rows/s at the beginning, {ROWS / late:,.0f} with {len(first):,} keys")
