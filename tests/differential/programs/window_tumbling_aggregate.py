"""Tumbling event-time windows with an AggregateFunction, alone and with declared types."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction
from pyflink.datastream.window import TumblingEventTimeWindows

EVENTS = [("a", 1), ("a", 8), ("b", 10), ("a", 4), ("b", 25), ("a", 19), ("a", 20), ("b", 11), ("a", 35), ("c", 0)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


def build(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(50)).with_timestamp_assigner(Second())
    events = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.LONG()])).assign_timestamps_and_watermarks(strategy)
    keyed = events.key_by(lambda e: e[0], key_type=Types.STRING())
    accumulator = Types.TUPLE([Types.LONG(), Types.LONG()])
    return {
        "pickled": keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).aggregate(Mean()),
        "declared": keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(20))).aggregate(
            Mean(), accumulator_type=accumulator, output_type=Types.DOUBLE()
        ),
        "whole": keyed.window(TumblingEventTimeWindows.of(Time.seconds(1))).aggregate(Mean(), output_type=Types.DOUBLE()),
    }
