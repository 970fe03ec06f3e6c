"""Tumbling count windows fire each n records per key; an incomplete last window never fires."""

from pyflink.common import Types
from pyflink.datastream import WindowFunction

VALUES = [("a", n) for n in range(7)] + [("b", n) for n in range(3)] + [("c", 0)]


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield key, [v[1] for v in inputs]


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    keyed = env.from_collection(VALUES, type_info=Types.TUPLE([Types.STRING(), Types.INT()])).key_by(lambda v: v[0])
    return {
        "apply": keyed.count_window(3).apply(Show()).set_parallelism(parallelism),
        "reduce": keyed.count_window(2).reduce(lambda a, b: (a[0], a[1] + b[1])).set_parallelism(parallelism),
        "one": keyed.count_window(1).apply(Show()).set_parallelism(parallelism),
    }


PARALLELISM = (1, 2, 3)
