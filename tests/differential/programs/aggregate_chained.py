"""Aggregations of aggregations: sum, then max of the sums, min_by of them, and projections in between."""

from pyflink.common import Types

KIND = Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT()])
SALES = [
    ("north", "a", 3),
    ("south", "a", 5),
    ("north", "b", 7),
    ("north", "a", -2),
    ("south", "b", 1),
    ("south", "b", 4),
    ("north", "b", 0),
]


def build(env):
    env.set_parallelism(1)
    sales = env.from_collection(SALES, type_info=KIND)
    per_region = sales.project(0, 2).key_by(lambda v: v[0], key_type=Types.STRING()).sum(1)
    per_item = sales.key_by(lambda v: v[1], key_type=Types.STRING()).sum(2)
    return {
        "regions": per_region,
        "items": per_item,
        "best": per_region.key_by(lambda v: 0).max_by(1),
        "largest": per_region.key_by(lambda v: 0).max(1),
        "worst": per_item.key_by(lambda v: 0).min_by(2),
        "swapped": sales.project(2, 1, 0).project(1).map(lambda v: v[0] * 2, output_type=Types.STRING()),
        "pairs": sales.key_by(lambda v: (v[0], v[1])).sum(2).project(2),
    }


PARALLELISM = (1,)
