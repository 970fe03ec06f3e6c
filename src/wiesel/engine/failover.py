"""Internal. Failover regions: tasks that are started and restarted together. See docs/design/0007-failover-regions.md."""

from __future__ import annotations

from dataclasses import dataclass

from wiesel.checkpoint.messages import TaskKey
from wiesel.core.errors import CorruptCheckpointError, NoResourceAvailableError, is_retryable
from wiesel.graph.specs import ITERATION_HEAD
from wiesel.graph.stage_plan import StagePlan


@dataclass
class FailoverRegion:
    """Tasks that are started together, and their state.

    Attributes:
        index: Its index among the regions of the job.
        vertices: Its vertices.
        tasks: Their tasks.
        number: Their attempt.
        restored_id: The checkpoint restored by them, 0 for none.
        launched: The launcher runs some of them.
        failure: The reason if they are being restarted while the job runs, else None.
        counts: That failure counts as a restart for the restart strategy.
        restart_at_ms: Time of the restart; None if it has begun, or is not planned.
        first_registered_s: Time when the first of them registered.
        first_lost: The first one whose connection was lost before it reported its end.
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
        together: Form a single region of all tasks, whatever the graph.
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
    """Return whether a failure affects one of several regions only.

    Args:
        region: The region of the failure.
        error: The failure.
        first_number: The attempt in which all regions began.
    """
    if isinstance(error, NoResourceAvailableError):
        # Initially the slots are requested for all regions together.
        return region.number > first_number
    # Only a restart of the whole job may restore an older checkpoint, as the others would have to.
    return is_retryable(error) and not isinstance(error, CorruptCheckpointError)
