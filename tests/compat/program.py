"""The program whose savepoints are kept: state of every kind, in types of its own and of Wiesel's, half way through its input.

``RECORDS`` numbers, paired with one of ``KEYS`` keys. What it emits at its end follows from the numbers alone, see ``expected``; so a job
that goes on from a savepoint has to have found everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from wiesel.common import Duration, Row, Time, Types, WatermarkStrategy
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.datastream import CheckpointedFunction, KeyedBroadcastProcessFunction, KeyedProcessFunction
from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from wiesel.datastream.functions import AggregateFunction, MapFunction
from wiesel.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from wiesel.datastream.window import TumblingEventTimeWindows
from wiesel.testing import CollectedStream
from wiesel.testing.environment import LocalEnvironment

RECORDS, KEYS, WINDOW_MS, PER_SECOND = 1000, 60, 400, 100
PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())


def key_of(number: int) -> str:
    return f"k{number * 7 % KEYS}"


class Timestamps:
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[1])


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + 1, accumulator[1] + value

    def get_result(self, accumulator):
        return accumulator[1] / accumulator[0]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class Everything(KeyedProcessFunction):
    """Keeps keyed state of each kind, and tells all of it when event time ends."""

    def open(self, runtime_context):
        state, ttl = runtime_context, StateTtlConfig.new_builder(Duration.of_days(100_000)).build()
        self.sum = state.get_state(ValueStateDescriptor("sum", Types.LONG()))
        self.last = state.get_state(ValueStateDescriptor("last", Types.ROW_NAMED(["number", "even"], [Types.LONG(), Types.BOOLEAN()])))
        self.odd = state.get_list_state(ListStateDescriptor("odd", Types.LONG()))
        self.digits = state.get_map_state(MapStateDescriptor("digits", Types.INT(), Types.LONG()))
        self.largest = state.get_reducing_state(ReducingStateDescriptor("largest", max, Types.LONG()))
        accumulator = Types.TUPLE([Types.LONG(), Types.LONG()])
        self.mean = state.get_aggregating_state(AggregatingStateDescriptor("mean", Mean(), accumulator))
        self.anything = state.get_state(ValueStateDescriptor("anything", Types.PICKLED_BYTE_ARRAY()))
        kept = ValueStateDescriptor("kept", Types.LONG())
        kept.enable_time_to_live(ttl)
        self.kept = state.get_state(kept)

    def process_element(self, value, ctx):
        number = value[1]
        self.sum.update((self.sum.value() or 0) + number)
        self.last.update(Row(number=number, even=number % 2 == 0))
        if number % 2:
            self.odd.add(number)
        digit = number % 10
        self.digits.put(digit, (self.digits.get(digit) or 0) + 1)
        self.largest.add(number)
        self.mean.add(number)
        self.anything.update({"seen": {number}})
        self.kept.update(number)
        ctx.timer_service().register_event_time_timer(MAX_TIMESTAMP)

    def on_timer(self, timestamp, ctx):
        last = self.last.value()
        yield (
            ctx.get_current_key(), self.sum.value(), (last["number"], last["even"]), tuple(self.odd.get()),
            tuple(sorted(self.digits.items())), self.largest.get(), self.mean.get(),
            tuple(self.anything.value()["seen"]), self.kept.value(),
        )  # fmt: skip


class Count(MapFunction, CheckpointedFunction):
    """Counts records in operator state, split and united, and tells the count with each."""

    def initialize_state(self, context):
        store = context.get_operator_state_store()
        self.own = store.get_list_state(ListStateDescriptor("count", Types.LONG()))
        self.of_all = store.get_union_list_state(ListStateDescriptor("counts", Types.LONG()))
        self.count = sum(self.own.get())
        assert sum(self.of_all.get()) == self.count, "there is one subtask"

    def map(self, value):
        self.count += 1
        return self.count

    def snapshot_state(self, context):
        self.own.update([self.count])
        self.of_all.update([self.count])


class Ruled(KeyedBroadcastProcessFunction):
    """Multiplies numbers by the factor of the rules, which have come before the savepoint."""

    def process_element(self, value, ctx):
        factor = ctx.get_broadcast_state(RULES).get("factor")
        yield value[0], value[1] * (factor or 0)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(*value)


def build(env: LocalEnvironment) -> dict[str, CollectedStream]:
    """Build the program and return its results by name."""
    source = DataGeneratorSource(int, RECORDS, RateLimiterStrategy.per_second(PER_SECOND))
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    pairs = numbers.map(lambda n: (key_of(n), n), PAIR).uid("pairs")
    times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Timestamps())
    pairs = pairs.assign_timestamps_and_watermarks(times).uid("times")
    keyed = pairs.key_by(lambda pair: pair[0], Types.STRING())
    windowed = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS)))
    windows = windowed.reduce(lambda a, b: (a[0], a[1] + b[1])).uid("windows")
    rules = env.from_collection([("factor", 3)], Types.TUPLE([Types.STRING(), Types.LONG()])).uid("rules")
    ruled = keyed.connect(rules.broadcast(RULES)).process(Ruled(), PAIR).uid("ruled")
    return {
        "everything": env.collect(keyed.process(Everything()).uid("everything")),
        "windows": env.collect(windows),
        "counts": env.collect(pairs.map(Count(), Types.LONG()).uid("count").set_parallelism(1)),
        "ruled": env.collect(ruled),
    }


def expected() -> dict[str, Counter[Any]]:
    """Return what all records lead to: the whole of it, of which a job that goes on from a savepoint emits the last part."""
    numbers: dict[str, list[int]] = {}
    for number in range(RECORDS):
        numbers.setdefault(key_of(number), []).append(number)
    return {
        "everything": Counter(_everything(numbers)),
        "windows": Counter(_windows(numbers)),
        "counts": Counter(range(1, RECORDS + 1)),
        "ruled": Counter((key, 3 * n) for key, seen in numbers.items() for n in seen),
    }


def _everything(numbers: dict[str, list[int]]) -> Iterator[tuple[Any, ...]]:
    for key, seen in numbers.items():
        last, digits = seen[-1], Counter(n % 10 for n in seen)
        yield (
            key, sum(seen), (last, last % 2 == 0), tuple(n for n in seen if n % 2),
            tuple(sorted(digits.items())), max(seen), sum(seen) / len(seen), (last,), last,
        )  # fmt: skip


def _windows(numbers: dict[str, list[int]]) -> Iterator[tuple[str, int]]:
    for key, seen in numbers.items():
        for start in range(0, RECORDS, WINDOW_MS):
            inside = [n for n in seen if start <= n < start + WINDOW_MS]
            if inside:
                yield key, sum(inside)
