"""What cannot run is refused where the program says it, with the line and the way out."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import pytest

from wiesel.common import Types, WatermarkStrategy
from wiesel.core.errors import ProgramError, SerializationError, TypeMismatchError
from wiesel.datastream import (
    BroadcastProcessFunction,
    CoMapFunction,
    DataStream,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
    RuntimeExecutionMode,
    SinkFunction,
    SlotSharingGroup,
    SourceFunction,
    StreamExecutionEnvironment,
)
from wiesel.datastream.connectors import Source
from wiesel.datastream.functions import ProcessAllWindowFunction
from wiesel.datastream.state import ListStateDescriptor, MapStateDescriptor
from wiesel.datastream.window import ContinuousEventTimeTrigger, EventTimeSessionWindows, Trigger, TumblingEventTimeWindows
from wiesel.spi.source import Boundedness

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class Process(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value


class KeyedProcess(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value


class Twice(MapFunction):
    def map(self, value: Any) -> Any:
        return value * 2


class KeyedCoProcess(KeyedCoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Any:
        yield value

    process_element2 = process_element1


class Broadcast(BroadcastProcessFunction[Any, Any, Any]):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value

    process_broadcast_element = process_element


class KeyedBroadcast(KeyedBroadcastProcessFunction[Any, Any, Any, Any]):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value

    process_broadcast_element = process_element


class ForAll(ProcessAllWindowFunction[Any, Any, Any]):
    def process(self, context: Any, elements: Any) -> Any:
        return elements


class ForKeys(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        return elements


class NoMerge(Trigger[Any, Any]):
    def on_element(self, element: Any, timestamp: Any, window: Any, ctx: Any) -> Any: ...
    def on_processing_time(self, time: Any, window: Any, ctx: Any) -> Any: ...
    def on_event_time(self, time: Any, window: Any, ctx: Any) -> Any: ...
    def on_merge(self, window: Any, ctx: Any) -> Any: ...
    def clear(self, window: Any, ctx: Any) -> Any: ...
    def can_merge(self) -> bool:
        return False


class Builder:
    def build(self) -> None: ...


class Endless(Source[Any]):
    @property
    def boundedness(self) -> Boundedness:
        return Boundedness.CONTINUOUS_UNBOUNDED

    def create_enumerator(self, context: Any, state: Any = None) -> Any: ...
    def create_reader(self, context: Any) -> Any: ...


Wrong = Callable[[StreamExecutionEnvironment, DataStream], Any]


def two(a: Any, b: Any) -> Any:
    return a


@functools.wraps(two)
def wrapper(*args: Any) -> Any:
    return args[0]


WINDOW = TumblingEventTimeWindows.of(5)
NONE = WatermarkStrategy.no_watermarks()
RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())
WRONG: dict[str, tuple[Wrong, str]] = {
    "map of a text": (lambda e, s: s.map("x"), r"map\(\) needs a MapFunction or a callable with 1 argument, got 'x' \(a str\)"),
    "map of a class": (lambda e, s: s.map(Twice), r"the class Twice instead of an instance.*what to do: write Twice\(\.\.\.\)"),
    "map of two arguments": (lambda e, s: s.map(two), r"calls its function with 1 argument, but two\(a.*does not take that"),
    "reduce of one argument": (lambda e, s: s.key_by(str).reduce(lambda a: a), r"with 2 arguments, but <lambda>\(a\)"),
    "map of another function": (lambda e, s: s.map(Process()), r"map\(\) needs a MapFunction"),
    "keyed function without key": (lambda e, s: s.process(KeyedProcess()), r"process\(\) needs a ProcessFunction"),
    "plain function with key": (
        lambda e, s: s.key_by(str).process(Process()),
        r"keyed stream needs a KeyedProcessFunction.*do not call key_by",
    ),
    "process of a lambda": (lambda e, s: s.process(lambda v, c: v), r"process\(\) needs a ProcessFunction, got <function"),
    "type without call": (lambda e, s: s.map(str, Types.STRING), r"must be a TypeInformation.*call it: Types.STRING\(\)"),
    "type as class": (lambda e, s: s.map(str, int), r"must be a TypeInformation, got the class int"),
    "key that is a position": (lambda e, s: s.key_by(0), r"key_by\(\) needs a KeySelector or a callable with 1 argument, got 0 \(a int\)"),
    "parallelism 0": (lambda e, s: s.map(str).set_parallelism(0), r"parallelism must be at least 1, got 0"),
    "parallelism text": (lambda e, s: s.map(str).set_parallelism("2"), r"parallelism must be an int, got '2'"),
    "parallelism of a collection": (lambda e, s: s.set_parallelism(2), r"'Collection Source' can only have parallelism 1, got 2"),
    "env parallelism 0": (lambda e, s: e.set_parallelism(0), r"parallelism must be at least 1"),
    "max parallelism": (lambda e, s: e.set_max_parallelism(40000), r"max parallelism must be from 1 to 32768, got 40000"),
    "max parallelism of an operator": (lambda e, s: s.map(str).set_max_parallelism(0), r"max parallelism must be from 1 to 32768"),
    "buffer timeout": (lambda e, s: e.set_buffer_timeout(-2), r"buffer timeout must be at least -1"),
    "parallelism of a partitioning": (lambda e, s: s.rebalance().set_parallelism(2), r"set_parallelism\(\) configures an operator"),
    "name of a union": (lambda e, s: s.union(s).name("x"), r"name\(\) configures an operator"),
    "name of a keyed stream": (lambda e, s: s.key_by(str).name("x"), r"name\(\) is not for keyed streams"),
    "uid of a keyed stream": (lambda e, s: s.key_by(str).uid("x"), r"uid\(\) is not for keyed streams"),
    "rebalance of a keyed stream": (lambda e, s: s.key_by(str).rebalance(), r"rebalance\(\) cannot replace the partitioning"),
    "side output of a keyed stream": (lambda e, s: s.key_by(str).get_side_output(OutputTag("x")), r"not for keyed streams"),
    "uid hash": (lambda e, s: s.map(str).set_uid_hash("xyz"), r"an uid hash must have 32 hex digits, got 'xyz'"),
    "empty uid": (lambda e, s: s.map(str).uid(""), r"must not be empty"),
    "union of types": (lambda e, s: s.union(e.from_collection(["a"], Types.STRING())), r"different types cannot be united.*String"),
    "union with a list": (lambda e, s: s.union([s]), r"argument of union\(\) must be a DataStream"),
    "another environment": (
        lambda e, s: s.connect(StreamExecutionEnvironment.get_execution_environment().from_collection([1])),
        r"connect\(\) got a stream of another environment",
    ),
    "project without type": (lambda e, s: e.from_collection([(1, 2)]).project(0), r"only streams of tuples can be projected"),
    "project too far": (lambda e, s: s.project(2), r"a field's position must be from 0 to 1, got 2"),
    "sum of no field": (lambda e, s: s.key_by(str).sum(2), r"sum\(2\): TupleTypeInfo\(String, Integer\) has no such field.*from 0 to 1"),
    "sum of a name in a tuple": (lambda e, s: s.key_by(str).sum("n"), r"has no such field"),
    "sum of a list": (lambda e, s: s.key_by(str).sum([1]), r"sum\(\) got \[1\] instead of a field"),
    "max of a field of plain values": (lambda e, s: e.from_collection([1], Types.INT()).key_by(str).max(1), r"records are of type Integer"),
    "co map of a lambda": (lambda e, s: s.connect(s).map(lambda v: v), r"connected streams needs a CoMapFunction"),
    "keyed co process without keys": (
        lambda e, s: s.connect(s).process(KeyedCoProcess()),
        r"not both keyed.*key_by\(selector1, selector2\)",
    ),
    "broadcast function on a keyed stream": (
        lambda e, s: s.key_by(str).connect(s.broadcast(RULES)).process(Broadcast()),
        r"Broadcast is a BroadcastProcessFunction, but .* is keyed.*subclass KeyedBroadcastProcessFunction",
    ),
    "keyed broadcast function without key": (
        lambda e, s: s.connect(s.broadcast(RULES)).process(KeyedBroadcast()),
        r"KeyedBroadcast is a KeyedBroadcastProcessFunction, but .* is not keyed.*call key_by",
    ),
    "process function with a broadcast stream": (
        lambda e, s: s.connect(s.broadcast(RULES)).process(Process()),
        r"process\(\) on a stream with a broadcast one needs a BroadcastProcessFunction",
    ),
    "broadcast function class": (
        lambda e, s: s.key_by(str).connect(s.broadcast(RULES)).process(KeyedBroadcast),
        r"got the class KeyedBroadcast instead of an instance",
    ),
    "broadcast state by name": (lambda e, s: s.broadcast("rules"), r"a broadcast state must be a MapStateDescriptor, got 'rules'"),
    "broadcast of a list state": (lambda e, s: s.broadcast(RULES, ListStateDescriptor("x")), r"a MapStateDescriptor, got ListState"),
    "two broadcast states of one name": (
        lambda e, s: s.broadcast(RULES, MapStateDescriptor("rules", Types.INT(), Types.INT())),
        r"two broadcast states have the name 'rules', with types",
    ),
    "broadcast of a keyed stream": (lambda e, s: s.key_by(str).broadcast(RULES), r"broadcast\(\) cannot replace the partitioning"),
    "broadcast stream of another environment": (
        lambda e, s: s.connect(StreamExecutionEnvironment.get_execution_environment().from_collection([1]).broadcast(RULES)),
        r"connect\(\) got a stream of another environment",
    ),
    "type of a broadcast function": (
        lambda e, s: s.connect(s.broadcast(RULES)).process(Broadcast(), Types.STRING),
        r"must be a TypeInformation.*call it: Types.STRING\(\)",
    ),
    "co map class": (lambda e, s: s.connect(s).map(CoMapFunction), r"the class CoMapFunction instead of an instance"),
    "assigner class": (lambda e, s: s.key_by(str).window(TumblingEventTimeWindows), r"got the class TumblingEventTimeWindows"),
    "no assigner": (lambda e, s: s.key_by(str).window(5), r"argument of window\(\) must be a WindowAssigner, got 5"),
    "trigger that does not merge": (
        lambda e, s: s.key_by(str).window(EventTimeSessionWindows.with_gap(5)).trigger(NoMerge()),
        r"NoMerge cannot follow windows that merge",
    ),
    "no trigger": (lambda e, s: s.key_by(str).window(WINDOW).trigger(5), r"argument of trigger\(\) must be a Trigger"),
    "negative lateness": (lambda e, s: s.key_by(str).window(WINDOW).allowed_lateness(-1), r"allowed lateness in ms must be at least 0"),
    "late data without tag": (lambda e, s: s.key_by(str).window(WINDOW).side_output_late_data("late"), r"must be an OutputTag, got 'late'"),
    "all function on keyed windows": (lambda e, s: s.key_by(str).window(WINDOW).process(ForAll()), r"needs a ProcessWindowFunction"),
    "keyed function on all windows": (lambda e, s: s.window_all(WINDOW).process(ForKeys()), r"needs a ProcessAllWindowFunction"),
    "aggregate of a lambda": (
        lambda e, s: s.key_by(str).window(WINDOW).aggregate(lambda a: a),
        r"aggregate\(\) needs an AggregateFunction",
    ),
    "window function": (lambda e, s: s.key_by(str).window(WINDOW).reduce(max, lambda w: w), r"window_function needs a WindowFunction"),
    "count window of 0": (lambda e, s: s.key_by(str).count_window(0), r"the size of a window must be at least 1"),
    "sink builder": (lambda e, s: s.sink_to(Builder()), r"sink_to\(\) needs a Sink.*call build\(\) on it"),
    "source builder": (lambda e, s: e.from_source(Builder(), NONE, "x"), r"from_source\(\) needs a Source.*call build\(\) on it"),
    "source strategy": (lambda e, s: e.from_source(Endless(), None, "x"), r"watermark strategy must be a WatermarkStrategy, got None"),
    "java source": (lambda e, s: e.add_source(object()), r"add_source\(\) needs a Source.*Java"),
    "java sink": (lambda e, s: s.add_sink(object()), r"add_sink\(\) needs a Sink.*Java"),
    "java source function": (lambda e, s: SourceFunction("x"), r"wraps a Java object"),
    "java sink function": (lambda e, s: SinkFunction("x"), r"wraps a Java object"),
    "collection text": (lambda e, s: e.from_collection("abc"), r"from_collection\(\) needs a list, got 'abc'"),
    "collection number": (lambda e, s: e.from_collection(3), r"from_collection\(\) needs a list, got 3"),
    "print id": (lambda e, s: s.print(3), r"sink identifier must be a str, got 3"),
    "limit 0": (lambda e, s: s.execute_and_collect(limit=0), r"limit must be at least 1"),
    "side output type": (
        lambda e, s: [p := s.process(Process()), p.get_side_output(OutputTag("t", Types.INT())), p.get_side_output(OutputTag("t"))],
        r"side output 't' is read as PickledByteArrayTypeInfo and as Integer",
    ),
    "side output of a side output": (
        lambda e, s: s.process(Process()).get_side_output(OutputTag("t")).get_side_output(OutputTag("u")),
        r"a side output has no side outputs itself",
    ),
    "checkpoint interval": (lambda e, s: e.enable_checkpointing(9), r"the checkpoint interval in ms must be at least 10, got 9"),
    "checkpointing mode": (lambda e, s: e.enable_checkpointing(10, "EXACTLY_ONCE"), r"checkpointing mode must be a CheckpointingMode"),
    "runtime mode": (lambda e, s: e.set_runtime_mode("BATCH"), r"runtime mode must be a RuntimeExecutionMode"),
    "configuration": (lambda e, s: StreamExecutionEnvironment.get_execution_environment({}), r"must be a Configuration, got \{\}"),
    "slot group": (lambda e, s: s.map(str).slot_sharing_group(3), r"must be a str or SlotSharingGroup, got 3"),
    "slot group resources": (
        lambda e, s: SlotSharingGroup.builder("g").set_cpu_cores(1.0).build(),
        r"not both CPU cores and task heap memory",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_calls_name_their_line_and_the_way_out(env: StreamExecutionEnvironment, case: str) -> None:
    stream = env.from_collection([("a", 1)], PAIR)
    call, pattern = WRONG[case]
    with pytest.raises(ProgramError) as caught:
        call(env, stream)
    message = " ".join(str(caught.value).split())
    assert re.search(pattern, message), message
    assert caught.value.hint
    assert f"(at {__file__}:" in message


def test_callables_are_not_refused_without_reason(env: StreamExecutionEnvironment) -> None:
    stream = env.from_collection([1])
    stream.map(wrapper).map(str).map(lambda v, more=1: v).map(lambda *v: v).map(Twice().map).map(functools.partial(two, 1))
    stream.key_by(str).reduce(max).key_by(hash).reduce(min)


def test_an_element_of_the_wrong_type_is_named(env: StreamExecutionEnvironment) -> None:
    with pytest.raises(TypeMismatchError, match=r"element\[1\]") as caught:
        env.from_collection([("a", 1), ("b", "x")], PAIR)
    assert f"(at {__file__}:" in str(caught.value)


def test_an_element_that_cannot_be_pickled_is_named(env: StreamExecutionEnvironment) -> None:
    elements: list[Any] = list(range(2500))
    elements[1700] = (v for v in ())
    with pytest.raises(SerializationError, match=r"element 1700 of the collection"):
        env.from_collection(elements)


def test_forward_between_different_parallelism(env: StreamExecutionEnvironment) -> None:
    stream = env.from_collection([1]).map(str)
    stream.forward().map(str).set_parallelism(3).name("three")
    with pytest.raises(ProgramError, match=r"forward\(\) cannot connect 'Map' with parallelism 2 to 'three' with parallelism 3"):
        env.get_execution_plan()


def test_batch_mode_with_an_endless_source(env: StreamExecutionEnvironment) -> None:
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.from_source(Endless(), NONE, "ticks").print()
    with pytest.raises(ProgramError, match="its source 'ticks' never ends"):
        env.execute()


def test_automatic_mode_with_an_endless_source_streams(env: StreamExecutionEnvironment) -> None:
    env.set_runtime_mode(RuntimeExecutionMode.AUTOMATIC)
    env.from_source(Endless(), NONE, "ticks").print()
    assert env._generate_stream_graph().runtime_mode == "STREAMING"


def test_nothing_to_run(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1])
    with pytest.raises(ProgramError, match="nothing to run"):
        env.execute()


def test_a_trigger_that_merges_may_follow_sessions(env: StreamExecutionEnvironment) -> None:
    keyed = env.from_collection([1]).key_by(str)
    trigger = ContinuousEventTimeTrigger.of(5)
    node = keyed.window(EventTimeSessionWindows.with_gap(5)).trigger(trigger).reduce(max)._operator("").node
    assert node.operator.payload["trigger"] is trigger
