"""Two streams joined by key and by bounds of event time. PyFlink's DataStream API has no such join.

Both halves of a sequence, which two subtasks of a source read side by side, have the same times.
"""

import metering
from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

from wiesel.common import Time
from wiesel.datastream.functions import ProcessJoinFunction


class Position(TimestampAssigner):
    def __init__(self, share):
        self._share = share

    def extract_timestamp(self, value, record_timestamp):
        return value % self._share


class Pairs(ProcessJoinFunction):
    def process_element(self, left, right, ctx):
        yield right, left


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--bound", type=int, default=1_000, help="how far apart joined records may be, in ms; one record has one ms")
    options = parser.parse_args()
    keys, share = options.keys, options.records // options.parallelism
    env = metering.environment(options)

    def side(name):
        watermarks = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Position(share))
        numbers = env.from_source(NumberSequenceSource(0, options.records - 1), metering.no_watermarks(), name, Types.LONG())
        return numbers.assign_timestamps_and_watermarks(watermarks).key_by(lambda number: number % share % keys, key_type=Types.LONG())

    bound = Time.milliseconds(options.bound)
    pair = Types.TUPLE([Types.LONG(), Types.LONG()])
    joined = side("left").interval_join(side("right")).between(Time.milliseconds(-options.bound), bound).process(Pairs(), pair)
    metering.run(env, joined, options)


if __name__ == "__main__":
    main()
