"""The driver program of the fault tests: a keyed running count and event-time windows, both into files, exactly once.

The source is paced, so that there is time to kill something, and waits near its end until the file ``go`` exists. The results follow from
the number of records alone, see ``expected``. The program prints what ``JobClient.get_job_metrics`` says as lines of JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark import SparkContext

from wiesel.common import Configuration, Encoder, Time, Types, WatermarkStrategy
from wiesel.datastream import KeyedProcessFunction, ProcessWindowFunction, StreamExecutionEnvironment
from wiesel.datastream.connectors.base import Boundedness, InputStatus, Source, SourceReader, SplitEnumerator
from wiesel.datastream.connectors.file_system import BucketAssigner, FileSink, OutputFileConfig, RollingPolicy
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.datastream.window import TumblingEventTimeWindows

SPLITS = 2
KEYS = 37
STEP_MS = 10
WINDOW_MS = 1000
HELD_BACK = 0.2
"""Share of the records that waits for ``go``."""

_POLL_RECORDS = 200
_LEAP_MS = 500
_LOOK_EVERY_S = 0.1
_HEAP_EVERY_S = 5.0


def key_of(split: int, index: int) -> str:
    """Return the key of a record."""
    return f"k{(index * 31 + split * 7) % KEYS}"


def expected(records: int) -> dict[str, Counter[str]]:
    """Return the lines that ``records`` records per split lead to, by result."""
    totals: Counter[str] = Counter()
    windows: Counter[tuple[str, int]] = Counter()
    for split in range(SPLITS):
        for index in range(records):
            key = key_of(split, index)
            totals[key] += 1
            windows[key, index * STEP_MS // WINDOW_MS * WINDOW_MS] += 1
    counts = Counter(f"{key} {n}" for key, total in totals.items() for n in range(1, total + 1))
    return {"counts": counts, "windows": Counter(f"{key} {start} {n}" for (key, start), n in windows.items())}


@dataclass(frozen=True)
class Part:
    """A split: the numbers from ``position`` to ``end``."""

    number: int
    end: int
    position: int = 0

    @property
    def split_id(self) -> str:
        return str(self.number)


class TimeAtWork:
    """The time since the start that a reader was at work. Nothing is made up for after a process or its machine stood still: what a test
    wants to see while records come would be over.
    """

    def __init__(self) -> None:
        self.total_ms = 0
        self.last_ms: int | None = None

    def until(self, now_ms: int) -> int:
        """Return it in ms; to be asked often."""
        if self.last_ms is not None:
            self.total_ms += max(0, min(now_ms - self.last_ms, _LEAP_MS))
        self.last_ms = now_ms
        return self.total_ms


class PacedSource(Source[Part]):
    """``records`` records per split, ``rate`` of them per second; the last ones when ``go`` exists, and those at once."""

    def __init__(self, records: int, rate: float, go: str) -> None:
        self.records, self.rate, self.go = records, rate, go

    @property
    def boundedness(self) -> Boundedness:
        return Boundedness.BOUNDED

    def create_enumerator(self, context: Any, state: Any | None = None) -> SplitEnumerator[Part]:
        parts = [Part(number, self.records) for number in range(SPLITS)] if state is None else state
        return PartEnumerator(context, parts)

    def create_reader(self, context: Any) -> SourceReader[Part]:
        return PacedReader(context, self)


class PartEnumerator(SplitEnumerator[Part]):
    def __init__(self, context: Any, parts: Sequence[Part]) -> None:
        self.context, self.parts = context, list(parts)

    def add_reader(self, subtask: int) -> None:
        mine = [p for p in self.parts if p.number % self.context.parallelism == subtask]
        self.parts = [p for p in self.parts if p not in mine]
        if mine:
            self.context.assign_splits({subtask: mine})
        self.context.signal_no_more_splits(subtask)

    def snapshot_state(self, checkpoint_id: int) -> Any:
        return list(self.parts)


class PacedReader(SourceReader[Part]):
    def __init__(self, context: Any, source: PacedSource) -> None:
        self.context, self.source = context, source
        self.parts: list[Part] = []
        self.no_more = False
        self.time = TimeAtWork()
        self.since: dict[int, int] | None = None

    def add_splits(self, splits: Sequence[Part]) -> None:
        self.parts.extend(splits)

    def notify_no_more_splits(self) -> None:
        self.no_more = True

    def poll(self, output: Any) -> InputStatus:
        if not self.no_more:
            return InputStatus.NOTHING_AVAILABLE
        released = Path(self.source.go).exists()
        if self.since is None:
            self.since = {p.number: p.position for p in self.parts}
        due = int(self.time.until(self.context.now_ms()) * self.source.rate / 1000)
        for i, part in enumerate(self.parts):
            held = part.end if released else int(part.end * (1 - HELD_BACK))
            paced = part.end if released else self.since[part.number] + due
            until = min(held, paced, part.position + _POLL_RECORDS)
            if until > part.position:
                indexes = range(part.position, until)
                output.collect([(key_of(part.number, n), n) for n in indexes], [n * STEP_MS for n in indexes], part.split_id)
                self.parts[i] = replace(part, position=until)
        if all(p.position >= p.end for p in self.parts):
            return InputStatus.END_OF_INPUT
        return InputStatus.MORE_AVAILABLE if released else InputStatus.NOTHING_AVAILABLE

    def snapshot_state(self, checkpoint_id: int) -> list[Part]:
        return list(self.parts)


class RunningCount(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: tuple[str, int], ctx: Any) -> Iterator[str]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"{value[0]} {count}"


class WindowCount(ProcessWindowFunction[Any, str, str, Any]):
    def process(self, key: str, context: Any, elements: Iterable[Any]) -> Iterator[str]:
        yield f"{key} {context.window().start} {len(list(elements))}"


def file_sink(directory: Path) -> FileSink:
    return (
        FileSink.for_row_format(str(directory), Encoder.simple_string_encoder())
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
        .with_output_file_config(OutputFileConfig.builder().with_part_prefix("part").with_part_suffix(".txt").build())
        .build()
    )


def configuration(options: argparse.Namespace) -> Configuration:
    settings = {
        "wiesel.spark.master": options.master,
        "execution.checkpointing.dir": options.checkpoints or str(options.directory / "checkpoints"),
        "execution.checkpointing.interval": f"{options.interval} ms",
        "execution.checkpointing.num-retained": str(options.retained),
        "execution.checkpointing.tolerable-failed-checkpoints": "3",
        "execution.buffer-timeout.interval": "20 ms",
        "heartbeat.interval": "500 ms",
        "heartbeat.timeout": f"{options.heartbeat_timeout} ms",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "10000",
        "restart-strategy.fixed-delay.delay": "100 ms",
        "state.backend.type": options.backend,
    }
    if options.local is not None:
        options.local.mkdir(exist_ok=True)
        tempfile.tempdir = settings["spark.local.dir"] = str(options.local)
    settings.update(given.split("=", 1) for given in options.setting)
    if options.restore is not None:
        settings["execution.state-recovery.path"] = options.restore
        settings["execution.state-recovery.claim-mode"] = "CLAIM"
    return Configuration.from_dict(settings)


def option_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--records", type=int, default=2000, help="per split")
    parser.add_argument("--rate", type=float, default=200, help="records per second and split")
    parser.add_argument("--interval", type=int, default=200, help="of checkpoints, in ms")
    parser.add_argument("--checkpoints", help="where they lie, if not in the directory")
    parser.add_argument("--retained", type=int, default=2)
    parser.add_argument("--parallelism", type=int, default=2)
    parser.add_argument("--backend", default="hashmap")
    parser.add_argument("--master", default="local[16]")
    parser.add_argument("--heartbeat-timeout", type=int, default=50_000, help="in ms")
    parser.add_argument("--restore")
    parser.add_argument("--setting", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--local", type=Path, help="directory of what is temporary")
    parser.add_argument("--heap", action="store_true", help="collect the JVM's garbage now and then, and tell what is left")
    return parser


def parse() -> argparse.Namespace:
    return option_parser().parse_args()


def main() -> int:
    options = parse()
    env = StreamExecutionEnvironment.get_execution_environment(configuration(options))
    env.set_parallelism(options.parallelism)
    source = PacedSource(options.records, options.rate, str(options.directory / "go"))
    records = env.from_source(source, WatermarkStrategy.for_monotonous_timestamps(), "paced").uid("paced")
    keyed = records.key_by(lambda record: record[0], key_type=Types.STRING())
    counts = keyed.process(RunningCount(), Types.STRING()).uid("counts")
    counts.sink_to(file_sink(options.directory / "counts")).uid("counts-files")
    windows = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS))).process(WindowCount(), Types.STRING()).uid("windows")
    windows.sink_to(file_sink(options.directory / "windows")).uid("windows-files")
    client = env.execute_async("counting")
    end = client.get_job_execution_result()
    heap = Heap() if options.heap else None
    while True:
        ended = end.done()  # before the look, so that the last one is that of the end
        look = client.get_job_metrics().result()
        print(json.dumps(look if heap is None else {**look, "heap_bytes": heap.used_bytes()}), flush=True)
        if ended:
            end.result()
            return 0
        ask_for_executors(options.directory / "executors")
        with contextlib.suppress(Exception):  # raised behind the last look
            end.result(_LOOK_EVERY_S)


def ask_for_executors(wanted: Path) -> None:
    """Have Spark's cluster keep as many executors as the file says, if there is one; those that are lost beyond are not replaced."""
    if wanted.exists():
        context: Any = SparkContext._active_spark_context
        context._jsc.sc().requestTotalExecutors(int(wanted.read_text()), 0, context._jvm.scala.Predef.Map().empty())
        wanted.unlink()


class Heap:
    """What lives in the JVM's heap, as of the last collection of garbage."""

    def __init__(self) -> None:
        self.due_s = 0.0
        self.last_bytes = 0

    def used_bytes(self) -> int:
        jvm: Any = SparkContext._active_spark_context._jvm
        if time.monotonic() >= self.due_s:
            self.due_s = time.monotonic() + _HEAP_EVERY_S
            jvm.System.gc()
            runtime = jvm.Runtime.getRuntime()
            self.last_bytes = runtime.totalMemory() - runtime.freeMemory()
        return self.last_bytes


if __name__ == "__main__":
    sys.exit(main())
