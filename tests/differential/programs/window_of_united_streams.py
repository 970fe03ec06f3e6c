"""Windows over a union: the slower of two streams' watermarks decides; and a join of windows written by hand."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import SlidingEventTimeWindows, TumblingEventTimeWindows

KIND = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
ORDERS = [("a", 1, "order"), ("b", 4, "order"), ("a", 12, "order"), ("c", 13, "order"), ("b", 29, "order")]
PAYMENTS = [("a", 3, "pays"), ("a", 5, "pays"), ("c", 11, "pays"), ("b", 21, "pays"), ("d", 30, "pays")]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Pairs(ProcessWindowFunction):
    def process(self, key, context, elements):
        orders = sorted(e[1] for e in elements if e[2] == "order")
        payments = sorted(e[1] for e in elements if e[2] == "pays")
        for order in orders:
            for payment in payments or [None]:
                yield key, context.window().start, order, payment


def build(env):
    parallelism = env.get_parallelism()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    env.set_parallelism(1)
    orders = env.from_collection(ORDERS, type_info=KIND).assign_timestamps_and_watermarks(strategy)
    payments = env.from_collection(PAYMENTS, type_info=KIND).assign_timestamps_and_watermarks(strategy)
    keyed = orders.union(payments).key_by(lambda e: e[0], key_type=Types.STRING())
    sliding = SlidingEventTimeWindows.of(Time.milliseconds(20), Time.milliseconds(10))
    return {
        "tumbling": keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).process(Pairs()).set_parallelism(parallelism),
        "sliding": keyed.window(sliding).process(Pairs()).set_parallelism(parallelism),
    }


PARALLELISM = (2,)
