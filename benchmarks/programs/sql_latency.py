"""The time from the end of a window to its results, of a windowed query over rows that carry the time at which they were made."""

import datetime
import json
import time

import metering
from pyflink.datastream.functions import RuntimeContext
from pyflink.table import StreamTableEnvironment

# Rows of the same millisecond may follow a watermark, so it stays one behind.
EVENTS = """CREATE TABLE events (n BIGINT, ts AS LOCALTIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '0.001' SECOND) WITH (
    'connector' = 'datagen', 'rows-per-second' = '{rate}',
    'fields.n.kind' = 'sequence', 'fields.n.start' = '0', 'fields.n.end' = '{last}')"""
QUERY = """SELECT window_end, MOD(n, {keys}) AS k, COUNT(*) AS c
    FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '0.2' SECOND)) GROUP BY window_start, window_end, MOD(n, {keys})"""
EPOCH = datetime.datetime(1970, 1, 1)


class WindowMeter(metering.Meter):
    """Sums the counts of windows and notes how long after the end of its window each result comes.

    The windows that close because the input ends are left out: their end has not come yet.
    """

    def __init__(self, folder, records, warm_up_s):
        super().__init__(folder, records)
        self._warm_up_s = warm_up_s

    def open(self, runtime_context: RuntimeContext):
        super().open(runtime_context)
        self._begin_ns = None
        self._ages_us = []

    def filter(self, value):
        now_ns = time.time_ns()
        age_us = now_ns // 1000 - (value[0] - EPOCH) // datetime.timedelta(microseconds=1)
        if self._begin_ns is None:
            self._begin_ns = now_ns + self._warm_up_s * 1_000_000_000
        elif now_ns >= self._begin_ns and age_us >= 0:
            self._ages_us.append(age_us)
        return super().filter((None, value[2]))

    def close(self):
        metering.leave(self._folder, self._subtask, {**self.counted(), "ages_us": self._ages_us})


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--rate", type=int, default=5_000, help="rows/s")
    parser.add_argument("--keys", type=int, default=100)
    parser.add_argument("--buffer-timeout-ms", type=int, default=5)
    parser.add_argument("--warm-up-s", type=int, default=5)
    options = parser.parse_args()

    env = metering.environment(options)
    env.set_buffer_timeout(options.buffer_timeout_ms)
    t_env = StreamTableEnvironment.create(env)
    t_env.get_config().set("table.local-time-zone", "UTC")
    t_env.execute_sql(EVENTS.format(rate=options.rate, last=options.records - 1))
    results = t_env.to_data_stream(t_env.sql_query(QUERY.format(keys=options.keys)))
    results.filter(WindowMeter(options.folder, options.records, options.warm_up_s)).print()
    env.execute("latency of windows")
    parts = metering.left(options.folder, options.parallelism)
    figures = {"total": sum(part["total"] for part in parts), "records": options.records}
    print(json.dumps({**figures, **metering.percentiles(parts)}), flush=True)


if __name__ == "__main__":
    main()
