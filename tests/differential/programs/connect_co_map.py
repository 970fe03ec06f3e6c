"""CoMapFunction and CoFlatMapFunction; a CoMap result of None is dropped, unlike that of map."""

from pyflink.common import Types
from pyflink.datastream import CoFlatMapFunction, CoMapFunction


class Both(CoMapFunction):
    def open(self, runtime_context):
        self.prefix = "s:"

    def map1(self, value):
        return value * 2 if value != 2 else None

    def map2(self, value):
        return self.prefix + value if value != "y" else None


class Repeat(CoFlatMapFunction):
    def flat_map1(self, value):
        for _ in range(value):
            yield value

    def flat_map2(self, value):
        return [value, value.upper()] if value != "y" else None


def build(env):
    numbers = env.from_collection([1, 2, 3], type_info=Types.INT())
    words = env.from_collection(["x", "y", "z"], type_info=Types.STRING())
    connected = numbers.connect(words)
    keyed = connected.key_by(lambda n: n, lambda w: ord(w), key_type=Types.INT())
    return {
        "map": connected.map(Both()),
        "flat_map": connected.flat_map(Repeat()),
        "keyed map": keyed.map(Both()),
        "keyed flat_map": keyed.flat_map(Repeat()),
        "typed": numbers.connect(numbers).map(Sum(), output_type=Types.LONG()),
    }


class Sum(CoMapFunction):
    def map1(self, value):
        return value + 100

    def map2(self, value):
        return value + 200


PARALLELISM = (1, 2, 3)
