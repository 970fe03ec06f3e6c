"""Event-time windows with a Python aggregate function, per key: tumbling, sliding or session windows.

Event time runs evenly: ``--per-window`` records of each key make a window's length (for sessions, each such length is followed by one of
silence). Both halves of the sequence, which two source subtasks read
side by side, cover the same span of time; otherwise all windows of the second half would wait for the end of the first.
"""

import metering
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import AggregateFunction
from pyflink.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows

WINDOW_MS = 10_000


class CountAndSum(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + 1, accumulator[1] + value[1]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class EventTime(TimestampAssigner):
    """Position in the subtask's share of the sequence, scaled to milliseconds."""

    def __init__(self, share, records_per_window):
        self._share = share
        self._records_per_window = records_per_window

    def extract_timestamp(self, value, record_timestamp):
        return value % self._share * WINDOW_MS // self._records_per_window


class TimeWithSilence(EventTime):
    def extract_timestamp(self, value, record_timestamp):
        busy_ms = super().extract_timestamp(value, record_timestamp)
        return busy_ms + busy_ms // WINDOW_MS * WINDOW_MS


def assigner(options):
    if options.kind == "sliding":
        return SlidingEventTimeWindows.of(Time.milliseconds(WINDOW_MS), Time.milliseconds(WINDOW_MS // options.slides))
    if options.kind == "session":
        return EventTimeSessionWindows.with_gap(Time.milliseconds(WINDOW_MS // 2))
    return TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS))


def pair():
    # A new one for each use: PyFlink's carry a Java object once used, and cannot be pickled then.
    return Types.TUPLE([Types.LONG(), Types.LONG()])


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--per-window", type=int, default=10, help="records of one key in one window")
    parser.add_argument("--kind", default="tumbling", choices=("tumbling", "sliding", "session"))
    parser.add_argument("--slides", type=int, default=1, help="slides in a sliding window; a divisor of 10,000")
    options = parser.parse_args()
    keys = options.keys
    share = options.records // options.parallelism

    env = metering.environment(options)
    times = TimeWithSilence if options.kind == "session" else EventTime
    watermarks = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(
        times(share, keys * options.per_window // options.parallelism)
    )
    numbers = env.from_source(NumberSequenceSource(0, options.records - 1), metering.no_watermarks(), "numbers", Types.LONG())
    sums = (
        numbers.assign_timestamps_and_watermarks(watermarks)
        .map(lambda number: (number % keys, number), output_type=pair())
        .key_by(lambda record: record[0], key_type=Types.LONG())
        .window(assigner(options))
        .aggregate(CountAndSum(), accumulator_type=pair(), output_type=pair())
    )
    metering.run(env, sums, options)


if __name__ == "__main__":
    main()
