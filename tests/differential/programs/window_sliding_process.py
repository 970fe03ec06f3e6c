"""Sliding windows: a slide that does not divide the size, an offset, and a slide longer than the size that skips records."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import SlidingEventTimeWindows

EVENTS = [("a", 1), ("b", 3), ("a", 12), ("a", 7), ("b", 15), ("a", 22), ("a", -4)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Bounds(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, sorted(e[1] for e in elements)


def build(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(100)).with_timestamp_assigner(Second())
    events = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.LONG()])).assign_timestamps_and_watermarks(strategy)
    keyed = events.key_by(lambda e: e[0])

    def windows(size, slide, offset=None):
        offset = Time.milliseconds(offset) if offset is not None else None
        return keyed.window(SlidingEventTimeWindows.of(Time.milliseconds(size), Time.milliseconds(slide), offset)).process(Bounds())

    return {"10/5": windows(10, 5), "10/4": windows(10, 4), "10/5+3": windows(10, 5, 3), "5/10": windows(5, 10), "10/10": windows(10, 10)}
