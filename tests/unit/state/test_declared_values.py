"""Values written to state of a declared type: converted as by PyFlink's coders (see ``test_type_values.py``), or refused."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.state.backends import new_backend
from wiesel.common import Row, Types
from wiesel.core.errors import TypeMismatchError
from wiesel.datastream.functions import AggregateFunction, ReduceFunction
from wiesel.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from wiesel.state.handles import make_state
from wiesel.state.key_context import KeyContext
from wiesel.state.operator_handles import make_broadcast_state, make_operator_list_state
from wiesel.state.operator_state import HeapOperatorState

NOON = datetime.datetime(2024, 1, 2, 12, 0, 0, 1500, tzinfo=datetime.timezone.utc)


@pytest.fixture(params=[False, True], ids=["void", "namespaced"])
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Any], Any]:
    backend, context = new_backend("hashmap", tmp_path), KeyContext()
    context.key = "k"

    def make(descriptor: Any) -> Any:
        handle = make_state(descriptor, backend, context, namespaced=request.param)
        if request.param:
            handle.namespace = "window"
        return handle

    return make


@pytest.mark.parametrize(
    ("declared", "written", "stored"),
    [
        (Types.BIG_DEC(), 5, Decimal(5)),
        (Types.LONG(), np.int64(5), 5),
        (Types.DOUBLE(), np.float32(0.5), 0.5),
        (Types.DOUBLE(), 2, 2.0),
        (Types.INT(), True, 1),
        (Types.SQL_TIMESTAMP(), NOON, datetime.datetime(2024, 1, 2, 12, 0, 0, 1000)),
        (Types.TUPLE([Types.INT(), Types.DOUBLE()]), (1, 2), (1, 2.0)),
        (Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]), Row(1, None), Row(a=1, b=None)),
        (Types.LIST(Types.DOUBLE()), [np.float64(1.5)], [1.5]),
        # Not rounded to 32 bits: sums of FLOATs are sums of doubles, as in Flink's cache.
        (Types.FLOAT(), 1.23, 1.23),
    ],
)
def test_values_are_converted(state: Callable[[Any], Any], declared: Any, written: Any, stored: Any) -> None:
    value, elements, entries = (
        state(ValueStateDescriptor("v", declared)),
        state(ListStateDescriptor("l", declared)),
        state(MapStateDescriptor("m", Types.STRING(), declared)),
    )
    value.update(written)
    elements.add(written)
    elements.add_all([written])
    entries.put("a", written)
    entries.put_all({"b": written})
    for found in (value.value(), *elements.get(), entries.get("a"), entries.get("b")):
        assert (found, type(found)) == (stored, type(stored))
    elements.update([written])
    assert elements.get() == [stored]
    value.update(None)
    assert value.value() is None


def test_values_that_do_not_fit_are_refused_with_the_name_of_the_state(state: Callable[[Any], Any]) -> None:
    value = state(ValueStateDescriptor("total", Types.INT()))
    elements = state(ListStateDescriptor("seen", Types.INT()))
    entries = state(MapStateDescriptor("by name", Types.STRING(), Types.INT()))
    value.update(7)
    for write, name in [
        (lambda: value.update("hello"), "total"),
        (lambda: value.update(2**31), "total"),
        (lambda: elements.add("hello"), "seen"),
        (lambda: elements.add_all(["hello"]), "seen"),
        (lambda: entries.put("a", "hello"), "by name"),
        (lambda: entries.put(1, 1), "key written to the state 'by name'"),
        (lambda: entries.put_all({"a": 1.5, "b": "hello"}), "by name"),
    ]:
        with pytest.raises(TypeMismatchError, match=name):
            write()
    assert value.value() == 7 and elements.get() == []


def test_a_list_that_fits_stays_the_same_object(state: Callable[[Any], Any]) -> None:
    value, held = state(ValueStateDescriptor("v", Types.LIST(Types.INT()))), [1]
    value.update(held)
    assert value.value() is held


class Extending(ReduceFunction):
    """Makes a value of another type of two: a string of numbers."""

    def reduce(self, value1: Any, value2: Any) -> Any:
        return f"{value1}{value2}" if value2 == 9 else value1 + value2


class Averaging(AggregateFunction):
    def create_accumulator(self) -> Any:
        return 0, 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return ("none", 1) if value == 9 else (accumulator[0] + value, accumulator[1] + 1)

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


def test_reduced_and_aggregated_values_are_converted_or_refused(state: Callable[[Any], Any]) -> None:
    total = state(ReducingStateDescriptor("total", Extending(), Types.DOUBLE()))
    mean = state(AggregatingStateDescriptor("mean", Averaging(), Types.TUPLE([Types.DOUBLE(), Types.INT()])))
    for handle in (total, mean):
        handle.add(np.int64(2))
        handle.add(1)
    for wrong, name in ((total, "total"), (mean, "mean")):
        with pytest.raises(TypeMismatchError, match=f"value written to the state '{name}'"):
            wrong.add(9)
    assert (total.get(), type(total.get())) == (3.0, float)
    assert (mean.get(), type(mean.get()[0])) == ((3.0, 2), float)
    total.clear()
    with pytest.raises(TypeMismatchError, match="value written to the state 'total'"):
        total.add("first")


def test_operator_state_is_converted_or_refused() -> None:
    store = HeapOperatorState()
    rules = make_broadcast_state(MapStateDescriptor("rules", Types.STRING(), Types.DOUBLE()), store)
    seen = make_operator_list_state(ListStateDescriptor("seen", Types.LONG()), store)
    rules.put("a", 1)
    rules["b"] = np.float32(0.5)
    rules.put_all({"c": True})
    seen.add(np.int32(3))
    seen.add_all([True])
    for write, name in [
        (lambda: rules.put(1, 1.0), "key written to the state 'rules'"),
        (lambda: rules.put("d", "hello"), "value written to the state 'rules'"),
        (lambda: rules.put_all({"d": 2.0, "e": "hello"}), "value written to the state 'rules'"),
        (lambda: seen.add("hello"), "element written to the state 'seen'"),
        (lambda: seen.update([1, "hello"]), "element written to the state 'seen'"),
        (lambda: seen.add_all([1.5, "hello"]), "element written to the state 'seen'"),
    ]:
        with pytest.raises(TypeMismatchError, match=name):
            write()
    assert dict(rules.items()) == {"a": 1.0, "b": 0.5, "c": 1.0, "d": 2.0} and seen.get() == [3, 1]
    assert {type(value) for value in rules.values()} == {float} and {type(value) for value in seen.get()} == {int}
