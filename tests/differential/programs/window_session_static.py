"""Session windows: records exactly one gap apart join, a late bridging record merges two sessions."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import EventTimeSessionWindows

EVENTS = [("a", 0), ("a", 5), ("a", 16), ("b", 3), ("a", 27), ("b", 13), ("a", 40), ("a", 34), ("b", 24), ("c", 7), ("a", 60), ("a", 50)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Bounds(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, sorted(e[1] for e in elements)


def build(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(100)).with_timestamp_assigner(Second())
    events = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.LONG()])).assign_timestamps_and_watermarks(strategy)
    return events.key_by(lambda e: e[0]).window(EventTimeSessionWindows.with_gap(Time.milliseconds(10))).process(Bounds())


PARALLELISM = (1, 2, 3)
