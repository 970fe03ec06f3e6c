"""A trigger and an evictor: the top speed of each car over its last ten seconds, told every fifty metres.

All that a car has reported is one window that never ends. The trigger evaluates it whenever the car has gone fifty metres further; before
that the evictor takes out what is older than ten seconds, so that the window does not grow.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from wiesel.common import Time, Types, WatermarkStrategy
from wiesel.common.watermark_strategy import TimestampAssigner
from wiesel.datastream import GlobalWindow, StreamExecutionEnvironment, WindowFunction
from wiesel.datastream.window import DeltaTrigger, GlobalWindows, TimeEvictor


class Report(NamedTuple):
    car: str
    speed: int
    metres: int
    second: int


REPORTS = [
    Report("red", 20, 0, 0),
    Report("red", 25, 45, 2),
    Report("red", 30, 75, 3),  # 75 m from the first report
    Report("blue", 10, 0, 3),
    Report("red", 22, 119, 5),
    Report("red", 18, 137, 6),  # 62 m further
    Report("blue", 12, 60, 8),  # 60 m
    Report("red", 10, 187, 13),  # 50 m, not more
    Report("red", 15, 202, 14),  # 65 m; the 30 of second 3 are too old
    Report("blue", 11, 120, 17),  # 60 m; second 8 is not too old yet
]


class Second(TimestampAssigner):
    def extract_timestamp(self, value: Report, record_timestamp: int) -> int:
        return value.second * 1000


class TopSpeed(WindowFunction[Report, str, str, GlobalWindow]):
    def apply(self, key: str, window: GlobalWindow, inputs: Iterable[Report]) -> list[str]:
        reports = list(inputs)
        return [f"{key} at {reports[-1].metres} m: {max(report.speed for report in reports)} m/s"]


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    (
        env.from_collection(REPORTS)
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda report: report.car, Types.STRING())
        .window(GlobalWindows.create())
        .trigger(DeltaTrigger.of(50, lambda old, new: new.metres - old.metres))
        .evictor(TimeEvictor.of(Time.seconds(10)))
        .apply(TopSpeed(), Types.STRING())
        .print()
    )
    env.execute("top speed")


if __name__ == "__main__":
    main()
