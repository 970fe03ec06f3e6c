"""from_collection with and without a type, of every shape, and of one element."""

from pyflink.common import Row, Types

SEPARATE = True


def build(env):
    return {
        "untyped": env.from_collection([1, "two", 3.0, (4, "four"), [5], {"six": 6}, None, Row(a=7), b"8"]).map(lambda v: (v,)),
        "one": env.from_collection(["only"], type_info=Types.STRING()),
        "map": env.from_collection([{"a": 1}, {}], type_info=Types.MAP(Types.STRING(), Types.INT())),
        "rows": env.from_collection([("a", 1), ["b", 2], Row("c", 3)], type_info=Types.ROW([Types.STRING(), Types.INT()])),
        "float": env.from_collection([0.1, 2.5], type_info=Types.FLOAT()).map(lambda x: x * 3),
    }
