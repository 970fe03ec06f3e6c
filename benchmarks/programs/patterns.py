"""A pattern of three stages per key, strictly one after the other. PyFlink has no CEP.

Both halves of a sequence, which two subtasks of a source read side by side, have the same times, and keys of their own.
"""

import metering
from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

from wiesel.cep import CEP, Pattern

STAGES = 3


class Position(TimestampAssigner):
    def __init__(self, share):
        self._share = share

    def extract_timestamp(self, value, record_timestamp):
        return value % self._share


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--keys", type=int, default=1_000, help="keys of each half")
    options = parser.parse_args()
    keys, share = options.keys, options.records // options.parallelism
    env = metering.environment(options)
    watermarks = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Position(share))
    numbers = env.from_source(NumberSequenceSource(0, options.records - 1), metering.no_watermarks(), "numbers", Types.LONG())
    events = (
        numbers.assign_timestamps_and_watermarks(watermarks)
        .map(lambda n: (n % share % keys * 2 + n // share, n % share // keys % STAGES, n), Types.TUPLE([Types.LONG()] * 3))
        .key_by(lambda event: event[0], key_type=Types.LONG())
    )
    pattern = (
        Pattern.begin("first").where(lambda event: event[1] == 0)
        .next("second").where(lambda event: event[1] == 1)
        .next("third").where(lambda event: event[1] == 2)
    )
    pair = Types.TUPLE([Types.LONG(), Types.LONG()])
    matches = CEP.pattern(events, pattern).select(lambda match: (match["first"][0][0], match["third"][0][2]), pair)
    metering.run(env, matches, options)


if __name__ == "__main__":
    main()
