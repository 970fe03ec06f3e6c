"""ReducingState and AggregatingState: None before the first add and after clear."""

from pyflink.common import Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction
from pyflink.datastream.state import AggregatingStateDescriptor, ReducingStateDescriptor

VALUES = [("a", 1), ("b", 2), ("a", 3), ("a", 0), ("b", 4), ("a", 5), ("a", 7), ("b", 0), ("b", 0), ("b", 9)]


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class Keep(KeyedProcessFunction):
    def open(self, runtime_context):
        self.product = runtime_context.get_reducing_state(ReducingStateDescriptor("product", lambda a, b: a * b, Types.LONG()))
        self.mean = runtime_context.get_aggregating_state(
            AggregatingStateDescriptor("mean", Mean(), Types.TUPLE([Types.LONG(), Types.LONG()]))
        )

    def process_element(self, value, ctx):
        if value[1] == 0:
            self.product.clear()
            self.mean.clear()
        else:
            self.product.add(value[1])
            self.mean.add(value[1])
        yield value, self.product.get(), self.mean.get()


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    values = env.from_collection(VALUES, type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    return values.key_by(lambda v: v[0], key_type=Types.STRING()).process(Keep()).set_parallelism(parallelism)
