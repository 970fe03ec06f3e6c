"""A running count per key: a Python process function with value state behind one exchange."""

import metering
from pyflink.common import Types
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import KeyedProcessFunction, RuntimeContext
from pyflink.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value[0], count


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--keys", type=int, default=10_000)
    options = parser.parse_args()
    keys = options.keys
    pair = Types.TUPLE([Types.LONG(), Types.LONG()])

    env = metering.environment(options)
    numbers = env.from_source(NumberSequenceSource(0, options.records - 1), metering.no_watermarks(), "numbers", Types.LONG())
    counts = (
        numbers.map(lambda number: (number % keys, number), output_type=pair)
        .key_by(lambda record: record[0], key_type=Types.LONG())
        .process(Count(), output_type=pair)
    )
    metering.run(env, counts, options)


if __name__ == "__main__":
    main()
