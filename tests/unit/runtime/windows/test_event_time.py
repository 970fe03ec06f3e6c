"""Tumbling and sliding windows of event time. Where a test says so its values were read off Flink 2.3."""

from __future__ import annotations

import pytest

from tests.unit.runtime.harness import Record, Watermark
from tests.unit.runtime.windows.support import (
    WAYS,
    Count,
    aggregating,
    feed,
    late,
    processing,
    reducing,
    results,
    state_size,
    windows,
)
from wiesel.core.errors import ProgramError
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.spi.functions import WindowFunction
from wiesel.spi.watermark import BoundedOutOfOrdernessWatermarks
from wiesel.spi.windows import (
    ContinuousEventTimeTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)

BOTH = pytest.mark.parametrize("way", list(WAYS))


class Watermarks:
    """What a watermark generator emits, handed to the operator."""

    def __init__(self, harness):
        self.harness = harness
        self.seen = []

    def emit_watermark(self, timestamp):
        self.seen.append(timestamp)
        self.harness.watermark(timestamp)

    def mark_idle(self):
        raise RuntimeError("not idle")

    mark_active = mark_idle


@BOTH
def test_the_worked_example_of_event_time(way):
    # Windows 0-10 s and 10-20 s, bound 5 s: after 8, 9, 12, 10, 13 the watermark is below 10 s, so no window has fired.
    harness = windows(TumblingEventTimeWindows.of(10_000), way, **processing())
    output = Watermarks(harness)
    generator = BoundedOutOfOrdernessWatermarks(5_000)
    for second in (8, 9, 12, 10, 13):
        harness.push([("k", second)], [second * 1000])
        generator.on_event(None, second * 1000, output)
        generator.on_periodic_emit(output)
    # Flink's watermark is one ms less than maximum - bound: a record at exactly that time is not late.
    assert output.seen == [2_999, 3_999, 6_999, 6_999, 7_999]
    assert results(harness) == []
    harness.push([("k", 15)], [15_000])
    harness.watermark(9_999)
    assert results(harness) == [(("k", "TimeWindow(start=0, end=10000)", 9_999, [("k", 8), ("k", 9)]), 9_999)]
    harness.end_input()
    assert [r[0][3] for r in results(harness)] == [[("k", 12), ("k", 10), ("k", 13), ("k", 15)]]


@BOTH
def test_a_window_fires_with_the_watermark_of_its_last_millisecond_and_before_it(way):
    harness = windows(TumblingEventTimeWindows.of(10), way, **aggregating())
    harness.push([("a", 3), ("a", 9), ("a", 10)], [3, 9, 10])
    harness.watermark(8)
    assert harness.take() == [Watermark(8)]
    harness.watermark(9)
    assert harness.take() == [Record(2, 9), Watermark(9)]
    assert state_size(harness) == 2
    harness.watermark(19)
    assert harness.take() == [Record(1, 19), Watermark(19)]
    assert state_size(harness) == 0


@BOTH
def test_every_record_is_in_exactly_one_tumbling_window(way):
    minute = 60_000
    harness = windows(TumblingEventTimeWindows.of(minute), way, **processing())
    timestamps = [0, minute - 1, minute, 2 * minute + 5, 59, 3 * minute - 1]
    harness.push([("k", t) for t in timestamps], timestamps)
    harness.end_input()
    assert [[v[1] // minute for v in value[3]] for value, _ in results(harness)] == [[0, 0, 0], [1], [2, 2]]


@BOTH
def test_every_record_is_in_exactly_two_windows_of_a_minute_that_slide_by_half(way):
    harness = windows(SlidingEventTimeWindows.of(60_000, 30_000), way, **processing())
    timestamps = [0, 29_999, 30_000, 60_000]
    harness.push([("k", t) for t in timestamps], timestamps)
    harness.end_input()
    assert [(value[1], [v[1] for v in value[3]]) for value, _ in results(harness)] == [
        ("TimeWindow(start=-30000, end=30000)", [0, 29_999]),
        ("TimeWindow(start=0, end=60000)", [0, 29_999, 30_000]),
        ("TimeWindow(start=30000, end=90000)", [30_000, 60_000]),
        ("TimeWindow(start=60000, end=120000)", [60_000]),
    ]


@BOTH
def test_windows_with_gaps_between_them_leave_records_out_which_are_not_late(way):
    harness = windows(SlidingEventTimeWindows.of(2, 5), way, late_tag="late", **processing())
    harness.push([("k", t) for t in range(10)], list(range(10)))
    harness.end_input()
    assert [[v[1] for v in value[3]] for value, _ in results(harness)] == [[0, 1], [5, 6]]
    assert late(harness) == []


@BOTH
def test_a_record_between_windows_is_late_only_after_the_allowed_lateness(way):
    harness = windows(SlidingEventTimeWindows.of(2, 5), way, allowed_lateness_ms=10, **processing())
    harness.watermark(5)
    harness.push([("k", 3)], [3])
    assert harness.metrics.value("numLateRecordsDropped") == 0
    harness.watermark(13)
    harness.push([("k", 3)], [3])
    assert harness.metrics.value("numLateRecordsDropped") == 1


@BOTH
def test_offsets_move_the_windows(way):
    harness = windows(TumblingEventTimeWindows.of(10, 3), way, **processing())
    harness.push([("k", t) for t in (2, 3, 12, 13)], [2, 3, 12, 13])
    harness.end_input()
    assert [(value[1], [v[1] for v in value[3]]) for value, _ in results(harness)] == [
        ("TimeWindow(start=-7, end=3)", [2]),
        ("TimeWindow(start=3, end=13)", [3, 12]),
        ("TimeWindow(start=13, end=23)", [13]),
    ]


LATE_STREAM = [("a", 1), ("a", 4), ("a", 15), ("a", 3), ("a", 16), ("a", 40), ("a", 5)]


@BOTH
def test_late_records_within_the_allowed_lateness_fire_again(way):
    # Read off Flink: the late firing has the timestamp of the record that caused it.
    harness = feed(windows(TumblingEventTimeWindows.of(10), way, allowed_lateness_ms=10, **processing()), LATE_STREAM)
    harness.end_input()
    assert results(harness) == [
        (("a", "TimeWindow(start=0, end=10)", 15, [("a", 1), ("a", 4)]), 9),
        (("a", "TimeWindow(start=0, end=10)", 15, [("a", 1), ("a", 4), ("a", 3)]), 3),
        (("a", "TimeWindow(start=10, end=20)", 40, [("a", 15), ("a", 16)]), 19),
        (("a", "TimeWindow(start=40, end=50)", MAX_TIMESTAMP, [("a", 40)]), 49),
    ]
    assert harness.metrics.value("numLateRecordsDropped") == 1
    assert state_size(harness) == 0


@BOTH
def test_an_aggregate_with_a_window_function_gets_its_one_result(way):
    given = {"allowed_lateness_ms": 10, **aggregating(), **processing()}
    harness = feed(windows(TumblingEventTimeWindows.of(10), way, **given), LATE_STREAM)
    harness.end_input()
    assert [(value[1:], t) for value, t in results(harness)] == [
        (("TimeWindow(start=0, end=10)", 15, [2]), 9),
        (("TimeWindow(start=0, end=10)", 15, [3]), 3),
        (("TimeWindow(start=10, end=20)", 40, [2]), 19),
        (("TimeWindow(start=40, end=50)", MAX_TIMESTAMP, [1]), 49),
    ]


@BOTH
def test_several_late_firings_in_one_batch_each_see_the_records_before_them(way):
    harness = windows(TumblingEventTimeWindows.of(10), way, allowed_lateness_ms=100, **aggregating())
    harness.push([("a", 1), ("b", 2)], [1, 2])
    harness.watermark(50)
    assert results(harness) == [(1, 9), (1, 9)]
    harness.push([("a", 3), ("a", 55), ("a", 4), ("b", 5)], [3, 55, 4, 5])
    assert results(harness) == [(2, 3), (3, 4), (2, 5)]
    harness.watermark(108)
    assert results(harness) == [(1, 59)]
    assert state_size(harness) == 3 + 3
    harness.watermark(109)
    assert state_size(harness) == 1 + 1
    harness.push([("a", 6)], [6])
    assert results(harness) == []
    assert harness.metrics.value("numLateRecordsDropped") == 1


@BOTH
def test_late_records_go_to_the_side_output_with_their_timestamps_instead_of_being_counted(way):
    harness = feed(windows(TumblingEventTimeWindows.of(10), way, late_tag="late", **aggregating()), LATE_STREAM)
    assert late(harness) == [(("a", 3), 3), (("a", 5), 5)]
    assert harness.metrics.value("numLateRecordsDropped") == 0


@BOTH
def test_a_record_that_is_late_for_some_of_its_sliding_windows_is_in_the_others(way):
    harness = windows(SlidingEventTimeWindows.of(10, 5), way, **processing())
    harness.watermark(9)
    harness.push([("a", 7)], [7])
    harness.end_input()
    assert [value[1] for value, _ in results(harness)] == ["TimeWindow(start=5, end=15)"]
    assert harness.metrics.value("numLateRecordsDropped") == 0


@BOTH
def test_reduce(way):
    harness = windows(TumblingEventTimeWindows.of(10), way, **reducing(lambda a, b: (a[0], a[1] + b[1])))
    harness.push([("a", 1), ("b", 2), ("a", 3)], [1, 2, 3])
    harness.push([("a", 4), ("a", 11)], [4, 11])
    harness.end_input()
    assert results(harness) == [(("a", 8), 9), (("b", 2), 9), (("a", 11), 19)]


@BOTH
def test_an_accumulator_that_becomes_none_begins_anew(way):
    class UpToThree(Count):
        def add(self, value, accumulator):
            return None if value[1] == 3 else accumulator + 1

    harness = windows(TumblingEventTimeWindows.of(10), way, **aggregating(UpToThree()))
    harness.push([("a", 1), ("a", 2), ("a", 3), ("a", 4), ("a", 5)], [1, 2, 3, 4, 5])
    harness.push([("b", 3)], [3])
    harness.end_input()
    assert results(harness) == [(2, 9)]
    assert state_size(harness) == 0


@BOTH
def test_incremental_state_does_not_grow_with_the_records(way):
    harness = windows(TumblingEventTimeWindows.of(1000), way, **aggregating())
    harness.push([("a", 1)] * 5, [1] * 5)
    before = len(harness.snapshot().state.files), state_size(harness), harness.backend.size_bytes()
    harness.push([("a", 1)] * 5000, [1] * 5000)
    assert (len(harness.snapshot().state.files), state_size(harness), harness.backend.size_bytes()) == before
    kept = windows(TumblingEventTimeWindows.of(1000), way, **processing())
    kept.push([("a", 1)] * 5000, [1] * 5000)
    assert kept.backend.size_bytes() > 10 * before[2]


@BOTH
@pytest.mark.parametrize("timestamps", [None, [1, None], [1, MIN_TIMESTAMP]], ids=["no timestamps", "one None", "one MIN"])
@pytest.mark.parametrize(
    "assigner", [TumblingEventTimeWindows.of(10), SlidingEventTimeWindows.of(10, 5), EventTimeSessionWindows.with_gap(10)], ids=repr
)
def test_a_record_without_a_timestamp_is_an_error_that_says_what_to_do(way, assigner, timestamps):
    harness = windows(assigner, way, harness={"error_policy": "skip"}, **aggregating())
    with pytest.raises(ProgramError, match="has no timestamp") as raised:
        harness.push([("a", 1), ("a", 2)], timestamps)
    assert "assign_timestamps_and_watermarks" in str(raised.value)


@BOTH
def test_window_functions_with_apply(way):
    class Summed(WindowFunction):
        def apply(self, key, window, inputs):
            return [(key, window.start, window.end, sum(v[1] for v in inputs))]

    harness = windows(TumblingEventTimeWindows.of(10), way, function=Summed(), function_kind="apply")
    harness.push([("a", 1), ("b", 2), ("a", 13), ("a", 3)], [1, 2, 13, 3])
    harness.end_input()
    assert results(harness) == [(("a", 0, 10, 4), 9), (("b", 0, 10, 2), 9), (("a", 10, 20, 13), 19)]


@BOTH
def test_a_purging_trigger_drops_what_has_fired(way):
    trigger = PurgingTrigger.of(EventTimeTrigger.create())
    harness = windows(TumblingEventTimeWindows.of(10), way, trigger=trigger, allowed_lateness_ms=10, **processing())
    feed(harness, LATE_STREAM)
    assert [value[3] for value, _ in results(harness)] == [[("a", 1), ("a", 4)], [("a", 3)], [("a", 15), ("a", 16)]]


def test_continuous_firing():
    # Read off Flink; its last window also fires at 80 ms here, where PyFlink loses timers that are due when they are registered.
    stream = [("a", 1), ("a", 4), ("a", 8), ("a", 15), ("a", 23), ("a", 26), ("a", 60)]
    harness = windows(TumblingEventTimeWindows.of(30), trigger=ContinuousEventTimeTrigger.of(10), **processing())
    feed(harness, stream)
    assert [(value[1], value[2], [v[1] for v in value[3]], t) for value, t in results(harness)] == [
        ("TimeWindow(start=0, end=30)", 15, [1, 4, 8, 15], 10),
        ("TimeWindow(start=0, end=30)", 23, [1, 4, 8, 15, 23], 20),
        ("TimeWindow(start=0, end=30)", 60, [1, 4, 8, 15, 23, 26], 29),
    ]
    harness.end_input()
    assert [t for _, t in results(harness)] == [70, 80, 89]
    assert state_size(harness) == 0


@BOTH
def test_keys_do_not_mix(way):
    harness = windows(TumblingEventTimeWindows.of(10), way, **processing())
    harness.push([(k, 1) for k in (1, "1", 2, (1,))], [1, 1, 1, 1])
    harness.end_input()
    assert [value[0] for value, _ in results(harness)] == [1, "1", 2, (1,)]
