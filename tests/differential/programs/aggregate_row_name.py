"""sum, min, max, min_by and max_by of rows by field name."""

from pyflink.common import Row, Types

VALUES = [Row("a", 3, "p"), Row("a", 1, "q"), Row("b", 7, "r"), Row("a", 5, "s"), Row("b", 7, "t"), Row("a", 1, "u"), Row("b", 2, "w")]


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    rows = env.from_collection(VALUES, type_info=Types.ROW_NAMED(["key", "size", "tag"], [Types.STRING(), Types.INT(), Types.STRING()]))
    keyed = rows.key_by(lambda row: row.key, key_type=Types.STRING())
    return {
        "sum": keyed.sum("size").set_parallelism(parallelism),
        "min": keyed.min("size").set_parallelism(parallelism),
        "max": keyed.max("size").set_parallelism(parallelism),
        "min_by": keyed.min_by("size").set_parallelism(parallelism),
        "max_by": keyed.max_by("size").set_parallelism(parallelism),
        "max by position": keyed.max(1).set_parallelism(parallelism),
    }
