"""A fork whose branches join again by union and by connect; one branch filters and repeats."""

from pyflink.common import Types
from pyflink.datastream import CoMapFunction


class Side(CoMapFunction):
    def map1(self, value):
        return "left", value

    def map2(self, value):
        return "right", value


def build(env):
    source = env.from_collection(list(range(10)), type_info=Types.INT())
    base = source.map(lambda n: n + 1, output_type=Types.INT())
    left = base.filter(lambda n: n % 2 == 0).map(lambda n: n * 10, output_type=Types.INT())
    right = base.flat_map(lambda n: [n, n] if n % 3 == 0 else [], output_type=Types.INT())
    counted = left.union(right).map(lambda n: (n % 4, 1)).key_by(lambda v: v[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
    return {"union": left.union(right, base), "connect": left.connect(right).map(Side()), "counted": counted}


PARALLELISM = (1, 2, 3)
MODES = ("STREAMING", "BATCH")
