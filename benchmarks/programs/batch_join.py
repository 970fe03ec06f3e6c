"""A join of orders and customers, and the turnover per region, over bounded data in BATCH mode.

PyFlink's streams have no join of bounded data; as a user would, this holds the customer of a key in state. BATCH mode sorts by key and,
within one, by time: customers have the earlier one.
"""

import metering
from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import RuntimeExecutionMode
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import KeyedCoProcessFunction, RuntimeContext
from pyflink.datastream.state import ValueStateDescriptor

REGIONS = 1_000
PADDING = "x" * 80


class At(TimestampAssigner):
    def __init__(self, time):
        self._time = time

    def extract_timestamp(self, value, record_timestamp):
        return self._time


class Join(KeyedCoProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.region = runtime_context.get_state(ValueStateDescriptor("region", Types.LONG()))

    def process_element1(self, value, ctx):
        yield self.region.value(), value[1]

    def process_element2(self, value, ctx):
        self.region.update(value[1])


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--customers", type=int, default=100_000)
    options = parser.parse_args()
    count = options.customers
    record = Types.TUPLE([Types.LONG(), Types.LONG(), Types.STRING()])
    pair = Types.TUPLE([Types.LONG(), Types.LONG()])

    env = metering.environment(options)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)

    def numbers(last, time):
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(At(time))
        return env.from_source(NumberSequenceSource(0, last), strategy, "numbers", Types.LONG())

    orders = numbers(options.records - 1, 1).map(lambda n: (n % count, n % 100, PADDING), output_type=record)
    customers = numbers(count - 1, 0).map(lambda n: (n, n % REGIONS, PADDING), output_type=record)
    turnover = (
        orders.connect(customers)
        .key_by(lambda r: r[0], lambda r: r[0], key_type=Types.LONG())
        .process(Join(), output_type=pair)
        .key_by(lambda r: r[0], key_type=Types.LONG())
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
    metering.run(env, turnover, options)


if __name__ == "__main__":
    main()
