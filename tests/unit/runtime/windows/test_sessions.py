"""Session windows and other windows that merge. Where a test says so its values were read off Flink 2.3."""

from __future__ import annotations

import itertools

import pytest

from tests.unit.runtime.windows.support import (
    WAYS,
    Values,
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
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.spi.state import ValueStateDescriptor
from wiesel.spi.windows import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    MergingWindowAssigner,
    NeverTrigger,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    TimeWindow,
    TimeWindowSerializer,
    Trigger,
    TriggerResult,
)

BOTH = pytest.mark.parametrize("way", list(WAYS))


def shown(harness):
    return [(value[1], [v[1] for v in value[3]], t) for value, t in results(harness)]


@BOTH
def test_a_pause_as_long_as_the_gap_does_not_end_a_session_but_a_longer_one_does(way):
    # As in Flink: windows that touch merge, so the pause has to be longer than the gap.
    harness = windows(EventTimeSessionWindows.with_gap(30_000), way, **processing())
    times = [0, 29_999, 59_999, 90_000]
    harness.push([("k", t) for t in times], times)
    harness.end_input()
    assert shown(harness) == [
        ("TimeWindow(start=0, end=89999)", times[:3], 89_998),
        ("TimeWindow(start=90000, end=120000)", times[3:], 119_999),
    ]
    assert state_size(harness) == 0


@BOTH
def test_sessions_with_lateness(way):
    # Read off Flink.
    stream = [("a", 1), ("a", 20), ("a", 10), ("a", 30), ("a", 60)]
    harness = feed(windows(EventTimeSessionWindows.with_gap(10), way, allowed_lateness_ms=30, **processing()), stream)
    harness.end_input()
    assert shown(harness) == [
        ("TimeWindow(start=1, end=11)", [1], 10),
        ("TimeWindow(start=1, end=40)", [1, 20, 10, 30], 39),
        ("TimeWindow(start=60, end=70)", [60], 69),
    ]
    assert state_size(harness) == 0


@BOTH
def test_sessions_merge_in_any_order(way):
    times = [0, 8, 16, 24, 50, 58]
    expected = [(("k", 0, 24), 33), (("k", 50, 58), 67)]

    def spanned(a, b):
        return (a[0], min(a[1], b[1]), max(a[2], b[2]))

    for order in itertools.permutations(times):
        size = 1 + order.index(0) % 3
        harness = windows(EventTimeSessionWindows.with_gap(10), way, **reducing(spanned))
        for i in range(0, len(order), size):
            part = order[i : i + size]
            harness.push([("k", t, t) for t in part], list(part))
        harness.watermark(MAX_TIMESTAMP)
        assert results(harness) == expected, order
        assert state_size(harness) == 0, order


@BOTH
@pytest.mark.parametrize("lateness", [0, 7])
def test_a_session_that_grows_leaves_no_timers_behind(way, lateness):
    harness = windows(EventTimeSessionWindows.with_gap(10), way, allowed_lateness_ms=lateness, **aggregating())
    for t in (50, 55, 64, 48, 20, 30, 39):
        harness.push([("k", t)], [t])
    timers = harness.backend.timers("event")
    assert len(timers) == (2 if lateness else 1)
    assert timers.next_timestamp() == 73
    assert len(harness.operator.contents.table) == 1


@BOTH
def test_a_record_that_joins_two_sessions_merges_accumulators_and_lists(way):
    for given, expected in ((aggregating(Values()), [([1, 2, 3], 29)]), (processing(), [("TimeWindow(start=0, end=30)", [0, 20, 10], 29)])):
        harness = windows(EventTimeSessionWindows.with_gap(10), way, **given)
        harness.push([("k", 0, 1), ("k", 20, 2)], [0, 20])
        harness.watermark(5)
        harness.push([("k", 10, 3)], [10])
        harness.end_input()
        assert (results(harness) if "incremental" in given else shown(harness)) == expected


@BOTH
def test_late_records_of_sessions(way):
    harness = windows(EventTimeSessionWindows.with_gap(10), way, late_tag="late", **processing())
    harness.push([("k", 20)], [20])
    harness.watermark(25)
    # 5 is late by itself, but 12 belongs to the session of 20, and with 12 in it the session takes 5 as well.
    harness.push([("k", 5), ("k", 12), ("k", 5)], [5, 12, 5])
    assert late(harness) == [(("k", 5), 5)]
    harness.take()
    harness.end_input()
    assert shown(harness) == [("TimeWindow(start=5, end=30)", [20, 12, 5], 29)]


@BOTH
def test_a_late_record_dropped_leaves_no_trace(way):
    harness = windows(EventTimeSessionWindows.with_gap(10), way, **aggregating())
    harness.watermark(100)
    # The last millisecond of the window of 91 is 100, which the watermark has reached.
    harness.push([("k", 5), ("k", 91), ("k", 92)], [5, 91, 92])
    assert harness.metrics.value("numLateRecordsDropped") == 2
    harness.end_input()
    assert results(harness) == [(1, 101)]
    assert state_size(harness) == 0


def test_counting_triggers_merge_their_counts():
    # Read off Flink.
    stream = [("a", 1), ("a", 20), ("a", 10), ("a", 30), ("a", 60)]
    harness = feed(windows(EventTimeSessionWindows.with_gap(10), trigger=CountTrigger.of(2), **processing()), stream)
    harness.end_input()
    assert shown(harness) == [("TimeWindow(start=10, end=30)", [20, 10], 10)]
    assert state_size(harness) == 0


def test_continuous_triggers_merge_their_next_firing():
    # Read off Flink.
    stream = [("a", 1), ("a", 9), ("a", 17), ("a", 25), ("a", 33), ("a", 60)]
    harness = feed(windows(EventTimeSessionWindows.with_gap(10), trigger=ContinuousEventTimeTrigger.of(10), **processing()), stream)
    harness.end_input()
    assert shown(harness) == [
        ("TimeWindow(start=1, end=27)", [1, 9, 17], 10),
        ("TimeWindow(start=1, end=35)", [1, 9, 17, 25], 20),
        ("TimeWindow(start=1, end=43)", [1, 9, 17, 25, 33], 30),
        ("TimeWindow(start=1, end=43)", [1, 9, 17, 25, 33], 40),
        ("TimeWindow(start=1, end=43)", [1, 9, 17, 25, 33], 42),
        ("TimeWindow(start=60, end=70)", [60], 69),
    ]
    assert state_size(harness) == 0


def test_a_purged_session_goes_on_empty():
    harness = windows(EventTimeSessionWindows.with_gap(10), trigger=PurgingTrigger.of(CountTrigger.of(2)), **processing())
    times = [0, 5, 10, 15, 20]
    harness.push([("k", t) for t in times], times)
    assert [w[1] for w in shown(harness)] == [[0, 5], [10, 15]]
    harness.end_input()
    assert shown(harness) == []
    assert state_size(harness) == 0


def test_sessions_whose_trigger_never_fires_give_nothing():
    # Read off Flink, where windows per key do not ask whether a trigger can merge.
    harness = feed(windows(EventTimeSessionWindows.with_gap(10), trigger=NeverTrigger(), **processing()), [("a", i) for i in range(1, 13)])
    harness.end_input()
    assert shown(harness) == []
    assert state_size(harness) == 0


class GapOf(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[2]


def test_dynamic_gaps():
    harness = windows(EventTimeSessionWindows.with_dynamic_gap(GapOf()), **processing())
    records = [("k", 0, 10), ("k", 9, 2), ("k", 30, 5), ("k", 40, 100), ("k", 120, 1)]
    harness.push(records, [r[1] for r in records])
    harness.end_input()
    assert [(w, elements) for w, elements, _ in shown(harness)] == [
        ("TimeWindow(start=0, end=11)", [0, 9]),
        ("TimeWindow(start=30, end=35)", [30]),
        ("TimeWindow(start=40, end=140)", [40, 120]),
    ]


class Buckets(MergingWindowAssigner):
    """All windows of a hundred become that hundred, which may end before what they are made of."""

    def __init__(self, length=100, alone=0):
        self.length = length
        self.alone = alone

    def assign_windows(self, element, timestamp, context):
        return [TimeWindow(timestamp, timestamp + 1)]

    def merge_windows(self, windows, callback):
        for start, group in itertools.groupby(sorted(windows), lambda w: w.start // 100 * 100):
            found = list(group)
            if len(found) > self.alone:
                callback.merge(found, TimeWindow(start, start + self.length))

    def get_default_trigger(self, env):
        return EventTimeTrigger()

    def get_window_serializer(self):
        return TimeWindowSerializer()

    def is_event_time(self):
        return True


def test_a_merging_assigner_of_the_users():
    harness = windows(Buckets(), **processing())
    times = [5, 199, 40, 7, 100]
    harness.push([("k", t) for t in times], times)
    harness.end_input()
    assert shown(harness) == [("TimeWindow(start=0, end=100)", [5, 40, 7], 99), ("TimeWindow(start=100, end=200)", [199, 100], 199)]
    assert state_size(harness) == 0


def test_a_merge_into_a_window_that_has_ended_is_refused():
    harness = windows(Buckets(length=10, alone=1), **processing())
    harness.watermark(50)
    with pytest.raises(ProgramError, match="ends before the current watermark"):
        harness.push([("k", 60), ("k", 70)], [60, 70])


class Forgetful(Trigger):
    """Merges state that cannot be merged."""

    STATE = ValueStateDescriptor("last")

    def on_element(self, element, timestamp, window, ctx):
        ctx.get_partitioned_state(self.STATE).update(element)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(self.STATE)

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.STATE).clear()


def test_state_that_cannot_be_merged_is_named():
    harness = windows(EventTimeSessionWindows.with_gap(10), trigger=Forgetful(), **processing())
    with pytest.raises(ProgramError, match="'last' is value state, which cannot be merged"):
        harness.push([("k", 0), ("k", 1)], [0, 1])
