"""Sliding count windows: what fires and with which records."""

from pyflink.common import Types
from pyflink.datastream import WindowFunction

VALUES = [("a", n) for n in range(10)] + [("b", n) for n in range(3)]


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield key, [v[1] for v in inputs]


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    keyed = env.from_collection(VALUES, type_info=Types.TUPLE([Types.STRING(), Types.INT()])).key_by(lambda v: v[0])
    return {
        "4/2": keyed.count_window(4, 2).apply(Show()).set_parallelism(parallelism),
        "3/1": keyed.count_window(3, 1).apply(Show()).set_parallelism(parallelism),
        "2/3": keyed.count_window(2, 3).apply(Show()).set_parallelism(parallelism),
        "reduce": keyed.count_window(4, 2).reduce(lambda a, b: (a[0], a[1] + b[1])).set_parallelism(parallelism),
    }
