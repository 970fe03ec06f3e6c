"""Features of time and windows, by their ids, in jobs whose clock the test has in its hands."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from wiesel.common import Duration, Time, Types, WatermarkStrategy
from wiesel.common.watermark_strategy import IngestionTimeAssigner, TimestampAssigner
from wiesel.datastream import OutputTag
from wiesel.datastream.functions import KeyedProcessFunction, ProcessAllWindowFunction, ProcessFunction, ProcessWindowFunction
from wiesel.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from wiesel.testing import ManualSource, StreamHarness, local_environment

NO_WATERMARKS = WatermarkStrategy.no_watermarks()
LATE = OutputTag("late", Types.INT())


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Contents(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield context.window().start, context.window().end, sorted(elements)


class Stamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp()


BY_EVENT_TIME = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Value())
BY_INGESTION_TIME = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(IngestionTimeAssigner())


def replay(strategy: WatermarkStrategy, assigner: Any, speed: int) -> list[tuple[int, int, list[int]]]:
    """Return the windows of records whose values are their times, when one of them comes each ``speed`` ms from 1 000 on."""
    env = local_environment(start_time=1_000)
    source = ManualSource()
    keyed = env.from_source(source, strategy, "numbers").key_by(lambda v: "key")
    out = env.collect(keyed.window(assigner).process(Contents()))
    with env.start() as job:
        for number in range(0, 600, 60):
            source.push(number)
            job.settle()
            job.advance_processing_time(speed)
        job.advance_processing_time(10_000)
        job.finish()
        return out.values


TUMBLING = TumblingEventTimeWindows.of(Time.milliseconds(300))
TUMBLING_BY_CLOCK = TumblingProcessingTimeWindows.of(Time.milliseconds(300))


def test_t1_each_notion_of_time_has_its_own_windows() -> None:
    assert replay(BY_EVENT_TIME, TUMBLING, 100) == [(0, 300, [0, 60, 120, 180, 240]), (300, 600, [300, 360, 420, 480, 540])]
    by_clock = [(900, 1200, [0, 60]), (1200, 1500, [120, 180, 240]), (1500, 1800, [300, 360, 420]), (1800, 2100, [480, 540])]
    assert replay(NO_WATERMARKS, TUMBLING_BY_CLOCK, 100) == by_clock
    # Ingestion time: the clock of the source, and then event time.
    assert replay(BY_INGESTION_TIME, TUMBLING, 100) == by_clock


def test_t1_ingestion_time_stays_with_the_record_and_never_falls() -> None:
    env = local_environment(start_time=5_000)
    source = ManualSource()
    stream = env.from_source(source, NO_WATERMARKS, "numbers").assign_timestamps_and_watermarks(BY_INGESTION_TIME)
    out = env.collect(stream.key_by(lambda v: v).map(lambda v: v).process(Stamp()))
    with env.start() as job:
        for number in range(3):
            source.push(number, timestamp=77)
            job.settle()
            job.advance_processing_time(40)
        assert sorted(out.values) == [(0, 5_000), (1, 5_040), (2, 5_080)]


@pytest.mark.parametrize("seed", range(3))
def test_t6_tight_watermarks_are_quick_and_lose_conservative_ones_wait(seed: int) -> None:
    """Up to 500 ms of disorder; what each bound gives: its share of late records, and how far results are behind."""
    print("seed", seed)
    random = Random(seed)
    records = [max(0, 10 * n - random.randrange(500)) for n in range(300)]
    late_and_behind = []
    for bound in (0, 100, 250, 500):
        strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(bound)).with_timestamp_assigner(Value())
        env = local_environment()
        source = ManualSource()
        windows = env.from_source(source, strategy, "numbers").window_all(TumblingEventTimeWindows.of(Time.milliseconds(100)))
        counted = windows.side_output_late_data(LATE).process(Fired())
        out, late = env.collect(counted), env.collect(counted.get_side_output(LATE))
        behind = []
        with env.start() as job:
            for n, record in enumerate(records):
                source.push(record)
                job.advance_processing_time(200)  # a watermark after each record
                behind += [10 * n - end for end in out.values[len(behind) :]]
        late_and_behind.append((len(late.values), max(behind)))
    late_ones = [late for late, _ in late_and_behind]
    delays = [delay for _, delay in late_and_behind]
    assert late_ones == sorted(late_ones, reverse=True) and late_ones[0] > 30 and late_ones[-1] == 0
    assert delays == sorted(delays) and delays[-1] - delays[0] >= 400


class Fired(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield context.window().end


@pytest.mark.parametrize("speed", [10, 130])
def test_t16_replays_at_another_speed_agree_in_event_time_only(speed: int) -> None:
    assert replay(BY_EVENT_TIME, TUMBLING, speed) == replay(BY_EVENT_TIME, TUMBLING, 100)
    assert replay(NO_WATERMARKS, TUMBLING_BY_CLOCK, speed) != replay(NO_WATERMARKS, TUMBLING_BY_CLOCK, 100)


class BothTimers(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value + 10)
        ctx.timer_service().register_processing_time_timer(value + 10)

    def on_timer(self, timestamp, ctx):
        yield ctx.time_domain().name, timestamp


def test_t17_one_operator_has_timers_of_both_times() -> None:
    with StreamHarness(lambda stream: stream.key_by(lambda v: "key").process(BothTimers())) as harness:
        harness.push(5, timestamp=5)
        harness.advance_watermark(15)
        assert harness.values == [("EVENT_TIME", 15)]
        harness.set_processing_time(15)
        assert harness.values == [("EVENT_TIME", 15), ("PROCESSING_TIME", 15)]


@pytest.mark.parametrize(
    ("strategy", "assigner"),
    [
        (BY_EVENT_TIME, TumblingEventTimeWindows.of(Time.milliseconds(300))),
        (BY_EVENT_TIME, SlidingEventTimeWindows.of(Time.milliseconds(300), Time.milliseconds(150))),
        (BY_EVENT_TIME, EventTimeSessionWindows.with_gap(Time.milliseconds(65))),
        (BY_INGESTION_TIME, TumblingEventTimeWindows.of(Time.milliseconds(300))),
        (BY_INGESTION_TIME, SlidingEventTimeWindows.of(Time.milliseconds(300), Time.milliseconds(150))),
        (BY_INGESTION_TIME, EventTimeSessionWindows.with_gap(Time.milliseconds(65))),
        (NO_WATERMARKS, TumblingProcessingTimeWindows.of(Time.milliseconds(300))),
        (NO_WATERMARKS, SlidingProcessingTimeWindows.of(Time.milliseconds(300), Time.milliseconds(150))),
        (NO_WATERMARKS, ProcessingTimeSessionWindows.with_gap(Time.milliseconds(65))),
    ],
)
def test_w15_every_kind_of_window_in_every_notion_of_time(strategy: WatermarkStrategy, assigner: Any) -> None:
    # A record each 60 ms, from time 0 in event time and from 1 000 on by the clock.
    begin = 0 if strategy is BY_EVENT_TIME else 1_000
    windows = replay(strategy, assigner, 60)
    for start, end, values in windows:
        assert values == [v for v in range(0, 600, 60) if start <= begin + v < end]
    times = 2 if "Sliding" in type(assigner).__name__ else 1
    assert sorted(value for _, _, values in windows for value in values) == sorted([*range(0, 600, 60)] * times)


def test_w10_a_window_that_fires_without_purging_grows() -> None:
    windows = GlobalWindows.create()
    with StreamHarness(lambda s: s.key_by(lambda v: 0).window(windows).trigger(CountTrigger.of(10)).process(Size())) as harness:
        harness.push_all(range(35))
        assert harness.values == [10, 20, 30]


class Size(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield len(list(elements))
