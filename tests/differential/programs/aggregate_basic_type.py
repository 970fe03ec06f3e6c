"""The aggregations on a stream of plain numbers and on lists."""

from pyflink.common import Types


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    keyed = env.from_collection([5, 2, 9, 4, 7, 6, 1], type_info=Types.INT()).key_by(lambda n: n % 2)
    lists = env.from_collection([["a", 3], ["a", 1], ["b", 2], ["a", 7]]).key_by(lambda v: v[0])
    return {
        "sum": keyed.sum().set_parallelism(parallelism),
        "min": keyed.min().set_parallelism(parallelism),
        "max": keyed.max().set_parallelism(parallelism),
        "min_by": keyed.min_by().set_parallelism(parallelism),
        "max_by": keyed.max_by().set_parallelism(parallelism),
        "list sum": lists.sum(1).set_parallelism(parallelism),
        "list min": lists.min(1).set_parallelism(parallelism),
    }
