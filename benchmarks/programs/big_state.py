"""State of 256 bytes per key, all of it replaced by each record of the key: with four million keys, 1 GB.

The keys come in turn; or, with ``--hot``, nine of ten records behind the first round are of the first so many keys.
"""

import json
import time

import metering
from pyflink.common import Types
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import KeyedProcessFunction, RuntimeContext
from pyflink.datastream.state import ValueStateDescriptor

VALUE_BYTES = 256
KEY_BYTES = 8
COLD_EVERY = 10


class Replace(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        before = self.value.value()
        count = int.from_bytes(before[:8], "big") + 1 if before else 1
        self.value.update(count.to_bytes(8, "big") * (VALUE_BYTES // 8))
        yield value[0], count


def key_of(number, keys, hot):
    """Return the key of a number: each key has one among the first, as many, numbers."""
    if not hot or number < keys or not number % COLD_EVERY:
        return number % keys
    return number % hot


class Volume(metering.FolderWatch):
    """Adds up the sizes of all files that checkpoints leave behind, and notes the sum whenever a checkpoint is complete."""

    def __init__(self, folder):
        super().__init__(folder, 0.3)
        self._sizes = {}
        self._complete = set()
        self.marks = []

    def look(self, places):
        for place, names in places:
            for path in (place / name for name in names):
                try:
                    self._sizes[path] = max(self._sizes.get(path, 0), path.stat().st_size)
                except FileNotFoundError:
                    continue
        complete = {place for place, names in places if "_metadata" in names}
        if complete - self._complete:
            self.marks.append((time.time_ns(), sum(self._sizes.values())))
        self._complete |= complete


def at(marks, when_ns):
    """Return a sum at a time, straight between marks."""
    before = (marks[0][0], 0)
    for mark in marks:
        if mark[0] >= when_ns:
            span = mark[0] - before[0]
            return before[1] + (mark[1] - before[1]) * ((when_ns - before[0]) / span if span else 0)
        before = mark
    return before[1]


def progress(parts):
    """Return (time in ns, results of all subtasks so far)."""
    total, marks = 0, []
    for at_ns, amount in metering.steps_of(parts):
        total += amount
        marks.append((at_ns, total))
    return marks


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--keys", type=int, default=4_000_000)
    parser.add_argument("--hot", type=int, default=0, help="to how many keys nine of ten records go; 0 for no difference between keys")
    options = parser.parse_args()
    keys, hot = options.keys, options.hot
    pair = Types.TUPLE([Types.LONG(), Types.LONG()])
    env = metering.environment(options)
    (
        env.from_source(NumberSequenceSource(0, options.records - 1), metering.no_watermarks(), "numbers", Types.LONG())
        .map(lambda number: (key_of(number, keys, hot), number), output_type=pair)
        .key_by(lambda record: record[0], key_type=Types.LONG())
        .process(Replace(), output_type=pair)
        .filter(metering.Meter(options.folder, options.records))
        .print()
    )
    with Volume(options.checkpoints) as volume:
        env.execute("big state")
    parts = metering.left(options.folder, options.parallelism)
    result = metering.summary(parts, options.records)
    if options.checkpoints:
        result["checkpoints"] = len(volume.marks)
    if len(volume.marks) > 2 and not hot:
        # From checkpoint to checkpoint, behind the first round of the keys: no key comes twice within one interval.
        reached = progress(parts)
        full_ns = next(at_ns for at_ns, records in reached if records >= keys)
        first, last = next(mark for mark in volume.marks if mark[0] >= full_ns), volume.marks[-1]
        changed = (at(reached, last[0]) - at(reached, first[0])) * (KEY_BYTES + VALUE_BYTES)
        written = last[1] - first[1]
        result.update(written_mb=round(written / 1e6), written_per_changed=round(written / changed, 3))
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
