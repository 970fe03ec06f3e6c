"""Session windows: the visits of a web site, with what comes too late on the side.

A visit ends when its visitor has done nothing for half an hour of event time. Clicks may come two minutes out of order; what comes
later than that, and belongs to a visit that is over, goes to a side output.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone

from wiesel.common import Time, Types, WatermarkStrategy
from wiesel.common.watermark_strategy import TimestampAssigner, WatermarkGenerator, WatermarkOutput
from wiesel.datastream import OutputTag, ProcessWindowFunction, StreamExecutionEnvironment, TimeWindow
from wiesel.datastream.window import EventTimeSessionWindows

CLICK = Types.TUPLE([Types.STRING(), Types.STRING(), Types.LONG()])
TOO_LATE = OutputTag("too-late", CLICK)

# Visitor, page, minute of the day; in the order of their arrival.
CLICKS = [
    ("ada", "/", 540),
    ("bob", "/", 542),
    ("ada", "/prices", 545),
    ("ada", "/about", 544),
    ("bob", "/jobs", 571),
    ("eve", "/", 590),
    ("ada", "/order", 620),
    ("bob", "/", 660),
    ("eve", "/prices", 600),  # comes an hour late: the visit is over
    ("ada", "/", 700),
]


class MinuteOfDay(TimestampAssigner):
    def extract_timestamp(self, value: tuple[str, str, int], record_timestamp: int) -> int:
        return value[2] * 60_000


class TwoMinutesBehind(WatermarkGenerator):
    """As ``WatermarkStrategy.for_bounded_out_of_orderness``, but with every click: that one looks at the time every 200 ms."""

    def __init__(self) -> None:
        self._latest_ms = 0

    def on_event(self, event: tuple[str, str, int], event_timestamp: int, output: WatermarkOutput) -> None:
        self._latest_ms = max(self._latest_ms, event_timestamp)
        output.emit_watermark(self._latest_ms - 2 * 60_000 - 1)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        pass


class Visit(ProcessWindowFunction[tuple[str, str, int], str, str, TimeWindow]):
    def process(self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[tuple[str, str, int]]) -> list[str]:
        pages = [page for _, page, _ in sorted(elements, key=lambda click: click[2])]
        start = datetime.fromtimestamp(context.window().start / 1000, timezone.utc)
        return [f"{key} at {start:%H:%M}: {' '.join(pages)}"]


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    strategy = WatermarkStrategy.for_generator(TwoMinutesBehind).with_timestamp_assigner(MinuteOfDay())
    visits = (
        env.from_collection(CLICKS, CLICK)
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda click: click[0], Types.STRING())
        .window(EventTimeSessionWindows.with_gap(Time.minutes(30)))
        .side_output_late_data(TOO_LATE)
        .process(Visit(), Types.STRING())
    )
    visits.print()
    visits.get_side_output(TOO_LATE).map(lambda click: f"too late: {click[0]} {click[1]}", Types.STRING()).print()
    env.execute("visits")


if __name__ == "__main__":
    main()
