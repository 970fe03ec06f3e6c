"""A function that takes its time for each record, behind a source that is faster: how long checkpoints take, and what they hold.

The job is cancelled after ``--seconds``. Only Wiesel runs it: what a checkpoint says about itself is read from its metadata.
"""

import json
import time
from pathlib import Path

import metering
from pyflink.common import Types
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import KeyedProcessFunction, RuntimeContext
from pyflink.datastream.state import ValueStateDescriptor

from wiesel.checkpoint.metadata import decode_metadata


class SlowCount(KeyedProcessFunction):
    def __init__(self, ms):
        self._s = ms / 1e3

    def open(self, runtime_context: RuntimeContext):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        time.sleep(self._s)
        self.count.update((self.count.value() or 0) + 1)
        yield value, 1


class Durations(metering.FolderWatch):
    """Notes of each checkpoint how long it took, the longest delay and alignment of a task, and the bytes on their way in it."""

    def __init__(self, folder):
        super().__init__(folder, 0.02)
        self.seen = {}

    def look(self, places):
        for place, files in places:
            if "_metadata" in files and place.name not in self.seen:
                self._note(place)

    def _note(self, place):
        try:
            path = place / "_metadata"
            checkpoint, _ = decode_metadata(path.read_bytes(), str(path))
            ended_ms = path.stat().st_mtime * 1e3
        except FileNotFoundError:
            return  # a newer one has taken its place
        stats = [task.stats for task in checkpoint.tasks.values()]
        self.seen[place.name] = {
            "trigger_ms": checkpoint.timestamp_ms,
            "duration_ms": round(ended_ms - checkpoint.timestamp_ms),
            "delay_ms": round(max(s.start_delay_ms for s in stats)),
            "alignment_ms": round(max(s.alignment_ms for s in stats)),
            "in_flight_bytes": sum(s.persisted_bytes for s in stats),
        }


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--ms", type=float, default=5, help="what a record takes")
    parser.add_argument("--seconds", type=float, default=60, help="how long to look, from the first record on")
    options = parser.parse_args()
    env = metering.environment(options)
    numbers = NumberSequenceSource(0, options.records - 1)
    (
        env.from_source(numbers, metering.no_watermarks(), "numbers", Types.LONG())
        .key_by(lambda number: number % 1_000, key_type=Types.LONG())
        .process(SlowCount(options.ms), output_type=Types.TUPLE([Types.LONG(), Types.LONG()]))
        .filter(metering.Meter(options.folder, options.records))
        .print()
    )
    with Durations(options.checkpoints) as durations:
        client = env.execute_async("barriers")
        while not any(task["metrics"].get("numRecordsIn") for task in client.get_job_metrics().result()["tasks"]):
            time.sleep(0.05)
        begun_ms = time.time() * 1e3
        time.sleep(options.seconds)
        client.cancel().result()
    seen = sorted(durations.seen.values(), key=lambda one: one["trigger_ms"])
    Path(options.folder, "checkpoints").write_text(json.dumps(seen))
    took = sorted(one["duration_ms"] for one in seen)
    result = {"checkpoints": len(seen), "began_ms": round(begun_ms)}
    if seen:
        result.update(
            first_ms=seen[0]["duration_ms"],
            p50_ms=took[len(took) // 2],
            max_ms=took[-1],
            delay_ms=max(one["delay_ms"] for one in seen),
            alignment_ms=max(one["alignment_ms"] for one in seen),
            in_flight_kb=round(max(one["in_flight_bytes"] for one in seen) / 1e3, 1),
        )
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
