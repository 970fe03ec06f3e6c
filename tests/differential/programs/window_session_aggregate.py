"""Session windows with reduce and with an aggregate; each record starts a session or makes one longer, at either end."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, ProcessWindowFunction
from pyflink.datastream.window import EventTimeSessionWindows

EVENTS = [("a", 0), ("a", 30), ("b", 3), ("a", 7), ("b", 10), ("a", 9), ("a", 25), ("b", 13), ("a", 36), ("b", 60), ("a", 80), ("b", 51)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Gather(AggregateFunction):
    def create_accumulator(self):
        return frozenset()

    def add(self, value, accumulator):
        return accumulator | {value[1]}

    def get_result(self, accumulator):
        return sorted(accumulator)

    def merge(self, a, b):
        return a | b


class Bounds(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, list(elements)


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(100)).with_timestamp_assigner(Second())
    events = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.LONG()])).assign_timestamps_and_watermarks(strategy)
    keyed = events.key_by(lambda e: e[0])
    gap = EventTimeSessionWindows.with_gap(Time.milliseconds(9))
    return {
        "aggregate": keyed.window(gap).aggregate(Gather()).set_parallelism(parallelism),
        "with window": keyed.window(gap).aggregate(Gather(), Bounds()).set_parallelism(parallelism),
        "reduce": keyed.window(gap).reduce(lambda a, b: (a[0], a[1] + b[1])).set_parallelism(parallelism),
    }
