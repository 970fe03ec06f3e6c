"""An interval join: which clicks followed the display of an advertisement to the same visitor, within ten minutes.

Both streams come with disorder of their own, so either may be ahead; the join keeps a display until no click can come any more that
belongs to it. Clicks that are later than the stream's disorder go to a side output.
"""

from __future__ import annotations

from collections.abc import Iterable

from wiesel.common import Time, Types, WatermarkStrategy
from wiesel.common.watermark_strategy import TimestampAssigner, WatermarkGenerator, WatermarkOutput
from wiesel.datastream import DataStream, OutputTag, ProcessJoinFunction, StreamExecutionEnvironment

EVENT = Types.TUPLE([Types.STRING(), Types.STRING(), Types.LONG()])
LATE = OutputTag("late-click", EVENT)

# Visitor, advertisement or link, minute; in the order of their arrival.
DISPLAYS = [("ada", "bikes", 0), ("bob", "tents", 2), ("ada", "tents", 5), ("eve", "bikes", 9), ("bob", "bikes", 30)]
CLICKS = [
    ("ada", "bikes.example", 3),
    ("ada", "shop.example", 10),  # ten minutes after the first display, five after the second
    ("ada", "news.example", 16),  # eleven minutes after the second
    ("eve", "bikes.example", 8),  # before the display
    ("bob", "tents.example", 12),
    ("bob", "maps.example", 39),
    ("eve", "late.example", 10),  # comes half an hour late
]


class Minute(TimestampAssigner):
    def extract_timestamp(self, value: tuple[str, str, int], record_timestamp: int) -> int:
        return value[2] * 60_000


class NineMinutesBehind(WatermarkGenerator):
    """As ``WatermarkStrategy.for_bounded_out_of_orderness``, but with every event: that one looks at the time every 200 ms."""

    def __init__(self) -> None:
        self._latest_ms = 0

    def on_event(self, event: tuple[str, str, int], event_timestamp: int, output: WatermarkOutput) -> None:
        self._latest_ms = max(self._latest_ms, event_timestamp)
        output.emit_watermark(self._latest_ms - 9 * 60_000 - 1)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        pass


class Followed(ProcessJoinFunction[tuple[str, str, int], tuple[str, str, int], str]):
    def process_element(
        self, left: tuple[str, str, int], right: tuple[str, str, int], ctx: ProcessJoinFunction.Context
    ) -> Iterable[str]:
        minutes = (ctx.get_right_timestamp() - ctx.get_left_timestamp()) // 60_000
        yield f"{left[0]} saw {left[1]}, then went to {right[1]} ({minutes} min)"


def timed(env: StreamExecutionEnvironment, events: list[tuple[str, str, int]]) -> DataStream:
    strategy = WatermarkStrategy.for_generator(NineMinutesBehind).with_timestamp_assigner(Minute())
    return env.from_collection(events, EVENT).assign_timestamps_and_watermarks(strategy)


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    displays = timed(env, DISPLAYS).key_by(lambda event: event[0], Types.STRING())
    clicks = timed(env, CLICKS).key_by(lambda event: event[0], Types.STRING())
    followed = (
        displays.interval_join(clicks)
        .between(Time.minutes(0), Time.minutes(10))
        .side_output_right_late_data(LATE)
        .process(Followed(), Types.STRING())
    )
    followed.print()
    followed.get_side_output(LATE).map(lambda click: f"too late: {click[0]} at {click[1]}", Types.STRING()).print()
    env.execute("ad clicks")


if __name__ == "__main__":
    main()
