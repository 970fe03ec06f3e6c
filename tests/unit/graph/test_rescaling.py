"""Another parallelism of a job's vertices: what stays, what is refused, how slots are shared out, which key groups move."""

from __future__ import annotations

import pytest

from wiesel.common import Configuration, WatermarkStrategy
from wiesel.core.errors import ConfigurationError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors.number_seq import NumberSequenceSource
from wiesel.graph.execution_graph import build_execution_graph
from wiesel.graph.job_graph import JobGraph, build_job_graph
from wiesel.graph.rescaling import Bounds, everywhere, fitting, moved_groups, nodes_of, present, rescaled, slots_needed
from wiesel.graph.stage_plan import build_stage_plan
from wiesel.state.key_groups import key_group_range


def job(parallelism: int = 2, max_parallelism: int = 128) -> JobGraph:
    """Return source -> map | fixed | keyed -> sink, where ``fixed`` has parallelism 3 by the program, and chains end at ``|``."""
    env = StreamExecutionEnvironment.get_execution_environment(Configuration())
    env.set_parallelism(parallelism).set_max_parallelism(max_parallelism)
    source = env.from_source(NumberSequenceSource(1, 2), WatermarkStrategy.no_watermarks(), "numbers")
    numbers = source.map(lambda n: n).name("mapped").start_new_chain()
    fixed = numbers.rebalance().map(lambda n: n).name("fixed").set_parallelism(3)
    fixed.key_by(lambda n: n).reduce(lambda a, b: a + b).name("keyed").print()
    return build_job_graph(env._generate_stream_graph())


def levels(graph: JobGraph) -> dict[str, int]:
    return {o.node.name: v.parallelism for v in graph.vertices for o in v.operators}


def test_what_the_program_sets_stays_and_the_rest_follows() -> None:
    before = job()
    after = rescaled(before, everywhere(before, 5))
    assert [levels(after)[name] for name in ("Source: numbers", "mapped", "fixed", "keyed")] == [5, 5, 3, 5]
    assert [levels(before)[name] for name in ("Source: numbers", "mapped", "fixed", "keyed")] == [2, 2, 3, 2]
    for old, new in zip(before.vertices, after.vertices, strict=True):
        assert (new.operators, new.max_parallelism, new.id, new.name) == (old.operators, old.max_parallelism, old.id, old.name)
    build_stage_plan(build_execution_graph(after))


def test_a_chain_is_split_where_its_operators_are_not_of_one_parallelism() -> None:
    before = job(parallelism=3)
    (chain,) = (v for v in before.vertices if v.name.startswith("keyed"))
    end = chain.operators[-1]
    wanted = present(before) | {end.node_id: 1}
    after = rescaled(before, wanted)
    assert [v.index for v in after.vertices] == list(range(len(before.vertices) + 1))
    assert [v.name for v in after.vertices[-2:]] == ["keyed", end.node.name]
    assert [v.id for v in after.vertices[-2:]] == [chain.id, end.operator_id]
    assert [v.max_parallelism for v in after.vertices[-2:]] == [chain.max_parallelism] * 2
    edge = after.edges[-1]
    assert (edge.source_vertex, edge.target_vertex, edge.partitioner.kind) == (len(before.vertices) - 1, len(before.vertices), "rebalance")
    assert [e.index for e in after.edges] == list(range(len(before.edges) + 1))
    build_stage_plan(build_execution_graph(after))
    assert rescaled(before, present(before)) == before


def test_edges_into_a_split_chain_lead_to_its_head_and_out_of_it_from_their_operators() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration()).set_parallelism(2)
    source = env.from_source(NumberSequenceSource(1, 2), WatermarkStrategy.no_watermarks(), "numbers")
    split = source.map(lambda n: n).name("split")
    split.key_by(lambda n: n).reduce(lambda a, b: a + b).name("one").print()
    source.key_by(lambda n: n).reduce(lambda a, b: a + b).name("two").print()
    graph = build_job_graph(env._generate_stream_graph())
    node = {n.name: n.id for n in nodes_of(graph)}
    after = rescaled(graph, present(graph) | {node["split"]: 4})
    edges = {(after.vertices[e.source_vertex].name, after.vertices[e.target_vertex].name.split(" ")[0]) for e in after.edges}
    assert edges == {("Source: numbers", "split"), ("split", "one"), ("Source: numbers", "two")}
    for edge in after.edges:
        assert edge.source_vertex < edge.target_vertex, "vertices are in topological order"


def test_a_forward_edge_between_unequal_operators_is_shared_out() -> None:
    before = job()
    (forward,) = (e for e in before.edges if e.partitioner.kind == "forward")
    mapped = before.vertices[forward.target_vertex].operators[0].node_id
    after = rescaled(before, present(before) | {mapped: 4})
    channels = {(c.source.index, c.target.index) for c in build_execution_graph(after).channels if c.edge == forward.index}
    assert channels == {(i, j) for i in range(2) for j in range(4)}
    assert rescaled(before, everywhere(before, 3)).edges[forward.index].partitioner.kind == "forward"


def test_more_than_the_maximum_is_refused() -> None:
    before = job(max_parallelism=4)
    with pytest.raises(ConfigurationError, match=r"cannot have parallelism 5: its maximum parallelism is 4"):
        rescaled(before, everywhere(before, 5))
    with pytest.raises(ConfigurationError, match="cannot have parallelism 0"):
        rescaled(before, everywhere(before, 0))


def test_both_ends_of_an_iteration_need_one_parallelism() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration()).set_parallelism(2)
    loop = env.from_collection([1, 2]).map(lambda n: n).iterate()
    stepped = loop.rebalance().map(lambda n: n - 1)
    loop.close_with(stepped.filter(lambda n: n > 0))
    stepped.print()
    graph = build_job_graph(env._generate_stream_graph())
    tail = next(n.id for n in nodes_of(graph) if n.operator.kind == "iteration_tail")
    rescaled(graph, everywhere(graph, 3))
    with pytest.raises(ConfigurationError, match="need one parallelism, not 2 and 3"):
        rescaled(graph, present(graph) | {tail: 3})


@pytest.mark.parametrize(("slots", "expected"), [(3, None), (4, 1), (7, 1), (8, 2), (11, 2), (12, 3), (15, 3), (16, 4), (99, 4)])
def test_slots_are_shared_out_evenly_within_the_bounds(slots: int, expected: int | None) -> None:
    graph = job()
    assert len(graph.vertices) == 4
    found = fitting(graph, dict.fromkeys(present(graph), Bounds(1, 4)), slots)
    assert found == (None if expected is None else dict.fromkeys(present(graph), expected))
    if found is not None:
        assert slots_needed(graph, found) <= slots


def test_bounds_are_kept_to() -> None:
    graph = job()
    node = {n.name: n.id for n in nodes_of(graph)}
    bounds = dict.fromkeys(present(graph), Bounds(1, 4)) | {node["fixed"]: Bounds(3, 3), node["mapped"]: Bounds(1, 2)}
    assert fitting(graph, bounds, 5) is None
    assert fitting(graph, bounds, 6) == dict.fromkeys(bounds, 1) | {node["fixed"]: 3}
    assert fitting(graph, bounds, 99) == dict.fromkeys(bounds, 4) | {node["fixed"]: 3, node["mapped"]: 2}


@pytest.mark.parametrize(("before", "after", "groups"), [(2, 3, 128), (3, 2, 128), (1, 4, 128), (4, 1, 16), (2, 2, 16), (5, 7, 100)])
def test_r2_moved_groups_are_those_that_have_left_the_range_of_their_subtask(before: int, after: int, groups: int) -> None:
    stay = 0
    for subtask in range(min(before, after)):
        a, b = key_group_range(subtask, groups, before), key_group_range(subtask, groups, after)
        stay += max(0, min(a.end, b.end) - max(a.start, b.start))
    assert moved_groups(groups, before, after) == groups - stay
