"""PurgingTrigger around ContinuousEventTimeTrigger gives each interval's records once; reduce and aggregate under both."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, ProcessWindowFunction
from pyflink.datastream.window import ContinuousEventTimeTrigger, PurgingTrigger, TumblingEventTimeWindows

TIMES = [1, 3, 6, 9, 11, 14, 16, 18, 19, 21, 24, 26, 29, 31, 34, 36, 39]


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield context.window().start, list(elements), context.current_watermark()


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a, acc_b):
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    numbers = env.from_collection(TIMES, type_info=Types.LONG()).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Value())
    )
    keyed = numbers.key_by(lambda n: 0, key_type=Types.INT())

    def windows(trigger):
        return keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(20))).trigger(trigger)

    def continuous():
        return ContinuousEventTimeTrigger.of(Time.milliseconds(5))

    return {
        "process": windows(PurgingTrigger.of(continuous())).process(Show()).set_parallelism(parallelism),
        "reduce": windows(PurgingTrigger.of(continuous())).reduce(lambda a, b: a + b, output_type=Types.LONG()),
        "mean": windows(PurgingTrigger.of(continuous())).aggregate(Mean(), output_type=Types.DOUBLE()),
        "growing": windows(continuous()).reduce(lambda a, b: a + b, output_type=Types.LONG()),
    }


PARALLELISM = (2,)
