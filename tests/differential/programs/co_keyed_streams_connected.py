"""Two streams that were keyed before they are connected; a stream connected with itself; results keyed again."""

from pyflink.common import Types
from pyflink.datastream import CoMapFunction, KeyedCoProcessFunction
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor

KIND = Types.TUPLE([Types.INT(), Types.STRING()])


class Match(KeyedCoProcessFunction):
    """Gives each pair of a left and a right record with one key once, in whatever order they come."""

    def open(self, runtime_context):
        self.left = runtime_context.get_list_state(ListStateDescriptor("left", Types.STRING()))
        self.right = runtime_context.get_list_state(ListStateDescriptor("right", Types.STRING()))

    def process_element1(self, value, ctx):
        self.left.add(value[1])
        for other in self.right.get():
            yield ctx.get_current_key(), value[1], other

    def process_element2(self, value, ctx):
        self.right.add(value[1])
        for other in self.left.get():
            yield ctx.get_current_key(), other, value[1]


class Both(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element1(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield ctx.get_current_key(), self.count.value()

    def process_element2(self, value, ctx):
        yield from self.process_element1(value, ctx)


class Sides(CoMapFunction):
    def map1(self, value):
        return "left", value

    def map2(self, value):
        return "right", value


def build(env):
    left = env.from_collection([(n % 3, f"l{n}") for n in range(7)], type_info=KIND)
    right = env.from_collection([(n % 4, f"r{n}") for n in range(6)], type_info=KIND)
    keyed_left = left.key_by(lambda v: v[0], key_type=Types.INT())
    keyed_right = right.key_by(lambda v: v[0], key_type=Types.INT())
    pairs = keyed_left.connect(keyed_right).process(Match())
    return {
        "pairs": pairs,
        "pairs per key": pairs.map(lambda p: (p[0], 1)).key_by(lambda p: p[0]).reduce(lambda a, b: (a[0], a[1] + b[1])),
        "itself": left.connect(left).key_by(lambda v: v[0], lambda v: v[0]).process(Both()),
        "sides": keyed_left.connect(keyed_right).map(Sides()),
    }


PARALLELISM = (3,)
