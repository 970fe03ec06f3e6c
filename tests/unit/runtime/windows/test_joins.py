"""Joins and co-groups of two streams in windows, against the examples of Flink's documentation and against a nested loop."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wiesel.common import Time, Types
from wiesel.core.errors import ProgramError, UserFunctionError
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.datastream.functions import CoGroupFunction, FlatJoinFunction, JoinFunction, TaggedUnion
from wiesel.datastream.window import (
    CountEvictor,
    CountTrigger,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    Evictor,
    GlobalWindows,
    MergingWindowAssigner,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TimeEvictor,
    TimeWindow,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from wiesel.runtime.windows.co_group import (
    CoGroupOperator,
    EventTimeCoGroupOperator,
    EvictingCoGroupOperator,
    SessionCoGroupOperator,
)
from wiesel.testing import END_OF_TIME, StreamHarness, local_environment
from wiesel.testing import Record as Out


class Pair(JoinFunction):
    def join(self, first, second):
        return (first[1], second[1])


class Grouped(CoGroupFunction):
    def co_group(self, first, second):
        return [([v for _, v in first], [v for _, v in second])]


def key(record):
    return record[0]


def joined(assigner, function=None, then=lambda w: w, co_group=False, **options):
    """Return a harness for records (key, value) on both inputs."""

    def define(left, right):
        streams = left.co_group(right) if co_group else left.join(right)
        window = then(streams.where(key).equal_to(key).window(assigner))
        return window.apply((Grouped() if co_group else Pair()) if function is None else function)

    return StreamHarness(define, **options)


def push_times(harness, left, right):
    """Push records of the key k whose values are their timestamps."""
    for number, times in ((1, left), (2, right)):
        for time in times:
            harness.push(("k", time), timestamp=time, input=number)


# The joins that Flink's documentation draws: an orange stream and a green one; a record is its time in ms.


def test_the_tumbling_window_join_of_the_documentation():
    with joined(TumblingEventTimeWindows.of(Time.milliseconds(2))) as harness:
        push_times(harness, range(8), [0, 1, 3, 4])
        harness.advance_watermark(END_OF_TIME)
        assert harness.values == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 3), (3, 3), (4, 4), (5, 4)]


def test_the_sliding_window_join_of_the_documentation():
    sliding = SlidingEventTimeWindows.of(Time.milliseconds(2), Time.milliseconds(1))
    with joined(sliding) as harness:
        push_times(harness, [0, 1, 2, 3, 4], [0, 3, 4])
        harness.advance_watermark(END_OF_TIME)
        # [-1,0], [0,1], [1,2] has no green one, [2,3], [3,4], [4,5].
        assert harness.values == [(0, 0), (0, 0), (1, 0), (2, 3), (3, 3), (3, 3), (3, 4), (4, 3), (4, 4), (4, 4)]


def test_the_session_window_join_of_the_documentation():
    with joined(EventTimeSessionWindows.with_gap(Time.milliseconds(1))) as harness:
        push_times(harness, [1, 2, 5, 6, 9], [0, 4, 5])
        harness.advance_watermark(END_OF_TIME)
        # Sessions 0..2, 4..6 and 9, of which the last has no green one.
        assert harness.values == [(1, 0), (2, 0), (5, 4), (5, 5), (6, 4), (6, 5)]


@pytest.mark.parametrize(
    ("assigner", "then"),
    [
        (TumblingEventTimeWindows.of(10), lambda w: w),
        (EventTimeSessionWindows.with_gap(9), lambda w: w),
        (TumblingEventTimeWindows.of(10), lambda w: w.evictor(TimeEvictor.of(100))),
    ],
)
def test_results_have_the_last_timestamp_of_their_window_also_when_a_late_record_fires_it_again(assigner, then):
    with joined(assigner, then=lambda w: then(w.allowed_lateness(5))) as harness:
        push_times(harness, [1], [0])
        harness.advance_watermark(9)
        harness.push(("k", 0), timestamp=0, input=1)
        assert harness.records == [Out((1, 0), 9), Out((1, 0), 9), Out((0, 0), 9)]
        harness.advance_watermark(15)
        harness.push(("k", 2), timestamp=2, input=1)
        assert (harness.windows("k"), harness.event_time_timers) == ({}, [])
        assert harness.metric("numLateRecordsDropped") == 1


def test_a_window_fires_when_the_watermark_of_both_streams_has_reached_its_end():
    with joined(TumblingEventTimeWindows.of(10)) as harness:
        push_times(harness, [3], [4])
        harness.advance_watermark(50, input=1)
        assert harness.values == []
        harness.advance_watermark(9, input=2)
        assert harness.values == [(3, 4)]


def test_a_co_group_sees_the_side_that_has_nothing():
    with joined(TumblingEventTimeWindows.of(10), co_group=True) as harness:
        push_times(harness, [1, 2, 11], [3, 25])
        harness.advance_watermark(END_OF_TIME)
        assert harness.values == [([1, 2], [3]), ([11], []), ([], [25])]


def test_an_outer_join_is_a_co_group():
    def left_outer(first, second):
        for _, a in first:
            for _, b in second or [(None, None)]:
                yield (a, b)

    with joined(TumblingEventTimeWindows.of(10), left_outer, co_group=True) as harness:
        push_times(harness, [1, 12], [3, 4, 25])
        harness.advance_watermark(END_OF_TIME)
        assert harness.values == [(1, 3), (1, 4), (12, None)]


class Differences(FlatJoinFunction):
    def join(self, first, second):
        if first[1] > second[1]:
            return None
        return range(first[1], second[1])


def test_join_functions_give_none_one_or_several_results():
    with joined(TumblingEventTimeWindows.of(10), Differences()) as harness:
        push_times(harness, [1, 7], [3])
        harness.advance_watermark(9)
        assert harness.values == [1, 2]
    with joined(TumblingEventTimeWindows.of(10), lambda a, b: a[1] if a[1] < b[1] else None) as harness:
        push_times(harness, [1, 7], [3])
        harness.advance_watermark(9)
        assert harness.values == [1]


def test_windows_of_processing_time():
    with joined(TumblingProcessingTimeWindows.of(100), start_time=1_000) as harness:
        harness.push(("k", "a"), input=1)
        harness.push(("k", "b"), input=2)
        harness.set_processing_time(1_099)
        assert harness.records == [Out(("a", "b"), 1_099)]


def test_a_counting_trigger_counts_the_records_of_both_streams():
    with joined(GlobalWindows.create(), then=lambda w: w.trigger(PurgingTrigger.of(CountTrigger.of(3)))) as harness:
        push_times(harness, [1, 2], [3])
        assert harness.records == [Out((1, 3), MAX_TIMESTAMP), Out((2, 3), MAX_TIMESTAMP)]
        assert harness.windows("k") == {}


class OnlyLastOfFirst(Evictor):
    """Keeps the last record of the first stream and all of the second."""

    def evict_before(self, elements, size, window, ctx):
        ones = [e for e in elements if e.value.is_one()]
        assert [e.value.get_one() for e in ones] == [e.value.value for e in ones]
        assert all(e.value.get_two() is None for e in ones)
        elements[:] = [*ones[-1:], *(e for e in elements if e.value.is_two())]

    def evict_after(self, elements, size, window, ctx):
        pass


def test_an_evictor_sees_which_stream_a_record_is_from():
    with joined(TumblingEventTimeWindows.of(10), then=lambda w: w.evictor(OnlyLastOfFirst())) as harness:
        push_times(harness, [1, 2], [3, 4])
        harness.advance_watermark(9)
        assert harness.values == [(2, 3), (2, 4)]
    with joined(TumblingEventTimeWindows.of(10), then=lambda w: w.evictor(CountEvictor.of(3))) as harness:
        push_times(harness, [1, 2], [3, 4])
        harness.advance_watermark(9)
        assert harness.values == [(2, 3), (2, 4)]


def test_an_assigner_of_the_users_sees_which_stream_a_record_is_from():
    def gap(record: TaggedUnion) -> int:
        return 10 if record.is_one() else 1

    with joined(DynamicEventTimeSessionWindows(Gap(gap))) as harness:
        # Only records of the first stream wait ten ms for the next: 20 comes too late for 18, and 29 waits for nobody but itself.
        push_times(harness, [0, 20], [9, 18, 29])
        harness.advance_watermark(END_OF_TIME)
        assert harness.values == [(0, 9), (20, 29)]


class Gap:
    def __init__(self, gap):
        self.extract = gap


@pytest.mark.parametrize(
    ("assigner", "then", "expected"),
    [
        (TumblingEventTimeWindows.of(10), lambda w: w, EventTimeCoGroupOperator),
        (SlidingEventTimeWindows.of(10, 5), lambda w: w, EventTimeCoGroupOperator),
        (EventTimeSessionWindows.with_gap(5), lambda w: w, SessionCoGroupOperator),
        (GlobalWindows.create(), lambda w: w.trigger(CountTrigger.of(2)), CoGroupOperator),
        (TumblingEventTimeWindows.of(10), lambda w: w.evictor(CountEvictor.of(2)), EvictingCoGroupOperator),
    ],
)
def test_which_operator_runs_what(assigner, then, expected):
    with joined(assigner, then=then) as harness:
        assert type(harness._drivers[0].operator) is expected


def test_errors_show_the_record_or_the_window_and_none_of_the_inner_workings():
    class Failing(JoinFunction):
        def join(self, first, second):
            raise ValueError("no pairs today")

    with joined(TumblingEventTimeWindows.of(10), Failing()) as harness, pytest.raises(UserFunctionError, match="no pairs today") as caught:
        push_times(harness, [1], [2])
        harness.advance_watermark(9)
    assert "TimeWindow(start=0, end=10)" in str(caught.value)
    with joined(TumblingEventTimeWindows.of(10)) as harness, pytest.raises(ProgramError, match="no timestamp"):
        harness.push(("k", 1), input=2)


def test_wrong_calls_are_told_with_their_line():
    env = local_environment()
    left, right = env.from_collection([("a", 1)]), env.from_collection([("a", 2)])
    where = left.join(right).where(key, Types.STRING())
    with pytest.raises(ProgramError, match=r"keys of the two streams are of different types.*test_joins\.py"):
        where.equal_to(key, Types.INT())
    windowed = where.equal_to(key).window(EventTimeSessionWindows.with_gap(5))
    for wrong in (
        lambda: left.join(None),
        lambda: left.co_group(local_environment().from_collection([1])),
        lambda: where.equal_to(key).window(EventTimeSessionWindows),
        lambda: windowed.trigger(5),
        lambda: windowed.evictor(5),
        lambda: windowed.allowed_lateness(-1),
        lambda: windowed.apply(None),
        lambda: windowed.apply(Pair),
        lambda: windowed.apply(lambda a: a),
        lambda: left.co_group(right).where(key).equal_to(key).window(GlobalWindows()).apply(Pair()),
    ):
        with pytest.raises(ProgramError, match=r"test_joins\.py"):
            wrong()


def test_a_stream_can_be_joined_with_itself_and_in_batch_mode():
    for mode in ("STREAMING", "BATCH"):
        env = local_environment(parallelism=2, config={"execution.runtime-mode": mode})
        numbers = env.from_collection([("a", 1), ("b", 2), ("a", 3)], Types.TUPLE([Types.STRING(), Types.INT()]))
        timed = numbers.assign_timestamps_and_watermarks(by_value())
        pairs = timed.join(timed).where(key).equal_to(key).window(TumblingEventTimeWindows.of(10)).apply(Pair())
        with pairs.execute_and_collect() as results:
            assert sorted(results) == [(1, 1), (1, 3), (2, 2), (3, 1), (3, 3)]


def by_value():
    from wiesel.common import WatermarkStrategy
    from wiesel.common.watermark_strategy import TimestampAssigner

    class Value(TimestampAssigner):
        def extract_timestamp(self, value, record_timestamp):
            return value[1]

    return WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Value())


# Random streams against a nested loop.


def sessions_of(records, gap):
    """Return the sessions of one key: lists of records (side, time, number) with less than or exactly the gap between them."""
    found = []
    for record in sorted(records, key=lambda r: r[1]):
        if found and record[1] - found[-1][-1][1] <= gap:
            found[-1].append(record)
        else:
            found.append([record])
    return found


def windows_of(records, kind):
    """Return (start or None, records) of the windows of one key's records (side, time, number)."""
    if kind[0] == "session":
        return [(None, session) for session in sessions_of(records, kind[1])]
    _, size, slide = kind
    starts = {start for _, t, _ in records for start in range(t - t % slide, t - size, -slide)}
    return [(start, [r for r in records if start <= r[1] < start + size]) for start in starts]


def assigner_of(kind):
    if kind[0] == "session":
        return EventTimeSessionWindows.with_gap(kind[1])
    return SlidingEventTimeWindows.of(kind[1], kind[2])


KINDS = [("sliding", 10, 10), ("sliding", 10, 5), ("sliding", 7, 3), ("session", 3)]
RECORDS = st.lists(st.tuples(st.integers(0, 1), st.sampled_from("abc"), st.integers(0, 40)), max_size=25)


@settings(max_examples=60, deadline=None)
@given(
    records=RECORDS,
    kind=st.sampled_from(KINDS),
    co_group=st.booleans(),
    evicting=st.booleans(),
    parallelisms=st.lists(st.integers(1, 3), min_size=2, max_size=4),
    restores=st.sets(st.integers(0, 24), max_size=3),
    backend=st.sampled_from(["hashmap", "hashmap", "lmdb"]),
)
def test_any_join_is_a_nested_loop_over_windows(records, kind, co_group, evicting, parallelisms, restores, backend):
    then = (lambda w: w.evictor(CountEvictor.of(1000))) if evicting else (lambda w: w)
    function = (lambda a, b: [(tuple(sorted(v for _, v in a)), tuple(sorted(v for _, v in b)))]) if co_group else None
    harness = joined(assigner_of(kind), function, then, co_group, parallelism=parallelisms[0], state_backend=backend)
    found = Counter()
    for number, (side, of, time) in enumerate(records):
        if number in restores:
            found.update(harness.values)
            snapshot = harness.snapshot()
            harness.close()
            harness = harness.restored(snapshot, parallelism=parallelisms[number % len(parallelisms)])
        harness.push((of, (of, time, number)), timestamp=time, input=side + 1)
        later = [t for _, _, t in records[number + 1 :]]
        # Sessions that only touch are merged as well, so the first must not be over when the next record comes.
        harness.advance_watermark(max(harness.watermark, min(later, default=time) - 2))
    harness.advance_watermark(END_OF_TIME)
    found.update(harness.values)
    assert [harness.windows(k) for k in "abc"] == [{}, {}, {}]
    harness.close()

    expected = Counter()
    for of in "abc":
        mine = [(side, time, (of, time, number)) for number, (side, k, time) in enumerate(records) if k == of]
        for _, members in windows_of(mine, kind):
            first, second = ([value for s, _, value in members if s == side] for side in (0, 1))
            if co_group:
                expected[tuple(sorted(first)), tuple(sorted(second))] += 1
            else:
                expected.update((a, b) for a in first for b in second)
    assert found == expected


def test_the_recomputation_tells_windows_apart():
    assert windows_of([(0, 4, 0), (1, 8, 1)], ("sliding", 10, 10)) == [(0, [(0, 4, 0), (1, 8, 1)])]
    assert len(windows_of([(0, 4, 0), (1, 8, 1)], ("session", 3))) == 2
    assert issubclass(type(assigner_of(("session", 3))), MergingWindowAssigner)
    assert TimeWindow(0, 10).max_timestamp() == 9
