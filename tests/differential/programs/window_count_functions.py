"""Count windows with every kind of function, and what their context tells."""

from pyflink.common import Types
from pyflink.datastream import AggregateFunction, ProcessWindowFunction, WindowFunction

KIND = Types.TUPLE([Types.STRING(), Types.INT()])
VALUES = [("abc"[n % 3], n) for n in range(17)] + [("a", 50 + n) for n in range(4)]


class Spread(AggregateFunction):
    def create_accumulator(self):
        return 1000, -1000

    def add(self, value, accumulator):
        return min(accumulator[0], value[1]), max(accumulator[1], value[1])

    def get_result(self, accumulator):
        return accumulator[1] - accumulator[0]

    def merge(self, a, b):
        return min(a[0], b[0]), max(a[1], b[1])


class Apply(WindowFunction):
    def apply(self, key, window, inputs):
        yield key, window.id, [v[1] for v in inputs]


class Process(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().id, context.window().max_timestamp(), list(elements)


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    keyed = env.from_collection(VALUES, type_info=KIND).key_by(lambda v: v[0], key_type=Types.STRING())
    pairs = Types.TUPLE([Types.INT(), Types.INT()])
    streams = {
        "aggregate": keyed.count_window(3).aggregate(Spread(), output_type=Types.INT()),
        "aggregate and process": keyed.count_window(3).aggregate(Spread(), Process(), accumulator_type=pairs),
        "reduce and apply": keyed.count_window(2).reduce(lambda a, b: (a[0], a[1] + b[1]), Apply()),
        "process": keyed.count_window(4).process(Process()),
        "sliding aggregate": keyed.count_window(3, 2).aggregate(Spread(), output_type=Types.INT()),
        "sliding process": keyed.count_window(2, 1).process(Process()),
    }
    return {name: stream.set_parallelism(parallelism) for name, stream in streams.items()}


PARALLELISM = (2,)
