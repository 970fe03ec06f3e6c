from __future__ import annotations

import datetime
import io
import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiesel.core.durations import Duration, Time
from wiesel.core.errors import ProgramError
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.spi.windows import (
    ContinuousEventTimeTrigger,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    CountWindow,
    CountWindowSerializer,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindow,
    GlobalWindows,
    GlobalWindowSerializer,
    MergingWindowAssigner,
    NeverTrigger,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TimeWindow,
    TimeWindowSerializer,
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    WindowAssigner,
)

WINDOWS = [TimeWindow(-5, 10), CountWindow(7), GlobalWindow.get()]


class Now(WindowAssigner.WindowAssignerContext):
    def __init__(self, now_ms):
        self.now_ms = now_ms

    def get_current_processing_time(self):
        return self.now_ms

    def get_runtime_context(self):
        raise RuntimeError("not needed")


class Merges(MergingWindowAssigner.MergeCallback):
    def __init__(self):
        self.groups = {}

    def merge(self, to_be_merged, merge_result):
        self.groups[merge_result] = set(to_be_merged)


@pytest.mark.parametrize("window", WINDOWS, ids=repr)
def test_windows_are_values(window):
    again = pickle.loads(pickle.dumps(window))
    assert again == window
    assert hash(again) == hash(window)
    assert len(pickle.dumps(window)) < 100
    assert not hasattr(window, "__dict__")
    assert [w for w in WINDOWS if w == window] == [window]


@pytest.mark.parametrize(
    ("window", "serializer", "length"),
    [(WINDOWS[0], TimeWindowSerializer(), 16), (WINDOWS[1], CountWindowSerializer(), 8), (WINDOWS[2], GlobalWindowSerializer(), 1)],
    ids=["time", "count", "global"],
)
def test_serializers_read_what_they_wrote(window, serializer, length):
    stream = io.BytesIO()
    serializer.serialize(window, stream)
    assert stream.tell() == length
    stream.seek(0)
    assert serializer.deserialize(stream) == window


def test_texts_are_those_of_flink():
    assert [str(w) for w in WINDOWS] == ["TimeWindow(start=-5, end=10)", "CountWindow(id=7)", "GlobalWindow"]
    assert str(TumblingEventTimeWindows.of(Time.minutes(1))) == "TumblingEventTimeWindows(60000, 0)"
    assert str(SlidingEventTimeWindows.of(Time.minutes(1), Time.seconds(30))) == "SlidingEventTimeWindows(60000, 30000, 0)"
    assert str(EventTimeSessionWindows.with_gap(Time.seconds(30))) == "EventTimeSessionWindows(30000)"
    assert str(GlobalWindows.create()) == "GlobalWindows()"


def test_max_timestamps():
    assert [w.max_timestamp() for w in WINDOWS] == [9, MAX_TIMESTAMP, MAX_TIMESTAMP]


def test_time_windows_are_ordered_by_start_then_end():
    windows = [TimeWindow(2, 3), TimeWindow(1, 5), TimeWindow(1, 2)]
    assert sorted(windows) == [TimeWindow(1, 2), TimeWindow(1, 5), TimeWindow(2, 3)]
    assert TimeWindow(1, 2) <= TimeWindow(1, 2)
    with pytest.raises(TypeError):
        TimeWindow(1, 2) < 3  # noqa: B015


@given(st.integers(-(10**15), 10**15), st.integers(1, 10**9), st.data())
def test_a_tumbling_window_holds_its_timestamp_and_starts_at_a_multiple_of_the_size(timestamp, size, data):
    offset = data.draw(st.integers(-size + 1, size - 1))
    start = TimeWindow.get_window_start_with_offset(timestamp, offset, size)
    assert start <= timestamp < start + size
    assert (start - offset) % size == 0
    assert TumblingEventTimeWindows(size, offset).assign_windows("x", timestamp, Now(0)) == [TimeWindow(start, start + size)]
    assert TumblingProcessingTimeWindows(size, offset).assign_windows("x", 0, Now(timestamp)) == [TimeWindow(start, start + size)]


@given(st.integers(-1000, 1000), st.integers(1, 50), st.integers(1, 50), st.data())
def test_sliding_windows_are_all_that_hold_the_timestamp(timestamp, size, slide, data):
    offset = data.draw(st.integers(-slide + 1, slide - 1))
    expected = {TimeWindow(s, s + size) for s in range(-1200, 1200) if (s - offset) % slide == 0 and s <= timestamp < s + size}
    event = SlidingEventTimeWindows(size, slide, offset).assign_windows("x", timestamp, Now(0))
    assert set(event) == expected
    assert len(event) == len(expected)
    assert sorted(event, reverse=True) == event
    assert SlidingProcessingTimeWindows(size, slide, offset).assign_windows("x", 0, Now(timestamp)) == event


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 12)), max_size=12))
def test_windows_that_overlap_or_touch_merge(spans):
    windows = [TimeWindow(start, start + length) for start, length in spans]
    merges = Merges()
    TimeWindow.merge_windows(windows, merges)
    # Naive: a window belongs to a group if a chain of touching windows leads to it.
    groups = [{w} for w in set(windows)]
    joined = True
    while joined:
        joined = False
        for a, b in itertools.combinations(groups, 2):
            if any(x.start <= y.end and x.end >= y.start for x in a for y in b):
                groups.remove(a)
                groups.remove(b)
                groups.append(a | b)
                joined = True
                break
    expected = {TimeWindow(min(w.start for w in g), max(w.end for w in g)): g for g in groups if len(g) > 1}
    assert merges.groups == expected


def test_lengths_may_be_given_in_any_form():
    forms = [Time.seconds(90), Duration.of_seconds(90), datetime.timedelta(seconds=90), 90_000, "90 s"]
    assert {str(TumblingEventTimeWindows.of(form, Time.hours(0))) for form in forms} == {"TumblingEventTimeWindows(90000, 0)"}
    assert str(TumblingEventTimeWindows.of(Time.days(1), Time.hours(-8))) == "TumblingEventTimeWindows(86400000, -28800000)"


@pytest.mark.parametrize(
    "make",
    [
        lambda: TumblingEventTimeWindows.of(10, 10),
        lambda: TumblingProcessingTimeWindows.of(10, -10),
        lambda: TumblingEventTimeWindows.of(0),
        lambda: SlidingEventTimeWindows.of(10, 5, 5),
        lambda: SlidingProcessingTimeWindows.of(10, 0),
        lambda: SlidingEventTimeWindows.of(0, 5),
        lambda: EventTimeSessionWindows.with_gap(0),
        lambda: ProcessingTimeSessionWindows.with_gap(-1),
        lambda: CountTumblingWindowAssigner.of(0),
        lambda: CountSlidingWindowAssigner.of(5, 0),
        lambda: CountTrigger.of(0),
        lambda: ContinuousEventTimeTrigger.of(0),
    ],
)
def test_impossible_windows_are_refused(make):
    with pytest.raises(ValueError, match=r"size|gap|interval|slide"):
        make()


@pytest.mark.parametrize(
    "assigner",
    [TumblingEventTimeWindows.of(10), SlidingEventTimeWindows.of(10, 5), EventTimeSessionWindows.with_gap(10)],
    ids=repr,
)
def test_an_element_without_a_timestamp_is_an_error_that_says_what_to_do(assigner):
    with pytest.raises(ProgramError, match=r"no timestamp.*'x'") as raised:
        assigner.assign_windows("x", MIN_TIMESTAMP, Now(0))
    assert "assign_timestamps_and_watermarks" in raised.value.hint


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element


def test_dynamic_gaps():
    assigner = EventTimeSessionWindows.with_dynamic_gap(Gap())
    assert isinstance(assigner, DynamicEventTimeSessionWindows)
    assert assigner.assign_windows(7, 100, Now(0)) == [TimeWindow(100, 107)]
    assert ProcessingTimeSessionWindows.with_dynamic_gap(Gap()).assign_windows(7, 0, Now(50)) == [TimeWindow(50, 57)]


def test_dynamic_gaps_by_a_plain_function():
    assigner = EventTimeSessionWindows.with_dynamic_gap(lambda element: 2 * element)
    assert assigner.assign_windows(7, 100, None) == [TimeWindow(100, 114)]
    for wrong in (Gap, 5, None):
        with pytest.raises(ProgramError, match="needs what tells the gap of an element"):
            ProcessingTimeSessionWindows.with_dynamic_gap(wrong)
    with pytest.raises(ProgramError, match="0 < gap"):
        assigner.assign_windows(0, 100, Now(0))


def test_default_triggers():
    kinds = {
        TumblingEventTimeWindows.of(1): EventTimeTrigger,
        SlidingEventTimeWindows.of(1, 1): EventTimeTrigger,
        EventTimeSessionWindows.with_gap(1): EventTimeTrigger,
        TumblingProcessingTimeWindows.of(1): ProcessingTimeTrigger,
        SlidingProcessingTimeWindows.of(1, 1): ProcessingTimeTrigger,
        ProcessingTimeSessionWindows.with_gap(1): ProcessingTimeTrigger,
        CountTumblingWindowAssigner.of(1): CountTrigger,
        CountSlidingWindowAssigner.of(2, 1): CountTrigger,
        GlobalWindows.create(): NeverTrigger,
    }
    for assigner, kind in kinds.items():
        assert type(assigner.get_default_trigger(None)) is kind
        assert assigner.is_event_time() is (kind is EventTimeTrigger)
        pickle.loads(pickle.dumps(assigner))


def test_what_trigger_results_mean():
    meaning = {r.name: (r.is_fire(), r.is_purge()) for r in TriggerResult}
    assert meaning == {
        "CONTINUE": (False, False),
        "FIRE": (True, False),
        "PURGE": (False, True),
        "FIRE_AND_PURGE": (True, True),
    }
    assert all(pickle.loads(pickle.dumps(r)) is r for r in TriggerResult)


def test_a_purging_trigger_merges_if_its_nested_one_does():
    assert PurgingTrigger.of(EventTimeTrigger.create()).can_merge()
    assert not PurgingTrigger.of(NeverTrigger()).can_merge()
