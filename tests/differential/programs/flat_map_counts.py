"""flat_map with results of any length; an empty iterable emits nothing."""

from pyflink.common import Types


def build(env):
    numbers = env.from_collection([1, 2, 3, 4], type_info=Types.INT())
    return {
        "repeat": numbers.flat_map(lambda x: [x] * (x - 1)),
        "range": numbers.flat_map(range, output_type=Types.INT()),
        "nested none": numbers.flat_map(lambda x: [(x, None), [None]]),
        "text": numbers.map(lambda x: "abc"[: x - 1], output_type=Types.STRING()).flat_map(list, output_type=Types.STRING()),
    }
