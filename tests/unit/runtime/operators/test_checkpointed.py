"""Functions with operator state of their own, in every kind of operator; readers and writers that ask for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.runtime.harness import OperatorHarness
from tests.unit.runtime.windows.support import WAYS, processing, windows
from wiesel.core.errors import StateAccessError, StateMigrationError, UserFunctionError
from wiesel.runtime.operators.broadcast import broadcast_process_operator
from wiesel.runtime.operators.keyed import (
    keyed_filter_operator,
    keyed_flat_map_operator,
    keyed_map_operator,
    keyed_reduce_operator,
)
from wiesel.runtime.operators.process import keyed_process_operator, process_operator
from wiesel.runtime.operators.sink import sink_operator
from wiesel.runtime.operators.source import source_operator
from wiesel.runtime.operators.stateless import filter_operator, flat_map_operator, map_operator
from wiesel.runtime.operators.two_input import co_flat_map_operator, co_map_operator, co_process_operator
from wiesel.spi.checkpointed import CheckpointedFunction
from wiesel.spi.functions import (
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    ProcessWindowFunction,
    ReduceFunction,
)
from wiesel.spi.sink import Sink, SinkWriter, WriterInitContext
from wiesel.spi.source import Boundedness, InputStatus, Source, SourceReader
from wiesel.spi.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from wiesel.spi.windows.time_assigners import TumblingEventTimeWindows

RECORDS = ListStateDescriptor("records")


class Remembering(CheckpointedFunction):
    """Keeps all records that it has seen, in a plain list that it puts into its state for each checkpoint."""

    def initialize_state(self, context: Any) -> None:
        self.state = context.get_operator_state_store().get_list_state(RECORDS)
        self.seen = self.state.get()

    def snapshot_state(self, context: Any) -> None:
        self.state.update(self.seen)

    def see(self, value: Any) -> list[Any]:
        self.seen.append(value)
        return list(self.seen)


class Mapped(Remembering, MapFunction):
    def map(self, value: Any) -> Any:
        return self.see(value)


class FlatMapped(Remembering, FlatMapFunction):
    def flat_map(self, value: Any) -> Any:
        return [self.see(value)]


class Filtered(Remembering, FilterFunction):
    def filter(self, value: Any) -> bool:
        return bool(self.see(value))


class Processed(Remembering, ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield self.see(value)


class KeyedProcessed(Remembering, KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield self.see(value)


class Reduced(Remembering, ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        self.see(value2)
        return value2


class CoMapped(Remembering, CoMapFunction):
    def map1(self, value: Any) -> Any:
        return self.see(value)

    map2 = map1


class CoFlatMapped(Remembering, CoFlatMapFunction):
    def flat_map1(self, value: Any) -> Any:
        yield self.see(value)

    flat_map2 = flat_map1


class CoProcessed(Remembering, CoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Any:
        yield self.see(value)

    process_element2 = process_element1


class Broadcast(Remembering, BroadcastProcessFunction[Any, Any, Any]):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield self.see(value)

    process_broadcast_element = process_element


class Called(Remembering):
    """Not a function class: a callable will do."""

    def __call__(self, value: Any) -> Any:
        return self.see(value)


OPERATORS: dict[str, tuple[Any, Any, dict[str, Any], Callable[[Any], Any] | None]] = {
    "map": (map_operator, Mapped, {}, None),
    "callable": (map_operator, Called, {}, None),
    "flat_map": (flat_map_operator, FlatMapped, {}, None),
    "filter": (filter_operator, Filtered, {}, None),
    "process": (process_operator, Processed, {}, None),
    "keyed map": (keyed_map_operator, Mapped, {}, str),
    "keyed flat_map": (keyed_flat_map_operator, FlatMapped, {}, str),
    "keyed filter": (keyed_filter_operator, Filtered, {}, str),
    "keyed process": (keyed_process_operator, KeyedProcessed, {}, str),
    "reduce": (keyed_reduce_operator, Reduced, {}, lambda value: 0),
    "co_map": (co_map_operator, CoMapped, {}, None),
    "keyed co_map": (co_map_operator, CoMapped, {"keyed": True}, str),
    "co_flat_map": (co_flat_map_operator, CoFlatMapped, {}, None),
    "co_process": (co_process_operator, CoProcessed, {}, None),
    "broadcast_process": (broadcast_process_operator, Broadcast, {}, None),
}


@pytest.mark.parametrize("backend", ["hashmap", "lmdb", "rocksdb"])
@pytest.mark.parametrize("kind", OPERATORS)
def test_state_of_a_function_in_any_operator_is_restored(kind: str, backend: str, tmp_path: Path) -> None:
    factory, function, params, key = OPERATORS[kind]
    payload = {"function": function(), "descriptors": [MapStateDescriptor("rules")]}
    harness = OperatorHarness(factory, params=params, payload=payload, key=key, backend=backend, local_dir=str(tmp_path))
    # The first record of a key is not reduced with anything, so that one more is needed there.
    first = [0] if kind == "reduce" else []
    harness.push([*first, 1, 2])
    snapshot = harness.snapshot()
    harness.push([3])
    assert harness.operator.function.seen == [1, 2, 3]
    again = harness.restored(snapshot)
    assert again.operator.function.seen == [1, 2]
    again.push([4])
    assert again.operator.function.seen == [1, 2, 4]
    harness.close()
    again.close()


class WindowSizes(Remembering, ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield self.see(len(list(elements)))


@pytest.mark.parametrize("way", WAYS)
def test_state_of_a_window_function_is_restored(way: str) -> None:
    harness = windows(TumblingEventTimeWindows.of(10), way, **processing(WindowSizes()))
    harness.push([("a", 1), ("a", 2)], timestamps=[1, 2])
    harness.watermark(9)
    assert harness.values == [[2]]
    again = harness.restored(harness.snapshot())
    again.push([("a", 15)], timestamps=[15])
    again.watermark(19)
    assert again.values == [[2, 1]]


class Recorder(MapFunction, CheckpointedFunction):
    """Notes the order of the calls and what the contexts tell."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def open(self, runtime_context: Any) -> None:
        self.calls.append("open")

    def close(self) -> None:
        self.calls.append("close")

    def initialize_state(self, context: Any) -> None:
        self.calls.append(("initialize", context.is_restored(), context.get_restored_checkpoint_id()))

    def snapshot_state(self, context: Any) -> None:
        self.calls.append(("snapshot", context.get_checkpoint_id(), context.get_checkpoint_timestamp()))

    def map(self, value: Any) -> Any:
        return value


def test_order_of_calls_and_what_contexts_tell() -> None:
    harness = OperatorHarness(map_operator, payload={"function": Recorder()})
    harness.operator.snapshot_state(7, 1234)
    snapshot = harness.snapshot(8)
    calls = harness.operator.function.calls
    harness.close()
    assert [*calls[:3], calls[3][:2], *calls[4:]] == [("initialize", False, None), "open", ("snapshot", 7, 1234), ("snapshot", 8), "close"]
    again = harness.restored(snapshot)
    assert again.operator.function.calls == [("initialize", True, 1), "open"]


class AllKinds(ProcessFunction, CheckpointedFunction):
    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        self.split = store.get_list_state(ListStateDescriptor("split"))
        self.union = store.get_union_list_state(ListStateDescriptor("union"))
        self.rules = store.get_broadcast_state(MapStateDescriptor("rules"))
        self.store = store

    def snapshot_state(self, context: Any) -> None:
        pass

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.split.add(value)
        self.union.add(value)
        self.rules.put(value, len(self.split.get()))


def test_all_kinds_of_operator_state() -> None:
    harness = OperatorHarness(process_operator, payload={"function": AllKinds()})
    harness.push(["a", "b"])
    function = harness.restored(harness.snapshot()).operator.function
    assert function.split.get() == function.union.get() == ["a", "b"]
    assert dict(function.rules.items()) == {"a": 1, "b": 2}
    assert function.store.get_registered_state_names() == {"split", "union"}
    assert function.store.get_registered_broadcast_state_names() == {"rules"}


class KeyedInInitialize(KeyedProcessFunction, CheckpointedFunction):
    def initialize_state(self, context: Any) -> None:
        self.count = context.get_keyed_state_store().get_state(ValueStateDescriptor("count"))

    def snapshot_state(self, context: Any) -> None:
        pass

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        yield ctx.get_current_key(), self.count.value()


def test_keyed_state_can_be_taken_up_as_well() -> None:
    harness = OperatorHarness(keyed_process_operator, payload={"function": KeyedInInitialize()}, key=str)
    harness.push([1, 1, 2])
    assert harness.values == [("1", 1), ("1", 2), ("2", 1)]


class KeyedMap(MapFunction, CheckpointedFunction):
    """Gets keyed state in ``initialize_state`` alone: it has no ``open``."""

    def initialize_state(self, context: Any) -> None:
        self.count = context.get_keyed_state_store().get_state(ValueStateDescriptor("count"))

    def snapshot_state(self, context: Any) -> None:
        pass

    def map(self, value: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        return self.count.value()


def test_keyed_map_with_state_from_initialize_state() -> None:
    harness = OperatorHarness(keyed_map_operator, payload={"function": KeyedMap()}, key=str)
    harness.push([1, 1, 2])
    assert harness.values == [1, 2, 1]


def test_keyed_state_without_keys_is_refused() -> None:
    with pytest.raises(StateAccessError, match=r"keyed state 'count' was accessed"):
        OperatorHarness(map_operator, payload={"function": KeyedMap()})


class FailingInitialize(Recorder):
    def initialize_state(self, context: Any) -> None:
        raise RuntimeError("no state today")


class FailingSnapshot(Recorder):
    def snapshot_state(self, context: Any) -> None:
        raise RuntimeError("no snapshot today")


class TwoKinds(Recorder):
    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        store.get_list_state(ListStateDescriptor("x"))
        store.get_union_list_state(ListStateDescriptor("x"))


def test_errors_name_method_and_line() -> None:
    with pytest.raises(UserFunctionError, match=r"(?s)no state today.*test_checkpointed\.py:\d+ in initialize_state.*FailingInitialize"):
        OperatorHarness(map_operator, payload={"function": FailingInitialize()}, error_policy="skip")
    harness = OperatorHarness(map_operator, payload={"function": FailingSnapshot()}, error_policy="skip")
    with pytest.raises(UserFunctionError, match=r"(?s)no snapshot today.*test_checkpointed\.py:\d+ in snapshot_state"):
        harness.operator.snapshot_state(1)
    with pytest.raises(StateMigrationError, match="'x' is list state, it is asked for as union list state"):
        OperatorHarness(map_operator, payload={"function": TwoKinds()})


class Writer(SinkWriter):
    def __init__(self, context: WriterInitContext) -> None:
        self.numbers = context.get_operator_state_store().get_union_list_state(ListStateDescriptor("numbers"))
        self.written: list[Any] = self.numbers.get()

    def write_batch(self, values: list[Any], timestamps: list[int] | None) -> None:
        self.written += values

    def flush(self, end_of_input: bool) -> None:
        pass

    def snapshot_state(self, checkpoint_id: int) -> None:
        self.numbers.update(self.written)


class Keeping(Sink):
    def create_writer(self, context: WriterInitContext, state: Any = ()) -> Writer:
        return Writer(context)


def test_a_writer_has_operator_state() -> None:
    harness = OperatorHarness(sink_operator, payload={"sink": Keeping()}, open=False)
    harness.operator.bind(lambda channel, payload: None, ())
    harness.operator.open()
    harness.push([1, 2])
    again = harness.restored(harness.snapshot(), open=False)
    again.operator.bind(lambda channel, payload: None, ())
    again.operator.open()
    assert again.operator.writer.written == [1, 2]


class Reader(SourceReader[Any]):
    def __init__(self, context: Any) -> None:
        self.polls = context.get_operator_state_store().get_union_list_state(ListStateDescriptor("polls"))
        self.polled = sum(self.polls.get())

    def poll(self, output: Any) -> InputStatus:
        self.polled += 1
        output.collect([self.polled])
        return InputStatus.NOTHING_AVAILABLE

    def add_splits(self, splits: Any) -> None:
        """It has none."""

    def notify_no_more_splits(self) -> None:
        """It has none."""

    def snapshot_state(self, checkpoint_id: int) -> list[Any]:
        self.polls.update([self.polled])
        return []


class Counting(Source[Any]):
    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def create_enumerator(self, context: Any, state: Any = None) -> Any:
        """Not called here."""

    def create_reader(self, context: Any) -> Reader:
        return Reader(context)


def test_a_reader_has_operator_state() -> None:
    harness = OperatorHarness(source_operator, payload={"source": Counting()}, open=False)
    harness.operator.bind(lambda: None, None)
    harness.operator.open()
    harness.operator.poll()
    harness.operator.poll()
    again = harness.restored(harness.snapshot(), open=False)
    again.operator.bind(lambda: None, [])
    again.operator.open()
    again.operator.poll()
    assert (harness.values, again.values) == ([1, 2], [3])


def test_a_writer_outside_of_a_task_has_none() -> None:
    with pytest.raises(StateAccessError, match="outside of a task"):
        Keeping().create_writer(WriterInitContext("job", "operator", 0, 1, 1, 0))
