"""What the tests of the state processor run."""

from __future__ import annotations

from typing import Any

from wiesel.common import Duration, Types
from wiesel.datastream import CheckpointedFunction, KeyedBroadcastProcessFunction, KeyedProcessFunction
from wiesel.datastream.functions import AggregateFunction, MapFunction
from wiesel.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)

TTL_MS = 10_000


def user(record: tuple[str, int]) -> str:
    return record[0]


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + 1, accumulator[1] + value

    def get_result(self, accumulator):
        return accumulator[1] / accumulator[0]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


def larger(a, b):
    return max(a, b)


LAST = ValueStateDescriptor("last", Types.INT())
ALL = ListStateDescriptor("all", Types.INT())
TIMES = MapStateDescriptor("times", Types.INT(), Types.INT())
LARGEST = ReducingStateDescriptor("largest", larger, Types.INT())
MEAN = AggregatingStateDescriptor("mean", Mean(), Types.TUPLE([Types.INT(), Types.INT()]))


class Everything(KeyedProcessFunction):
    """Keeps numbers in keyed state of every kind; 0 forgets all. A timer of event time at each number, one of the clock for all."""

    def open(self, runtime_context):
        self.last = runtime_context.get_state(LAST)
        self.all = runtime_context.get_list_state(ALL)
        self.times = runtime_context.get_map_state(TIMES)
        self.largest = runtime_context.get_reducing_state(LARGEST)
        self.mean = runtime_context.get_aggregating_state(MEAN)

    def process_element(self, value, ctx):
        number = value[1]
        timers = ctx.timer_service()
        if number == 0:
            for at in self.times:
                timers.delete_event_time_timer(1000 + at)
            for state in (self.last, self.all, self.times, self.largest, self.mean):
                state.clear()
            return
        self.last.update(number)
        self.all.add(number)
        self.times.put(number, (self.times.get(number) or 0) + 1)
        self.largest.add(number)
        self.mean.add(number)
        timers.register_event_time_timer(1000 + number)
        timers.register_processing_time_timer(10**9)


def everything_of(records: list[tuple[str, int]]) -> dict[str, dict[str, Any]]:
    """What that must come to, computed from all records at once."""
    numbers: dict[str, list[int]] = {}
    for name, number in records:
        numbers.setdefault(name, []).append(number)
    expected = {}
    for name, seen in numbers.items():
        if 0 in seen:
            seen = seen[len(seen) - seen[::-1].index(0) :]
        if seen:
            expected[name] = {
                "last": seen[-1],
                "all": seen,
                "times": {number: seen.count(number) for number in seen},
                "largest": max(seen),
                "mean": (len(seen), sum(seen)),
            }
    return expected


class Remember(KeyedProcessFunction):
    """Keeps the last number of a user, for ten seconds of the clock; and the numbers in a list, each for as long."""

    def open(self, runtime_context):
        ttl = StateTtlConfig.new_builder(Duration.of_millis(TTL_MS)).build()
        last, numbers = ValueStateDescriptor("last", Types.INT()), ListStateDescriptor("numbers", Types.INT())
        last.enable_time_to_live(ttl)
        numbers.enable_time_to_live(ttl)
        self.last = runtime_context.get_state(last)
        self.numbers = runtime_context.get_list_state(numbers)

    def process_element(self, value, ctx):
        self.last.update(value[1])
        self.numbers.add(value[1])


class Keep(MapFunction, CheckpointedFunction):
    """Keeps all numbers in a list that is shared out, and their count in one that everybody gets."""

    def initialize_state(self, context):
        store = context.get_operator_state_store()
        self.list_state = store.get_list_state(ListStateDescriptor("numbers", Types.INT()))
        self.union_state = store.get_union_list_state(ListStateDescriptor("counts", Types.INT()))
        self.numbers = self.list_state.get()

    def map(self, value):
        self.numbers.append(value[1])
        return value

    def snapshot_state(self, context):
        self.list_state.update(self.numbers)
        self.union_state.update([len(self.numbers)])


RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())
SUM = ValueStateDescriptor("sum", Types.INT())


class Ruled(KeyedBroadcastProcessFunction):
    """Sums numbers, times the factor that the rules have for the user; tells the sum."""

    def open(self, runtime_context):
        self.sum = runtime_context.get_state(SUM)

    def process_element(self, value, ctx):
        factor = ctx.get_broadcast_state(RULES).get(value[0]) or 1
        self.sum.update((self.sum.value() or 0) + factor * value[1])
        yield value[0], self.sum.value()

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(*value)
