"""The jobs of the schedules and of the crash matrix: what goes into them is fixed, and what has to come out is computed here without them.

None of them depends on the order in which events of different channels come, so the output and the final state are the same in every
schedule. They end without the end of event time: windows, timers and partial matches that are open are the final state.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.sim.schedules.source import Batches, Written
from tests.unit.testing.programs import Outside, TwoPhaseSink
from wiesel.cep import CEP, Pattern
from wiesel.common import Encoder, Time, Types, WatermarkStrategy
from wiesel.datastream import (
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessJoinFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from wiesel.datastream.connectors.file_system import BucketAssigner, FileSink, OutputFileConfig, RollingPolicy
from wiesel.datastream.state import MapStateDescriptor, ValueStateDescriptor
from wiesel.datastream.window import TumblingEventTimeWindows
from wiesel.spi.sink import Sink
from wiesel.spi.source import Source

KEYS = 5
WINDOW_MS, LATENESS_MS = 100, 60

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
LATE = OutputTag("late", PAIR)
RULES = MapStateDescriptor("rules", Types.LONG(), Types.LONG())
WITHIN_MS = 80
Record = tuple[str, int]
"""A key, and the record's time, by which it is known."""


@dataclass(frozen=True)
class Size:
    """How much goes in.

    Attributes:
        batches: Of each split.
        last_watermark: Of all splits, so that it does not depend on which of them ends first; before the last records, so that
            something is left.
    """

    batches: int = 5
    last_watermark: int = 230


SMALL = Size()


def batches(size: Size, random: Random, splits: int = 1, disorder_ms: int = 0) -> Written:
    """Return for each split batches of records with the watermark behind each; times are unique, ``disorder_ms`` after the watermark."""
    found: Written = [[] for _ in range(splits)]
    now_ms = 0
    used: set[int] = set()
    for _ in range(size.batches):
        now_ms += random.randrange(20, 60)
        for split in found:
            times = []
            for _ in range(random.randrange(2, 5)):
                at_ms = max(0, now_ms + random.randrange(-disorder_ms, 20) if disorder_ms else now_ms + random.randrange(20))
                while at_ms in used:
                    at_ms += 1
                used.add(at_ms)
                times.append(at_ms)
            split.append(([(f"k{random.randrange(KEYS)}", at_ms) for at_ms in times], min(now_ms - 1, size.last_watermark)))
    for split in found:
        split.append(([], size.last_watermark))
    return found


def key_of(record: tuple[Any, ...]) -> Any:
    return record[0]


class Surroundings:
    """What a job reads from and writes to."""

    def __init__(self) -> None:
        self.outside = Outside()

    def source(self, name: str, written: Written) -> Source[Any]:
        """Return what gives that."""
        return Batches(written)

    def sink(self) -> Sink:
        """Return a sink that commits."""
        return TwoPhaseSink(self.outside)

    def values(self) -> list[Any]:
        """Return what was committed."""
        return list(self.outside.values)

    def clear(self) -> None:
        """Forget what was committed."""
        self.outside.parts.clear()


class ScheduledJob:
    """A program with its input.

    Attributes:
        name: Of the job.
        state_of: The uid of the operator whose state is by key, if there is one.
        takes_unaligned: Whether its output is the same with unaligned checkpoints: records that they have in flight are restored
            before any watermark, as in Flink.
    """

    name: str
    state_of: str | None = None
    takes_unaligned = True

    def __init__(self, size: Size = SMALL, surroundings: Surroundings | None = None) -> None:
        self.size = size
        self.surroundings = surroundings or Surroundings()

    def build(self, env: StreamExecutionEnvironment) -> None:
        raise NotImplementedError

    def expected(self) -> list[Any]:
        """Return the output, sorted."""
        raise NotImplementedError

    def output(self) -> list[Any]:
        """Return what is visible of the output, sorted."""
        return sorted(self.surroundings.values())

    def reset(self) -> None:
        """Forget all output."""
        self.surroundings.clear()

    def nothing_may_be_left(self) -> None:
        """Check that nothing is left of what was on its way to the output."""

    def source(self, name: str, written: Written) -> Source[Any]:
        return self.surroundings.source(name, written)

    def sink(self) -> Sink:
        return self.surroundings.sink()


class Running(KeyedProcessFunction):
    """Emits how many records of the key there were, and marks the time of the last one with a timer that never fires."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Record, ctx: Any) -> Iterator[Record]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        ctx.timer_service().register_event_time_timer(1_000_000 + value[1])
        yield value[0], count


class KeyedCounts(ScheduledJob):
    name = "keyed-counts"
    state_of = "count"

    def __init__(self, size: Size = SMALL, surroundings: Surroundings | None = None) -> None:
        super().__init__(size, surroundings)
        self.written = batches(size, Random(1), splits=2)

    def build(self, env: StreamExecutionEnvironment) -> None:
        records = env.from_source(self.source("records", self.written), WatermarkStrategy.no_watermarks(), "records").uid("records")
        self.end(records.key_by(key_of, Types.STRING()).process(Running(), PAIR).uid("count"))

    def end(self, counts: Any) -> None:
        counts.sink_to(self.sink()).uid("out")

    def expected(self) -> list[Any]:
        counts = Counter(key for split in self.written for records, _ in split for key, _ in records)
        return sorted((key, n) for key, count in counts.items() for n in range(1, count + 1))


class ToLine(MapFunction):
    def map(self, value: Record) -> str:
        return f"{value[0]} {value[1]}"


class IntoFiles(KeyedCounts):
    """The counts again, into files: parts go on over checkpoints, and are moved to their names by commits."""

    name = "file-sink"

    def __init__(self, directory: Path, size: Size = SMALL, surroundings: Surroundings | None = None) -> None:
        super().__init__(size, surroundings)
        self.directory = directory

    def end(self, counts: Any) -> None:
        sink = (
            FileSink.for_row_format(str(self.directory), Encoder.simple_string_encoder())
            .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
            .with_rolling_policy(RollingPolicy.default_rolling_policy(part_size=30))
            .with_output_file_config(OutputFileConfig.builder().with_part_prefix("part").with_part_suffix(".txt").build())
            .build()
        )
        counts.map(ToLine(), Types.STRING()).uid("lines").sink_to(sink).uid("out")

    def nothing_may_be_left(self) -> None:
        left = [path.name for folder in self.directory.glob(".inprogress-*") for path in folder.iterdir()]
        assert not left, f"left in the staging folder: {left}"

    def output(self) -> list[Any]:
        lines = [line.split() for path in self.directory.glob("part*.txt") for line in path.read_text().splitlines()]
        return sorted((key, int(n)) for key, n in lines)

    def reset(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)


class Same(MapFunction):
    def map(self, value: Any) -> Any:
        return value


class Transactions(ScheduledJob):
    """No state but that of the source and the sink: records go round to the writers, which commit them."""

    name = "transactional-sink"

    def __init__(self, size: Size = SMALL, surroundings: Surroundings | None = None) -> None:
        super().__init__(size, surroundings)
        self.written = batches(size, Random(2), splits=3)

    def build(self, env: StreamExecutionEnvironment) -> None:
        records = env.from_source(self.source("records", self.written), WatermarkStrategy.no_watermarks(), "records").uid("records")
        records.rebalance().map(Same(), PAIR).uid("same").sink_to(self.sink()).uid("out")

    def expected(self) -> list[Any]:
        return sorted(record for split in self.written for records, _ in split for record in records)


class CountWindow(ProcessWindowFunction[Any, Any, str, Any]):
    def process(self, key: str, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        yield "window", key, context.window().start, sorted(at_ms for _, at_ms in elements)


class AsLate(MapFunction):
    def map(self, value: Record) -> Any:
        return "late", value[0], value[1], []


class LateWindows(ScheduledJob):
    """Windows that late records fire again, until they are too late and go aside. One channel, so that it is fixed who is late."""

    name = "windows-with-lateness"
    state_of = "windows"
    takes_unaligned = False

    def __init__(self, size: Size = SMALL, surroundings: Surroundings | None = None) -> None:
        super().__init__(size, surroundings)
        self.written = batches(size, Random(5), disorder_ms=260)

    def build(self, env: StreamExecutionEnvironment) -> None:
        kind = Types.PICKLED_BYTE_ARRAY()
        source = self.source("records", self.written)
        records = env.from_source(source, WatermarkStrategy.no_watermarks(), "records").uid("records").set_parallelism(1)
        windows = records.key_by(key_of, Types.STRING()).window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS)))
        counts = windows.allowed_lateness(LATENESS_MS).side_output_late_data(LATE).process(CountWindow(), kind).uid("windows")
        late = counts.get_side_output(LATE).map(AsLate(), kind).uid("late")
        counts.union(late).sink_to(self.sink()).uid("out")

    def expected(self) -> list[Any]:
        windows: dict[tuple[str, int], list[int]] = {}
        fired: list[Any] = []
        now_ms = -1
        for records, watermark in self.written[0]:
            for key, at_ms in records:
                start = at_ms // WINDOW_MS * WINDOW_MS
                if start + WINDOW_MS - 1 + LATENESS_MS <= now_ms:
                    fired.append(("late", key, at_ms, []))
                    continue
                elements = windows.setdefault((key, start), [])
                elements.append(at_ms)
                if start + WINDOW_MS - 1 <= now_ms:
                    fired.append(("window", key, start, sorted(elements)))
            for (key, start), elements in windows.items():
                if now_ms < start + WINDOW_MS - 1 <= watermark:
                    fired.append(("window", key, start, sorted(elements)))
            now_ms = watermark
        assert {kind for kind, *_ in fired} == {"window", "late"} and len({f[:3] for f in fired}) < len(fired)
        return sorted(fired)


class Weigh(KeyedBroadcastProcessFunction):
    """At the end of each 100 ms: how many records the key had until then, and the sum of the weights until then."""

    def open(self, runtime_context: Any) -> None:
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.LONG(), Types.STRING()))

    def process_element(self, value: Record, ctx: Any) -> None:
        self.seen.put(value[1], value[0])
        ctx.timer_service().register_event_time_timer(value[1] // WINDOW_MS * WINDOW_MS + WINDOW_MS - 1)

    def process_broadcast_element(self, value: Record, ctx: Any) -> None:
        rules = ctx.get_broadcast_state(RULES)
        rules.put(value[1], (rules.get(value[1]) or 0) + int(value[0][1:]))

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        weight = sum(w for at_ms, w in ctx.get_broadcast_state(RULES).items() if at_ms <= timestamp)
        yield ctx.get_current_key(), timestamp, sum(at_ms <= timestamp for at_ms, _ in self.seen.items()), weight


class BroadcastState(ScheduledJob):
    name = "broadcast-state"
    state_of = "weigh"

    def __init__(self, size: Size = SMALL, surroundings: Surroundings | None = None) -> None:
        super().__init__(size, surroundings)
        self.written, self.rules = batches(size, Random(3), splits=2), batches(size, Random(4))

    def build(self, env: StreamExecutionEnvironment) -> None:
        none = WatermarkStrategy.no_watermarks()
        records = env.from_source(self.source("records", self.written), none, "records").uid("records")
        rules = env.from_source(self.source("rules", self.rules), none, "rules").uid("rules").set_parallelism(1)
        keyed = records.key_by(key_of, Types.STRING()).connect(rules.broadcast(RULES))
        keyed.process(Weigh(), Types.PICKLED_BYTE_ARRAY()).uid("weigh").sink_to(self.sink()).uid("out")

    def expected(self) -> list[Any]:
        records = [record for split in self.written for batch, _ in split for record in batch]
        rules = [record for batch, _ in self.rules[0] for record in batch]
        ends = {(key, at_ms // WINDOW_MS * WINDOW_MS + WINDOW_MS - 1) for key, at_ms in records}
        return sorted(
            (key, end, sum(k == key and at_ms <= end for k, at_ms in records), sum(int(k[1:]) for k, at_ms in rules if at_ms <= end))
            for key, end in ends
            if end <= self.size.last_watermark
        )


class Pair(ProcessJoinFunction):
    def process_element(self, left: Record, right: Record, ctx: Any) -> Iterator[Any]:
        yield left[0], left[1], right[1]


class TwoInputJoin(ScheduledJob):
    name = "two-input-join"
    state_of = "join"

    def __init__(self, size: Size = SMALL, surroundings: Surroundings | None = None) -> None:
        super().__init__(size, surroundings)
        self.left, self.right = batches(size, Random(6), splits=2), batches(size, Random(7))

    def build(self, env: StreamExecutionEnvironment) -> None:
        none = WatermarkStrategy.no_watermarks()
        left, right = (
            env.from_source(self.source(name, written), none, name).uid(name).key_by(key_of, Types.STRING())
            for name, written in (("left", self.left), ("right", self.right))
        )
        joined = left.interval_join(right).between(Time.milliseconds(-70), Time.milliseconds(40))
        joined.process(Pair(), Types.PICKLED_BYTE_ARRAY()).uid("join").sink_to(self.sink()).uid("out")

    def expected(self) -> list[Any]:
        left = [record for split in self.left for batch, _ in split for record in batch]
        right = [record for batch, _ in self.right[0] for record in batch]
        return sorted((k, at, other) for k, at in left for k2, other in right if k == k2 and -70 <= other - at <= 40)


def early(record: Record) -> bool:
    return record[1] % 3 == 0


def later(record: Record) -> bool:
    return record[1] % 3 == 1


def times_of(match: dict[str, list[Record]]) -> Any:
    return match["first"][0][0], match["first"][0][1], match["second"][0][1]


class Patterns(ScheduledJob):
    """Two events one behind the other within some time, over records that come out of order."""

    name = "cep"
    state_of = "cep"

    def __init__(self, size: Size = SMALL, surroundings: Surroundings | None = None) -> None:
        super().__init__(size, surroundings)
        self.written = batches(size, Random(8), splits=2)

    def build(self, env: StreamExecutionEnvironment) -> None:
        records = env.from_source(self.source("records", self.written), WatermarkStrategy.no_watermarks(), "records").uid("records")
        pattern = Pattern.begin("first").where(early).followed_by("second").where(later).within(Time.milliseconds(WITHIN_MS))
        matches = CEP.pattern(records.key_by(key_of, Types.STRING()), pattern).select(times_of, Types.PICKLED_BYTE_ARRAY())
        matches.uid("cep").sink_to(self.sink()).uid("out")

    def expected(self) -> list[Any]:
        by_key: dict[str, list[int]] = {}
        for key, at_ms in sorted(record for split in self.written for batch, _ in split for record in batch):
            if at_ms <= self.size.last_watermark:
                by_key.setdefault(key, []).append(at_ms)
        found = []
        for key, times in by_key.items():
            for at_ms in (t for t in times if t % 3 == 0):
                second = next((t for t in times if t > at_ms and t % 3 == 1), None)
                if second is not None and second - at_ms < WITHIN_MS:
                    found.append((key, at_ms, second))
        return sorted(found)


JOBS: dict[str, type[ScheduledJob]] = {
    job.name: job for job in (KeyedCounts, LateWindows, BroadcastState, TwoInputJoin, Patterns, IntoFiles, Transactions)
}


def new_job(name: str, directory: Path, size: Size = SMALL, surroundings: Surroundings | None = None) -> ScheduledJob:
    """Return a job; those that write files do it in the directory."""
    kind = JOBS[name]
    return IntoFiles(directory, size, surroundings) if kind is IntoFiles else kind(size, surroundings)
