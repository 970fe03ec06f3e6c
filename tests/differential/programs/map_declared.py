"""map with a declared and with an undeclared (pickled) output type."""

from pyflink.common import Types


def build(env):
    numbers = env.from_collection([1, 2, 3, 4, 5], type_info=Types.INT())
    return {
        "declared": numbers.map(lambda x: x * 2, output_type=Types.INT()),
        "pickled": numbers.map(lambda x: {"value": x, "half": x / 2}),
        "text": numbers.map(lambda x: f"<{x}>", output_type=Types.STRING()),
    }
