"""Number sequences with negative numbers, of one number, and of none behind a filter."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream.connectors.number_seq import NumberSequenceSource


def build(env):
    sequence = env.from_source(NumberSequenceSource(-3, 12), WatermarkStrategy.for_monotonous_timestamps(), "numbers", Types.LONG())
    one = env.from_source(NumberSequenceSource(7, 7), WatermarkStrategy.no_watermarks(), "one", Types.LONG())
    return {
        "all": sequence,
        "squares": sequence.map(lambda n: n * n, output_type=Types.LONG()),
        "sum": sequence.key_by(lambda n: 0).reduce(lambda a, b: a + b).filter(lambda n: n == sum(range(-3, 13))),
        "one": one,
        "none": sequence.filter(lambda n: n > 100).union(one),
        "counted": one.flat_map(lambda n: range(n), output_type=Types.LONG()),
    }


PARALLELISM = (4,)
