"""Internal. BATCH mode: tasks of a failed attempt whose results can be reused.

A stage's results are complete when the next one begins, and the launcher may have retained them. Then a new attempt starts with the first
stage whose input is available. Stages with sinks always run again: their output belongs to the failed attempt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wiesel.checkpoint.messages import TaskFinished, TaskKey
from wiesel.graph.stage_plan import Region, StagePlan

__all__ = ["Finished", "reusable_tasks"]


@dataclass
class Finished:
    """Tasks that have ended well: their last messages and their metrics."""

    messages: dict[TaskKey, TaskFinished] = field(default_factory=dict)
    metrics: dict[TaskKey, dict[str, Any]] = field(default_factory=dict)


def reusable_tasks(plan: StagePlan, finished: Finished, kept: Mapping[int, Sequence[int]]) -> Finished:
    """Return the tasks that need not run again.

    Args:
        plan: The job's plan.
        finished: The tasks that have finished.
        kept: By region the levels with retained input.
    """
    result = Finished()
    for region in plan.regions:
        last = _first_sink(plan, region)
        first = max((level for level in kept.get(region.index, ()) if level <= last), default=0)
        tasks = [(s.vertex, s.index) for level in region.levels[:first] for s in level]
        if all(task in finished.messages for task in tasks):
            result.messages |= {task: finished.messages[task] for task in tasks}
            result.metrics |= {task: finished.metrics.get(task, {}) for task in tasks}
    return result


def _first_sink(plan: StagePlan, region: Region) -> int:
    """Return the first level with a sink; the last level if there is none."""
    vertices = plan.graph.job.vertices
    sinks = [
        level
        for level, subtasks in enumerate(region.levels)
        if any(operator.node.is_sink for subtask in subtasks for operator in vertices[subtask.vertex].operators)
    ]
    return min(sinks, default=len(region.levels) - 1)
