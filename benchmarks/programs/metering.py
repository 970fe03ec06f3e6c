"""What the programs share: options of the command line, the last step that counts, and the result on the last line.

The programs use PyFlink's API and nothing else, so that Wiesel and PyFlink run the same text.
"""

import argparse
import json
import os
import threading
import time
from pathlib import Path

from pyflink.common import Configuration, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import FilterFunction, RuntimeContext

# Times noted per run: enough for a rate, few enough to cost nothing.
MARKS = 5_000

# The steady rate is taken between these shares of all records: behind it are the start of workers and the first fill of caches,
# ahead of it is the end, where one subtask has finished and the other has not.
STEADY_FROM, STEADY_TO = 0.2, 0.9


def arguments(description):
    """Return a parser with the options every program has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--folder", required=True, help="where the subtasks of the last step leave what they counted")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--parallelism", type=int, default=2)
    parser.add_argument("--checkpoints", help="where checkpoints go, to count them")
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE")
    return parser


def environment(options):
    """Return the environment with the options of the command line."""
    env = StreamExecutionEnvironment.get_execution_environment(_configuration(options))
    env.set_parallelism(options.parallelism)
    return env


def table_environment(options):
    """Return the environment of a program in SQL, with the options of the command line."""
    from pyflink.table import EnvironmentSettings, TableEnvironment  # which the other programs do without

    configuration = _configuration(options)
    configuration.set_string("parallelism.default", str(options.parallelism))
    return TableEnvironment.create(EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration).build())


def _configuration(options):
    configuration = Configuration()
    for entry in options.conf:
        key, _, value = entry.partition("=")
        configuration.set_string(key, value)
    return configuration


def no_watermarks():
    return WatermarkStrategy.no_watermarks()


class Meter(FilterFunction):
    """Counts records, sums their second fields and notes the time of each n-th; lets none pass.

    It ends a program in place of a counting sink, because PyFlink's sinks are written in Java and cannot be asked.
    """

    def __init__(self, folder, records):
        self._folder = folder
        self._mark_every = max(1, records // MARKS)

    def open(self, runtime_context: RuntimeContext):
        self._subtask = runtime_context.get_index_of_this_subtask()
        self._count = 0
        self._total = 0
        self._marks = []

    def filter(self, value):
        self._total += value[1]
        self._count += 1
        if not self._count % self._mark_every:
            self._marks.append((time.time_ns(), self._count))
        return False

    def close(self):
        leave(self._folder, self._subtask, self.counted())

    def counted(self):
        return {"count": self._count, "total": self._total, "marks": self._marks}


def leave(folder, subtask, content):
    """Write what one subtask has to say; visible only when it is complete."""
    path = Path(folder) / f"{subtask}-{os.getpid()}-{time.time_ns()}"
    path.with_suffix(".part").write_text(json.dumps(content))
    path.with_suffix(".part").rename(path.with_suffix(".json"))


def left(folder, subtasks):
    """Return what the subtasks have left, each one piece.

    A job's end and its workers' are not one moment, so pieces are waited for a while; the frame's check misses what never comes.
    """
    deadline = time.monotonic() + 20
    while len(pieces := sorted(Path(folder).glob("*.json"))) < subtasks and time.monotonic() < deadline:
        time.sleep(0.05)
    return [json.loads(piece.read_text()) for piece in pieces]


def run(env, stream, options, further=dict):
    """End the stream in the meter, run the job, print the result, with what ``further`` returns, on the last line."""
    stream.filter(Meter(options.folder, options.records)).print()
    with CheckpointCount(options.checkpoints) as checkpoints:
        env.execute("benchmark")
    result = summary(left(options.folder, options.parallelism), options.records)
    if options.checkpoints:
        result["checkpoints"] = len(checkpoints.seen)
    result.update(further())
    print(json.dumps(result), flush=True)


class FolderWatch:
    """Looks at a folder again and again while a job runs: old checkpoints are deleted, so that the end tells little.

    A subclass has ``look``; without a folder nothing is looked at.
    """

    def __init__(self, folder, every_s):
        self._folder = folder
        self._every_s = every_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        if self._folder:
            self._thread.start()
        return self

    def __exit__(self, *failure):
        self._over.set()

    def _watch(self):
        while not self._over.wait(self._every_s):
            # walk() takes folders that vanish under it for empty ones.
            self.look([(Path(place), files) for place, _, files in os.walk(self._folder)])


class CheckpointCount(FolderWatch):
    """Notes complete checkpoints."""

    def __init__(self, folder):
        super().__init__(folder, 0.2)
        self.seen = set()

    def look(self, places):
        self.seen.update(place.name for place, files in places if "_metadata" in files)


def steps_of(parts):
    """Return (time in ns, results since the mark before) of all subtasks, in order of time."""
    steps = []
    for part in parts:
        before = 0
        for at_ns, reached in part["marks"]:
            steps.append((at_ns, reached - before))
            before = reached
    return sorted(steps)


def summary(parts, records):
    """Return the figures of a run: count and total over all subtasks, the first and last time, records/s."""
    count = sum(part["count"] for part in parts)
    result = {"records": records, "count": count, "total": sum(part["total"] for part in parts)}
    steps = steps_of(parts)
    if len(steps) < 3:
        return result
    result.update(first_ns=steps[0][0], last_ns=steps[-1][0])
    begin, end = _steady(steps)
    # A result may stand for many records (a window's does), so it is the records that went in that are counted.
    share = records / count
    steady_records = round((end[1] - begin[1]) * share)
    result.update(steady_from_ns=begin[0], steady_to_ns=end[0], steady_records=steady_records)
    result["rate"] = round(steady_records * 1e9 / max(1, end[0] - begin[0]))
    return result


def percentiles(parts):
    """Return the percentiles of the ages in ms, by rank."""
    ages = sorted(age for part in parts for age in part["ages_us"])
    if not ages:
        return {}
    shares = {"p50_ms": 0.5, "p99_ms": 0.99, "p999_ms": 0.999, "max_ms": 1.0}
    ranked = {name: round(ages[min(len(ages) - 1, int(share * len(ages)))] / 1000, 2) for name, share in shares.items()}
    return {"samples": len(ages), **ranked}


def _steady(steps):
    """Return (time, results so far) where the steady part begins and where it ends."""
    total = sum(amount for _, amount in steps)
    reached, begin = 0, None
    for at_ns, amount in steps:
        reached += amount
        if begin is None and reached >= STEADY_FROM * total:
            begin = (at_ns, reached)
        if reached >= STEADY_TO * total:
            break
    return begin, (at_ns, reached)
