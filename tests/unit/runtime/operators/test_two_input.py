"""Functions of two connected streams."""

from __future__ import annotations

import pytest

from tests.unit.runtime.harness import OperatorHarness, Record, Watermark
from wiesel.core.errors import StateAccessError, UserFunctionError
from wiesel.runtime.operators.two_input import co_flat_map_operator, co_map_operator, co_process_operator, keyed_co_process_operator
from wiesel.spi.functions import CoFlatMapFunction, CoMapFunction, CoProcessFunction, KeyedCoProcessFunction
from wiesel.spi.output_tag import OutputTag
from wiesel.spi.state import ValueStateDescriptor
from wiesel.types.types import Types


class Sides(CoMapFunction):
    def map1(self, value):
        return None if value == 0 else ("left", value)

    def map2(self, value):
        return "right", value


def test_co_map_knows_the_side_and_drops_none():
    harness = OperatorHarness(co_map_operator, payload={"function": Sides()})
    harness.push([1, 0, 2], [10, 20, 30])
    harness.push(["x"], input_index=1)
    assert harness.output == [Record(("left", 1), 10), Record(("left", 2), 30), Record(("right", "x"))]


class FlatSides(CoFlatMapFunction):
    def flat_map1(self, value):
        yield from range(value)

    def flat_map2(self, value):
        return None if value is None else [value]


def test_co_flat_map():
    harness = OperatorHarness(co_flat_map_operator, payload={"function": FlatSides()})
    harness.push([2, 0, 1])
    harness.push([None, "x"], input_index=1)
    assert harness.values == [0, 1, 0, "x"]


class Unlocks(CoFlatMapFunction):
    """The second stream unlocks keys of the first."""

    def open(self, runtime_context):
        self.unlocked = runtime_context.get_state(ValueStateDescriptor("unlocked", Types.BOOLEAN()))

    def flat_map1(self, value):
        if self.unlocked.value():
            yield value

    def flat_map2(self, value):
        self.unlocked.update(True)


def test_co_functions_on_keyed_streams_share_state_by_key():
    harness = OperatorHarness(co_flat_map_operator, params={"keyed": True}, payload={"function": Unlocks()}, key=lambda v: v[0])
    harness.push([("a", 1), ("b", 1)])
    harness.push([("b",)], input_index=1)
    harness.push([("a", 2), ("b", 2)])
    assert harness.values == [("b", 2)]


def test_co_functions_without_keys_get_no_state():
    with pytest.raises(StateAccessError, match=r"test_two_input\.py:\d+ in open"):
        OperatorHarness(co_flat_map_operator, payload={"function": Unlocks()})


class Teller(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield 1, value, ctx.timestamp(), ctx.timer_service().current_watermark()

    def process_element2(self, value, ctx):
        yield 2, value, ctx.timestamp(), ctx.timer_service().current_watermark()


def test_co_process_sees_time():
    harness = OperatorHarness(co_process_operator, payload={"function": Teller()})
    harness.watermark(7)
    harness.push(["a"], [8])
    harness.push(["b"], [9], input_index=1)
    assert harness.output == [Watermark(7), Record((1, "a", 8, 7), 8), Record((2, "b", 9, 7), 9)]


UNMATCHED = OutputTag("unmatched")


class Join(KeyedCoProcessFunction):
    """Joins one order with one payment; an order that is not paid within 100 ms goes to the side."""

    def open(self, runtime_context):
        self.order = runtime_context.get_state(ValueStateDescriptor("order", Types.PICKLED_BYTE_ARRAY()))

    def process_element1(self, value, ctx):
        self.order.update(value)
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 100)

    def process_element2(self, value, ctx):
        order = self.order.value()
        if order is not None:
            ctx.timer_service().delete_event_time_timer(order[1] + 100)
            self.order.clear()
            yield ctx.get_current_key(), order[2], value[2]

    def on_timer(self, timestamp, ctx):
        yield UNMATCHED, self.order.value()
        self.order.clear()


def join(**options):
    return OperatorHarness(keyed_co_process_operator, payload={"function": Join()}, key=[lambda v: v[0], lambda v: v[0]], **options)


def timed(harness, records, input_index):
    harness.push(records, [r[1] for r in records], input_index=input_index)


def test_keyed_co_process_shares_state_and_timers():
    harness = join()
    timed(harness, [("k1", 10, "book"), ("k2", 20, "pen")], 0)
    timed(harness, [("k1", 60, "cash")], 1)
    harness.watermark(200)
    assert harness.values == [("k1", "book", "cash")]
    assert harness.side("unmatched") == [("k2", 20, "pen")]
    assert harness.output[-1] == Watermark(200)


def test_keyed_co_process_goes_on_after_a_restore():
    harness = join()
    timed(harness, [("k1", 10, "book"), ("k2", 20, "pen")], 0)
    harness = harness.restored(harness.snapshot())
    timed(harness, [("k1", 60, "cash")], 1)
    harness.end_input(inputs=2)
    assert harness.values == [("k1", "book", "cash")]
    assert harness.side("unmatched") == [("k2", 20, "pen")]


class FailsRight(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield value

    def process_element2(self, value, ctx):
        raise LookupError(value)


def test_a_failure_names_the_method_of_the_side():
    harness = OperatorHarness(co_process_operator, payload={"function": FailsRight()})
    harness.push([1])
    with pytest.raises(UserFunctionError, match=r"in process_element2"):
        harness.push([1], input_index=1)
