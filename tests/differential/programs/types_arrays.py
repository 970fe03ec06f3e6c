"""Arrays of every element type, and lists and maps with none of, and nested, values."""

from pyflink.common import Row, Types

PRIMITIVES = {
    "boolean": (Types.BOOLEAN(), [True, False]),
    "short": (Types.SHORT(), [-1, 300]),
    "int": (Types.INT(), [2**31 - 1]),
    "long": (Types.LONG(), [-(2**63), 0]),
    "float": (Types.FLOAT(), [0.1, 2.5]),
    "double": (Types.DOUBLE(), [0.1, float("-inf")]),
}
PERSON = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])

SEPARATE = True


def constant(value):
    return lambda n: value


def build(env):
    numbers = env.from_collection([1, 2], type_info=Types.INT())
    result = {}
    for name, (kind, values) in PRIMITIVES.items():
        result[f"primitive {name}"] = numbers.map(constant(values), output_type=Types.PRIMITIVE_ARRAY(kind))
        result[f"basic {name}"] = numbers.map(constant(values), output_type=Types.BASIC_ARRAY(kind))
    result |= {
        "empty primitive": numbers.map(lambda n: [], output_type=Types.PRIMITIVE_ARRAY(Types.INT())),
        "empty list": numbers.map(lambda n: [], output_type=Types.LIST(Types.STRING())),
        "empty map": numbers.map(lambda n: {}, output_type=Types.MAP(Types.INT(), Types.INT())),
        "rows": numbers.map(lambda n: [Row("a", n), Row("b", None)], output_type=Types.OBJECT_ARRAY(PERSON)),
        "list of rows": numbers.map(lambda n: [Row(name="c", age=n)], output_type=Types.LIST(PERSON)),
        "map of lists": numbers.map(lambda n: {n: ["x"] * n}, output_type=Types.MAP(Types.INT(), Types.LIST(Types.STRING()))),
        "map of rows": numbers.map(lambda n: {"k": Row("d", n)}, output_type=Types.MAP(Types.STRING(), PERSON)),
        "basic strings": numbers.map(lambda n: ["s", ""], output_type=Types.BASIC_ARRAY(Types.STRING())),
    }
    return result


PARALLELISM = (2,)
