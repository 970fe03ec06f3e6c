"""The first row of each key by event time, against a plain count of what Flink's function does with one row after the other."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.unit.runtime.harness import OperatorHarness, Watermark
from wiesel.columnar.row_batch import RowBatch
from wiesel.runtime.table.rank.first_row import first_row_operator
from wiesel.runtime.table.rank.top_n import TopNSpec

SCHEMA = pa.schema([("number", pa.int64()), ("key", pa.int64()), ("part", pa.string()), ("ts", pa.timestamp("ms"))])
NUMBERED = SCHEMA.append(pa.field("place", pa.int64()))
TTL = 1_000
NEVER = -(2**63)
Row = tuple[int, int | None, str | None, int]


def spec(partition: tuple[int, ...], numbered: bool) -> TopNSpec:
    return TopNSpec(partition, ((3, True, False),), False, 1, 1, numbered, True, True, SCHEMA, NUMBERED if numbered else SCHEMA)


class OneByOne:
    """What Flink's ``RowTimeDeduplicateKeepFirstRowFunction`` keeps: a row per key that waits, and when a key has emitted one."""

    def __init__(self, partition: tuple[int, ...], ttl: int | None) -> None:
        self.partition, self.ttl = partition, ttl
        self.waiting: dict[Any, Row] = {}
        self.emitted: dict[Any, int] = {}
        self.watermark = NEVER
        self.late = 0

    def add(self, row: Row, now: int) -> None:
        key = tuple(row[index] for index in self.partition)
        if row[3] < self.watermark:
            self.late += 1
            return
        if key in self.emitted and (self.ttl is None or now < self.emitted[key] + self.ttl):
            return
        if key not in self.waiting or row[3] < self.waiting[key][3]:
            self.waiting[key] = row

    def advance(self, watermark: int, now: int) -> list[Row]:
        self.watermark = watermark
        due = [key for key, row in self.waiting.items() if row[3] <= watermark]
        for key in due:
            self.emitted[key] = now
        return sorted((self.waiting.pop(key) for key in due), key=lambda row: row[3])


def emitted(harness: OperatorHarness, numbered: bool) -> list[Row]:
    """Take what was emitted; the rows must be new ones."""
    found = []
    for each in harness.values:
        assert each.kinds is None
        columns = [*each.rows.columns[:3], each.rows.column(3).view(pa.int64())]
        found += list(zip(*(column.to_pylist() for column in columns), strict=True))
        assert not numbered or set(each.rows.column(4).to_pylist()) == {1}
    harness.take()
    return found


@pytest.mark.parametrize("backend", ["hashmap", "lmdb"])
@pytest.mark.parametrize("ttl", [None, TTL])
@pytest.mark.parametrize("partition", [(), (1,), (2,), (1, 2)])
def test_each_key_emits_its_first_row_once(partition: tuple[int, ...], ttl: int | None, backend: str, tmp_path: Path) -> None:
    restored = came_again = late = 0
    for seed in range(12):
        rng = random.Random(f"first row {partition} {ttl} {seed}")
        numbered = bool(seed % 2)
        config = {} if ttl is None else {"table.exec.state.ttl": ttl}
        arguments: dict[str, Any] = {"payload": spec(partition, numbered), "backend": backend, "config": config}
        harness = OperatorHarness(first_row_operator, local_dir=str(tmp_path / f"{seed}"), **arguments)
        model, time, now = OneByOne(partition, ttl), 0, 0
        keys = rng.choice([3, 40])
        came: dict[Any, int] = {}
        for step in range(60):
            rows = [
                (step * 100 + number, rng.choice([None, *range(keys)]), rng.choice([None, "a", "b"]), time + rng.randrange(-20, 60))
                for number in range(rng.randrange(1, 12))
            ]
            columns = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), SCHEMA, strict=True)]
            harness.push([RowBatch(pa.RecordBatch.from_arrays(columns, schema=SCHEMA))])
            for row in rows:
                model.add(row, now)
            assert emitted(harness, numbered) == []
            if rng.random() < 0.6:
                time += rng.randrange(1, 30)
                harness.watermark(time)
                assert harness.output[-1] == Watermark(time), "rows come before the watermark"
                found, expected = emitted(harness, numbered), model.advance(time, now)
                assert sorted(found) == sorted(expected), f"seed {seed}, step {step}"
                assert [row[3] for row in found] == [row[3] for row in expected]
                for row in found:
                    key = tuple(row[index] for index in partition)
                    came[key] = came.get(key, 0) + 1
            if rng.random() < 0.15:
                snapshot = harness.snapshot()
                harness = OperatorHarness(
                    first_row_operator, restore_from=snapshot, local_dir=str(tmp_path / f"{seed}-{step}"), clock_ms=now, **arguments
                )
                late += model.late
                model.late, model.watermark = 0, NEVER  # watermarks are not kept
                restored += 1
            if rng.random() < 0.2:
                now += rng.randrange(TTL)
                harness.clock.advance(now - harness.clock.now_ms())
        assert harness.metrics.value("numLateRecordsDropped") == model.late
        late += model.late
        came_again += sum(count > 1 for count in came.values())
    assert restored and late
    assert bool(came_again) == (ttl is not None), "a key comes again where what is known of it expires"


def test_what_waits_does_not_grow_with_the_rows_of_its_keys() -> None:
    harness = OperatorHarness(first_row_operator, payload=spec((1,), False))
    for start in range(0, 400_000, 1_000):
        keys = pa.array([number % 50 for number in range(1_000)])
        times = pa.array([10_000_000 - start - number for number in range(1_000)]).view(pa.timestamp("ms"))
        columns = [pa.array(range(start, start + 1_000)), keys, pa.nulls(1_000, pa.string()), times]
        harness.push([RowBatch(pa.RecordBatch.from_arrays(columns, schema=SCHEMA))])
    assert sum(len(batch) for _, batch in harness.operator._waiting) <= 11_000  # type: ignore[attr-defined]
    harness.watermark(10_000_000)
    assert len(emitted(harness, False)) == 50
