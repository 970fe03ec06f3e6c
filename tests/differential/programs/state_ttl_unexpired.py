"""Every kind of keyed state with a time to live that does not end: nothing changes."""

from pyflink.common import Time, Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)

KIND = Types.TUPLE([Types.STRING(), Types.INT()])
VALUES = [("ab"[n % 2], n) for n in range(9)]


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
        ttl = (
            StateTtlConfig.new_builder(Time.hours(5))
            .set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)
            .set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
            .build()
        )

        def lives(descriptor):
            descriptor.enable_time_to_live(ttl)
            return descriptor

        pair = Types.TUPLE([Types.LONG(), Types.LONG()])
        self.last = runtime_context.get_state(lives(ValueStateDescriptor("last", Types.INT())))
        self.all = runtime_context.get_list_state(lives(ListStateDescriptor("all", Types.INT())))
        self.by_rest = runtime_context.get_map_state(lives(MapStateDescriptor("by rest", Types.INT(), Types.INT())))
        self.sum = runtime_context.get_reducing_state(lives(ReducingStateDescriptor("sum", lambda a, b: a + b, Types.LONG())))
        self.mean = runtime_context.get_aggregating_state(lives(AggregatingStateDescriptor("mean", Mean(), pair)))

    def process_element(self, value, ctx):
        before = self.last.value(), list(self.all.get()), sorted(self.by_rest.items()), self.sum.get(), self.mean.get()
        yield value, *before
        if value[1] == 5:
            self.all.clear()
            self.by_rest.remove(1)
            self.last.clear()
            return
        self.last.update(value[1])
        self.all.add(value[1])
        self.by_rest.put(value[1] % 3, value[1])
        self.sum.add(value[1])
        self.mean.add(value[1])


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    values = env.from_collection(VALUES, type_info=KIND)
    return values.key_by(lambda v: v[0], key_type=Types.STRING()).process(Keep()).set_parallelism(parallelism)


PARALLELISM = (2,)
