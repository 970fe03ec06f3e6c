"""Undeclared records may be any picklable Python object, of any size, and of a mixture of types."""

from collections import OrderedDict
from fractions import Fraction

from pyflink.common import Types


def build(env):
    halves = env.from_collection([1, 2, 3], type_info=Types.INT()).map(lambda n: Fraction(n, 2))
    return {
        "objects": halves.map(lambda f: f + Fraction(1, 3)).map(lambda f: (f.numerator, f.denominator)),
        "keyed": halves.key_by(lambda f: f.denominator).reduce(lambda a, b: a + b).map(str),
        "mixed": halves.flat_map(lambda f: [f.numerator, str(f), {f: "key"}, {f}, b"\x00\xff", 2.5][: f.numerator * 2]).map(repr),
        "large": halves.map(lambda f: "z" * int(f * 200_000)).map(len),
        "subclass": halves.map(lambda f: OrderedDict(b=1, a=int(f))).map(lambda d: (type(d).__name__, list(d.items()))),
        "set": halves.map(lambda f: {1, int(f), 7}),
        "nested": halves.map(lambda f: [(int(f), [{"k": (None, True, [1.5])}])]),
    }
