"""Overlapping windows that share slices, against a plain recomputation and against the operator that shares nothing."""

from __future__ import annotations

import tempfile
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.runtime.harness import Record, Side
from tests.unit.runtime.windows.support import Count, Values, aggregating, late, payload, processing, reducing, results, windows
from tests.unit.runtime.windows.test_agreement import Merged, joined, numbered, recomputed, starts
from wiesel.core.errors import ProgramError, StateMigrationError, UserFunctionError
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.runtime.windows.shared import cannot_share, shares
from wiesel.runtime.windows.slices import Slices
from wiesel.runtime.windows.spec import WindowSpec
from wiesel.spi.functions import AggregateFunction, ProcessWindowFunction
from wiesel.spi.state import ValueStateDescriptor
from wiesel.spi.windows import CountEvictor, CountTrigger, SlidingEventTimeWindows
from wiesel.types import Types

TABLES = ("window-slices", "window-slice-aggregates", "window-slice-positions")


class Spoiling(Values):
    """Changes and gives away what it is given wherever Flink allows it."""

    def merge(self, acc_a, acc_b):
        acc_a.extend(acc_b)
        acc_b.clear()
        return acc_a

    def get_result(self, accumulator):
        accumulator.sort()
        return accumulator


KINDS = {
    "aggregate": ({**aggregating(Values()), **processing(Merged())}, lambda n: n),
    "spoiling": ({**aggregating(Spoiling()), **processing(Merged())}, lambda n: n),
    "reduce": ({**reducing(joined), **processing(Merged())}, lambda n: (n,)),
}


def left_over(harness):
    """Return the number of entries and timers that the operator keeps."""
    tables = (len(harness.backend.table(name, kind=kind)) for name, kind in zip(TABLES, harness.kinds, strict=True))
    return sum(tables) + len(harness.backend.timers("event"))


def shared(size, slide, offset, given, harness=None):
    made = windows(SlidingEventTimeWindows(size, slide, offset), harness=harness, share_slices=True, **given)
    kind = "reducing" if given["incremental_kind"] == "reduce" else "aggregating"
    made.kinds = (kind, kind, "value")
    return made


def restarted(harness, again, announce, watermark):
    snapshot = harness.snapshot()
    harness.close()
    other = again(snapshot)
    if announce and watermark is not None:
        other.watermark(watermark)
        assert not [e for e in other.take() if isinstance(e, Record | Side)]
    return other


def run(make, steps, wrap, restarts, announce):
    """Return what ``test_agreement.run`` does; the operator is restored before the steps that are named."""
    harness, outputs, reached, dropped = make(None), [], None, 0
    now = -20
    for i, step in enumerate([*numbered(steps), None]):
        if i in restarts:
            dropped += harness.metrics.value("numLateRecordsDropped")
            harness = restarted(harness, lambda snapshot: make(snapshot), announce, reached)
        if step is None:
            harness.end_input()
        elif isinstance(step, list):
            harness.push([(k, t, wrap(n)) for k, t, n in step], [t for _, t, _ in step])
        else:
            now = reached = now + step
            harness.watermark(now)
        events = harness.take()
        aside = [(e.value[2], e.timestamp) for e in events if isinstance(e, Side)]
        outputs.append((sorted((e.value, e.timestamp) for e in events if isinstance(e, Record)), sorted(aside)))
    return outputs, dropped + harness.metrics.value("numLateRecordsDropped"), left_over(harness)


# As many records as in test_agreement, closer together or further apart.
BATCHES = st.lists(st.tuples(st.sampled_from("ab"), st.integers(-15, 60)), min_size=1, max_size=8)
STEPS = st.lists(st.one_of(BATCHES, BATCHES, st.integers(1, 25)), max_size=14)
SLIDES = st.integers(1, 8)
LATENESS = st.sampled_from([0, 0, 7, 30])
KIND = st.sampled_from(list(KINDS))
RESTARTS = st.sets(st.integers(0, 14), max_size=3)


def on_time(steps):
    """Return the steps with all records behind the watermark, which begins at -20."""
    now = -20
    for step in steps:
        if isinstance(step, list):
            yield [(key, max(t, now + 1)) for key, t in step]
        else:
            now += step
            yield step


def check(steps, slide, more, data, lateness, kind, tagged, restarts, announce=True, backend=None):
    size = slide + more
    offset = data.draw(st.integers(-slide + 1, slide - 1))
    options, wrap = KINDS[kind]
    options = {"allowed_lateness_ms": lateness, "late_tag": "late" if tagged else None, **options}
    expected = recomputed(steps, lambda t: starts(t, size, slide, offset), False, lateness, wrap, tagged)

    def make(snapshot):
        return shared(size, slide, offset, options, {**(backend or {}), "restore_from": snapshot})

    assert run(make, steps, wrap, restarts, announce) == expected


@settings(max_examples=400, deadline=None, print_blob=True)
@given(STEPS, SLIDES, st.integers(1, 30), st.data(), LATENESS, KIND, st.booleans(), RESTARTS)
def test_results_are_those_of_windows_of_their_own(steps, slide, more, data, lateness, kind, tagged, restarts):
    check(steps, slide, more, data, lateness, kind, tagged, restarts)


@settings(max_examples=150, deadline=None, print_blob=True)
@given(STEPS, SLIDES, st.integers(1, 30), st.data(), LATENESS, KIND, RESTARTS)
def test_a_restart_is_unseen_also_before_the_watermark_is_there_again(steps, slide, more, data, lateness, kind, restarts):
    check(list(on_time(steps)), slide, more, data, lateness, kind, False, restarts, announce=False)


@settings(max_examples=40, deadline=None, print_blob=True)
@given(STEPS, SLIDES, st.integers(1, 30), st.data(), LATENESS, KIND, RESTARTS)
def test_the_same_on_disk(steps, slide, more, data, lateness, kind, restarts):
    with tempfile.TemporaryDirectory() as directory:
        check(steps, slide, more, data, lateness, kind, True, restarts, backend={"backend": "lmdb", "local_dir": directory})


@settings(max_examples=200, deadline=None)
@given(SLIDES, st.integers(1, 30), st.data(), st.integers(-1000, 1000))
def test_slices_lie_between_all_starts_and_ends(slide, more, data, time):
    size, offset = slide + more, data.draw(st.integers(-slide + 1, slide - 1))
    slices = Slices(size, slide, offset)
    own = [t for t in range(time - 2 * size, time + 2 * size) if (t - offset) % slide == 0]
    edges = sorted({*own, *(t + size for t in own)})
    start, end = slices.slice_of(time)
    assert (start, end) == (max(e for e in edges if e <= time), min(e for e in edges if e > time))
    containing = [t for t in own if t <= start and t + size >= end]
    assert (slices.first_end((start, end)), slices.last_end((start, end))) == (min(containing) + size, max(containing) + size)
    assert start <= time - (time - offset) % slices.step and time - (time - offset) % slices.step + slices.step <= end
    first = containing[0]
    inside = [e for e in edges if first <= e <= first + size]
    assert slices.between(first, first + size) == list(pairwise(inside))


class Calls(AggregateFunction):
    """A sum that counts what it was asked to do."""

    def __init__(self):
        self.adds = self.merges = 0

    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        self.adds += 1
        return accumulator + value[2]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        self.merges += 1
        return acc_a + acc_b


@pytest.mark.parametrize("times", [1, 2, 10, 100])
def test_the_work_does_not_grow_with_the_number_of_windows_that_a_record_is_in(times):
    harness = windows(SlidingEventTimeWindows.of(10 * times, 10), share_slices=True, **aggregating(Calls()))
    calls = harness.operator.spec.incremental
    total = 0
    slides = 3_000
    for t in range(0, 10 * slides, 5):
        harness.push([("a", t, 1)], [t])
        harness.watermark(t)
        total += sum(value for value, _ in results(harness))
    harness.end_input()
    total += sum(value for value, _ in results(harness))
    # Each record in each of its windows.
    assert total == 2 * slides * times
    assert calls.adds == 2 * slides
    # A slice is merged once on its way in, once when the parts change, and each window is made of two.
    assert calls.merges <= 3 * (slides + times)


@pytest.mark.parametrize("slide", [10, 15])
def test_windows_that_do_not_overlap_are_those_of_always(slide):
    assert not shares(WindowSpec.of(payload(SlidingEventTimeWindows.of(10, slide), share_slices=True, **aggregating())))
    assert shares(WindowSpec.of(payload(SlidingEventTimeWindows.of(10, 9), share_slices=True, **aggregating())))


class Visits(ProcessWindowFunction):
    """How often each window was evaluated, by its own state; tells by the key's state how many windows were cleared."""

    def process(self, key, context, elements):
        visits = context.window_state().get_state(ValueStateDescriptor("visits", Types.LONG()))
        visits.update((visits.value() or 0) + 1)
        cleared = context.global_state().get_state(ValueStateDescriptor("cleared", Types.LONG()))
        window = context.window()
        yield (window.start, next(iter(elements)), visits.value(), cleared.value() or 0)

    def clear(self, context):
        context.window_state().get_state(ValueStateDescriptor("visits", Types.LONG())).clear()
        cleared = context.global_state().get_state(ValueStateDescriptor("cleared", Types.LONG()))
        cleared.update((cleared.value() or 0) + 1)


@pytest.mark.parametrize("sharing", [False, True])
def test_window_functions_have_state_per_window_and_are_asked_to_clear_it(sharing):
    harness = windows(
        SlidingEventTimeWindows.of(10, 5), share_slices=sharing, allowed_lateness_ms=4, **{**aggregating(), **processing(Visits())}
    )
    harness.push([("a", 1), ("a", 6)], [1, 6])
    harness.watermark(9)
    assert results(harness) == [((-5, 1, 1, 0), 4), ((0, 2, 1, 1), 9)]
    harness.push([("a", 7)], [7])  # late for the window from 0 to 10, which fires again
    assert results(harness) == [((0, 3, 2, 1), 7)]
    harness.watermark(14)
    assert results(harness) == [((5, 2, 1, 2), 14)]
    harness.end_input()
    assert results(harness) == []
    assert len(harness.backend.table("visits")) == 0
    assert harness.backend.table("cleared").get("a") == 3


def test_late_records_go_to_the_side_output():
    harness = shared(10, 5, 0, {**aggregating(), "late_tag": "late", "allowed_lateness_ms": 0})
    harness.push([("a", 1)], [1])
    harness.watermark(100)
    harness.push([("a", 2), ("b", 84), ("b", 89), ("b", 97), ("b", 101)], [2, 84, 89, 97, 101])
    assert late(harness) == [(("a", 2), 2), (("b", 84), 84), (("b", 89), 89)]
    results(harness)
    harness.end_input()
    # 97 was in time for the window from 95 on; that from 90 to 100 had fired.
    assert results(harness) == [(2, 104), (1, 109)]


def test_a_merge_that_gives_nothing_is_an_error_that_says_so():
    class NoMerge(Count):
        def merge(self, acc_a, acc_b):
            pass

    harness = shared(10, 5, 0, aggregating(NoMerge()))
    harness.push([("a", 1), ("a", 6)], [1, 6])
    with pytest.raises(UserFunctionError, match="NoMerge returned None for two aggregates") as raised:
        harness.watermark(9)
    assert "created at program.py:7" in str(raised.value) and "TimeWindow(start=0, end=10)" in str(raised.value)


class FailsOnce(Values):
    def merge(self, acc_a, acc_b):
        if 13 in acc_b and 11 in acc_a:
            raise ValueError("unlucky")
        return acc_a + acc_b


def test_with_errors_skipped_a_window_that_fails_does_not_stop_the_next():
    harness = shared(10, 5, 0, aggregating(FailsOnce()), {"error_policy": "skip"})
    harness.push([("a", t, t) for t in (1, 6, 11, 13, 16, 21)], [1, 6, 11, 13, 16, 21])
    harness.end_input()
    expected = [([1], 4), ([1, 6], 9), ([6, 11, 13], 14), ([11, 13, 16], 19), ([16, 21], 24), ([21], 29)]
    assert results(harness) == expected
    assert left_over(harness) == 0

    class Fails(Values):
        def merge(self, acc_a, acc_b):
            if 6 in acc_a and 11 in acc_b:
                raise ValueError("unlucky")
            return acc_a + acc_b

    harness = shared(10, 5, 0, aggregating(Fails()), {"error_policy": "skip"})
    harness.push([("a", t, t) for t in (1, 6, 11, 16)], [1, 6, 11, 16])
    harness.end_input()
    assert results(harness) == [([1], 4), ([1, 6], 9), ([11, 16], 19), ([16], 24)]
    assert left_over(harness) == 0
    strict = shared(10, 5, 0, aggregating(Fails()))
    strict.push([("a", t, t) for t in (1, 6, 11, 16)], [1, 6, 11, 16])
    with pytest.raises(UserFunctionError, match="unlucky"):
        strict.end_input()


@pytest.mark.parametrize("timestamps", [None, [None], [MIN_TIMESTAMP]])
def test_records_without_a_timestamp_are_refused(timestamps):
    with pytest.raises(ProgramError, match="no timestamp"):
        shared(10, 5, 0, aggregating()).push([("a", 1)], timestamps)


def test_what_did_not_share_slices_is_not_restored_into_what_does():
    alone = windows(SlidingEventTimeWindows.of(10, 5), **aggregating())
    alone.push([("a", 1)], [1])
    with pytest.raises(StateMigrationError, match="have no shared slices"):
        shared(10, 5, 0, aggregating(), {"restore_from": alone.snapshot()})
    sharing = shared(10, 5, 0, aggregating())
    sharing.push([("a", 1)], [1])
    snapshot = sharing.snapshot()
    with pytest.raises(StateMigrationError, match="which these do not"):
        windows(SlidingEventTimeWindows.of(10, 5), harness={"restore_from": snapshot}, **aggregating())
    with pytest.raises(StateMigrationError, match="10 ms every 5 ms"):
        shared(20, 5, 0, aggregating(), {"restore_from": snapshot})
    # Without anything in state there is nothing to go wrong.
    sharing.end_input()
    shared(20, 5, 0, aggregating(), {"restore_from": sharing.snapshot()})
    windows(SlidingEventTimeWindows.of(10, 5), harness={"restore_from": sharing.snapshot()}, **aggregating())


def test_records_that_come_again_before_the_watermark_does_fire_no_window_twice():
    harness = shared(10, 5, 0, aggregating())
    harness.push([("a", 1), ("a", 6), ("a", 12)], [1, 6, 12])
    harness.watermark(9)
    assert results(harness) == [(1, 4), (2, 9)]
    again = harness.restored(harness.snapshot())
    again.kinds = harness.kinds
    again.push([("a", 2), ("a", 7)], [2, 7])  # the first is late for good, the second for the window up to 10
    assert again.metrics.value("numLateRecordsDropped") == 1
    again.watermark(MAX_TIMESTAMP)
    assert results(again) == [(3, 14), (1, 19)]
    assert left_over(again) == 0


def test_what_was_drained_goes_on_with_the_usual_way():
    harness = shared(10, 5, 0, aggregating())
    harness.push([("a", 1), ("a", 6)], [1, 6])
    harness.watermark(MAX_TIMESTAMP)
    again = harness.restored(harness.snapshot())
    again.push([("a", 2)], [2])
    assert not again.operator._unusual and again.operator._fired_before == MIN_TIMESTAMP
    again.end_input()
    assert results(again) == [(1, 4), (1, 9)]


def test_operators_that_cannot_share_say_why():
    def reason(assigner=None, **given):
        return cannot_share(WindowSpec.of(payload(SlidingEventTimeWindows.of(10, 5) if assigner is None else assigner, **given)))

    assert reason(**aggregating()) is None
    assert "CountTrigger" in reason(trigger=CountTrigger.of(2), **aggregating())[0]
    assert "evictor" in reason(evictor=CountEvictor.of(2), **aggregating())[0]
    assert "process()" in reason(**processing())[0]
