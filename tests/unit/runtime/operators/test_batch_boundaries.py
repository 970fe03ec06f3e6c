"""How records are cut into batches, and where a job fails and is restored, must not show in the results."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.runtime.harness import OperatorHarness, Side, Watermark
from wiesel.core.durations import Duration
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.runtime.registry import make_operator
from wiesel.spi.functions import KeyedProcessFunction, MapFunction
from wiesel.spi.output_tag import OutputTag
from wiesel.spi.state import ListStateDescriptor, ValueStateDescriptor
from wiesel.spi.watermark import WatermarkGenerator, WatermarkStrategy
from wiesel.types.types import Types

EVEN = OutputTag("even")


class Everything(KeyedProcessFunction):
    """State of two kinds, timers that are set and deleted, side output, and an exception for 13."""

    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.LONG()))

    def process_element(self, value, ctx):
        key, n = value
        self.sum.update((self.sum.value() or 0) + n)
        self.list.add(n)
        yield key, self.list.get()
        if n == 13:
            raise ValueError("thirteen")
        if n % 2 == 0:
            yield EVEN, (key, self.sum.value())
        if n % 3 == 0:
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + n)
        if n % 5 == 0:
            ctx.timer_service().delete_event_time_timer(ctx.timestamp() + n)

    def on_timer(self, timestamp, ctx):
        yield "timer", ctx.get_current_key(), timestamp, self.sum.value()
        self.list.clear()


class Growing(MapFunction):
    def __init__(self):
        self.seen = []

    def map(self, value):
        self.seen.append(value[1])
        return self.seen[-3:], 1 // (value[1] - 13)


class Punctuated(WatermarkGenerator):
    def on_event(self, event, event_timestamp, output):
        if event[1] % 7 == 0:
            output.emit_watermark(event_timestamp)

    def on_periodic_emit(self, output):
        pass


STRATEGY = WatermarkStrategy.for_generator(Punctuated).with_idleness(Duration.of_seconds(1))

PAYLOADS = {
    "keyed_process": {"function": Everything()},
    "map": {"function": Growing()},
    "flat_map": {"function": lambda v: [v[0]] * (12 // (v[1] - 13) % 3)},
    "filter": {"function": lambda v: 5 // (v[1] - 13) % 2},
    "keyed_reduce": {"function": lambda a, b: (a[0], a[1] + 100 // (b[1] - 13))},
    "timestamps": {"strategy": STRATEGY},
}

records_strategy = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 20)), max_size=30)
cuts_strategy = st.lists(st.integers(0, 30), max_size=4)


def harness_for(kind):
    return OperatorHarness(
        lambda params, payload: make_operator(kind, params, payload), payload=PAYLOADS[kind], key=lambda v: v[0], error_policy="skip"
    )


def feed(harness, records, start, end, timed):
    part = records[start:end]
    harness.push(part, [10 * i for i in range(start, start + len(part))] if timed else None)


def result(harness):
    """Order holds within an output; side outputs go beside the main one."""
    events = [e for e in harness.output if not isinstance(e, Side)]
    return events, [e for e in harness.output if isinstance(e, Side)], harness.metrics.value("numRecordsSkipped")


@pytest.mark.parametrize("kind", PAYLOADS)
@settings(max_examples=40, deadline=None)
@given(records=records_strategy, cuts=cuts_strategy, timed=st.booleans())
def test_cutting_records_into_batches_otherwise_changes_nothing(kind, records, cuts, timed):
    singly = harness_for(kind)
    for i in range(len(records)):
        feed(singly, records, i, i + 1, timed)
    singly.end_input()

    cut = harness_for(kind)
    places = [0, *sorted(min(c, len(records)) for c in cuts), len(records)]
    for start, end in itertools.pairwise(places):
        feed(cut, records, start, end, timed)
    cut.end_input()
    assert result(cut) == result(singly)


@settings(max_examples=40, deadline=None)
@given(records=records_strategy, place=st.integers(0, 30), lost=st.integers(0, 10), watermark=st.integers(0, 300))
def test_a_restore_from_a_snapshot_anywhere_changes_nothing(records, place, lost, watermark):
    place = min(place, len(records))
    quiet = harness_for("keyed_process")
    feed(quiet, records, 0, place, True)
    quiet.watermark(watermark)
    feed(quiet, records, place, len(records), True)
    quiet.end_input()

    first = harness_for("keyed_process")
    feed(first, records, 0, place, True)
    first.watermark(watermark)
    snapshot = first.snapshot()
    before = list(first.output)
    feed(first, records, place, place + lost, True)
    first.watermark(MAX_TIMESTAMP)

    second = first.restored(snapshot)
    feed(second, records, place, len(records), True)
    second.end_input()
    assert before + second.output == quiet.output
    assert quiet.output[-1] == Watermark(MAX_TIMESTAMP)
