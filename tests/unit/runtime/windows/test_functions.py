"""What window functions get, give and may raise."""

from __future__ import annotations

import pytest

from tests.unit.runtime.harness import OperatorHarness
from tests.unit.runtime.windows.support import (
    WAYS,
    Count,
    ShownAll,
    aggregating,
    feed,
    processing,
    results,
    state_size,
    windows,
)
from wiesel.core.errors import StateAccessError, TypeMismatchError, UserFunctionError
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.runtime.user_code import ERRORS_TAG
from wiesel.spi.functions import AllWindowFunction, ProcessWindowFunction
from wiesel.spi.output_tag import OutputTag
from wiesel.spi.state import ValueStateDescriptor
from wiesel.spi.windows import EventTimeSessionWindows, TumblingEventTimeWindows, WindowAssigner
from wiesel.types.types import Types

BOTH = pytest.mark.parametrize("way", list(WAYS))
TEN = TumblingEventTimeWindows.of(10)


class Counting(ProcessWindowFunction):
    """Counts evaluations per key and per window, and calls of clear."""

    def open(self, runtime_context):
        self.cleared = runtime_context.get_metrics_group().counter("cleared")

    def close(self):
        self.cleared.inc(1000)

    def _window_count(self, context):
        return context.window_state().get_state(ValueStateDescriptor("count", Types.LONG()))

    def process(self, key, context, elements):
        total = context.global_state().get_state(ValueStateDescriptor("count", Types.LONG()))
        here = self._window_count(context)
        total.update((total.value() or 0) + 1)
        here.update((here.value() or 0) + 1)
        yield (key, str(context.window()), total.value(), here.value(), len(elements))

    def clear(self, context):
        self.cleared.inc()
        self._window_count(context).clear()


@BOTH
def test_state_per_window_and_per_key(way):
    # Read off Flink.
    harness = windows(TEN, way, allowed_lateness_ms=10, **processing(Counting()))
    feed(harness, [("a", 1), ("a", 4), ("a", 15), ("a", 3), ("a", 16), ("a", 40), ("a", 5)])
    harness.end_input()
    assert results(harness) == [
        (("a", "TimeWindow(start=0, end=10)", 1, 1, 2), 9),
        (("a", "TimeWindow(start=0, end=10)", 2, 2, 3), 3),
        (("a", "TimeWindow(start=10, end=20)", 3, 1, 2), 19),
        (("a", "TimeWindow(start=40, end=50)", 4, 1, 1), 49),
    ]
    assert harness.metrics.value("cleared") == 3
    assert len(harness.backend.table("count")) == 1
    assert state_size(harness) == 0
    harness.close()
    assert harness.metrics.value("cleared") == 1003


@BOTH
def test_windows_that_merge_have_no_state_of_their_own(way):
    harness = windows(EventTimeSessionWindows.with_gap(10), way, **processing(Counting()))
    harness.push([("a", 1)], [1])
    with pytest.raises(StateAccessError, match="Per-window state is not allowed when using merging windows"):
        harness.watermark(MAX_TIMESTAMP)


class AppliedAll(AllWindowFunction):
    def apply(self, window, inputs):
        return [(window.start, len(inputs))]


@BOTH
@pytest.mark.parametrize(
    ("function", "kind", "expected"),
    [
        (ShownAll(), "process", [("TimeWindow(start=0, end=10)", [1, 2]), ("TimeWindow(start=10, end=20)", [13])]),
        (AppliedAll(), "apply", [(0, 2), (10, 1)]),
    ],
    ids=["process", "apply"],
)
@pytest.mark.parametrize("keys", [None, [0, 0, 0]], ids=["no keys", "one key"])
def test_windows_over_all_records(way, function, kind, expected, keys):
    harness = OperatorHarness(WAYS[way], payload={**_payload(function, kind), "all": True})
    harness.push([1, 2, 13], [1, 2, 13], keys)
    harness.end_input()
    assert [value for value, _ in results(harness)] == expected


def _payload(function, kind):
    return {
        "assigner": TEN,
        "trigger": None,
        "allowed_lateness_ms": 0,
        "late_tag": None,
        "function": function,
        "function_kind": kind,
        "incremental": None,
        "incremental_kind": None,
        "output_type": None,
    }


class Tagged(ProcessWindowFunction):
    TAG = OutputTag("small", Types.INT())

    def process(self, key, context, elements):
        for element in elements:
            yield (self.TAG, element[1]) if element[1] < 5 else element


@BOTH
def test_tagged_results_go_to_their_side_output(way):
    harness = windows(TEN, way, **processing(Tagged()))
    harness.push([("a", 1), ("a", 6), ("a", 2)], [1, 6, 2])
    harness.watermark(9)
    assert harness.values == [("a", 6)]
    assert harness.side("small") == [1, 2]


class Silent(ProcessWindowFunction):
    def process(self, key, context, elements):
        return None


@BOTH
def test_a_function_may_return_nothing(way):
    harness = windows(TEN, way, **processing(Silent()))
    harness.push([("a", 1)], [1])
    harness.end_input()
    assert results(harness) == []


@BOTH
def test_results_are_coerced_to_the_declared_type(way):
    harness = windows(TEN, way, output_type=Types.ROW_NAMED(["n"], [Types.INT()]), **processing(Returning((7,))))
    harness.push([("a", 1)], [1])
    harness.end_input()
    ((row, timestamp),) = results(harness)
    assert (row["n"], timestamp) == (7, 9)


class Returning(ProcessWindowFunction):
    def __init__(self, result):
        self.result = result

    def process(self, key, context, elements):
        return [self.result]


@BOTH
def test_a_result_of_another_type_than_declared_is_an_error_with_the_path(way):
    harness = windows(TEN, way, output_type=Types.INT(), **processing(Returning("seven")))
    harness.push([("a", 1)], [1])
    with pytest.raises(TypeMismatchError, match="seven"):
        harness.end_input()


@BOTH
def test_a_function_cannot_change_the_window_by_changing_its_list(way):
    class Emptying(ProcessWindowFunction):
        def process(self, key, context, elements):
            yield len(elements)
            elements.clear()

    harness = windows(TEN, way, allowed_lateness_ms=100, **processing(Emptying()))
    harness.push([("a", 1), ("a", 2)], [1, 2])
    harness.watermark(20)
    harness.push([("a", 3)], [3])
    assert results(harness) == [(2, 9), (3, 3)]


@BOTH
def test_results_do_not_change_with_an_accumulator_that_goes_on(way):
    class Listing(Count):
        def create_accumulator(self):
            return []

        def add(self, value, accumulator):
            accumulator.append(value[1])
            return accumulator

    harness = windows(TEN, way, allowed_lateness_ms=100, **aggregating(Listing()))
    harness.push([("a", 1)], [1])
    harness.watermark(20)
    harness.push([("a", 2), ("a", 3)], [2, 3])
    assert results(harness) == [([1], 9), ([1, 2], 2), ([1, 2, 3], 3)]


class Picky(Count):
    def add(self, value, accumulator):
        return accumulator + 12 // value[1]


@BOTH
def test_an_aggregate_that_raises_is_reported_with_the_record_and_the_users_line(way):
    harness = windows(TEN, way, **aggregating(Picky()))
    with pytest.raises(UserFunctionError, match=r"ZeroDivisionError.*") as raised:
        harness.push([("a", 1), ("a", 0)], [1, 2])
    message = str(raised.value)
    assert "('a', 0)" in message
    assert "test_functions.py" in message
    assert "in add" in message


@BOTH
@pytest.mark.parametrize("assigner", [TEN, EventTimeSessionWindows.with_gap(8)], ids=repr)
def test_skipped_records_leave_the_windows_in_order(way, assigner):
    harness = windows(assigner, way, harness={"error_policy": "side-output"}, **aggregating(Picky()))
    harness.push([("a", 0), ("a", 1), ("a", 0), ("a", 2), ("b", 0), ("c", 3), ("a", 0)], [1, 2, 3, 4, 5, 6, 7])
    harness.watermark(MAX_TIMESTAMP)
    assert sorted(harness.values) == [4, 18]
    assert [row["record"] for row in harness.side(ERRORS_TAG)] == [("a", 0), ("a", 0), ("b", 0), ("a", 0)]
    assert harness.metrics.value("numRecordsSkipped") == 4
    assert state_size(harness) == 0


class Failing(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "begun " + key
        if key == "b":
            raise ValueError("no b")
        yield "done " + key


@BOTH
def test_a_window_function_that_raises_is_reported_with_the_window(way):
    harness = windows(TEN, way, **processing(Failing()))
    harness.push([("a", 1), ("b", 2), ("c", 3)], [1, 2, 3])
    with pytest.raises(UserFunctionError, match="no b") as raised:
        harness.watermark(9)
    assert "TimeWindow(start=0, end=10)" in str(raised.value)
    assert harness.values == ["begun a", "done a", "begun b"]


@BOTH
def test_a_window_that_is_skipped_does_not_keep_others_from_firing(way):
    harness = windows(TEN, way, harness={"error_policy": "skip"}, **processing(Failing()))
    harness.push([("a", 1), ("b", 2), ("c", 3)], [1, 2, 3])
    harness.end_input()
    assert [value for value, _ in results(harness)] == ["begun a", "done a", "begun b", "begun c", "done c"]
    assert state_size(harness) == 0


class Parity(WindowAssigner):
    """The user's own windows: none for negative numbers, one for odd ones, two for even ones; told apart by a class of its own."""

    def assign_windows(self, element, timestamp, context):
        if element[1] < 0:
            return []
        return [Named("odd")] if element[1] % 2 else [Named("even"), Named("all")]

    def get_default_trigger(self, env):
        from wiesel.spi.windows import CountTrigger

        return CountTrigger.of(2)

    def get_window_serializer(self):
        return None

    def is_event_time(self):
        return False


class Named:
    def __init__(self, name):
        self.name = name

    def max_timestamp(self):
        return MAX_TIMESTAMP

    def __eq__(self, other):
        return isinstance(other, Named) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return self.name


def test_a_window_assigner_of_the_users():
    harness = windows(Parity(), **processing())
    harness.push([("a", n) for n in (-1, 1, 2, 3, 4, 5)])
    assert [(value[1], [v[1] for v in value[3]]) for value, _ in results(harness)] == [("odd", [1, 3]), ("even", [2, 4]), ("all", [2, 4])]
    again = harness.restored(harness.snapshot())
    again.push([("a", 7)])
    assert [(value[1], [v[1] for v in value[3]]) for value, _ in results(again)] == [("odd", [1, 3, 5, 7])]
