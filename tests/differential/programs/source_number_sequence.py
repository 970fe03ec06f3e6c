"""from_source with a number sequence: all numbers once, split over the subtasks; with timestamps and windows."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.window import TumblingEventTimeWindows


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


def build(env):
    numbers = env.from_source(NumberSequenceSource(1, 100), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    timed = numbers.assign_timestamps_and_watermarks(WatermarkStrategy.no_watermarks().with_timestamp_assigner(Value()))
    return {
        "filtered": numbers.filter(lambda n: n % 10 == 0),
        "windows": timed.key_by(lambda n: n % 2)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(25)))
        .reduce(lambda a, b: a + b, output_type=Types.LONG()),
    }


PARALLELISM = (1, 2, 3)
MODES = ("STREAMING", "BATCH")
