"""min_by and max_by with ties, of tuples, rows and by several types of fields."""

from pyflink.common import Row, Types

KIND = Types.TUPLE([Types.STRING(), Types.INT(), Types.DOUBLE(), Types.STRING()])
VALUES = [
    ("a", 3, 0.5, "c"), ("a", 1, 0.5, "b"), ("b", 2, -1.0, "x"), ("a", 1, 2.5, "a"), ("b", 2, -1.0, "w"), ("a", 3, -0.5, "d"),
    ("b", -7, 9.0, "x"), ("c", 0, 0.0, ""), ("b", -7, 9.0, "y"), ("a", 1, 2.5, "a"),
]  # fmt: skip
ROW = Types.ROW_NAMED(["key", "number", "text"], [Types.STRING(), Types.INT(), Types.STRING()])


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    values = env.from_collection(VALUES, type_info=KIND)
    keyed = values.key_by(lambda v: v[0], key_type=Types.STRING())
    rows = values.map(lambda v: Row(key=v[0], number=v[1], text=v[3]), output_type=ROW).key_by(lambda r: r.key, key_type=Types.STRING())
    streams = {f"{how} {field}": getattr(keyed, how)(field) for how in ("min_by", "max_by", "min", "max") for field in (1, 2, 3)}
    streams |= {f"rows {how}": getattr(rows, how)(field) for how, field in (("min_by", "text"), ("max_by", "number"), ("sum", "number"))}
    return {name: stream.set_parallelism(parallelism) for name, stream in streams.items()}


