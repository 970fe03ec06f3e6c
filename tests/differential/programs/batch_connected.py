"""BATCH mode: keyed and plain connected streams; the keys of both sides come one after the other."""

from pyflink.common import Types
from pyflink.datastream import CoFlatMapFunction, CoMapFunction, KeyedCoProcessFunction
from pyflink.datastream.state import ListStateDescriptor

KIND = Types.TUPLE([Types.STRING(), Types.INT()])


class Pairs(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.left = runtime_context.get_list_state(ListStateDescriptor("left", Types.INT()))
        self.right = runtime_context.get_list_state(ListStateDescriptor("right", Types.INT()))

    def process_element1(self, value, ctx):
        self.left.add(value[1])
        for other in self.right.get():
            yield ctx.get_current_key(), value[1], other

    def process_element2(self, value, ctx):
        self.right.add(value[1])
        for other in self.left.get():
            yield ctx.get_current_key(), other, value[1]


class Sides(CoMapFunction):
    def map1(self, value):
        return "left", value

    def map2(self, value):
        return "right", value


class Repeat(CoFlatMapFunction):
    def flat_map1(self, value):
        yield from [value] * value[1]

    def flat_map2(self, value):
        if value[1] > 20:
            yield value


def build(env):
    left = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("c", 0)], type_info=KIND)
    right = env.from_collection([("b", 20), ("a", 10), ("d", 40), ("b", 21)], type_info=KIND)
    keyed = left.connect(right).key_by(lambda v: v[0], lambda v: v[0], Types.STRING())
    return {
        "pairs": keyed.process(Pairs()),
        "sides": left.connect(right).map(Sides()),
        "repeated": left.connect(right).flat_map(Repeat(), output_type=KIND),
        "keyed sides": keyed.map(Sides()),
    }


MODES = ("BATCH",)
PARALLELISM = (1, 2)
