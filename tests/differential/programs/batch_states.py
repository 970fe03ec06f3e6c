"""BATCH mode: keyed states of a process function and of rich functions see one key after the other."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, MapFunction
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor

KIND = Types.TUPLE([Types.STRING(), Types.LONG()])
EVENTS = [("abc"[n % 3], n * 5 % 13) for n in range(12)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Keep(KeyedProcessFunction):
    def open(self, runtime_context):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))
        self.all = runtime_context.get_list_state(ListStateDescriptor("all", Types.LONG()))
        self.odd = runtime_context.get_map_state(MapStateDescriptor("odd", Types.LONG(), Types.BOOLEAN()))
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b, Types.LONG()))

    def process_element(self, value, ctx):
        yield value, self.last.value(), list(self.all.get()), sorted(self.odd.items()), self.sum.get()
        self.last.update(value[1])
        self.all.add(value[1])
        self.odd.put(value[1], value[1] % 2 == 1)
        self.sum.add(value[1])
        if value[1] > 8:
            self.all.clear()
            self.sum.clear()


class Number(MapFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def map(self, value):
        self.count.update((self.count.value() or 0) + 1)
        return value, self.count.value()


def build(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    events = env.from_collection(EVENTS, type_info=KIND).assign_timestamps_and_watermarks(strategy)
    keyed = events.key_by(lambda e: e[0], key_type=Types.STRING())
    return {"process": keyed.process(Keep()), "map": keyed.map(Number())}


PARALLELISM = (2,)
MODES = ("BATCH",)
