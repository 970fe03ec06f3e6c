"""M8: the first row of each of ever more keys: the work per row does not grow with the keys that are known, in memory and on disk."""

from __future__ import annotations

import random
import re
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.runtime.harness import OperatorHarness
from wiesel.columnar.row_batch import RowBatch
from wiesel.runtime.table.rank.first_row import first_row_operator
from wiesel.runtime.table.rank.top_n import TopNSpec

pytestmark = pytest.mark.slow

SCHEMA = pa.schema([("key", pa.string()), ("at", pa.timestamp("ms"))])
ROWS, BATCHES = 5_000, 32
MOST = 3.0
"""How many times as long as at the beginning a batch may take at the end, when there are 15 times as many keys."""


def spec() -> TopNSpec:
    """``ROW_NUMBER() OVER (PARTITION BY key ORDER BY at) = 1``, where ``at`` is the event time."""
    return TopNSpec((0,), ((1, True, False),), False, 1, 1, False, True, True, SCHEMA, SCHEMA)


def batch(rng: random.Random, known: int, start: int) -> RowBatch:
    """Return rows in the order of their times: half of new keys, half of keys that have come."""
    new = [f"key-{known + number:09}" for number in range(ROWS // 2)]
    old = [f"key-{rng.randrange(max(known, 1)):09}" for _ in range(ROWS - len(new))]
    keys = new + (old if known else new)
    rng.shuffle(keys)
    return rows_of(keys, start)


def rows_of(keys: list[str], start: int) -> RowBatch:
    times = pa.array(np.arange(start, start + len(keys))).view(SCHEMA.field("at").type)
    return RowBatch(pa.RecordBatch.from_arrays([pa.array(keys), times], schema=SCHEMA))


@pytest.mark.parametrize("backend", ["hashmap", "lmdb"])
def test_the_rate_holds_while_keys_grow(backend: str, tmp_path: Path) -> None:
    rng = random.Random(8)
    harness = OperatorHarness(first_row_operator, payload=spec(), backend=backend, local_dir=str(tmp_path))
    seconds, first = [], dict[str, int]()
    for number in range(BATCHES):
        rows = batch(rng, len(first), number * ROWS)
        keys, times = rows.rows.columns
        for key, at in zip(keys.to_pylist(), times.to_pylist(), strict=True):
            first.setdefault(key, at)
        before = time.thread_time()
        harness.push([rows])
        harness.watermark((number + 1) * ROWS - 1)
        seconds.append(time.thread_time() - before)
    assert len(first) == ROWS // 2 * BATCHES
    found = [row for each in harness.values for row in each.rows.to_pylist()]
    assert len(found) == len(first) and {row["key"]: row["at"] for row in found} == first
    early, late = statistics.median(seconds[2:8]), statistics.median(seconds[-6:])
    assert late <= MOST * early, f"{ROWS} rows took {early:.3f} s at the beginning, {late:.3f} s with {len(first)} keys"
    print(f"{backend}: {ROWS / early:,.0f} rows/s at the beginning, {ROWS / late:,.0f} with {len(first):,} keys")


def deduplicate_within(backend: str, folder: str, more_mb: int, keys: int) -> None:
    """Deduplicate rows of ever new keys in a process that may take so much more memory than it has behind the first of them."""
    harness = OperatorHarness(first_row_operator, payload=spec(), backend=backend, local_dir=folder)
    found = 0
    for start in range(0, keys, ROWS):
        if start == 2 * ROWS:
            kilobytes = int(re.search(r"VmData:\s*(\d+)", Path("/proc/self/status").read_text())[1])  # type: ignore[index]
            resource.setrlimit(resource.RLIMIT_DATA, ((kilobytes << 10) + (more_mb << 20),) * 2)
        names = [f"key-{number:09}-{'long' * 15}" for number in range(start, start + ROWS)]
        try:
            harness.push([rows_of(names, start)])
            harness.watermark(start + ROWS - 1)
        except MemoryError:
            print(f"out of memory with {found} keys")
            return
        found += sum(map(len, harness.values))
        harness.take()
    print(f"{found} rows")


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is that of Linux")
@pytest.mark.parametrize("backend", ["hashmap", "lmdb"])
def test_keys_may_take_more_than_memory_on_disk(backend: str, tmp_path: Path) -> None:
    # In memory a key takes 300 bytes: what a process may take more is enough for a third of them.
    work = (backend, str(tmp_path), 64, 600_000)
    command = f"from tests.unit.runtime.table.{Path(__file__).stem} import deduplicate_within; deduplicate_within(*{work!r})"
    run = [sys.executable, "-c", command]
    done = subprocess.run(run, cwd=Path(__file__).parents[4], capture_output=True, text=True, check=True, timeout=170)
    written = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    if backend == "lmdb":
        assert done.stdout.strip() == "600000 rows"
        assert written > 3 * (64 << 20)
    else:
        assert re.fullmatch(r"out of memory with [1-4]\d{5} keys", done.stdout.strip())
