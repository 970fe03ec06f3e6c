"""Tumbling event-time windows with reduce, out-of-order input, nothing late."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.window import TumblingEventTimeWindows

EVENTS = [("a", 1), ("a", 9), ("b", 10), ("a", 4), ("b", 25), ("a", 19), ("a", 20), ("b", 11), ("a", 35), ("c", 0)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def build(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(50)).with_timestamp_assigner(Second())
    events = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.LONG()])).assign_timestamps_and_watermarks(strategy)
    return (
        events.key_by(lambda e: e[0], key_type=Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )


PARALLELISM = (1, 2, 3)
