"""reduce with a function object that keeps count, over rows, lists and numbers."""

from pyflink.common import Row, Types
from pyflink.datastream import ReduceFunction

ROW = Types.ROW_NAMED(["key", "least", "greatest", "all"], [Types.STRING(), Types.INT(), Types.INT(), Types.LIST(Types.INT())])
NUMBERS = [5, 3, 8, 1, 9, 2, 7, 4, 6, 0, 11, -3]


class Range(ReduceFunction):
    def open(self, runtime_context):
        self.merges = 0

    def reduce(self, value1, value2):
        self.merges += 1
        return Row(
            key=value1.key,
            least=min(value1.least, value2.least),
            greatest=max(value1.greatest, value2.greatest),
            all=value1.all + value2.all,
        )


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    numbers = env.from_collection(NUMBERS, type_info=Types.INT())
    rows = numbers.map(lambda n: Row(key="even" if n % 2 == 0 else "odd", least=n, greatest=n, all=[n]), output_type=ROW)
    streams = {
        "rows": rows.key_by(lambda r: r.key, key_type=Types.STRING()).reduce(Range()),
        "numbers": numbers.key_by(lambda n: n % 3, key_type=Types.INT()).reduce(lambda a, b: a * 10 + b),
        "lists": numbers.map(lambda n: [n]).key_by(lambda v: v[0] > 4).reduce(lambda a, b: sorted(a + b)),
    }
    return {name: stream.set_parallelism(parallelism) for name, stream in streams.items()}


PARALLELISM = (2,)
