"""Session windows whose gap comes from the record."""

from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import EventTimeSessionWindows, SessionWindowTimeGapExtractor

EVENTS = [("a", 0, 5), ("a", 4, 20), ("a", 24, 1), ("b", 3, 2), ("b", 6, 50), ("a", 26, 3), ("b", 40, 1), ("b", 57, 1), ("c", 1, 1)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Third(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[2]


class Bounds(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, sorted(e[1] for e in elements)


def build(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(100)).with_timestamp_assigner(Second())
    kind = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
    events = env.from_collection(EVENTS, type_info=kind).assign_timestamps_and_watermarks(strategy)
    return events.key_by(lambda e: e[0]).window(EventTimeSessionWindows.with_dynamic_gap(Third())).process(Bounds())
