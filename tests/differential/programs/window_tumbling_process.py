"""ProcessWindowFunction sees key, window bounds, its max timestamp and all elements of the pane."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows

EVENTS = [("a", 1), ("a", 8), ("b", 10), ("a", 4), ("b", 25), ("a", 19), ("a", 20), ("b", 11), ("a", 35), ("c", 0)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, window.max_timestamp(), sorted(e[1] for e in elements)


def build(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(50)).with_timestamp_assigner(Second())
    events = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.LONG()])).assign_timestamps_and_watermarks(strategy)
    return events.key_by(lambda e: e[0]).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).process(Show())


PARALLELISM = (1, 2, 3)
