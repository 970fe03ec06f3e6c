"""get_current_key gives back what the selector returned, for each kind of key."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction


class Key(KeyedProcessFunction):
    def process_element(self, value, ctx):
        key = ctx.get_current_key()
        yield value, type(key).__name__, key


def build(env):
    numbers = env.from_collection([1, 2, 3, 300], type_info=Types.INT())
    return {
        "pickled": numbers.key_by(lambda n: (n, "x")).process(Key()),
        "string": numbers.key_by(lambda n: f"k{n}", key_type=Types.STRING()).process(Key()),
        "tuple": numbers.key_by(lambda n: (n, n / 2), key_type=Types.TUPLE([Types.INT(), Types.DOUBLE()])).process(Key()),
        "float": numbers.key_by(lambda n: n / 3, key_type=Types.FLOAT()).process(Key()),
        "big": numbers.key_by(lambda n: n * 10**12, key_type=Types.LONG()).process(Key()),
    }
