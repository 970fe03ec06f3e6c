"""Iterating over a map state of many entries while values change, and over two of them at once."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import MapStateDescriptor


class Histogram(KeyedProcessFunction):
    def open(self, runtime_context):
        self.counts = runtime_context.get_map_state(MapStateDescriptor("counts", Types.INT(), Types.LONG()))
        self.texts = runtime_context.get_map_state(MapStateDescriptor("texts", Types.STRING(), Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        bucket = value[1] % 17
        self.counts.put(bucket, (self.counts.get(bucket) if self.counts.contains(bucket) else 0) + 1)
        self.texts.put(str(bucket), [value[1]])
        if value[1] % 50 == 49:
            for key in list(self.counts.keys()):
                if key % 4 == 0:
                    self.counts.put(key, self.counts.get(key) * 100)
            yield value[0], sorted(self.counts.items()), sorted((k, v) for k, v in self.texts.items())


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    values = env.from_collection([("ab"[n % 3 % 2], n) for n in range(100)], type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    return values.key_by(lambda v: v[0], key_type=Types.STRING()).process(Histogram()).set_parallelism(parallelism)
