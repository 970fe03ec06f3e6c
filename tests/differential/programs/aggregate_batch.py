"""In BATCH mode reduce and the aggregations emit one final record per key."""

from pyflink.common import Types

VALUES = [("a", 3), ("a", 1), ("b", 7), ("a", 5), ("b", 2), ("c", 1)]
MODES = ("BATCH",)


def build(env):
    keyed = env.from_collection(VALUES, type_info=Types.TUPLE([Types.STRING(), Types.INT()])).key_by(lambda v: v[0])
    return {
        "sum": keyed.sum(1),
        "min": keyed.min(1),
        "max": keyed.max(1),
        "reduce": keyed.reduce(lambda a, b: (a[0], a[1] * b[1])),
    }
