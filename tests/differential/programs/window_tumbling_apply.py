"""WindowFunction by apply: several results per window, and none."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Spread(WindowFunction):
    def apply(self, key, window, inputs):
        values = sorted(inputs)
        if len(values) < 2:
            return []
        return [("low", key, window.start, values[0]), ("high", key, window.end, values[-1])]


def build(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Value())
    numbers = env.from_collection([1, 2, 3, 14, 15, 16, 27, 38, 40, 49], type_info=Types.LONG()).assign_timestamps_and_watermarks(strategy)
    return numbers.key_by(lambda n: n % 2).window(TumblingEventTimeWindows.of(Time.milliseconds(20))).apply(Spread())
