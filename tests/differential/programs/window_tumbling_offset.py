"""Window offsets, positive and negative, with negative timestamps and timestamps on the borders."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows

TIMES = [-21, -20, -11, -10, -1, 0, 3, 4, 6, 7, 9, 10, 13, 14, 17, 20]


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Bounds(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield context.window().start, context.window().end, sorted(elements)


def build(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(100)).with_timestamp_assigner(Value())
    keyed = env.from_collection(TIMES, type_info=Types.LONG()).assign_timestamps_and_watermarks(strategy).key_by(lambda n: 0)
    size = Time.milliseconds(10)
    return {
        "none": keyed.window(TumblingEventTimeWindows.of(size)).process(Bounds()),
        "plus 4": keyed.window(TumblingEventTimeWindows.of(size, Time.milliseconds(4))).process(Bounds()),
        "minus 3": keyed.window(TumblingEventTimeWindows.of(size, Time.milliseconds(-3))).process(Bounds()),
    }
