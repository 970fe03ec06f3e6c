"""BATCH mode: one final record per key of every aggregation, also of aggregations of aggregations."""

from pyflink.common import Types

KIND = Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()])
VALUES = [("abc"[n % 3], n * 7 % 11, "xyzzy"[n % 5]) for n in range(20)]


def build(env):
    keyed = env.from_collection(VALUES, type_info=KIND).key_by(lambda v: v[0], key_type=Types.STRING())
    pairs = env.from_collection(VALUES, type_info=KIND).key_by(lambda v: (v[0], v[2]))
    # Which of equals comes first is not defined in BATCH mode, so that only the compared field is told.
    return {
        "sum": keyed.sum(1).map(lambda v: v[:2]),
        "min": keyed.min(1).map(lambda v: v[:2]),
        "max_by": keyed.max_by(1).map(lambda v: v[1]),
        "min_by": keyed.min_by(2).map(lambda v: v[2]),
        "reduce": keyed.reduce(lambda a, b: (a[0], max(a[1], b[1]), min(a[2], b[2]))),
        "pairs": pairs.sum(1).map(lambda v: v[1]),
        "sums of sums": pairs.sum(1).key_by(lambda v: v[2]).sum(1).map(lambda v: (v[2], v[1])),
    }


MODES = ("BATCH",)
