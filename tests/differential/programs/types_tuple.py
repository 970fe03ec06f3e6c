"""Declared tuples: nested, of mixed types, with a pickled field, and undeclared."""

from pyflink.common import Row, Types

SEPARATE = True


def build(env):
    numbers = env.from_collection([1, 2], type_info=Types.INT())
    pair = Types.TUPLE([Types.INT(), Types.STRING()])
    return {
        "flat": numbers.map(lambda n: (n, str(n)), output_type=pair),
        "nested": numbers.map(lambda n: ((n, "x"), (n / 2,)), output_type=Types.TUPLE([pair, Types.TUPLE([Types.DOUBLE()])])),
        "object": numbers.map(lambda n: (n, [None, (n,)]), output_type=Types.TUPLE([Types.INT(), Types.PICKLED_BYTE_ARRAY()])),
        "source": env.from_collection([(1, "a"), (2, "b")], type_info=pair),
        "untyped source": env.from_collection([(1, "a"), [2, "b"], Row(3, "c")]),
    }
