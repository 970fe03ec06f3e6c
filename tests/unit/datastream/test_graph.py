"""Programs become the stream graphs that Flink's rules ask for."""

from __future__ import annotations

from typing import Any

import pytest

from wiesel.common import Row, Types, WatermarkStrategy
from wiesel.datastream import (
    AggregateFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    DataStream,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    KeySelector,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
    WindowFunction,
)
from wiesel.datastream.functions import AllWindowFunction
from wiesel.datastream.state import MapStateDescriptor
from wiesel.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from wiesel.graph.specs import StreamGraph, StreamNode

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class Process(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value


class KeyedProcess(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value


class CoMap(CoMapFunction):
    def map1(self, value: Any) -> Any:
        return value

    map2 = map1


class CoFlatMap(CoFlatMapFunction):
    def flat_map1(self, value: Any) -> Any:
        return [value]

    flat_map2 = flat_map1


class CoProcess(CoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Any:
        yield value

    process_element2 = process_element1


class KeyedCoProcess(KeyedCoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Any:
        yield value

    process_element2 = process_element1


class Sum(AggregateFunction):
    def create_accumulator(self) -> Any:
        return 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator + value

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a + acc_b


class Apply(WindowFunction[Any, Any, Any, Any]):
    def apply(self, key: Any, window: Any, inputs: Any) -> Any:
        return inputs


class ApplyAll(AllWindowFunction[Any, Any, Any]):
    def apply(self, window: Any, inputs: Any) -> Any:
        return inputs


class ProcessWindow(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        return elements


def graph(env: StreamExecutionEnvironment) -> StreamGraph:
    return env._generate_stream_graph()


def edges(built: StreamGraph) -> list[tuple[str, str, str, int, str | None]]:
    names = {node.id: node.name for node in built.nodes.values()}
    return [(names[e.source], names[e.target], e.partitioner.kind, e.input_index, e.side_tag) for e in built.edges]


def only(built: StreamGraph, name: str) -> StreamNode:
    (node,) = [n for n in built.nodes.values() if n.name == name]
    return node


def numbers(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_collection([1, 2, 3], Types.INT())


def test_word_count(env: StreamExecutionEnvironment) -> None:
    words = env.from_collection(["a b", "a"]).flat_map(str.split).map(lambda w: (w, 1), PAIR)
    words.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1])).print("out")
    built = graph(env)
    assert edges(built) == [
        ("Source: Collection Source", "FlatMap", "rebalance", 0, None),
        ("FlatMap", "Map", "forward", 0, None),
        ("Map", "Reduce", "hash", 0, None),
        ("Reduce", "Sink: Print to Std. Out", "forward", 0, None),
    ]
    assert [(n.operator.kind, n.parallelism, n.inputs) for n in built.nodes.values()] == [
        ("source", 1, 0),
        ("flat_map", 2, 1),
        ("map", 2, 1),
        ("keyed_reduce", 2, 1),
        ("sink", 2, 1),
    ]
    source, sink = built.nodes[1], built.nodes[5]
    assert (source.is_source, source.bounded, source.is_sink) == (True, True, False)
    assert (sink.is_source, sink.is_sink) == (False, True)
    assert [n.output_type for n in built.nodes.values()] == [Types.PICKLED_BYTE_ARRAY()] * 2 + [PAIR] * 3
    assert [n.keyed for n in built.nodes.values()] == [False, False, False, True, False]
    hashed = built.in_edges(4)[0].partitioner.payload
    assert hashed(("a", 1)) == "a"


@pytest.mark.parametrize("kind", ["rebalance", "rescale", "shuffle", "broadcast"])
def test_partitioners(env: StreamExecutionEnvironment, kind: str) -> None:
    getattr(numbers(env), kind)().map(lambda x: x)
    assert edges(graph(env)) == [("Source: Collection Source", "Map", kind, 0, None)]


def test_streams_connected_with_a_broadcast_one(env: StreamExecutionEnvironment) -> None:
    rules, notes = MapStateDescriptor("rules"), MapStateDescriptor("notes")
    broadcast = numbers(env).map(lambda x: x).name("told").broadcast(rules, notes, rules)
    events = numbers(env).map(lambda x: x).name("events")
    events.connect(broadcast).process(Broadcast(), Types.INT())
    events.key_by(lambda x: x).connect(broadcast).process(KeyedBroadcast()).set_parallelism(3)
    built = graph(env)
    plain, keyed = list(built.nodes.values())[4:]
    assert edges(built)[2:] == [
        ("events", "Co-Process-Broadcast", "forward", 0, None),
        ("told", "Co-Process-Broadcast", "broadcast", 1, None),
        ("events", "Keyed-Co-Process-Broadcast", "hash", 0, None),
        ("told", "Keyed-Co-Process-Broadcast", "broadcast", 1, None),
    ]
    assert [(n.operator.kind, n.operator.params, n.keyed, n.inputs, n.parallelism, n.output_type) for n in (plain, keyed)] == [
        ("broadcast_process", {"states": ["rules", "notes"]}, False, 2, 2, Types.INT()),
        ("keyed_broadcast_process", {"states": ["rules", "notes"]}, True, 2, 3, Types.PICKLED_BYTE_ARRAY()),
    ]
    assert plain.operator.payload["descriptors"] == [rules, notes]


class Broadcast(BroadcastProcessFunction[Any, Any, Any]):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value

    process_broadcast_element = process_element


class KeyedBroadcast(KeyedBroadcastProcessFunction[Any, Any, Any, Any]):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value

    process_broadcast_element = process_element


def test_global_and_custom_partitioners(env: StreamExecutionEnvironment) -> None:
    numbers(env).global_().map(lambda x: x).partition_custom(lambda key, n: key % n, lambda x: x).filter(bool)
    built = graph(env)
    assert [e.partitioner.kind for e in built.edges] == ["global", "custom"]
    partitioner, selector = built.edges[1].partitioner.payload
    assert (partitioner(5, 3), selector(7)) == (2, 7)


def test_the_partitioning_next_to_the_reader_wins(env: StreamExecutionEnvironment) -> None:
    numbers(env).shuffle().rescale().map(lambda x: x)
    assert [e.partitioner.kind for e in graph(env).edges] == ["rescale"]


def test_forward_between_equal_parallelism_and_rebalance_otherwise(env: StreamExecutionEnvironment) -> None:
    stream = numbers(env).map(lambda x: x)
    stream.map(lambda x: x).set_parallelism(3).name("three")
    stream.forward().map(lambda x: x).name("two")
    assert edges(graph(env))[1:] == [("Map", "three", "rebalance", 0, None), ("Map", "two", "forward", 0, None)]


def test_union_has_an_edge_per_stream_also_when_nested_and_repartitioned(env: StreamExecutionEnvironment) -> None:
    a, b, c = (numbers(env).map(lambda x: x, Types.INT()).name(n) for n in "abc")
    a.union(b).union(c.shuffle()).map(lambda x: x).name("plain")
    a.union(b.key_by(lambda x: x)).rebalance().map(lambda x: x).name("repartitioned")
    assert edges(graph(env))[3:] == [
        ("a", "plain", "forward", 0, None),
        ("b", "plain", "forward", 0, None),
        ("c", "plain", "shuffle", 0, None),
        ("a", "repartitioned", "rebalance", 0, None),
        ("b", "repartitioned", "rebalance", 0, None),
    ]


def test_union_keeps_a_common_type_and_drops_it_where_one_is_undeclared(env: StreamExecutionEnvironment) -> None:
    typed, untyped = numbers(env).map(lambda x: x, Types.INT()), numbers(env).map(lambda x: x)
    assert typed.union(numbers(env)).get_type() == Types.INT()
    assert typed.union(untyped).get_type() == Types.PICKLED_BYTE_ARRAY()


def test_side_outputs_are_edges_with_tags_and_can_be_read_twice(env: StreamExecutionEnvironment) -> None:
    late, odd = OutputTag("late", Types.STRING()), OutputTag("odd")
    processed = numbers(env).process(Process(), Types.INT())
    processed.get_side_output(late).print("late")
    processed.get_side_output(OutputTag("late", Types.STRING())).name("again").set_parallelism(1)
    assert processed.get_side_output(odd).get_type() == Types.PICKLED_BYTE_ARRAY()
    processed.map(lambda x: x).name("main")
    built = graph(env)
    assert edges(built) == [
        ("Source: Collection Source", "PROCESS", "rebalance", 0, None),
        ("PROCESS", "Map", "forward", 0, "late"),
        ("Map", "Sink: Print to Std. Out", "forward", 0, None),
        ("PROCESS", "again", "rebalance", 0, "late"),
        ("PROCESS", "Map", "forward", 0, "odd"),
        ("PROCESS", "main", "forward", 0, None),
    ]
    assert (only(built, "again").operator.kind, only(built, "again").operator.payload) == ("convert", {"output_type": Types.STRING()})


def test_connected_streams(env: StreamExecutionEnvironment) -> None:
    a, b = numbers(env).map(lambda x: x).name("a"), numbers(env).map(str).name("b")
    connected = a.connect(b)
    connected.map(CoMap())
    connected.flat_map(CoFlatMap(), Types.INT())
    connected.process(CoProcess())
    built = graph(env)
    wanted = [("Co-Map", "co_map"), ("Co-Flat Map", "co_flat_map"), ("Co-Process", "co_process")]
    for name, kind in wanted:
        node = only(built, name)
        assert (node.operator.kind, node.inputs, node.keyed) == (kind, 2, False)
        assert [(e.source, e.partitioner.kind, e.input_index) for e in built.in_edges(node.id)] == [(2, "forward", 0), (4, "forward", 1)]
    assert [only(built, n).operator.params for n, _ in wanted] == [{"keyed": False}, {"keyed": False}, {}]


def test_connected_keyed_streams(env: StreamExecutionEnvironment) -> None:
    a, b = numbers(env), numbers(env)
    by_both = a.connect(b).key_by(lambda x: x, lambda x: -x)
    by_both.process(KeyedCoProcess())
    by_both.map(CoMap())
    a.key_by(lambda x: x).connect(b.key_by(lambda x: x)).process(CoProcess()).name("plain function")
    built = graph(env)
    for name, kind in [("Keyed Co-Process", "keyed_co_process"), ("Co-Map", "co_map"), ("plain function", "keyed_co_process")]:
        node = only(built, name)
        assert (node.operator.kind, node.keyed) == (kind, True)
        assert [(e.partitioner.kind, e.input_index) for e in built.in_edges(node.id)] == [("hash", 0), ("hash", 1)]
    assert [e.partitioner.payload(3) for e in built.in_edges(only(built, "Keyed Co-Process").id)] == [3, -3]
    assert only(built, "Co-Map").operator.params == {"keyed": True}


def test_keyed_operators(env: StreamExecutionEnvironment) -> None:
    keyed = numbers(env).key_by(lambda x: x)
    for stream, name, kind in [
        (keyed.map(str), "Map", "keyed_map"),
        (keyed.flat_map(lambda x: [x]), "FlatMap", "keyed_flat_map"),
        (keyed.filter(bool), "Filter", "keyed_filter"),
        (keyed.process(KeyedProcess()), "KEYED PROCESS", "keyed_process"),
        (keyed.reduce(max), "Reduce", "keyed_reduce"),
        (keyed.sum(), "Reduce", "keyed_reduce"),
    ]:
        node = stream._operator("test").node
        assert (node.name, node.operator.kind, node.keyed) == (name, kind, True)
    assert {e.partitioner.kind for e in graph(env).edges} == {"hash"}
    assert keyed.filter(bool).get_type() == keyed.reduce(max).get_type() == Types.INT()


def test_a_second_key_by_replaces_the_first(env: StreamExecutionEnvironment) -> None:
    numbers(env).key_by(lambda x: x).key_by(lambda x: x + 1).process(KeyedProcess())
    (edge,) = graph(env).edges
    assert (edge.partitioner.kind, edge.partitioner.payload(1)) == ("hash", 2)


def test_keys_get_their_declared_type(env: StreamExecutionEnvironment) -> None:
    class Selector(KeySelector):
        def get_key(self, value: Any) -> Any:
            return value, 0.1

    row = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.FLOAT()])
    numbers(env).key_by(Selector(), row).process(KeyedProcess())
    key = graph(env).edges[0].partitioner.payload.get_key(1)
    # 0.1 rounded to 32 bits, as a FLOAT is.
    assert key == Row(a=1, b=0.10000000149011612)


def test_sinks_take_a_keyed_stream_by_its_hash_edge(env: StreamExecutionEnvironment) -> None:
    numbers(env).key_by(lambda x: x).print()
    assert edges(graph(env)) == [("Source: Collection Source", "Sink: Print to Std. Out", "hash", 0, None)]


def test_windows(env: StreamExecutionEnvironment) -> None:
    late = OutputTag("late")
    keyed = numbers(env).key_by(lambda x: x)
    windowed = keyed.window(TumblingEventTimeWindows.of(5000)).allowed_lateness(10).side_output_late_data(late)
    windowed.process(ProcessWindow(), Types.STRING())
    windowed.apply(Apply())
    windowed.reduce(max)
    windowed.reduce(max, ProcessWindow(), Types.STRING())
    windowed.aggregate(Sum(), Apply(), accumulator_type=Types.LONG(), output_type=Types.INT())
    windowed.aggregate(Sum())
    nodes = [n for n in graph(env).nodes.values() if n.operator.kind == "window"]
    described = [(n.operator.payload["function_kind"], n.operator.payload["incremental_kind"], n.output_type) for n in nodes]
    pickled = Types.PICKLED_BYTE_ARRAY()
    assert described == [
        ("process", None, Types.STRING()),
        ("apply", None, pickled),
        ("pass_through", "reduce", Types.INT()),
        ("process", "reduce", Types.STRING()),
        ("apply", "aggregate", Types.INT()),
        ("pass_through", "aggregate", pickled),
    ]
    for node in nodes:
        payload = node.operator.payload
        assert isinstance(payload["trigger"], EventTimeTrigger)
        assert (payload["allowed_lateness_ms"], payload["late_tag"], payload["all"], payload["output_type"]) == (
            10,
            "late",
            False,
            node.output_type,
        )
        assert (node.name, node.keyed, node.parallelism) == ("TumblingEventTimeWindows", True, 2)
    assert nodes[4].operator.payload["accumulator_type"] == Types.LONG()


def test_windows_over_everything_run_in_one_subtask(env: StreamExecutionEnvironment) -> None:
    windows = numbers(env).window_all(TumblingProcessingTimeWindows.of(10)).trigger(CountTrigger.of(2)).apply(ApplyAll())
    windows.print()
    node = only(graph(env), "TumblingProcessingTimeWindows")
    assert (node.parallelism, node.operator.payload["all"], type(node.operator.payload["trigger"])) == (1, True, CountTrigger)
    (edge,) = graph(env).in_edges(node.id)
    assert edge.partitioner.kind == "hash"
    assert len({edge.partitioner.payload.get_key(v) for v in (1, "a", None)}) == 1
    with pytest.raises(Exception, match="can only have parallelism 1"):
        windows.set_parallelism(2)


def test_count_windows(env: StreamExecutionEnvironment) -> None:
    keyed = numbers(env).key_by(lambda x: x)
    assert keyed.count_window(3).reduce(max).get_name() == "CountTumblingWindowAssigner"
    assert keyed.count_window(3, 1).reduce(max).get_name() == "CountSlidingWindowAssigner"


def test_the_description_of_a_window_is_that_of_flink(env: StreamExecutionEnvironment) -> None:
    keyed = numbers(env).key_by(lambda x: x)
    counted = keyed.count_window(3).reduce(lambda a, b: a)
    totals = numbers(env).window_all(TumblingEventTimeWindows.of(5000)).aggregate(Sum())
    # As PyFlink 2.3's get_execution_plan() has them.
    assert counted._operator("").node.description == "Window(CountTumblingWindowAssigner(3), CountTrigger, function)"
    assert totals._operator("").node.description == "AllWindow(TumblingEventTimeWindows(5000, 0), EventTimeTrigger, Sum)"


def test_a_session_window_takes_its_default_trigger(env: StreamExecutionEnvironment) -> None:
    numbers(env).key_by(lambda x: x).window(EventTimeSessionWindows.with_gap(100)).process(ProcessWindow())
    assert isinstance(graph(env).nodes[2].operator.payload["trigger"], EventTimeTrigger)


def test_project(env: StreamExecutionEnvironment) -> None:
    projected = env.from_collection([("a", 1)], PAIR).project(1, 0)
    assert projected.get_type() == Types.TUPLE([Types.INT(), Types.STRING()])
    node = only(graph(env), "Projection")
    assert (node.operator.kind, node.operator.params) == ("project", {"fields": [1, 0]})


def test_timestamps(env: StreamExecutionEnvironment) -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    stream = numbers(env).assign_timestamps_and_watermarks(strategy)
    node = only(graph(env), "Timestamps/Watermarks")
    assert (node.operator.kind, repr(node.operator.payload["strategy"]), stream.get_type()) == ("timestamps", repr(strategy), Types.INT())


def test_batch_mode_reduces_to_final_results(env: StreamExecutionEnvironment) -> None:
    numbers(env).key_by(lambda x: x).sum().print()
    modes = {}
    for mode in RuntimeExecutionMode:
        env.set_runtime_mode(mode)
        built = graph(env)
        modes[mode.name] = (built.runtime_mode, only(built, "Reduce").operator.params["final_only"])
    # All sources are bounded, so AUTOMATIC means BATCH.
    assert modes == {"STREAMING": ("STREAMING", False), "BATCH": ("BATCH", True), "AUTOMATIC": ("BATCH", True)}


def test_settings_reach_the_nodes(env: StreamExecutionEnvironment) -> None:
    stream = numbers(env).map(lambda x: x)
    stream.name("m").uid("u").set_parallelism(3).set_max_parallelism(9).set_description("d").set_buffer_timeout(5)
    stream.slot_sharing_group("g").disable_chaining()
    other = stream.map(lambda x: x).set_uid_hash("AB" * 16).start_new_chain().set_buffer_timeout(7).set_buffer_timeout(-1)
    other.print().name("p").uid("pu").set_parallelism(1).set_description("pd").slot_sharing_group("h").disable_chaining()
    first, second, sink = list(graph(env).nodes.values())[1:]
    assert (first.name, first.uid, first.parallelism, first.max_parallelism, first.description) == ("m", "u", 3, 9, "d")
    assert (first.buffer_timeout_ms, first.slot_sharing_group, first.chaining) == (5, "g", "never")
    assert (second.uid_hash, second.chaining, second.buffer_timeout_ms) == ("ab" * 16, "head", None)
    assert (sink.name, sink.uid, sink.parallelism, sink.description) == ("Sink: p", "pu", 1, "pd")
    assert (sink.slot_sharing_group, sink.chaining) == ("h", "never")


def test_the_environment_parallelism_is_taken_when_an_operator_is_made(env: StreamExecutionEnvironment) -> None:
    early = numbers(env).map(lambda x: x)
    env.set_parallelism(5)
    late = early.map(lambda x: x)
    forced = late.map(lambda x: x).force_non_parallel()
    assert [s._operator("").node.parallelism for s in (early, late, forced)] == [2, 5, 1]
    assert [n.parallelism for n in graph(env).nodes.values()] == [1, 2, 5, 1]


def test_nodes_know_the_line_of_the_user(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).map(str)
    head = test_nodes_know_the_line_of_the_user.__code__.co_firstlineno
    assert {n.user_location for n in graph(env).nodes.values()} == {f"{__file__}:{head + 1}"}


def test_sources_that_nobody_reads_do_not_run(env: StreamExecutionEnvironment) -> None:
    numbers(env)
    numbers(env).print()
    assert [n.name for n in graph(env).nodes.values()] == ["Source: Collection Source", "Sink: Print to Std. Out"]


def test_a_graph_does_not_change_with_its_program(env: StreamExecutionEnvironment) -> None:
    stream = numbers(env).map(lambda x: x)
    built = graph(env)
    stream.name("other").set_parallelism(7)
    assert (built.nodes[2].name, built.nodes[2].parallelism) == ("Map", 2)


def test_long_programs_do_not_exhaust_the_stack(env: StreamExecutionEnvironment) -> None:
    stream = numbers(env)
    united = stream
    for _ in range(3000):
        stream = stream.map(lambda x: x)
        united = united.union(stream)
    united.print()
    assert len(graph(env).edges) == 3000 + 3001
