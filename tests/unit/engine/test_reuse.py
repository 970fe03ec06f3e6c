"""Which tasks of a BATCH job need not run again."""

from __future__ import annotations

import pytest

from wiesel.checkpoint.messages import TaskFinished
from wiesel.checkpoint.snapshot import TaskSnapshot
from wiesel.common import Configuration, Types
from wiesel.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.engine.reuse import Finished, reusable_tasks
from wiesel.graph.execution_graph import build_execution_graph
from wiesel.graph.job_graph import build_job_graph
from wiesel.graph.stage_plan import StagePlan, build_stage_plan


def plan(*, sink_early: bool = False) -> StagePlan:
    """Return a plan of four stages with two tasks each, the first with one."""
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({})).set_parallelism(2)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    stream = env.from_collection([1], Types.LONG())
    for number in range(3):
        stream = stream.rebalance().map(lambda n: n, Types.LONG())
        if sink_early and number == 0:
            stream.print()
    stream.print()
    return build_stage_plan(build_execution_graph(build_job_graph(env._generate_stream_graph())))


def finished(stages: StagePlan, levels: int) -> Finished:
    tasks = [(s.vertex, s.index) for level in stages.regions[0].levels[:levels] for s in level]
    return Finished({t: TaskFinished(t, TaskSnapshot({})) for t in tasks}, {t: {"numRecordsIn": 1} for t in tasks})


@pytest.mark.parametrize(("kept", "first"), [([], 0), ([1], 1), ([1, 2], 2), ([2], 2), ([1, 2, 3], 3)])
def test_stages_before_the_first_whose_input_is_there(kept: list[int], first: int) -> None:
    stages = plan()
    assert len(stages.regions[0].levels) == 4
    result = reusable_tasks(stages, finished(stages, 3), {0: kept})
    expected = finished(stages, first)
    assert result.messages == expected.messages
    assert result.metrics == expected.metrics


def test_stages_with_sinks_run_again() -> None:
    stages = plan(sink_early=True)
    assert reusable_tasks(stages, finished(stages, 3), {0: [1, 2, 3]}).messages == finished(stages, 1).messages


def test_what_is_not_known_to_have_finished_runs_again() -> None:
    stages = plan()
    assert reusable_tasks(stages, finished(stages, 1), {0: [1, 2]}).messages == {}
    assert reusable_tasks(stages, Finished(), {0: [1]}).messages == {}
