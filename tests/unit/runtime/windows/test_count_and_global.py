"""Windows that have nothing to do with time, and what triggers do. Where a test says so its values were read off Flink 2.3."""

from __future__ import annotations

import pytest

from tests.unit.runtime.windows.support import aggregating, feed, processing, reducing, results, state_size, windows
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.spi.windows import (
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    GlobalWindows,
    PurgingTrigger,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
)

TWELVE = [("a", i) for i in range(1, 13)]


def shown(harness):
    return [(value[1], [v[1] for v in value[3]], t) for value, t in results(harness)]


def test_tumbling_count_windows_leave_out_the_rest():
    # Read off Flink; results have the timestamp of the record that filled the window.
    harness = feed(windows(CountTumblingWindowAssigner.of(5), **processing()), TWELVE)
    harness.end_input()
    assert shown(harness) == [("CountWindow(id=0)", [1, 2, 3, 4, 5], 5), ("CountWindow(id=1)", [6, 7, 8, 9, 10], 10)]


def test_sliding_count_windows_begin_with_the_first_full_one():
    # Read off Flink.
    harness = feed(windows(CountSlidingWindowAssigner.of(5, 2), **processing()), TWELVE)
    harness.end_input()
    assert shown(harness) == [
        ("CountWindow(id=0)", [1, 2, 3, 4, 5], 5),
        ("CountWindow(id=1)", [3, 4, 5, 6, 7], 7),
        ("CountWindow(id=2)", [5, 6, 7, 8, 9], 9),
        ("CountWindow(id=3)", [7, 8, 9, 10, 11], 11),
    ]


def test_sliding_count_windows_with_gaps():
    # Read off Flink.
    harness = feed(windows(CountSlidingWindowAssigner.of(2, 3), **processing()), TWELVE)
    assert [w[1] for w in shown(harness)] == [[1, 2], [4, 5], [7, 8], [10, 11]]


def test_two_hundred_and_fifty_records_are_two_windows_of_a_hundred():
    harness = windows(CountTumblingWindowAssigner.of(100), **aggregating())
    for _ in range(5):
        harness.push([("a", 0), ("b", 0)] * 50)
    harness.end_input()
    assert results(harness) == [(100, None)] * 4


def test_sliding_count_windows_give_a_result_after_each_slide():
    harness = windows(CountSlidingWindowAssigner.of(100, 10), **aggregating())
    harness.push([("a", 0)] * 155)
    assert results(harness) == [(100, None)] * 6


def test_full_count_windows_leave_nothing_behind():
    harness = windows(CountSlidingWindowAssigner.of(4, 2), **aggregating())
    harness.push([("a", 0)] * 1001)
    # The windows that are open at the 1001st record, and no other.
    assert state_size(harness) == 2


def test_a_global_window_gives_nothing_unless_a_trigger_fires():
    harness = windows(GlobalWindows.create(), **processing())
    feed(harness, TWELVE).end_input()
    assert results(harness) == []


def test_fire_keeps_the_contents_so_results_grow():
    # Read off Flink.
    harness = feed(windows(GlobalWindows.create(), trigger=CountTrigger.of(5), **processing()), TWELVE)
    assert shown(harness) == [("GlobalWindow", [1, 2, 3, 4, 5], 5), ("GlobalWindow", list(range(1, 11)), 10)]


def test_fire_and_purge_drops_them():
    # Read off Flink.
    harness = feed(windows(GlobalWindows.create(), trigger=PurgingTrigger.of(CountTrigger.of(5)), **processing()), TWELVE[:10])
    assert shown(harness) == [("GlobalWindow", [1, 2, 3, 4, 5], 5), ("GlobalWindow", [6, 7, 8, 9, 10], 10)]
    assert state_size(harness) == 0


class Told(Trigger):
    """Does what the record says."""

    def on_element(self, element, timestamp, window, ctx):
        return TriggerResult[element[1]]

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE

    def on_merge(self, window, ctx):
        raise RuntimeError("nothing merges here")

    def clear(self, window, ctx):
        ctx.delete_event_time_timer(window.max_timestamp())


@pytest.mark.parametrize("way", ["chosen", "general"])
def test_the_four_results_of_a_trigger(way):
    harness = windows(GlobalWindows.create(), way, trigger=Told(), **reducing(lambda a, b: (a[0], a[1], a[2] + b[2])))
    steps = [
        (("k", "CONTINUE", 1), []),
        (("k", "FIRE", 2), [3]),
        (("k", "FIRE", 4), [7]),
        (("k", "PURGE", 8), []),
        (("k", "FIRE", 16), [16]),
        (("k", "FIRE_AND_PURGE", 32), [48]),
        (("k", "CONTINUE", 64), []),
        (("k", "FIRE", 128), [192]),
    ]
    for record, expected in steps:
        harness.push([record])
        assert [value[2] for value, _ in results(harness)] == expected
    harness.push([("k", "PURGE", 0)])
    assert state_size(harness) == 0


def test_a_trigger_that_fires_an_empty_window_gives_nothing():
    harness = windows(TumblingEventTimeWindows.of(10), trigger=Told(), **processing())
    harness.push([("k", "CONTINUE"), ("k", "PURGE")], [1, 2])
    harness.push([("j", "CONTINUE")], [3])
    harness.end_input()
    assert [(value[0], value[3]) for value, _ in results(harness)] == [("j", [("j", "CONTINUE")])]


class Timed(Trigger):
    """Fires by a timer of its own, with state per key and window."""

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(timestamp + 5)
        ctx.get_metric_group().counter("seen").inc()
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE

    def on_merge(self, window, ctx):
        raise RuntimeError("nothing merges here")

    def clear(self, window, ctx):
        raise RuntimeError("the global window does not end")


def test_triggers_set_timers_in_windows_that_are_not_of_event_time():
    harness = windows(GlobalWindows.create(), trigger=Timed(), **aggregating())
    harness.push([("a", 1), ("a", 2), ("b", 3)], [1, 2, 3])
    harness.watermark(6)
    assert results(harness) == [(2, 6)]
    harness.watermark(MAX_TIMESTAMP)
    assert results(harness) == [(2, 7), (1, 8)]
    assert harness.metrics.value("seen") == 3
