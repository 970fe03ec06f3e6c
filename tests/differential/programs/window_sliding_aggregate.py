"""Sliding windows with reduce and with an aggregate combined with a ProcessWindowFunction."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, ProcessWindowFunction
from pyflink.datastream.window import SlidingEventTimeWindows

EVENTS = [("a", n, n * n) for n in range(0, 30, 3)] + [("b", n, -n) for n in range(0, 20, 7)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Total(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value[2]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class Label(ProcessWindowFunction):
    def process(self, key, context, elements):
        for total in elements:
            yield key, context.window().start, context.window().end, total


def build(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(100)).with_timestamp_assigner(Second())
    kind = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
    keyed = env.from_collection(EVENTS, type_info=kind).assign_timestamps_and_watermarks(strategy).key_by(lambda e: e[0], Types.STRING())
    windowed = keyed.window(SlidingEventTimeWindows.of(Time.milliseconds(12), Time.milliseconds(6)))
    return {
        "aggregate": windowed.aggregate(Total(), Label(), Types.LONG()),
        "reduce": keyed.window(SlidingEventTimeWindows.of(Time.milliseconds(12), Time.milliseconds(6))).reduce(
            lambda a, b: (a[0], max(a[1], b[1]), a[2] + b[2])
        ),
    }
