"""LIST, MAP and the array types, nested in rows and tuples."""

from pyflink.common import Types

SEPARATE = True


def build(env):
    numbers = env.from_collection([0, 1, 3], type_info=Types.INT())
    return {
        "list": numbers.map(lambda n: list(range(n)), output_type=Types.LIST(Types.INT())),
        "list of list": numbers.map(lambda n: [[str(n)] * n], output_type=Types.LIST(Types.LIST(Types.STRING()))),
        "map": numbers.map(lambda n: {str(k): k / 2 for k in range(n)}, output_type=Types.MAP(Types.STRING(), Types.DOUBLE())),
        "primitive array": numbers.map(lambda n: [n, n + 1], output_type=Types.PRIMITIVE_ARRAY(Types.INT())),
        "basic array": numbers.map(lambda n: ["a"] * n, output_type=Types.BASIC_ARRAY(Types.STRING())),
        "object array": numbers.map(lambda n: [(n, "x")], output_type=Types.OBJECT_ARRAY(Types.TUPLE([Types.INT(), Types.STRING()]))),
        "in tuple": numbers.map(
            lambda n: (n, [n] * n, {n: "v"}),
            output_type=Types.TUPLE([Types.INT(), Types.LIST(Types.INT()), Types.MAP(Types.INT(), Types.STRING())]),
        ),
        "used": numbers.map(lambda n: [n, 5], output_type=Types.LIST(Types.INT())).map(lambda v: (type(v).__name__, sum(v))),
        "bytes": numbers.map(lambda n: bytes([n, 255]), output_type=Types.PRIMITIVE_ARRAY(Types.BYTE())),
    }
