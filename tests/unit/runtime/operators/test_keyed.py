"""Simple functions and the rolling reduce on keyed streams."""

from __future__ import annotations

import random

import pytest

from tests.unit.runtime.harness import OperatorHarness, Record, Watermark
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.runtime.operators.keyed import (
    keyed_filter_operator,
    keyed_flat_map_operator,
    keyed_map_operator,
    keyed_reduce_operator,
)
from wiesel.spi.functions import FilterFunction, FlatMapFunction, MapFunction, ReduceFunction
from wiesel.spi.state import ValueStateDescriptor
from wiesel.types.row import Row
from wiesel.types.types import Types


def first(value):
    return value[0]


class Numbered(MapFunction):
    """Numbers the records of each key."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def map(self, value):
        self.count.update((self.count.value() or 0) + 1)
        return value[0], self.count.value()


class Twice(FlatMapFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def flat_map(self, value):
        self.count.update((self.count.value() or 0) + 1)
        for _ in range(self.count.value()):
            yield value


class FirstOnly(FilterFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.BOOLEAN()))

    def filter(self, value):
        known = self.seen.value()
        self.seen.update(True)
        return not known


RECORDS = [("a", 1), ("b", 2), ("a", 3), ("b", 4), ("a", 5)]


@pytest.mark.parametrize(
    ("factory", "function", "expected"),
    [
        (keyed_map_operator, Numbered(), [("a", 1), ("b", 1), ("a", 2), ("b", 2), ("a", 3)]),
        (keyed_flat_map_operator, Twice(), [("a", 1), ("b", 2), ("a", 3), ("a", 3), ("b", 4), ("b", 4), ("a", 5), ("a", 5), ("a", 5)]),
        (keyed_filter_operator, FirstOnly(), [("a", 1), ("b", 2)]),
        (keyed_map_operator, lambda v: v[1], [1, 2, 3, 4, 5]),
        (keyed_flat_map_operator, lambda v: [v[1]], [1, 2, 3, 4, 5]),
        (keyed_filter_operator, lambda v: v[1] > 3, [("b", 4), ("a", 5)]),
    ],
)
def test_simple_functions(factory, function, expected):
    harness = OperatorHarness(factory, payload={"function": function}, key=first)
    harness.push(RECORDS[:2])
    harness.push(RECORDS[2:])
    assert harness.values == expected


def add(value1, value2):
    return value1[0], value1[1] + value2[1]


class Add(ReduceFunction):
    def reduce(self, value1, value2):
        return add(value1, value2)


@pytest.mark.parametrize("function", [add, Add()], ids=["callable", "function object"])
def test_reduce_emits_the_running_value(function):
    harness = OperatorHarness(keyed_reduce_operator, payload={"function": function, "output_type": None}, key=first)
    harness.push(RECORDS[:3], [10, 20, 30])
    harness.push(RECORDS[3:])
    assert harness.output == [
        Record(("a", 1), 10),
        Record(("b", 2), 20),
        Record(("a", 4), 30),
        Record(("b", 6)),
        Record(("a", 9)),
    ]


def add_in_place(value1, value2):
    value1[1] += value2[1]
    return value1


def test_reduce_may_change_its_first_argument():
    # PyFlink's own sum() on rows does; each result goes out as it was.
    harness = OperatorHarness(keyed_reduce_operator, payload={"function": add_in_place}, key=first)
    harness.push([Row("a", 1), Row("a", 2), Row("a", 3)])
    assert harness.values == [Row("a", 1), Row("a", 3), Row("a", 6)]


def test_final_only_emits_the_last_value_of_each_key_at_the_end():
    harness = OperatorHarness(keyed_reduce_operator, params={"final_only": True}, payload={"function": add}, key=first)
    harness.push(RECORDS, [1, 2, 3, 4, 5])
    assert harness.output == []
    harness.end_input()
    assert sorted(harness.output[:-1]) == [Record(("a", 9), MAX_TIMESTAMP), Record(("b", 6), MAX_TIMESTAMP)]
    assert harness.output[-1] == Watermark(MAX_TIMESTAMP)


def test_reduce_goes_on_after_a_restore(record_property):
    seed = 20
    record_property("seed", seed)
    rng = random.Random(seed)
    records = [(rng.choice("abcdef"), rng.randrange(100)) for _ in range(200)]
    totals: dict[str, int] = {}
    expected = []
    for key, n in records:
        totals[key] = totals.get(key, 0) + n
        expected.append((key, totals[key]))

    harness = OperatorHarness(keyed_reduce_operator, payload={"function": add, "output_type": Types.PICKLED_BYTE_ARRAY()}, key=first)
    harness.push(records[:120])
    snapshot = harness.snapshot()
    done = harness.values
    harness.push(records[120:150])
    harness = harness.restored(snapshot)
    harness.push(records[120:])
    assert done + harness.values == expected, f"seed {seed}"
