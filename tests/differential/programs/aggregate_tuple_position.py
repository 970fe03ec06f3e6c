"""sum, min, max, min_by and max_by of tuples by position; ties of min_by and max_by keep the first record."""

from pyflink.common import Types

VALUES = [("a", 3, "p"), ("a", 1, "q"), ("b", 7, "r"), ("a", 5, "s"), ("b", 7, "t"), ("a", 1, "u"), ("a", 5, "v"), ("b", 2, "w")]


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    keyed = env.from_collection(VALUES, type_info=Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()])).key_by(lambda v: v[0])
    return {
        "sum": keyed.sum(1).set_parallelism(parallelism),
        "min": keyed.min(1).set_parallelism(parallelism),
        "max": keyed.max(1).set_parallelism(parallelism),
        "min_by": keyed.min_by(1).set_parallelism(parallelism),
        "max_by": keyed.max_by(1).set_parallelism(parallelism),
        "max text": keyed.max(2).set_parallelism(parallelism),
    }
