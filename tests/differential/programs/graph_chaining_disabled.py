"""disable_operator_chaining for the whole job changes no result."""

from pyflink.common import Types


def build(env):
    env.disable_operator_chaining()
    numbers = env.from_collection(list(range(10)), type_info=Types.INT())
    kept = numbers.map(lambda n: n * 3, output_type=Types.INT()).filter(lambda n: n % 2 == 0)
    return {
        "plain": kept.map(lambda n: n + 0.5),
        "keyed": kept.map(lambda n: (n % 4, 1)).key_by(lambda v: v[0]).reduce(lambda a, b: (a[0], a[1] + b[1])),
    }
