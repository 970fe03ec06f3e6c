"""CoMapFunction and CoFlatMapFunction on keyed streams share state between their two sides."""

from pyflink.common import Types
from pyflink.datastream import CoFlatMapFunction, CoMapFunction
from pyflink.datastream.state import MapStateDescriptor, ReducingStateDescriptor

LEFT = Types.TUPLE([Types.STRING(), Types.INT()])
RIGHT = Types.ROW_NAMED(["key", "weight"], [Types.STRING(), Types.DOUBLE()])


class Total(CoMapFunction):
    def open(self, runtime_context):
        self.total = runtime_context.get_reducing_state(ReducingStateDescriptor("total", lambda a, b: a + b, Types.DOUBLE()))

    def map1(self, value):
        self.total.add(float(value[1]))
        return value[0], self.total.get() > 0

    def map2(self, value):
        self.total.add(value.weight)
        return value.key, self.total.get() > 0


class Seen(CoFlatMapFunction):
    """Gives each number of a key once, whichever side it comes from."""

    def open(self, runtime_context):
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.INT(), Types.BOOLEAN()))

    def flat_map1(self, value):
        yield from self.new(value[0], value[1])

    def flat_map2(self, value):
        for number in range(int(value.weight)):
            yield from self.new(value.key, number)

    def new(self, key, number):
        if not self.seen.contains(number):
            self.seen.put(number, True)
            yield key, number


def build(env):
    left = env.from_collection([("a", 1), ("b", 2), ("a", 5), ("c", 0), ("b", 2)], type_info=LEFT)
    right = env.from_collection([("a", 3.5), ("b", 2.0), ("d", 1.0), ("a", 4.0)], type_info=Types.TUPLE([Types.STRING(), Types.DOUBLE()]))
    rows = right.map(to_row, output_type=RIGHT)
    keyed = left.connect(rows).key_by(lambda v: v[0], lambda r: r.key, Types.STRING())
    return {"map": keyed.map(Total()), "flat map": keyed.flat_map(Seen())}


def to_row(pair):
    from pyflink.common import Row

    return Row(key=pair[0], weight=pair[1])


PARALLELISM = (3,)
