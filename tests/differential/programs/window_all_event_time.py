"""window_all: one pane for all records, with reduce, aggregate, apply and process."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction
from pyflink.datastream.functions import AllWindowFunction, ProcessAllWindowFunction
from pyflink.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows

TIMES = [1, 5, 12, 3, 19, 22, 40, 41]


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class Show(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield context.window().start, context.window().end, sorted(elements)


class Plain(AllWindowFunction):
    def apply(self, window, inputs):
        yield window.start, sum(inputs)


def build(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(100)).with_timestamp_assigner(Value())
    numbers = env.from_collection(TIMES, type_info=Types.LONG()).assign_timestamps_and_watermarks(strategy)

    def tumbling():
        return numbers.window_all(TumblingEventTimeWindows.of(Time.milliseconds(10)))

    return {
        "reduce": tumbling().reduce(lambda a, b: a + b),
        "aggregate": tumbling().aggregate(Count()),
        "aggregate process": tumbling().aggregate(Count(), Show()),
        "apply": tumbling().apply(Plain()),
        "process": tumbling().process(Show()),
        "sliding": numbers.window_all(SlidingEventTimeWindows.of(Time.milliseconds(20), Time.milliseconds(10))).process(Show()),
        "session": numbers.window_all(EventTimeSessionWindows.with_gap(Time.milliseconds(5))).process(Show()),
    }


PARALLELISM = (1, 2, 3)
