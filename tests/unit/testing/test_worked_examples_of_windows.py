"""The five window declarations of the worked examples, each with the numbers that go with it."""

from __future__ import annotations

from typing import Any

from wiesel.common import Time, WatermarkStrategy
from wiesel.datastream.functions import ProcessWindowFunction
from wiesel.datastream.window import ProcessingTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows
from wiesel.testing import ManualSource, StreamHarness, local_environment

MINUTE = 60_000


class Contents(ProcessWindowFunction):
    """Gives what is in the window, and where it begins and ends if it has times."""

    def process(self, key, context, elements):
        window = context.window()
        yield getattr(window, "start", None), getattr(window, "end", None), list(elements)


def by_time(assigner: Any) -> list[tuple[int, int, list[int]]]:
    """Return the windows of records at 0, 10, 20, ... 170 s, whose values are their seconds."""
    with StreamHarness(lambda stream: stream.key_by(lambda v: "key").window(assigner).process(Contents())) as harness:
        for second in range(0, 180, 10):
            harness.push(second, timestamp=second * 1_000)
        harness.end_input()
        return harness.values


def test_x5_every_record_is_in_one_tumbling_window_of_a_minute() -> None:
    windows = by_time(TumblingEventTimeWindows.of(Time.minutes(1)))
    assert windows == [(m * MINUTE, (m + 1) * MINUTE, list(range(60 * m, 60 * m + 60, 10))) for m in range(3)]


def test_x5_every_record_is_in_two_sliding_windows_of_a_minute_each_30_seconds() -> None:
    windows = by_time(SlidingEventTimeWindows.of(Time.minutes(1), Time.seconds(30)))
    assert [start for start, _, _ in windows] == list(range(-MINUTE // 2, 3 * MINUTE, MINUTE // 2))
    assert all(end - start == MINUTE and start <= 1_000 * min(seconds) <= 1_000 * max(seconds) < end for start, end, seconds in windows)
    held = sorted(second for _, _, seconds in windows for second in seconds)
    assert held == sorted([*range(0, 180, 10)] * 2)


def test_x5_count_windows_of_100_records() -> None:
    with StreamHarness(lambda stream: stream.key_by(lambda v: "key").count_window(100).process(Contents())) as harness:
        for number in range(250):
            harness.push(number)
        harness.end_input()
        assert [contents for _, _, contents in harness.values] == [list(range(100)), list(range(100, 200))]


def test_x5_count_windows_of_100_records_each_10() -> None:
    with StreamHarness(lambda stream: stream.key_by(lambda v: "key").count_window(100, 10).process(Contents())) as harness:
        for number in range(250):
            harness.push(number)
        # As in PyFlink the first result comes with the first full window.
        assert [contents for _, _, contents in harness.values] == [list(range(last - 100, last)) for last in range(100, 251, 10)]


def test_x5_sessions_end_after_30_seconds_of_processing_time() -> None:
    env = local_environment()
    source = ManualSource()
    sessions = ProcessingTimeSessionWindows.with_gap(Time.seconds(30))
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "clicks").key_by(lambda v: "key").window(sessions)
    out = env.collect(stream.process(Contents()))
    with env.start() as job:
        begin = job.processing_time
        for second in (0, 29, 58):  # each 29 s behind the one before: one session
            job.set_processing_time(begin + second * 1_000)
            source.push(second)
            job.settle()
        job.set_processing_time(begin + 87_998)
        assert out.values == []
        job.set_processing_time(begin + 87_999)
        assert out.values == [(begin, begin + 88_000, [0, 29, 58])]
        job.set_processing_time(begin + 88_000)
        source.push(88)
        job.settle()
        job.advance_processing_time(30_000)
        assert out.values[1:] == [(begin + 88_000, begin + 118_000, [88])]
