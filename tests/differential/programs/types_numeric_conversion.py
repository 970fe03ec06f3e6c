"""What a declared numeric type makes of other Python numbers: FLOAT rounds, an int given as DOUBLE becomes a float."""

from pyflink.common import Types

SEPARATE = True


def build(env):
    numbers = env.from_collection([1, 3, 7], type_info=Types.INT())
    return {
        "float": numbers.map(lambda n: n / 3, output_type=Types.FLOAT()),
        "float sum": numbers.map(lambda n: n / 10, output_type=Types.FLOAT())
        .rebalance()
        .map(lambda x: x + 0.1, output_type=Types.DOUBLE()),
        "int as double": numbers.map(lambda n: n, output_type=Types.DOUBLE()),
        "int as float": numbers.map(lambda n: n, output_type=Types.FLOAT()),
        "bool as int": numbers.map(lambda n: n > 1, output_type=Types.INT()),
        "int as boolean": numbers.map(lambda n: n - 1, output_type=Types.BOOLEAN()),
        "float in tuple": numbers.map(lambda n: (n / 3, n / 3), output_type=Types.TUPLE([Types.FLOAT(), Types.DOUBLE()])),
    }
