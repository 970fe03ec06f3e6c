"""Windows of processing time: they fire by the clock, with no input."""

from __future__ import annotations

from tests.unit.runtime.windows.support import aggregating, processing, results, state_size, windows
from wiesel.spi.windows import (
    ContinuousProcessingTimeTrigger,
    ProcessingTimeSessionWindows,
    SessionWindowTimeGapExtractor,
    SlidingProcessingTimeWindows,
    TumblingProcessingTimeWindows,
)


def shown(harness):
    return [(value[1], [v[1] for v in value[3]], t) for value, t in results(harness)]


def at(harness, now_ms, *records):
    harness.advance_processing_time(now_ms - harness.clock.now_ms())
    if records:
        harness.push([("k", r) for r in records])


def test_tumbling_windows_fire_when_the_clock_reaches_their_end():
    harness = windows(TumblingProcessingTimeWindows.of(1000), harness={"clock_ms": 300}, **processing())
    at(harness, 300, 1, 2)
    assert harness.asked_times == [999]
    at(harness, 998, 3)
    assert shown(harness) == []
    at(harness, 999)
    assert shown(harness) == [("TimeWindow(start=0, end=1000)", [1, 2, 3], 999)]
    at(harness, 1000, 4)
    at(harness, 5000)
    assert shown(harness) == [("TimeWindow(start=1000, end=2000)", [4], 1999)]
    assert state_size(harness) == 0


def test_watermarks_and_timestamps_do_not_matter():
    harness = windows(TumblingProcessingTimeWindows.of(1000), **aggregating())
    harness.watermark(10**12)
    harness.push([("k", 1), ("k", 2)], [5, 10**13])
    harness.watermark(10**13)
    assert results(harness) == []
    harness.advance_processing_time(2000)
    assert results(harness) == [(2, 999)]
    assert harness.metrics.value("numLateRecordsDropped") == 0


def test_sliding_windows():
    harness = windows(SlidingProcessingTimeWindows.of(1000, 500), harness={"clock_ms": 1200}, **processing())
    at(harness, 1200, 1)
    at(harness, 1600, 2)
    at(harness, 9000)
    assert shown(harness) == [
        ("TimeWindow(start=500, end=1500)", [1], 1499),
        ("TimeWindow(start=1000, end=2000)", [1, 2], 1999),
        ("TimeWindow(start=1500, end=2500)", [2], 2499),
    ]
    assert state_size(harness) == 0


def test_a_pause_of_thirty_seconds_ends_a_session():
    harness = windows(ProcessingTimeSessionWindows.with_gap(30_000), **processing())
    at(harness, 1_000, 1)
    at(harness, 25_000, 2)
    at(harness, 54_000, 3)
    assert shown(harness) == []
    at(harness, 84_001)
    assert shown(harness) == [("TimeWindow(start=1000, end=84000)", [1, 2, 3], 83_999)]
    at(harness, 84_001, 4)
    at(harness, 200_000)
    assert [w[1] for w in shown(harness)] == [[4]]
    assert state_size(harness) == 0


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[1]


def test_sessions_with_dynamic_gaps():
    harness = windows(ProcessingTimeSessionWindows.with_dynamic_gap(Gap()), **processing())
    at(harness, 0, 100)
    at(harness, 50, 500)
    at(harness, 549)
    assert [w[:2] for w in shown(harness)] == [("TimeWindow(start=0, end=550)", [100, 500])]


def test_continuous_firing():
    harness = windows(TumblingProcessingTimeWindows.of(1000), trigger=ContinuousProcessingTimeTrigger.of(300), **processing())
    at(harness, 100, 1)
    at(harness, 400, 2)
    at(harness, 5000)
    # The trigger fires at multiples of the interval and, by its own rule, at the window's last millisecond.
    assert [w[1:] for w in shown(harness)] == [([1], 300), ([1, 2], 600), ([1, 2], 900), ([1, 2], 999)]
    assert state_size(harness) == 0


def test_timers_that_were_restored_fire():
    harness = windows(TumblingProcessingTimeWindows.of(1000), **aggregating())
    harness.push([("k", 1), ("k", 2)])
    again = harness.restored(harness.snapshot(), clock_ms=100)
    assert again.asked_times == [999]
    again.push([("k", 3)])
    again.advance_processing_time(1000)
    assert results(again) == [(3, 999)]


def test_at_the_end_of_the_input_windows_that_are_due_fire_and_later_ones_do_not():
    harness = windows(TumblingProcessingTimeWindows.of(1000), **aggregating())
    harness.push([("k", 1)])
    harness.clock.set(999)
    harness.push([("k", 2)])
    harness.clock.set(1000)
    harness.push([("k", 3)])
    harness.end_input()
    assert results(harness) == [(2, 999)]


def test_in_batch_mode_the_end_of_the_input_fires_all():
    harness = windows(TumblingProcessingTimeWindows.of(1000), harness={"config": {"execution.runtime-mode": "BATCH"}}, **aggregating())
    harness.push([("k", 1), ("j", 1)])
    harness.end_input()
    assert results(harness) == [(1, 999), (1, 999)]
