"""map, flat_map and filter on a keyed stream give plain streams again; keying again repartitions."""

from pyflink.common import Types


def build(env):
    pairs = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", 5)], type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    keyed = pairs.key_by(lambda pair: pair[0])
    return {
        "map": keyed.map(lambda pair: (pair[0] * 2, pair[1])),
        "flat_map": keyed.flat_map(lambda pair: [pair[0]] * pair[1]),
        "filter": keyed.filter(lambda pair: pair[1] > 2),
        "again": keyed.map(lambda pair: (pair[1] % 2, 1)).key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1])),
        "rekeyed": keyed.key_by(lambda pair: pair[1] % 2).reduce(lambda a, b: ("-", -1)).map(lambda pair: 1),
        "union": keyed.union(pairs),
    }
