"""The program: what is made of the stream of flights.

    flights ── on time? ──┬── by airport ─── windows of an hour ──── hours
                          ├── by aircraft ── state and timers ────── build-ups
                          └── (too late) ─────────────────────────── late

Each of the three results goes to files, exactly once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from examples.flights.data import HOUR_MS, Flight
from examples.flights.source import FlightSource
from wiesel.common import Encoder, Time, Types, WatermarkStrategy
from wiesel.common.watermark_strategy import TimestampAssigner
from wiesel.datastream import (
    AggregateFunction,
    DataStream,
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
    TimeWindow,
)
from wiesel.datastream.connectors.file_system import BucketAssigner, FileSink, OutputFileConfig, RollingPolicy
from wiesel.datastream.state import ListStateDescriptor, ValueStateDescriptor
from wiesel.datastream.window import TumblingEventTimeWindows

NEW_YORK = ZoneInfo("America/New_York")
LATE = OutputTag("late")

DELAYED_MIN = 15
"""A flight counts as delayed that leaves more than this behind its schedule."""

BUILD_UP_LEGS = 3
NIGHT_MS = 12 * HOUR_MS
"""After so long on the ground an aircraft starts anew."""


class Results(NamedTuple):
    """The streams that the program ends in; their records are dicts."""

    # The names are those of the directories, too.

    hours: DataStream
    build_ups: DataStream
    late: DataStream


def build(env: StreamExecutionEnvironment, source: FlightSource) -> Results:
    """Put the program together."""
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(DepartureTime())  # the source knows the watermarks
    flights = env.from_source(source, strategy, "flights").uid("flights")
    on_time = flights.process(OnTime()).name("on time").uid("on-time")
    hours = (
        on_time.key_by(lambda flight: flight.origin, key_type=Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.hours(1)))
        .aggregate(HourOfDelays(), HourReport())
        .name("airport hours")
        .uid("airport-hours")
    )
    build_ups = (
        on_time.filter(lambda flight: not flight.cancelled)
        .name("departed")
        .uid("departed")
        .key_by(lambda flight: flight.aircraft, key_type=Types.STRING())
        .process(BuildUps())
        .name("build-ups")
        .uid("build-ups")
    )
    late = on_time.get_side_output(LATE).map(late_report).name("late").uid("late")
    return Results(hours, build_ups, late)


def write(results: Results, directory: Path) -> None:
    """Let each result go to files of its own, exactly once: a file becomes visible with the checkpoint that covers its lines."""
    for name, stream in results._asdict().items():
        sink = (
            FileSink.for_row_format(str(directory / name), Encoder.simple_string_encoder())
            .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
            .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
            .with_output_file_config(OutputFileConfig.builder().with_part_prefix(name).with_part_suffix(".jsonl").build())
            .build()
        )
        lines = stream.map(json.dumps, Types.STRING()).name(f"{name} as JSON").uid(f"{name}-as-json")
        lines.sink_to(sink).name(f"{name} to files").uid(f"{name}-to-files")


class DepartureTime(TimestampAssigner):
    def extract_timestamp(self, value: Flight, record_timestamp: int) -> int:
        return value.departure_ms


class OnTime(ProcessFunction):
    """Sends records that are behind the watermark to the side output.

    Windows could do the same (``side_output_late_data``), but what is late there depends on how far the *other* readers are, and differs
    from run to run. Here, right behind the source, a record is compared with the watermark of its own reader.
    """

    def process_element(self, value: Flight, ctx: ProcessFunction.Context) -> Iterator[Any]:
        if value.departure_ms <= ctx.timer_service().current_watermark():
            yield LATE, value
        else:
            yield value


class HourOfDelays(AggregateFunction):
    """Counts and sums of an hour: flights, those delayed, sum and maximum of the delays, those cancelled."""

    def create_accumulator(self) -> tuple[int, int, int, int | None, int]:
        return 0, 0, 0, None, 0

    def add(self, value: Flight, accumulator: tuple[int, int, int, int | None, int]) -> tuple[int, int, int, int | None, int]:
        flights, delayed, total, worst, cancelled = accumulator
        delay = value.delay_min
        if delay is None:
            return flights, delayed, total, worst, cancelled + 1
        worst = delay if worst is None or delay > worst else worst
        return flights + 1, delayed + (delay > DELAYED_MIN), total + delay, worst, cancelled

    def get_result(self, accumulator: tuple[int, int, int, int | None, int]) -> dict[str, Any]:
        flights, delayed, total, worst, cancelled = accumulator
        return {
            "flights": flights,
            "cancelled": cancelled,
            "mean_delay_min": round(total / flights, 2) if flights else None,
            "max_delay_min": worst,
            "delayed_share": round(delayed / flights, 4) if flights else None,
        }

    def merge(
        self, acc_a: tuple[int, int, int, int | None, int], acc_b: tuple[int, int, int, int | None, int]
    ) -> tuple[int, int, int, int | None, int]:
        worst = max((w for w in (acc_a[3], acc_b[3]) if w is not None), default=None)
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1], acc_a[2] + acc_b[2], worst, acc_a[4] + acc_b[4]


class HourReport(ProcessWindowFunction[dict[str, Any], dict[str, Any], str, TimeWindow]):
    """Says of which airport and hour the figures are."""

    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[dict[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        for figures in elements:
            yield {"airport": key, "hour": local_time(context.window().start), **figures}


class BuildUps(KeyedProcessFunction):
    """Finds aircraft that leave later and later.

    A leg adds delay if it leaves further behind its schedule than the leg before it; the first of a day is compared with a departure on
    time. From the third leg in a row that adds delay on, each such leg gives a result.

    Records come out of order, so legs wait for the timer at their departure: then all earlier ones are there. Another timer forgets
    what is known of an aircraft after a night on the ground.
    """

    def open(self, runtime_context: RuntimeContext) -> None:
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", Types.PICKLED_BYTE_ARRAY()))
        self.adding = runtime_context.get_list_state(ListStateDescriptor("adding", Types.PICKLED_BYTE_ARRAY()))
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.TUPLE([Types.LONG(), Types.INT()])))

    def process_element(self, value: Flight, ctx: KeyedProcessFunction.Context) -> None:
        self.waiting.add(value)
        ctx.timer_service().register_event_time_timer(value.departure_ms)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[dict[str, Any]]:
        waiting = sorted(self.waiting.get(), key=lambda leg: (leg.departure_ms, leg.number))
        legs = [leg for leg in waiting if leg.departure_ms <= timestamp]
        if legs:
            self.waiting.update(waiting[len(legs) :])
            ctx.timer_service().register_event_time_timer(legs[-1].departure_ms + NIGHT_MS)
        else:
            self._forget_after_a_night(timestamp)
        for leg in legs:
            yield from self._depart(leg)

    def _forget_after_a_night(self, now_ms: int) -> None:
        last = self.last.value()
        if last is not None and now_ms - last[0] >= NIGHT_MS:
            self.last.clear()
            self.adding.clear()

    def _depart(self, leg: Flight) -> Iterator[dict[str, Any]]:
        self._forget_after_a_night(leg.departure_ms)
        delay = leg.delay_min or 0
        last = self.last.value()
        self.last.update((leg.departure_ms, delay))
        before = 0 if last is None else max(0, last[1])
        if delay <= before:
            self.adding.clear()
            return
        self.adding.add(leg)
        legs = list(self.adding.get())
        if len(legs) >= BUILD_UP_LEGS:
            yield {
                "aircraft": leg.aircraft,
                "carrier": leg.carrier,
                "since": local_time(legs[0].departure_ms),
                "until": local_time(leg.departure_ms),
                "legs": [f"{x.origin}-{x.destination}" for x in legs],
                "delays_min": [x.delay_min for x in legs],
            }


def late_report(flight: Flight) -> dict[str, Any]:
    return {
        "flight": f"{flight.carrier}{flight.number}",
        "origin": flight.origin,
        "departure": local_time(flight.departure_ms),
        "reported_after_min": round((flight.reported_ms - flight.departure_ms) / 60_000),
    }


def local_time(time_ms: int) -> str:
    """Return the time in New York, with its distance from UTC: in autumn one hour comes twice."""
    return datetime.fromtimestamp(time_ms / 1000, NEW_YORK).isoformat(timespec="minutes")
