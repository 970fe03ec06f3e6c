"""Number sequences with negative numbers, of one number, and of none behind a filter."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream.connectors.number_seq import NumberSequenceSource


def build(env):
    sequence = env.from_source(NumberSequenceSource(-3, 12), WatermarkStrategy.for_monotonous_timestamps(), "numbers", Types.LONG())
    one = env.from_source(NumberSequenceSource(7, 7), WatermarkStrategy.no_watermarks(), "one", Types.LONG())
    counted_sums = sequence.map(lambda n: (1, n), output_type=Types.TUPLE([Types.LONG(), Types.LONG()])).key_by(lambda pair: 0)
    counted_sums = counted_sums.reduce(lambda a, b: (a[0] + b[0], a[1] + b[1])).filter(lambda pair: pair[0] == 16)
    return {
        "all": sequence,
        "squares": sequence.map(lambda n: n * n, output_type=Types.LONG()),
        "sum": counted_sums.map(lambda pair: pair[1], output_type=Types.LONG()),
        "one": one,
        "none": sequence.filter(lambda n: n > 100).union(one),
        "counted": one.flat_map(lambda n: range(n), output_type=Types.LONG()),
    }


PARALLELISM = (4,)
