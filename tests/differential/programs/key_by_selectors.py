"""Keys of many kinds: KeySelector, tuple, int, bool, negative, None, row, declared and pickled."""

from pyflink.common import Row, Types
from pyflink.datastream import KeySelector

VALUES = [(n, n % 3 - 1, "xyz"[n % 3]) for n in range(12)]


class Third(KeySelector):
    def get_key(self, value):
        return value[2]


def build(env):
    values = env.from_collection(VALUES, type_info=Types.TUPLE([Types.INT(), Types.INT(), Types.STRING()]))
    ones = values.map(lambda v: (*v, 1))

    def count(keyed):
        return keyed.reduce(lambda a, b: (None, None, None, a[3] + b[3])).filter(lambda v: v[3] > 1).map(lambda v: v[3])

    return {
        "selector": count(ones.key_by(Third())),
        "declared": count(ones.key_by(Third(), key_type=Types.STRING())),
        "int": count(ones.key_by(lambda v: v[1], key_type=Types.INT())),
        "long": count(ones.key_by(lambda v: v[1] * 10**12, key_type=Types.LONG())),
        "tuple": count(ones.key_by(lambda v: (v[1], v[2]), key_type=Types.TUPLE([Types.INT(), Types.STRING()]))),
        "pickled tuple": count(ones.key_by(lambda v: (v[1], v[2]))),
        "row": count(ones.key_by(lambda v: Row(v[1], v[2]), key_type=Types.ROW([Types.INT(), Types.STRING()]))),
        "bool": count(ones.key_by(lambda v: v[1] < 0, key_type=Types.BOOLEAN())),
        "float": count(ones.key_by(lambda v: v[1] / 3, key_type=Types.DOUBLE())),
        "none": count(ones.key_by(lambda v: None)),
    }
