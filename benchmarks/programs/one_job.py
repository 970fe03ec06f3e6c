"""One job for several questions: paced source, keyed count with value state, meter on other keys; a process may be killed in its midst.

With ``--kill-at`` the process that has counted so many records kills itself, once. Then the result is the time until the meter got the next
record, and the sum of the keys' last counts, which is the number of records if none was lost and none counted twice.
"""

import json
import os
import signal
import time
from pathlib import Path

import metering
from latency import Count, LatencyMeter
from paced_source import paced
from pyflink.common import Types
from pyflink.datastream.functions import RuntimeContext


class MortalCount(Count):
    def __init__(self, folder, kill_at):
        self._folder = folder
        self._kill_at = kill_at

    def open(self, runtime_context: RuntimeContext):
        super().open(runtime_context)
        self._left = self._kill_at if runtime_context.get_attempt_number() == 0 else 0

    def process_element(self, value, ctx):
        if self._left:
            self._left -= 1
            if not self._left:
                Path(self._folder, "killed").write_text(str(time.time_ns()))
                os.kill(os.getpid(), signal.SIGKILL)
        yield from super().process_element(value, ctx)


class RecoveryMeter(metering.Meter):
    """Notes the first time behind the failure, and the last count of each key."""

    def open(self, runtime_context: RuntimeContext):
        super().open(runtime_context)
        self._attempt = runtime_context.get_attempt_number()
        self._first_ns = None
        self._counts = {}

    def filter(self, value):
        if self._first_ns is None:
            self._first_ns = time.time_ns()
        key = value[1] % KEYS
        self._counts[key] = max(value[0], self._counts.get(key, 0))
        return False

    def close(self):
        if self._attempt:
            metering.leave(self._folder, self._subtask, {"first_ns": self._first_ns, "counts": self._counts})


KEYS = 1_000


def recovery(folder, parts):
    """Return the time from the kill to the first record behind it, and how many records were counted."""
    killed_ns = int(Path(folder, "killed").read_text())
    counts = {}
    for part in parts:
        for key, count in part["counts"].items():
            counts[key] = max(count, counts.get(key, 0))
    first_ns = min(part["first_ns"] for part in parts if part["first_ns"])
    return {"recovery_ms": round((first_ns - killed_ns) / 1e6, 1), "counted": sum(counts.values())}


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--rate", type=int, default=0, help="records/s; 0 is as fast as it goes")
    parser.add_argument("--kill-at", type=int, default=0)
    options = parser.parse_args()
    env = metering.environment(options)
    if options.kill_at:
        meter = RecoveryMeter(options.folder, options.records)
    else:
        meter = LatencyMeter(options.folder, options.records, 5 if options.rate else 3, 1 if options.rate else 101)
    (
        paced(env, options.records, options.rate)
        .key_by(lambda record: record[0] % KEYS, key_type=Types.LONG())
        .process(MortalCount(options.folder, options.kill_at), output_type=Types.TUPLE([Types.LONG(), Types.LONG(), Types.LONG()]))
        .key_by(lambda record: record[1] // 7 % KEYS, key_type=Types.LONG())
        .filter(meter)
        .print()
    )
    env.execute("one job")
    parts = metering.left(options.folder, options.parallelism)
    if options.kill_at:
        result = recovery(options.folder, parts)
    else:
        result = {**metering.summary(parts, options.records), **metering.percentiles(parts)}
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
