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
from wiesel.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from wiesel.state.handles import make_state
from wiesel.state.key_context import KeyContext

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
