"""Windows of processing time that share slices, against windows of their own."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.runtime.windows.support import Values, aggregating, payload, processing, results, windows
from tests.unit.runtime.windows.test_agreement import Merged
from tests.unit.runtime.windows.test_shared_slices import TABLES, Spoiling
from wiesel.runtime.windows.shared import cannot_share
from wiesel.runtime.windows.spec import WindowSpec
from wiesel.spi.windows import CountTrigger, SlidingProcessingTimeWindows

# Batches of keys, and steps of the clock. All times are even and windows end behind odd ones: what comes in the millisecond in which a
# window fires would make a window of its own once more.
STEPS = st.lists(st.one_of(st.lists(st.sampled_from("ab"), min_size=1, max_size=4), st.integers(1, 12)), max_size=20)
RESTARTS = st.sets(st.integers(0, 20), max_size=3)


def run(steps, sharing, size, slide, offset, function, restarts):
    given_kind = {**aggregating(function), **processing(Merged())}
    harness = windows(SlidingProcessingTimeWindows(size, slide, offset), share_slices=sharing, **given_kind)
    outputs, number = [], 0
    for i, step in enumerate([*steps, size + slide]):
        if i in restarts:
            snapshot = harness.snapshot()
            harness.close()
            harness = harness.restored(snapshot)
        if isinstance(step, list):
            harness.push([(key, None, number + n) for n, key in enumerate(step)], [3] * len(step))
            number += len(step)
        else:
            harness.advance_processing_time(2 * step)
        outputs.append(sorted(results(harness)))
    return outputs, harness


@settings(max_examples=200, deadline=None, print_blob=True)
@given(STEPS, st.integers(1, 5), st.integers(1, 15), st.data(), st.sampled_from([Values(), Spoiling()]), RESTARTS)
def test_results_are_those_of_windows_of_their_own(steps, slide, more, data, function, restarts):
    offset = data.draw(st.integers(-slide + 1, slide - 1))
    cut = (2 * (slide + more), 2 * slide, 2 * offset, function)
    expected, _ = run(steps, False, *cut, set())
    found, harness = run(steps, True, *cut, restarts)
    assert found == expected
    kinds = ("aggregating", "aggregating", "value")
    assert sum(len(harness.backend.table(name, kind=kind)) for name, kind in zip(TABLES, kinds, strict=True)) == 0
    assert len(harness.backend.timers("processing")) == 0


def test_a_record_of_the_millisecond_whose_windows_have_fired_is_in_the_next():
    harness = windows(SlidingProcessingTimeWindows.of(10, 5), share_slices=True, **aggregating())
    harness.push([("a", 0)])
    harness.advance_processing_time(4)
    assert results(harness) == [(1, 4)]
    harness.push([("a", 0)])
    harness.advance_processing_time(100)
    assert results(harness) == [(2, 9), (1, 14)]


def test_time_does_not_go_back_behind_a_restore_on_a_machine_whose_clock_is_behind():
    harness = windows(SlidingProcessingTimeWindows.of(10, 5), share_slices=True, harness={"clock_ms": 1_000}, **aggregating())
    harness.push([("a", 0)])
    harness.advance_processing_time(4)
    assert results(harness) == [(1, 1_004)]
    again = harness.restored(harness.snapshot(), clock_ms=900)
    again.push([("a", 0)])
    again.advance_processing_time(200)
    assert results(again) == [(2, 1_009), (1, 1_014)]


def test_what_is_due_fires_at_the_end_of_the_input_and_the_rest_is_dropped():
    harness = windows(SlidingProcessingTimeWindows.of(10, 5), share_slices=True, **aggregating())
    harness.push([("a", 0)])
    harness.clock.set(7)
    harness.end_input()
    assert results(harness) == [(1, 4)]


@pytest.mark.parametrize("sharing", [False, True])
def test_the_timestamps_of_records_do_not_matter(sharing):
    harness = windows(SlidingProcessingTimeWindows.of(10, 5), share_slices=sharing, **aggregating())
    harness.push([("a", 0), ("a", 1)], [None, 77])
    harness.watermark(1_000)
    harness.push([("a", 2)])
    harness.advance_processing_time(20)
    assert results(harness) == [(3, 4), (3, 9)]


def test_only_their_usual_trigger_will_do():
    spec = WindowSpec.of(payload(SlidingProcessingTimeWindows.of(10, 5), trigger=CountTrigger.of(2), **aggregating()))
    assert "CountTrigger" in cannot_share(spec)[0]
