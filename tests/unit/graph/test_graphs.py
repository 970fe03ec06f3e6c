"""Chaining, operator ids, channels, levels and relays, from stream graphs made by hand."""

from __future__ import annotations

import pytest

from wiesel.core.errors import ProgramError
from wiesel.graph.execution_graph import build_execution_graph, pointwise_targets
from wiesel.graph.job_graph import build_job_graph
from wiesel.graph.operator_ids import operator_ids
from wiesel.graph.specs import REBALANCE, OperatorSpec, PartitionerSpec, StreamEdge, StreamGraph, StreamNode
from wiesel.graph.stage_plan import build_stage_plan

HASH = PartitionerSpec("hash")


def graph(nodes: dict[int, int], edges: list[StreamEdge], **options: object) -> StreamGraph:
    """Nodes: id -> parallelism; those without inputs are sources."""
    targets = {e.target for e in edges}
    made = {
        n: StreamNode(
            n,
            f"op{n}",
            OperatorSpec("map"),
            parallelism=p,
            is_source=n not in targets,
            inputs=len({e.input_index for e in edges if e.target == n}),
        )
        for n, p in nodes.items()
    }
    return StreamGraph("job", made, edges, **options)  # type: ignore[arg-type]


def test_forward_edges_of_equal_parallelism_are_chained() -> None:
    job = build_job_graph(graph({1: 2, 2: 2, 3: 2, 4: 1}, [StreamEdge(1, 2), StreamEdge(2, 3, HASH), StreamEdge(3, 4, REBALANCE)]))
    assert [[o.node_id for o in v.operators] for v in job.vertices] == [[1, 2], [3], [4]]
    assert [(e.source_vertex, e.target_vertex, e.partitioner.kind) for e in job.edges] == [(0, 1, "hash"), (1, 2, "rebalance")]
    assert job.vertices[0].name == "op1 -> op2"


def test_chaining_obeys_the_user_the_slot_group_and_the_number_of_inputs() -> None:
    base = graph({1: 1, 2: 1, 3: 1}, [StreamEdge(1, 2), StreamEdge(2, 3)])
    assert len(build_job_graph(base).vertices) == 1
    base.nodes[2].chaining = "never"
    assert len(build_job_graph(base).vertices) == 3
    base.nodes[2].chaining = "head"
    assert [[o.node_id for o in v.operators] for v in build_job_graph(base).vertices] == [[1], [2, 3]]
    base.nodes[2].chaining = "always"
    base.nodes[3].slot_sharing_group = "other"
    assert len(build_job_graph(base).vertices) == 2
    base.chaining_enabled = False
    assert len(build_job_graph(base).vertices) == 3
    two = graph({1: 1, 2: 1, 3: 1}, [StreamEdge(1, 3), StreamEdge(2, 3, input_index=1)])
    assert len(build_job_graph(two).vertices) == 3


def test_operator_ids_are_stable_and_uids_fix_them() -> None:
    edges = [StreamEdge(1, 2), StreamEdge(2, 3, HASH)]
    first = graph({1: 1, 2: 1, 3: 1}, edges)
    first.nodes[3].uid = "counter"
    longer = graph({1: 1, 2: 1, 9: 1, 3: 1}, [StreamEdge(1, 2), StreamEdge(2, 9), StreamEdge(9, 3, HASH)])
    longer.nodes[3].uid = "counter"
    assert operator_ids(first) == operator_ids(first)
    assert operator_ids(first)[3] == operator_ids(longer)[3]
    assert len(set(operator_ids(longer).values())) == 4


def test_a_uid_used_twice_is_refused() -> None:
    twice = graph({1: 1, 2: 1}, [StreamEdge(1, 2)])
    twice.nodes[1].uid = twice.nodes[2].uid = "x"
    with pytest.raises(ProgramError, match="given to two operators"):
        build_job_graph(twice)


def test_parallelism_above_the_maximum_is_refused() -> None:
    wide = graph({1: 1, 2: 8}, [StreamEdge(1, 2, HASH)])
    wide.nodes[2].max_parallelism = 4
    with pytest.raises(ProgramError, match="above its maximum parallelism 4"):
        build_job_graph(wide)


def test_forward_between_different_parallelism_is_refused() -> None:
    job = build_job_graph(graph({1: 1, 2: 2}, [StreamEdge(1, 2)]))
    with pytest.raises(ProgramError, match="forward partitioning joins"):
        build_execution_graph(job)


@pytest.mark.parametrize(("sources", "targets"), [(2, 4), (4, 2), (3, 3), (2, 3), (3, 2), (1, 5), (5, 1)])
def test_rescale_reaches_every_target_and_shares_evenly(sources: int, targets: int) -> None:
    reached = [list(pointwise_targets(s, sources, targets)) for s in range(sources)]
    assert {t for ts in reached for t in ts} == set(range(targets))
    sizes = [len(ts) for ts in reached]
    assert max(sizes) - min(sizes) <= 1


def test_levels_and_relays_of_an_edge_that_skips_one() -> None:
    # 1 -> 2 -> 3 and 1 -> 3: the direct edge is relayed by a partition of level 1.
    job = build_job_graph(
        graph({1: 2, 2: 3, 3: 2}, [StreamEdge(1, 2, HASH), StreamEdge(2, 3, HASH), StreamEdge(1, 3, HASH, input_index=1)])
    )
    plan = build_stage_plan(build_execution_graph(job))
    (region,) = plan.regions
    assert [len(level) for level in region.levels] == [2, 3, 2]
    assert region.slots == 7
    assert region.next_hop(0, 1, 2) == 2
    assert region.next_hop(0, 2, 1) == 1
    assert region.next_hop(1, 2, 1) == 1


def test_independent_pipelines_are_regions_of_their_own() -> None:
    job = build_job_graph(graph({1: 1, 2: 2, 3: 1, 4: 1}, [StreamEdge(1, 2, HASH), StreamEdge(3, 4, HASH)]))
    plan = build_stage_plan(build_execution_graph(job))
    assert [r.vertices for r in plan.regions] == [[0, 2], [1, 3]] or [sorted(r.vertices) for r in plan.regions] == [[0, 1], [2, 3]]


def test_a_cycle_is_refused() -> None:
    loop = graph({1: 1, 2: 1, 3: 1}, [StreamEdge(1, 2), StreamEdge(2, 3), StreamEdge(3, 2, input_index=1)])
    with pytest.raises(ProgramError, match="cycle"):
        build_job_graph(loop)
