"""Primitive types keep their values from a source through a map; FLOAT is rounded to 32 bits."""

from pyflink.common import Types

CASES = {
    "string": (Types.STRING(), ["", "ä€😀", "a\nb", "x" * 300]),
    "boolean": (Types.BOOLEAN(), [True, False]),
    "byte": (Types.BYTE(), [-128, 0, 127]),
    "short": (Types.SHORT(), [-32768, 32767]),
    "int": (Types.INT(), [-(2**31), 2**31 - 1]),
    "long": (Types.LONG(), [-(2**63), 2**63 - 1]),
    "float": (Types.FLOAT(), [0.1, 1.5, -3.25, 1e10, 16777217.0]),
    "double": (Types.DOUBLE(), [0.1, 1e300, -2.5, float("inf")]),
}

SEPARATE = True


def build(env):
    result = {}
    for name, (kind, values) in CASES.items():
        source = env.from_collection(values, type_info=kind)
        result[f"{name} source"] = source
        result[f"{name} map"] = source.map(lambda v: v, output_type=kind).map(lambda v: v, output_type=kind)
    return result
