"""reduce and aggregate together with WindowFunction and ProcessWindowFunction get one value per firing."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, ProcessWindowFunction, WindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows

EVENTS = [("a", 1), ("a", 8), ("b", 10), ("a", 4), ("b", 25), ("a", 19), ("a", 20), ("b", 11), ("a", 35), ("c", 0)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class Label(ProcessWindowFunction):
    def process(self, key, context, elements):
        values = list(elements)
        yield key, context.window().start, len(values), values[0]


class Plain(WindowFunction):
    def apply(self, key, window, inputs):
        return [(key, window.end, list(inputs))]


def build(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(50)).with_timestamp_assigner(Second())
    kind = Types.TUPLE([Types.STRING(), Types.LONG()])
    keyed = env.from_collection(EVENTS, type_info=kind).assign_timestamps_and_watermarks(strategy).key_by(lambda e: e[0], Types.STRING())

    def windows():
        return keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10)))

    def largest(a, b):
        return a if a[1] > b[1] else b

    return {
        "aggregate process": windows().aggregate(Count(), Label()),
        "aggregate apply": windows().aggregate(Count(), Plain(), accumulator_type=Types.LONG()),
        "reduce process": windows().reduce(largest, Label()),
        "reduce apply": windows().reduce(largest, Plain()),
    }
