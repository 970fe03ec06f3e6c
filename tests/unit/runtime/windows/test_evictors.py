"""Evictors: what they take out, before and after, what the window function sees and what the window keeps."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.runtime.windows.support import Count, feed, results, state_size, windows
from wiesel.common import Time, Types
from wiesel.core.errors import ProgramError, UserFunctionError
from wiesel.datastream.functions import AggregateFunction, AllWindowFunction, ProcessWindowFunction, WindowFunction
from wiesel.datastream.window import (
    CountEvictor,
    CountTrigger,
    DeltaEvictor,
    DeltaFunction,
    DeltaTrigger,
    EventTimeSessionWindows,
    Evictor,
    GlobalWindow,
    GlobalWindows,
    PurgingTrigger,
    TimeEvictor,
    TimeWindow,
    TumblingEventTimeWindows,
)
from wiesel.runtime.windows.evicting import EvictingWindowOperator
from wiesel.testing import END_OF_TIME, StreamHarness

TEN = TumblingEventTimeWindows.of(Time.milliseconds(10))


class Numbers(WindowFunction):
    """Gives the second fields of the records (key, number)."""

    def apply(self, key, window, inputs):
        return [(key, [number for _, number in inputs])]


class AllNumbers(AllWindowFunction):
    def apply(self, window, inputs):
        return [list(inputs)]


class Sum(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value[1]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


def evicting(trigger, evictor, evaluate=lambda w: w.apply(Numbers()), assigner=None, **options):
    """Return a harness for records (key, number)."""
    assigner = GlobalWindows.create() if assigner is None else assigner

    def define(stream):
        windowed = stream.key_by(lambda record: record[0]).window(assigner).evictor(evictor)
        return evaluate(windowed if trigger is None else windowed.trigger(trigger))

    return StreamHarness(define, **options)


def pushed(harness, numbers, key="a"):
    """Push numbers, each with itself as timestamp; return the lists that the windows gave."""
    for number in numbers:
        harness.push((key, number), timestamp=number)
    return [numbers for _, numbers in harness.values]


def test_keeping_the_last_three_changes_what_is_given_and_the_others_are_gone_at_the_next_fire():
    with evicting(CountTrigger.of(4), CountEvictor.of(3)) as harness:
        assert pushed(harness, range(1, 5)) == [[2, 3, 4]]
        assert [v for v, _ in harness.windows("a")[GlobalWindow()]] == [("a", 2), ("a", 3), ("a", 4)]
        assert pushed(harness, range(5, 9)) == [[2, 3, 4], [6, 7, 8]]


def test_evicting_afterwards_gives_all_and_keeps_the_last():
    with evicting(CountTrigger.of(4), CountEvictor.of(1, True)) as harness:
        assert pushed(harness, range(1, 13)) == [[1, 2, 3, 4], [4, 5, 6, 7, 8], [8, 9, 10, 11, 12]]


def test_sliding_count_windows_of_java_are_a_trigger_and_an_evictor():
    # countWindow(4, 2): after every second record the last four.
    with evicting(CountTrigger.of(2), CountEvictor.of(4)) as harness:
        assert pushed(harness, range(1, 9)) == [[1, 2], [1, 2, 3, 4], [3, 4, 5, 6], [5, 6, 7, 8]]


def test_a_time_evictor_looks_back_from_the_newest_element_whatever_the_order():
    with evicting(CountTrigger.of(4), TimeEvictor.of(Time.milliseconds(10))) as harness:
        # The newest is 30, so 20 is just too old.
        assert pushed(harness, [21, 30, 20, 25]) == [[21, 30, 25]]


def test_a_time_evictor_keeps_elements_without_timestamps():
    with evicting(CountTrigger.of(3), TimeEvictor.of(1)) as harness:
        for number in (1, 2, 3):
            harness.push(("a", number))
        assert harness.values == [("a", [1, 2, 3])]


class Distance(DeltaFunction):
    def get_delta(self, old_data_point, new_data_point):
        return abs(new_data_point[1] - old_data_point[1])


@pytest.mark.parametrize("delta", [Distance(), lambda old, new: abs(new[1] - old[1])])
def test_a_delta_evictor_compares_with_the_last_element(delta):
    with evicting(CountTrigger.of(5), DeltaEvictor.of(10, delta)) as harness:
        # 9 and 29 are ten or more away from 19.
        assert pushed(harness, [9, 10, 29, 28, 19]) == [[10, 28, 19]]


def test_a_delta_trigger_fires_when_an_element_is_further_than_the_threshold_from_the_last_that_fired():
    with evicting(DeltaTrigger.of(10, Distance()), CountEvictor.of(100)) as harness:
        assert pushed(harness, [0, 10, 11, 21, 22]) == [[0, 10, 11], [0, 10, 11, 21, 22]]
        assert harness.state("a", window=GlobalWindow())["last-element"] == ("a", 22)


def test_a_delta_trigger_is_refused_where_windows_merge():
    with pytest.raises(ProgramError, match="DeltaTrigger cannot follow windows that merge"):
        evicting(DeltaTrigger.of(10, Distance()), CountEvictor.of(1), assigner=EventTimeSessionWindows.with_gap(10))


@pytest.mark.parametrize("evictor", [CountEvictor.of(2), CountEvictor.of(2, True)])
def test_reduce_and_aggregate_run_over_the_elements_that_are_left(evictor):
    def maximum(a, b):
        return max(a, b)

    seen = [[3, 4], [7, 8]] if evictor._do_evict_after is False else [[1, 2, 3, 4], [3, 4, 5, 6, 7, 8]]
    with evicting(CountTrigger.of(4), evictor, lambda w: w.reduce(maximum)) as harness:
        for number in range(1, 9):
            harness.push(("a", number))
        assert harness.values == [("a", max(numbers)) for numbers in seen]
    with evicting(CountTrigger.of(4), evictor, lambda w: w.aggregate(Sum())) as harness:
        for number in range(1, 9):
            harness.push(("a", number))
        assert harness.values == [sum(numbers) for numbers in seen]


def test_an_evictor_turns_incremental_aggregation_off_state_grows_and_the_result_is_the_same():
    def sizes_and_result(with_evictor):
        def define(stream):
            windowed = stream.key_by(lambda record: record[0]).window(TEN)
            return (windowed.evictor(CountEvictor.of(1000)) if with_evictor else windowed).aggregate(Sum())

        with StreamHarness(define) as harness:
            sizes = []
            for number in range(10):
                harness.push(("a", number), timestamp=number)
                contents = harness.windows("a")[TimeWindow(0, 10)]
                sizes.append(len(contents) if with_evictor else 1)
            harness.advance_watermark(9)
            return sizes, harness.values

    assert sizes_and_result(False) == ([1] * 10, [45])
    assert sizes_and_result(True) == (list(range(1, 11)), [45])


def test_a_window_left_empty_is_given_empty_and_does_not_fire_when_nothing_came_since():
    with evicting(CountTrigger.of(2), CountEvictor.of(0)) as harness:
        assert pushed(harness, [1, 2]) == [[]]
        assert harness.windows("a") == {}
    # As an aggregate of nothing; a reduction of nothing has no result.
    with evicting(CountTrigger.of(2), CountEvictor.of(0), lambda w: w.aggregate(Sum())) as harness:
        for number in (1, 2):
            harness.push(("a", number))
        assert harness.values == [0]
    with evicting(CountTrigger.of(2), CountEvictor.of(0), lambda w: w.reduce(max)) as harness:
        for number in (1, 2):
            harness.push(("a", number))
        assert harness.values == []


def test_a_purging_trigger_leaves_nothing_for_the_next_time():
    with evicting(PurgingTrigger.of(CountTrigger.of(3)), CountEvictor.of(2)) as harness:
        assert pushed(harness, range(1, 7)) == [[2, 3], [5, 6]]
        assert harness.windows("a") == {}


class Even(Evictor):
    """Takes odd numbers out before, and what is above ten after; counts what it took out, and looks at the time."""

    def evict_before(self, elements, size, window, ctx):
        assert (size, str(window)) == (len(elements), "TimeWindow(start=0, end=20)")
        ctx.get_metric_group().counter("evicted").inc(sum(e.value[1] % 2 for e in elements))
        elements[:] = [e for e in elements if e.get_value()[1] % 2 == 0]

    def evict_after(self, elements, size, window, ctx):
        assert all(e.has_timestamp() and e.get_timestamp() == e.value[1] for e in elements)
        assert (ctx.get_current_watermark(), ctx.get_current_processing_time()) == (19, 7)
        elements[:] = [e for e in elements if e.value[1] <= 10]


def test_an_evictor_of_the_users():
    assigner = TumblingEventTimeWindows.of(20)
    with evicting(None, Even(), lambda w: w.allowed_lateness(100).apply(Numbers()), assigner, start_time=7) as harness:
        pushed(harness, [1, 2, 12, 3, 14])
        harness.advance_watermark(19)
        # Late, it fires the window once more: 12 and 14 are gone.
        assert pushed(harness, [4]) == [[2, 12, 14], [2, 4]]
        assert harness.metric("evicted") == 2


class Returning(Even):
    def evict_before(self, elements, size, window, ctx):
        return elements[1:]


def test_an_evictor_that_returns_a_list_instead_of_changing_it_is_told():
    with evicting(CountTrigger.of(1), Returning()) as harness, pytest.raises(ProgramError, match="returned") as caught:
        harness.push(("a", 1))
    assert "changes the given list" in str(caught.value)


class Failing(Even):
    def evict_before(self, elements, size, window, ctx):
        raise ValueError("no evicting today")


def test_an_evictor_that_raises_is_reported():
    with evicting(CountTrigger.of(1), Failing()) as harness, pytest.raises(UserFunctionError, match="no evicting today"):
        harness.push(("a", 1))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda s: s.evictor(CountEvictor),
        lambda s: s.evictor(None),
        lambda s: s.evictor(DeltaEvictor.of(1, 2)),
        lambda s: CountEvictor.of(-1),
    ],
)
def test_wrong_evictors_are_refused(wrong):
    with pytest.raises((ProgramError, ValueError)):
        StreamHarness(lambda s: wrong(s.key_by(lambda r: r[0]).window(TEN)).apply(Numbers()))


def test_windows_over_all_records():
    def define(stream):
        return stream.window_all(GlobalWindows.create()).trigger(CountTrigger.of(3)).evictor(CountEvictor.of(2)).apply(AllNumbers())

    with StreamHarness(define) as harness:
        harness.push_all("abcdef")
        assert harness.values == [["b", "c"], ["e", "f"]]


def test_sessions_that_merge_keep_all_elements_with_their_timestamps():
    sessions = EventTimeSessionWindows.with_gap(Time.milliseconds(10))
    with evicting(None, TimeEvictor.of(15), assigner=sessions) as harness:
        # 10 and 30 are sessions of their own until 20 joins them; 15 ms back from 30 is 15.
        assert pushed(harness, [10, 30, 32, 20]) == []
        harness.advance_watermark(41)
        assert [sorted(numbers) for _, numbers in harness.values] == [[20, 30, 32]]
        assert (harness.state("a"), harness.windows("a")) == ({}, {})
        assert harness.event_time_timers == []


def test_declared_types_hold_in_state_and_elements_come_back_as_they_were():
    record = Types.TUPLE([Types.STRING(), Types.INT()])
    for backend in ("hashmap", "lmdb"):
        with evicting(CountTrigger.of(2), CountEvictor.of(1), input_types=[record], state_backend=backend) as harness:
            pushed(harness, [1])
            with harness.restored(harness.snapshot(), parallelism=2) as again:
                assert pushed(again, [2]) == [[2]]
                assert pushed(again, [3, 4]) == [[2], [4]]


def test_no_short_cut_is_taken():
    harness = windows(TEN, evictor=CountEvictor.of(1), incremental=Count(), incremental_kind="aggregate")
    assert isinstance(harness.operator, EvictingWindowOperator)
    feed(harness, [("a", 1), ("a", 2), ("a", 12), ("a", 22)])
    assert results(harness) == [(1, 9), (1, 19)]
    assert state_size(harness) == 2  # the last window and its timer


class Shown(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield (key, context.window().start, [n for _, n in elements])


def expected(steps, size, lateness, evict, after):
    """Recompute: per key and window the elements it still has; fires at its end and for each late element."""
    kept, fired, watermark, out = defaultdict(list), set(), -(2**63), []

    def fire(key, start):
        elements = kept[key, start]
        if elements:
            seen = elements if after else evict(elements)
            out.append((key, start, [n for n, _ in seen]))
            kept[key, start] = evict(elements)

    for step in steps:
        if isinstance(step, int):
            watermark = max(watermark, step)
            for key, start in sorted(kept, key=lambda k: k[1]):
                if start + size - 1 <= watermark and (key, start) not in fired:
                    fired.add((key, start))
                    fire(key, start)
            for place in [p for p in kept if p[1] + size - 1 + lateness <= watermark]:
                del kept[place]
        else:
            key, timestamp, number = step
            start = timestamp - timestamp % size
            if start + size - 1 + lateness > watermark:
                kept[key, start].append((number, timestamp))
                if start + size - 1 <= watermark:
                    fired.add((key, start))
                    fire(key, start)
    return out


EVICTORS = {
    "count": (lambda after: CountEvictor.of(2, after), lambda e: e[-2:]),
    "time": (lambda after: TimeEvictor.of(4, after), lambda e: [x for x in e if x[1] > max(t for _, t in e) - 4]),
    "delta": (
        lambda after: DeltaEvictor.of(3, lambda a, b: abs(a[1] - b[1]), after),
        lambda e: [x for x in e if abs(x[0] - e[-1][0]) < 3],
    ),
}
STEPS = st.lists(
    st.one_of(st.tuples(st.sampled_from("abc"), st.integers(0, 40)), st.integers(0, 45), st.sampled_from(["restore"])), max_size=30
)


@settings(max_examples=60, deadline=None)
@given(
    steps=STEPS,
    kind=st.sampled_from(sorted(EVICTORS)),
    after=st.booleans(),
    lateness=st.sampled_from([0, 8]),
    parallelisms=st.lists(st.integers(1, 3), min_size=1, max_size=4),
)
def test_windows_with_evictors_are_what_a_recomputation_gives(steps, kind, after, lateness, parallelisms):
    make, evict = EVICTORS[kind]
    numbered = [(*s, i) if isinstance(s, tuple) else s for i, s in enumerate(steps)] + [END_OF_TIME]

    def define(stream):
        windowed = stream.key_by(lambda r: r[0]).window(TEN).allowed_lateness(lateness)
        return windowed.evictor(make(after)).process(Shown())

    harness = StreamHarness(define, parallelism=parallelisms[0])
    found, watermark, restores = [], None, 0
    for step in numbered:
        if step == "restore":
            restores += 1
            found.extend(harness.values)
            snapshot = harness.snapshot()
            harness.close()
            harness = harness.restored(snapshot, parallelism=parallelisms[restores % len(parallelisms)])
            if watermark is not None:  # comes anew from upstream
                harness.advance_watermark(watermark)
        elif isinstance(step, int):
            if watermark is None or step > watermark:
                watermark = step
                harness.advance_watermark(step)
        else:
            key, timestamp, number = step
            harness.push((key, number), timestamp=timestamp)
    found.extend(harness.values)
    harness.close()
    model = expected([s for s in numbered if s != "restore"], 10, lateness, evict, after)
    for key in "abc":
        assert [f for f in found if f[0] == key] == [m for m in model if m[0] == key]
