"""union keeps every record of every input; a stream united with itself comes twice."""

from pyflink.common import Types


def build(env):
    a = env.from_collection([1, 2, 3], type_info=Types.INT())
    b = env.from_collection([3, 4], type_info=Types.INT())
    c = b.map(lambda x: x * 10, output_type=Types.INT())
    return {
        "three": a.union(b, c),
        "self": a.union(a),
        "nested": a.union(b).union(c.union(a)).map(lambda x: x + 1),
        "counted": a.union(b, c).map(lambda x: ("n", 1)).key_by(lambda v: v[0]).reduce(lambda x, y: ("n", x[1] + y[1])),
    }


MODES = ("STREAMING", "BATCH")
PARALLELISM = (1, 2, 3)
