"""What user functions see of state, on both backends."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.state.backends import new_backend
from wiesel.core.errors import ConfigurationError, StateAccessError, StateMigrationError
from wiesel.spi.state import (
    AggregatingState,
    AggregatingStateDescriptor,
    BroadcastState,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReadOnlyBroadcastState,
    ReducingState,
    ReducingStateDescriptor,
    ValueState,
    ValueStateDescriptor,
)
from wiesel.state.handles import make_state
from wiesel.state.key_context import NO_KEY, KeyContext
from wiesel.state.operator_handles import make_broadcast_state


class Mean:
    """An aggregate function; its accumulator is a list that is changed in place."""

    def create_accumulator(self) -> list[float]:
        return [0.0, 0]

    def add(self, value: float, accumulator: list[float]) -> list[float]:
        accumulator[0] += value
        accumulator[1] += 1
        return accumulator

    def get_result(self, accumulator: list[float]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, left: list[float], right: list[float]) -> list[float]:
        return [left[0] + right[0], left[1] + right[1]]


DESCRIPTORS = [
    (ValueStateDescriptor("v"), ValueState),
    (ListStateDescriptor("l"), ListState),
    (MapStateDescriptor("m"), MapState),
    (ReducingStateDescriptor("r", lambda a, b: a + b), ReducingState),
    (AggregatingStateDescriptor("a", Mean()), AggregatingState),
]


@pytest.fixture(params=["hashmap", "lmdb", "rocksdb"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    made = new_backend(request.param, tmp_path)
    yield made
    made.close()


@pytest.fixture(params=[False, True], ids=["void", "namespaced"])
def make(request: pytest.FixtureRequest, backend: Any) -> Any:
    context = KeyContext()
    context.key = "k"

    def make(descriptor: Any) -> Any:
        return make_state(descriptor, backend, context, ("window", 1) if request.param else None, namespaced=request.param)

    make.context = context  # type: ignore[attr-defined]
    return make


@pytest.mark.parametrize(("descriptor", "kind"), DESCRIPTORS)
def test_handles_are_instances_of_the_public_classes(make: Any, descriptor: Any, kind: type) -> None:
    assert isinstance(make(descriptor), kind)


def test_values_belong_to_their_key(make: Any) -> None:
    state = make(ValueStateDescriptor("v"))
    assert state.value() is None
    state.update(1)
    make.context.key = "other"
    assert state.value() is None
    state.update(2)
    make.context.key = "k"
    assert state.value() == 1
    state.update(None)
    assert state.value() is None
    make.context.key = "other"
    assert state.value() == 2
    state.clear()
    assert state.value() is None


@pytest.mark.parametrize("value", [0, "", False, (), [], {}])
def test_values_that_are_false_are_values(make: Any, value: Any) -> None:
    state = make(ValueStateDescriptor("v"))
    state.update(value)
    assert state.value() == value
    assert state.value() is not None


def test_lists(make: Any) -> None:
    state = make(ListStateDescriptor("l"))
    assert list(state.get()) == []
    state.add([1])
    state.add_all([None, "x"])
    state.add_all([])
    assert list(state) == [[1], None, "x"]
    for element in state.get():
        state.add(element)
    assert state.get() == [[1], None, "x"] * 2
    state.update([3])
    assert state.get() == [3]
    state.update([])
    assert state.get() == []
    state.add(4)
    state.clear()
    assert state.get() == []


def test_changing_the_list_given_or_got_does_not_change_the_state(make: Any) -> None:
    state = make(ListStateDescriptor("l"))
    given = [1, 2]
    state.update(given)
    given.append(3)
    state.get().append(4)
    assert state.get() == [1, 2]
    more = [5]
    state.add_all(more)
    more.append(6)
    assert state.get() == [1, 2, 5]


def test_maps(make: Any) -> None:
    state = make(MapStateDescriptor("m"))
    assert state.is_empty()
    assert state.get("a") is None
    assert "a" not in state
    state.put("a", 1)
    state["b"] = 2
    state.put_all({"c": 3, ("d", 1): None})
    assert state["b"] == 2
    assert dict(state.items()) == {"a": 1, "b": 2, "c": 3, ("d", 1): None}
    assert set(state.keys()) == set(state) == {"a", "b", "c", ("d", 1)}
    assert sorted(value for value in state.values() if value is not None) == [1, 2, 3]
    # As in PyFlink an entry whose value is None is there when listed, but not contained.
    assert not state.contains(("d", 1))
    assert state.contains("a")
    del state["a"]
    state.remove("never there")
    assert state.get("a") is None
    assert not state.is_empty()
    state.clear()
    assert state.is_empty()
    assert list(state.items()) == []


def test_a_map_whose_entries_were_all_removed_is_empty(make: Any) -> None:
    state = make(MapStateDescriptor("m"))
    state.put("a", 1)
    state.remove("a")
    assert state.is_empty()
    make.context.key = "k"
    state.put("a", None)
    assert not state.is_empty()


def test_maps_may_be_changed_while_iterating(make: Any) -> None:
    state = make(MapStateDescriptor("m"))
    state.put_all({i: i for i in range(50)})
    for key, value in state.items():
        state.put(key, value + 1)
        if key % 2:
            state.remove(key)
    assert dict(state.items()) == {i: i + 1 for i in range(0, 50, 2)}


def test_what_is_removed_while_iterating_never_comes_as_a_marker(make: Any, backend: Any) -> None:
    state = make(MapStateDescriptor("m"))
    original = {i: f"v{i}" for i in range(2000)}
    state.put_all(original)
    backend.snapshot(1)
    seen = {}
    for key, value in state.items():
        for other in range(2000):
            if other != key:
                state.remove(other)
        seen[key] = value
    # Some may come though they were removed meanwhile, but none with another value.
    assert seen.items() <= original.items()
    assert len(list(state.items())) <= 1


def test_reducing(make: Any) -> None:
    state = make(ReducingStateDescriptor("r", lambda a, b: a + b))
    assert state.get() is None
    for value in (1, 2, 3):
        state.add(value)
    assert state.get() == 6
    state.add(-6)
    assert state.get() == 0
    state.add(5)
    assert state.get() == 5
    state.clear()
    assert state.get() is None


def test_aggregating(make: Any) -> None:
    state = make(AggregatingStateDescriptor("a", Mean()))
    assert state.get() is None
    for value in (1, 2, 6):
        state.add(value)
    assert state.get() == 3
    state.add(None)
    assert state.get() is None


def test_namespaces_are_apart_and_can_be_merged(backend: Any) -> None:
    context = KeyContext()
    context.key = "k"
    pieces = make_state(ListStateDescriptor("l"), backend, context, namespaced=True)
    sums = make_state(ReducingStateDescriptor("r", lambda a, b: a + b), backend, context, namespaced=True)
    means = make_state(AggregatingStateDescriptor("a", Mean()), backend, context, namespaced=True)
    for window in (1, 2, 3):
        pieces.namespace = sums.namespace = means.namespace = window
        pieces.add(window)
        sums.add(window)
        means.add(window)
    for state in (pieces, sums, means):
        state.merge_namespaces(1, [1, 2, 3, 4])
        state.namespace = 2
        assert not state.get()
        state.namespace = 1
    assert (pieces.get(), sums.get(), means.get()) == ([1, 2, 3], 6, 2.0)


def test_a_tuple_key_is_not_a_key_with_a_namespace(backend: Any) -> None:
    table = backend.table("t")
    table.put(("k", 1), "key")
    table.put("k", "namespaced", 1)
    assert table.get(("k", 1)) == "key"
    assert table.get("k", 1) == "namespaced"
    assert sorted(table.items(), key=repr) == sorted([(("k", 1), None, "key"), ("k", 1, "namespaced")], key=repr)
    assert len(table) == 2


@pytest.mark.parametrize(("descriptor", "kind"), DESCRIPTORS)
def test_state_without_a_key_is_refused(make: Any, descriptor: Any, kind: type) -> None:
    state = make(descriptor)
    make.context.key = NO_KEY
    read = state.value if hasattr(state, "value") else (lambda: list(state.items())) if kind is MapState else state.get
    write = (lambda: state.put(1, 2)) if kind is MapState else (lambda: state.update(1)) if kind is ValueState else (lambda: state.add(1))
    for call in (read, write, state.clear):
        with pytest.raises(StateAccessError, match="no current key"):
            call()


def test_one_name_cannot_be_two_kinds(make: Any) -> None:
    make(ValueStateDescriptor("x"))
    with pytest.raises(StateMigrationError, match=r"'x'.*value.*list"):
        make(ListStateDescriptor("x"))


def test_what_is_no_descriptor_is_refused(make: Any) -> None:
    with pytest.raises(ConfigurationError, match="does not describe a state"):
        make("counts")


def test_same_name_is_the_same_state(make: Any) -> None:
    make(ValueStateDescriptor("x")).update(7)
    assert make(ValueStateDescriptor("x")).value() == 7


def test_objects_of_local_classes_survive_the_disk(make: Any, backend: Any) -> None:
    class Local:
        def __init__(self, number: int) -> None:
            self.number = number

    state = make(ValueStateDescriptor("x"))
    state.update(Local(5))
    backend.snapshot(1)
    if hasattr(backend, "make_room"):
        backend.table("x")._backend.make_room()
        for store in (backend.table("x").void, backend.table("x").spaced):
            store.age()
            store.age()
    assert state.value().number == 5


def test_broadcast_state(backend: Any) -> None:
    descriptor = MapStateDescriptor("rules")
    store = backend.operator_state
    writable, readable = make_broadcast_state(descriptor, store), make_broadcast_state(descriptor, store, read_only=True)
    assert isinstance(writable, BroadcastState)
    assert isinstance(readable, ReadOnlyBroadcastState)
    assert not isinstance(readable, BroadcastState)
    assert readable.is_empty()
    writable.put("a", 1)
    writable["b"] = 2
    writable.put_all({"c": 3})
    writable.remove("never")
    del writable["a"]
    assert dict(readable.items()) == {"b": 2, "c": 3}
    assert list(readable) == ["b", "c"]
    assert sorted(readable.values()) == [2, 3]
    assert (readable["b"], "b" in readable, readable.contains("a"), readable.get("a")) == (2, True, False, None)
    for change in (
        lambda: readable.clear(),
        lambda: readable.put("a", 1),
        lambda: readable.put_all({"a": 1}),
        lambda: readable.remove("b"),
        lambda: operator.setitem(readable, "a", 1),
        lambda: operator.delitem(readable, "b"),
    ):
        with pytest.raises(StateAccessError, match="read-only"):
            change()
    assert dict(readable.items()) == {"b": 2, "c": 3}
    writable.clear()
    assert readable.is_empty()
