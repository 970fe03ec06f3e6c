"""When watermarks of tables are emitted, and when a subtask without rows is idle; times are those of Flink's rules."""

from __future__ import annotations

import datetime
import random
from typing import Any

import pyarrow as pa
import pytest

from tests.unit.runtime.harness import OperatorHarness, Status, Watermark
from wiesel.columnar.expressions import InputRef
from wiesel.columnar.row_batch import RowBatch
from wiesel.graph.specs import WATERMARKS_BY_ROW
from wiesel.runtime.table.watermark import WatermarkEmission, watermark_operator
from wiesel.types.logical import TimestampType

SCHEMA = pa.schema([("ts", pa.timestamp("ms"))])


def batch(*times: int) -> RowBatch:
    values = [datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=time) for time in times]
    return RowBatch(pa.RecordBatch.from_arrays([pa.array(values, SCHEMA.field(0).type)], schema=SCHEMA))


def harness(emission: WatermarkEmission = WatermarkEmission(), *, by_row: bool = False, **config: Any) -> OperatorHarness:  # noqa: B008 - it is frozen
    payload = {"column": 0, "name": "`ts`", "watermark": InputRef(TimestampType(3), 0, "ts"), "emission": emission}
    return OperatorHarness(watermark_operator, params={WATERMARKS_BY_ROW: by_row}, payload=payload, config=config)


def told(found: OperatorHarness) -> list[Any]:
    """Return what has come out since: times of rows, watermarks, and idleness."""
    events: list[Any] = []
    for event in found.take():
        if isinstance(event, Watermark):
            events.append(("watermark", event.timestamp))
        elif isinstance(event, Status):
            events.append("idle" if event.idle else "active")
        else:
            events.append([int(value.timestamp() * 1000) for value in _utc(event.value)])
    return events


def _utc(rows: RowBatch) -> list[datetime.datetime]:
    return [value.replace(tzinfo=datetime.timezone.utc) for value in rows.rows.column(0).to_pylist()]


def test_behind_every_so_many_rows() -> None:
    found = harness(WatermarkEmission("on-event", gap=3))
    found.push([batch(10, 30)])
    assert told(found) == [[10, 30]]
    found.push([batch(20, 15, 40, 50)])
    # The third row of all tells the greatest time so far, by which the fourth is late; the sixth tells again.
    assert told(found) == [[20], ("watermark", 30), [15, 40, 50], ("watermark", 50)]


def test_a_gap_does_not_depend_on_batches() -> None:
    for seed in range(30):
        rng = random.Random(f"gap {seed}")
        gap, times = rng.randrange(1, 5), [rng.randrange(100) for _ in range(20)]
        expected = []
        for number in range(gap, len(times) + 1, gap):
            expected.append(max(times[:number]))
        found = harness(WatermarkEmission("on-event", gap=gap))
        late, watermark, start = 0, -1, 0
        while start < len(times):
            size = rng.randrange(1, 6)
            found.push([batch(*times[start : start + size])])
            start += size
            for event in told(found):
                if isinstance(event, tuple):
                    watermark = event[1]
                else:
                    late += sum(time <= watermark for time in event)
        known = [max(times[: number // gap * gap], default=-1) for number in range(len(times))]
        assert late == sum(time <= bound for time, bound in zip(times, known, strict=True)), f"seed {seed}"
        assert watermark == max(expected), f"seed {seed}"


def by_interval(times: list[int], interval: int) -> list[int]:
    """Return the watermark before each row, and behind the last one, row by row."""
    found, greatest, last = [], 0, 0
    for time in times:
        found.append(last)
        greatest = max(greatest, time)
        if greatest - last > interval:
            last = greatest
    return [*found, last]


@pytest.mark.parametrize("by_row", [False, True])
def test_watermarks_come_where_they_advance_by_more_than_the_interval(by_row: bool) -> None:
    for seed in range(60):
        rng = random.Random(f"interval {seed}")
        interval, spread = rng.choice((0, 5, 50, 200)), rng.choice((3, 40, 400))
        times = [max(0, spread * n // 4 + rng.randrange(-spread, spread)) for n in range(60)]
        known = by_interval(times, interval)
        found = harness(by_row=by_row, **{"pipeline.auto-watermark-interval": interval})
        watermark, place, start = 0, 0, 0
        while start < len(times):
            size = rng.randrange(1, 20)
            found.push([batch(*times[start : start + size])])
            start += size
            for event in told(found):
                if isinstance(event, tuple):
                    watermark = event[1]
                    assert watermark == known[place], f"seed {seed}"
                    continue
                for time in event:
                    assert (time <= watermark) == (time <= known[place]), f"seed {seed}"
                    assert not by_row or watermark == known[place], f"seed {seed}"
                    place += 1
        assert watermark == known[-1], f"seed {seed}"


def test_the_clock_emits_what_has_not_advanced_far_enough() -> None:
    found = harness()
    found.push([batch(150, 200)])
    assert told(found) == [[150, 200]]
    found.advance_processing_time(200)
    assert told(found) == [("watermark", 200)]
    found.push([batch(400, 401, 300)])
    assert told(found) == [[400, 401], ("watermark", 401), [300]]


def test_by_the_clock() -> None:
    found = harness(WatermarkEmission("on-periodic"), **{"pipeline.auto-watermark-interval": 100})
    found.push([batch(10, 30, 20)])
    assert told(found) == [[10, 30, 20]]
    found.advance_processing_time(100)
    assert told(found) == [("watermark", 30)]
    found.advance_processing_time(100)
    assert told(found) == []


@pytest.mark.parametrize(
    ("emission", "config"),
    [
        (WatermarkEmission(idle_ms=500), {}),
        (WatermarkEmission(), {"table.exec.source.idle-timeout": "500 ms"}),
        (WatermarkEmission(idle_ms=500), {"table.exec.source.idle-timeout": "1 ms"}),
    ],
)
def test_no_rows_for_a_time(emission: WatermarkEmission, config: dict[str, Any]) -> None:
    found = harness(emission, **{"pipeline.auto-watermark-interval": 0, **config})
    found.push([batch(10)])
    assert told(found) == [[10], ("watermark", 10)]
    found.advance_processing_time(400)
    assert told(found) == []
    found.advance_processing_time(200)
    assert told(found) == ["idle"]
    found.advance_processing_time(1000)
    assert told(found) == []
    found.push([batch(20)])
    assert told(found) == ["active", [20], ("watermark", 20)]
    found.advance_processing_time(400)
    assert told(found) == []


def test_without_a_timeout_nothing_is_idle() -> None:
    found = harness()
    found.advance_processing_time(10_000)
    assert told(found) == []
