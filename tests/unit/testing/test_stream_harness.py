"""Windows and other operators under test, by the calls that make them."""

from __future__ import annotations

import pytest

from tests.unit.testing.programs import CountAll, Sides, add, first, sums_of
from wiesel.common import Duration, Time, Types, WatermarkStrategy
from wiesel.common.watermark_strategy import TimestampAssigner
from wiesel.datastream import OutputTag
from wiesel.datastream.functions import ProcessWindowFunction
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    GlobalWindows,
    SlidingEventTimeWindows,
    TimeWindow,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from wiesel.testing import END_OF_TIME, Record, StreamHarness, Timer, Watermark

LATE = OutputTag("late", Types.PICKLED_BYTE_ARRAY())


def ms(count):
    return Time.milliseconds(count)


def test_a_tumbling_window_fires_with_the_watermark():
    with StreamHarness(sums_of(100)) as harness:
        harness.push(("a", 1), timestamp=10)
        harness.push(("a", 2), timestamp=99)
        harness.push(("b", 4), timestamp=20)
        harness.push(("a", 8), timestamp=100)
        assert harness.windows("a") == {TimeWindow(0, 100): ("a", 3), TimeWindow(100, 200): ("a", 8)}
        assert harness.windows("b") == {TimeWindow(0, 100): ("b", 4)}
        assert harness.windows("c") == {}
        assert Timer(99, "b", TimeWindow(0, 100)) in harness.event_time_timers
        harness.advance_watermark(98)
        assert harness.take() == [Watermark(98)]
        harness.advance_watermark(99)
        assert harness.take() == [Record(("a", 3), 99), Record(("b", 4), 99), Watermark(99)]
        assert harness.windows("a") == {TimeWindow(100, 200): ("a", 8)}
        harness.end_input()
        assert harness.take() == [Record(("a", 8), 199), Watermark(END_OF_TIME)]


def test_late_records_are_dropped_and_counted_or_put_aside():
    with StreamHarness(sums_of(100)) as harness:
        harness.advance_watermark(99)
        harness.push(("a", 1), timestamp=50)
        assert (harness.records, harness.windows("a"), harness.metric("numLateRecordsDropped")) == ([], {}, 1)

    def windows(stream):
        keyed = stream.key_by(first).window(TumblingEventTimeWindows.of(ms(100)))
        return keyed.allowed_lateness(50).side_output_late_data(LATE).reduce(add)

    with StreamHarness(windows) as harness:
        harness.push(("a", 1), timestamp=50)
        harness.advance_watermark(99)
        harness.push(("a", 2), timestamp=60)
        harness.advance_watermark(149)
        harness.push(("a", 4), timestamp=70)
        # What a late record sets off has the timestamp of that record.
        assert harness.records == [Record(("a", 1), 99), Record(("a", 3), 60)]
        assert harness.side_records(LATE) == [Record(("a", 4), 70)]
        assert (harness.event_time_timers, harness.windows("a")) == ([], {})


def test_sessions_show_as_the_windows_that_they_have_merged_into():
    with StreamHarness(lambda s: s.key_by(first).window(EventTimeSessionWindows.with_gap(ms(10))).aggregate(CountAll())) as harness:
        for timestamp in (100, 120, 105, 114):
            harness.push(("a",), timestamp)
        # 120 stands alone until 114 joins it to the session of 100 and 105.
        assert harness.windows("a") == {TimeWindow(100, 130): 4}
        harness.push(("a",), 200)
        assert harness.windows("a") == {TimeWindow(100, 130): 4, TimeWindow(200, 210): 1}
        harness.advance_watermark(129)
        assert harness.records == [Record("4 records", 129)]


@pytest.mark.parametrize("timestamp", [0, 7, 19])
def test_a_record_is_in_each_window_that_slides_over_it(timestamp):
    def windows(stream):
        return stream.key_by(lambda v: "all").window(SlidingEventTimeWindows.of(ms(20), ms(5))).aggregate(CountAll())

    with StreamHarness(windows) as harness:
        harness.push("x", timestamp)
        last = timestamp - timestamp % 5
        assert list(harness.windows("all")) == [TimeWindow(start, start + 20) for start in range(last - 15, last + 1, 5)]
        harness.end_input()
        assert len(harness.records) == 4


def test_windows_of_processing_time():
    def windows(stream):
        return stream.key_by(first).window(TumblingProcessingTimeWindows.of(ms(100))).aggregate(CountAll())

    with StreamHarness(windows, start_time=1_050) as harness:
        harness.push_all([("a",), ("a",)])
        assert harness.windows("a") == {TimeWindow(1_000, 1_100): 2}
        assert harness.processing_time_timers == [Timer(1_099, "a", TimeWindow(1_000, 1_100))]
        harness.set_processing_time(1_098)
        assert harness.values == []
        harness.set_processing_time(1_500)
        assert harness.records == [Record("2 records", 1_099)]


class Seen(ProcessWindowFunction):
    """Gives how many records the key has had in this window and in all windows so far."""

    def process(self, key, context, elements):
        here = context.window_state().get_state(ValueStateDescriptor("here", Types.LONG()))
        ever = context.global_state().get_state(ValueStateDescriptor("ever", Types.LONG()))
        here.update((here.value() or 0) + 1)
        ever.update((ever.value() or 0) + len(list(elements)))
        yield here.value(), ever.value()

    def clear(self, context):
        context.window_state().get_state(ValueStateDescriptor("here", Types.LONG())).clear()


def test_state_per_window_and_of_the_key():
    def windows(stream):
        return stream.key_by(first).window(TumblingEventTimeWindows.of(ms(100))).allowed_lateness(1_000).process(Seen())

    with StreamHarness(windows) as harness:
        harness.push(("a",), 10)
        harness.push(("a",), 20)
        harness.advance_watermark(99)
        assert harness.values == [(1, 2)]
        assert harness.windows("a") == {TimeWindow(0, 100): [("a",), ("a",)]}
        assert harness.state("a") == {"ever": 2}
        assert harness.state("a", window=TimeWindow(0, 100)) == {"here": 1}
        harness.advance_watermark(1_099)
        assert harness.state("a", window=TimeWindow(0, 100)) == harness.windows("a") == {}
        assert harness.state("a") == {"ever": 2}


def test_count_triggers_and_global_windows():
    def windows(stream):
        return stream.key_by(first).window(GlobalWindows.create()).trigger(CountTrigger.of(2)).reduce(add)

    with StreamHarness(windows) as harness:
        for n in (1, 2, 4, 8):
            harness.push(("a", n))
        assert harness.values == [("a", 3), ("a", 15)]


class Impatient(Trigger):
    """Fires at each record and purges at the third."""

    def on_element(self, element, timestamp, window, ctx):
        count = ctx.get_partitioned_state(ValueStateDescriptor("count", Types.LONG()))
        count.update((count.value() or 0) + 1)
        return TriggerResult.FIRE_AND_PURGE if count.value() == 3 else TriggerResult.FIRE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        raise NotImplementedError

    def clear(self, window, ctx):
        ctx.get_partitioned_state(ValueStateDescriptor("count", Types.LONG())).clear()


def test_triggers_of_the_users_own():
    def windows(stream):
        return stream.key_by(first).window(TumblingEventTimeWindows.of(ms(100))).trigger(Impatient()).reduce(add)

    with StreamHarness(windows) as harness:
        for n in (1, 2, 4, 8):
            harness.push(("a", n), timestamp=5)
        assert harness.values == [("a", 1), ("a", 3), ("a", 7), ("a", 8)]
        assert harness.state("a", window=TimeWindow(0, 100)) == {"count": 4}


def test_windows_over_all_keys_run_in_one_subtask():
    windows = lambda s: s.window_all(TumblingEventTimeWindows.of(ms(10))).reduce(lambda a, b: a + b)  # noqa: E731
    with StreamHarness(windows, parallelism=4) as harness:
        harness.push_all([1, 2, 3], [1, 2, 3])
        harness.end_input()
        assert harness.records == [Record(6, 9)]


def test_connected_streams_and_declared_types():
    with StreamHarness(lambda s: s.key_by(lambda v: v[0]).sum(1), input_types=[Types.TUPLE([Types.STRING(), Types.INT()])]) as harness:
        harness.push_all([("a", 1), ("a", 2)])
        assert harness.values == [("a", 1), ("a", 3)]
    with StreamHarness(lambda left, right: left.connect(right).map(Sides())) as harness:
        harness.push(1, input=2)
        assert harness.values == [("right", 1)]


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def test_watermark_strategies():
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5)).with_timestamp_assigner(SecondField())
    with StreamHarness(lambda s: s.assign_timestamps_and_watermarks(strategy)) as harness:
        harness.push(("a", 100))
        harness.push(("b", 90))
        assert harness.take() == [Record(("a", 100), 100), Record(("b", 90), 90)]
        harness.advance_processing_time(200)
        # The largest timestamp, less what may come out of order, less the millisecond that is not over.
        assert harness.take() == [Watermark(94)]
