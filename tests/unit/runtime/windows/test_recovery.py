"""Windows survive a restart in their middle."""

from __future__ import annotations

import pytest

from tests.unit.runtime.windows.support import (
    WAYS,
    aggregating,
    feed,
    processing,
    reducing,
    results,
    windows,
)
from wiesel.spi.windows import (
    ContinuousEventTimeTrigger,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    EventTimeSessionWindows,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)

STREAM = [("abc"[i % 3], t) for i, t in enumerate([1, 4, 3, 9, 12, 11, 20, 15, 28, 27, 39, 41, 33, 50, 52, 77, 71, 80])]

CASES = {
    "tumbling": {"assigner": TumblingEventTimeWindows.of(10), **aggregating()},
    "tumbling reduce": {"assigner": TumblingEventTimeWindows.of(10), **reducing(lambda a, b: (a[0], a[1] + b[1]))},
    "tumbling list": {"assigner": TumblingEventTimeWindows.of(10), **processing()},
    "late": {"assigner": TumblingEventTimeWindows.of(10), "allowed_lateness_ms": 15, **processing()},
    "sliding": {"assigner": SlidingEventTimeWindows.of(20, 5), **aggregating()},
    "session": {"assigner": EventTimeSessionWindows.with_gap(6), "allowed_lateness_ms": 5, **processing()},
    "session aggregate": {"assigner": EventTimeSessionWindows.with_gap(6), **aggregating()},
    "continuous session": {"assigner": EventTimeSessionWindows.with_gap(6), "trigger": ContinuousEventTimeTrigger.of(3), **aggregating()},
    "count": {"assigner": CountTumblingWindowAssigner.of(4), **processing()},
    "count sliding": {"assigner": CountSlidingWindowAssigner.of(4, 2), **processing()},
    "global": {"assigner": GlobalWindows.create(), "trigger": PurgingTrigger.of(CountTrigger.of(4)), **aggregating()},
}


@pytest.mark.parametrize("case", list(CASES))
@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("way_after", list(WAYS))
def test_a_restart_at_any_record_changes_nothing(case, way, way_after):
    _restart_at_each(CASES[case], way, way_after, range(len(STREAM) + 1), {})


@pytest.mark.parametrize("case", list(CASES))
def test_the_same_on_disk(case, tmp_path):
    _restart_at_each(CASES[case], "chosen", "chosen", (5, 9, 14), {"backend": "lmdb", "local_dir": str(tmp_path)})


def _restart_at_each(given, way, way_after, cuts, options):
    quiet = feed(windows(way="general", **given), STREAM)
    quiet.end_input()
    expected = results(quiet)
    assert expected
    for cut in cuts:
        first = feed(windows(way=way, harness=options, **given), STREAM[:cut])
        snapshot = first.snapshot()
        # What comes after the snapshot is lost with the process.
        before = results(first)
        feed(first, [("a", 10_000)])
        first.close()
        second = windows(way=way_after, harness={"restore_from": snapshot, **options}, **given)
        # Watermarks are not state: they come anew from upstream.
        if cut:
            second.watermark(max(t for _, t in STREAM[:cut]))
        _feed_on(second, cut)
        second.end_input()
        assert before + results(second) == expected, f"cut at {cut}"


def _feed_on(harness, cut):
    highest = max((t for _, t in STREAM[:cut]), default=-1)
    for record in STREAM[cut:]:
        harness.push([record], [record[1]])
        highest = max(highest, record[1])
        harness.watermark(highest)


def test_records_of_one_batch_are_all_in_the_next_snapshot():
    harness = windows(TumblingEventTimeWindows.of(10), **processing())
    harness.push([("a", 1), ("b", 2), ("a", 3)], [1, 2, 3])
    harness.push([("a", 4)], [4])
    again = harness.restored(harness.snapshot())
    again.end_input()
    assert [value[3] for value, _ in results(again)] == [[("a", 1), ("a", 3), ("a", 4)], [("b", 2)]]
