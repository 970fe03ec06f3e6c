"""Internal. Failover regions: which tasks are started, and restarted, together. See docs/design/0007-failover-regions.md."""

from __future__ import annotations

from dataclasses import dataclass

from wiesel.checkpoint.messages import TaskKey
from wiesel.core.errors import CorruptCheckpointError, NoResourceAvailableError, is_retryable
from wiesel.graph.specs import ITERATION_HEAD
from wiesel.graph.stage_plan import StagePlan


@dataclass
class FailoverRegion:
    """Tasks that are started together, and how they are.

    Attributes:
        index: Its number among the regions of the job.
        vertices: Its vertices.
        tasks: Their tasks.
        number: The attempt in which they run.
        restored_id: The checkpoint that they began with, 0 if with none.
        launched: Whether the launcher runs some of them.
        failure: Why they are being restarted while the job runs on, None if they are not.
        counts: Whether that failure is a restart of its own for the restart strategy.
        restart_at_ms: When they are to be restarted; None when that has begun, or is not wanted.
        first_registered_s: When the first of them was there.
        first_lost: The first one whose connection ended before it had told its end.
    """

    index: int
    vertices: frozenset[int]
    tasks: frozenset[TaskKey]
    number: int = 0
    restored_id: int = 0
    launched: bool = False
    failure: BaseException | None = None
    counts: bool = True
    restart_at_ms: int | None = None
    first_registered_s: float | None = None
    first_lost: TaskKey | None = None


def failover_regions(plan: StagePlan, *, together: bool) -> list[FailoverRegion]:
    """Return the regions of a job.

    Args:
        plan: The job's plan.
        together: Whether there is to be one for all tasks, whatever the graph.
    """
    job = plan.graph.job
    iterates = any(o.node.operator.kind == ITERATION_HEAD for v in job.vertices for o in v.operators)
    if together or iterates or job.of_bounded_data:
        components = [[v.index for v in job.vertices]]
    else:
        components = [region.vertices for region in plan.regions]
    return [
        FailoverRegion(index, frozenset(vertices), frozenset((v, i) for v in vertices for i in range(job.vertices[v].parallelism)))
        for index, vertices in enumerate(components)
    ]


def restarts_alone(region: FailoverRegion, error: BaseException, first_number: int) -> bool:
    """Return whether a failure concerns a region only; the job has others.

    Args:
        region: Where it happened.
        error: The failure.
        first_number: The number of the attempt in which all regions began.
    """
    if isinstance(error, NoResourceAvailableError):
        # At first the slots are requested for all regions together.
        return region.number > first_number
    # Only a restart of the whole job may go back to an older checkpoint, as the others would have to.
    return is_retryable(error) and not isinstance(error, CorruptCheckpointError)
