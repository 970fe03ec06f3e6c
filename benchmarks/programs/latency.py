"""Time from source to sink over two exchanges: source, keyed count with value state, sink on other keys."""

import json
import time

import metering
from paced_source import paced, stamp_ns
from pyflink.common import Types
from pyflink.datastream.functions import KeyedProcessFunction, RuntimeContext
from pyflink.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield count, value[0], stamp_ns(value[1])


class LatencyMeter(metering.Meter):
    """A meter that also notes how old records are, of each ``sample`` records one, from ``warm_up_s`` after its first record on."""

    def __init__(self, folder, records, warm_up_s, sample):
        super().__init__(folder, records)
        self._warm_up_s = warm_up_s
        self._sample = sample

    def open(self, runtime_context: RuntimeContext):
        super().open(runtime_context)
        self._begin_ns = None
        self._ages_us = []

    def filter(self, value):
        if not self._count % self._sample:
            now_ns = time.time_ns()
            if self._begin_ns is None:
                self._begin_ns = now_ns + self._warm_up_s * 1_000_000_000
            elif now_ns >= self._begin_ns:
                self._ages_us.append((now_ns - value[2]) // 1000)
        return super().filter(value)

    def close(self):
        metering.leave(self._folder, self._subtask, {**self.counted(), "ages_us": self._ages_us})


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--rate", type=int, default=200, help="records/s; 0 is as fast as it goes")
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--buffer-timeout-ms", type=int, default=100)
    parser.add_argument("--warm-up-s", type=int, default=5)
    parser.add_argument("--sample", type=int, default=1)
    options = parser.parse_args()
    keys = options.keys

    env = metering.environment(options)
    env.set_buffer_timeout(options.buffer_timeout_ms)
    (
        paced(env, options.records, options.rate)
        .key_by(lambda record: record[0] % keys, key_type=Types.LONG())
        .process(Count(), output_type=Types.TUPLE([Types.LONG(), Types.LONG(), Types.LONG()]))
        .key_by(lambda record: record[1] // 7 % keys, key_type=Types.LONG())
        .filter(LatencyMeter(options.folder, options.records, options.warm_up_s, options.sample))
        .print()
    )
    env.execute("latency")
    parts = metering.left(options.folder, options.parallelism)
    print(json.dumps({**metering.summary(parts, options.records), **metering.percentiles(parts)}), flush=True)


if __name__ == "__main__":
    main()
