"""Internal. Rescaling of a running job: a checkpoint, the end of the attempt, and another one with the new plan.

No state is moved or rewritten: the tasks of the new attempt read the files of the checkpoint, each with its new key groups. Until the
checkpoint is complete the job runs unchanged; if its slots are lost once it has stopped, it continues as before.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wiesel.core.errors import CheckpointError, JobExecutionError, NoResourceAvailableError, WieselError
from wiesel.core.logs import get_logger
from wiesel.engine.job_attempt import JobAttempt
from wiesel.graph.execution_graph import build_execution_graph
from wiesel.graph.rescaling import Bounds, check_parallelism, everywhere, fitting, moved_groups, present, rescaled, slots_needed
from wiesel.graph.stage_plan import StagePlan, build_stage_plan
from wiesel.rest.gateway import Rescaled, RescaledVertex

if TYPE_CHECKING:
    from wiesel.engine.job_master import JobMaster

_log = get_logger("wiesel.job")


class RescalingError(JobExecutionError):
    """Ends an attempt that had not failed: the job is being rescaled."""


def compare(before: StagePlan, after: StagePlan) -> tuple[RescaledVertex, ...]:
    """Return the result for each present vertex."""
    old, job = present(before.graph.job), after.graph.job
    found = []
    for vertex in job.vertices:
        parallelism, groups = old[vertex.operators[0].node_id], vertex.max_parallelism
        keyed = any(edge.partitioner.kind == "hash" for edge in job.in_edges(vertex.index))
        moved = (groups, moved_groups(groups, parallelism, vertex.parallelism)) if keyed else (0, 0)
        found.append(RescaledVertex(vertex.name, parallelism, vertex.parallelism, *moved))
    return tuple(found)


def slots_of(plan: StagePlan) -> int:
    """Return the number of concurrent tasks."""
    return sum(region.slots for region in plan.regions)


class _Phase(enum.Enum):
    CHECKPOINT = 1
    STOPPING = 2
    STARTING = 3


@dataclass
class _Request:
    before: StagePlan
    after: StagePlan
    bounds: dict[int, Bounds]
    answer: Future[Rescaled]
    phase: _Phase = _Phase.CHECKPOINT
    checkpoint_id: int = 0


class Rescaling:
    """The pending rescaling, if any. Methods are called in the master's thread."""

    def __init__(self, master: JobMaster) -> None:
        self._master = master
        self._request: _Request | None = None
        self.completed = 0
        self._job = master.plan.graph.job
        """With the chains of the last attempt. Rescaling splits them further, but never merges them: records in flight of an unaligned
        checkpoint belong to a connection between tasks."""
        self.bounds = {node: Bounds(1, parallelism) for node, parallelism in present(self._job).items()}
        """Bounds of the parallelism of each operator, by node."""

    def present(self) -> dict[int, int]:
        """Return the parallelism that the operators have."""
        return present(self._master.plan.graph.job)

    def desired(self) -> dict[int, int]:
        """Return the desired parallelism of the operators, if there are slots for it."""
        return {node: bounds.upper for node, bounds in self.bounds.items()}

    def least_slots(self) -> int:
        """Return the minimal number of slots of the job."""
        return slots_needed(self._job, {node: bounds.lower for node, bounds in self.bounds.items()})

    def fitting(self, free: int | None) -> dict[int, int] | None:
        """Return the parallelism possible with free slots in addition to those of the job; None if they are too few."""
        return self.desired() if free is None else fitting(self._job, self.bounds, free + self._master.slots_held())

    def plan_with(self, parallelism: Mapping[int, int]) -> StagePlan:
        """Return the plan with this parallelism of the operators."""
        return build_stage_plan(build_execution_graph(rescaled(self._job, parallelism)))

    @property
    def under_way(self) -> bool:
        """Return whether the job is being rescaled."""
        return self._request is not None

    def everywhere(self, parallelism: int) -> Future[Rescaled]:
        """Rescale all operators whose parallelism the program does not set. See ``request``."""
        now = self.present()
        wanted = everywhere(self._master.plan.graph.job, parallelism)
        bounds = {v: b if wanted[v] == now[v] else Bounds(min(wanted[v], b.lower), wanted[v]) for v, b in self.bounds.items()}
        return self.request(wanted, bounds)

    def request(self, parallelism: Mapping[int, int], bounds: Mapping[int, Bounds] | None = None) -> Future[Rescaled]:
        """Rescale to this parallelism of the operators, with new bounds; the answer is set when all tasks run.

        Raises:
            ConfigurationError: If an operator cannot have it.
            CheckpointError: If the job cannot be rescaled now.
        """
        master, answer = self._master, Future[Rescaled]()
        answer.set_running_or_notify_cancel()
        if self._request is not None:
            raise CheckpointError("the job is being rescaled already", hint="try again when it runs")
        before = master.plan
        self._check_in_flight()
        after = self.plan_with(parallelism)
        after_bounds = dict(self.bounds if bounds is None else bounds)
        if present(before.graph.job) == present(after.graph.job):
            self.bounds = after_bounds
            answer.set_result(Rescaled(0, compare(before, after)))
            return answer
        self._request = _Request(before, after, after_bounds, answer)
        master.run_async(master.free_slots, self._on_slots)
        return answer

    def require(self, bounds: Mapping[int, Bounds]) -> Future[None]:
        """Set the bounds and rescale as far as the slots allow; the answer is set when there are slots for the lower bounds.

        Raises:
            ConfigurationError: If an operator cannot have such a parallelism.
            CheckpointError: If the job cannot be rescaled now.
        """
        master, answer = self._master, Future[None]()
        answer.set_running_or_notify_cancel()
        if self._request is not None:
            raise CheckpointError("the job is being rescaled already", hint="try again when it runs")
        check_parallelism(self._job, {v: b.upper for v, b in bounds.items()})
        check_parallelism(self._job, {v: b.lower for v, b in bounds.items()})

        def looked(free: int | None, error: BaseException | None) -> None:
            try:
                if error is not None:
                    raise error
                self.request(self._fitting(bounds, free), bounds)
                self.bounds = dict(bounds)
            except Exception as refused:  # noqa: BLE001 - told to whoever has asked
                answer.set_exception(refused)
            else:
                answer.set_result(None)

        master.run_async(master.free_slots, looked)
        return answer

    def _fitting(self, bounds: Mapping[int, Bounds], free: int | None) -> dict[int, int]:
        if free is None:
            return {v: b.upper for v, b in bounds.items()}
        slots = free + self._master.slots_held()
        parallelism = fitting(self._job, bounds, slots)
        if parallelism is None:
            raise NoResourceAvailableError(
                f"the job would need {slots_needed(self._job, {v: b.lower for v, b in bounds.items()})} slots at the same time, there are "
                f"{slots}",
                hint="add executors or cores, or give lower bounds; the job continues unchanged",
            )
        return parallelism

    def _check_in_flight(self) -> None:
        """Reject a checkpoint that cannot be restored: it has records in flight partitioned by a custom partitioner."""
        if self._master.settings.checkpoints.overtake_after_ms is None:
            return
        if any(edge.partitioner.kind == "custom" for edge in self._job.edges):
            raise CheckpointError(
                "a job with partition_custom and unaligned checkpoints cannot be rescaled",
                hint="stop it with a savepoint, and start it from that with the parallelism",
            )

    # Steps of rescaling

    def _on_slots(self, free: int | None, error: BaseException | None) -> None:
        request = self._request
        if request is None:
            return
        own, needed = self._master.slots_held(), slots_of(request.after)
        if error is not None:
            self._fail(error)
        elif free is not None and needed > free + own:
            self._fail(
                NoResourceAvailableError(
                    f"with that parallelism the job needs {needed} slots at the same time; there are {free + own}: {own} that it has and "
                    f"{free} free",
                    hint="add executors or cores, or choose a lower parallelism; the job continues unchanged",
                )
            )
        else:
            self._master.checkpoint_requests.request().add_done_callback(self._on_checkpoint)

    def _on_checkpoint(self, taken: Future[int]) -> None:
        request, attempt = self._request, self._master.attempt
        if request is None:
            return
        error = taken.exception()
        if error is not None or attempt is None:
            self._fail(CheckpointError(f"the job was not rescaled: {_text(error)}", hint="it continues with its previous parallelism"))
            return
        request.checkpoint_id = taken.result()
        # Consequences of the checkpoint are handled first: the attempt processes its completion, older ones are deleted.
        self._master.run_async(lambda: None, lambda _, __: self._stop(attempt))

    def _stop(self, attempt: JobAttempt) -> None:
        request = self._request
        if request is None:
            return
        if attempt is not self._master.attempt or attempt.ended:
            self._fail(
                CheckpointError("the job was not rescaled: it has failed meanwhile", hint="it continues with its previous parallelism")
            )
            return
        request.phase = _Phase.STOPPING
        self._master.reached("before-rescale")
        attempt.fail(RescalingError("the job is being rescaled", hint="try again when it runs"))

    # Events of the job

    def next_plan(self) -> StagePlan | None:
        """Return the plan of a starting attempt if it has changed."""
        request = self._request
        if request is None or request.phase is not _Phase.STOPPING:
            return None
        request.phase = _Phase.STARTING
        return request.after

    def running(self) -> None:
        """Handle that all tasks of the attempt run."""
        request, self._job = self._request, self._master.plan.graph.job
        if request is not None and request.phase is _Phase.STARTING:
            self._request = None
            self.completed += 1
            self.bounds = request.bounds
            request.answer.set_result(Rescaled(request.checkpoint_id, compare(request.before, request.after)))

    def go_back(self, failure: BaseException) -> StagePlan | None:
        """Return the plan to revert to after a failed attempt, if there were too few slots for the new one."""
        request = self._request
        if request is None or request.phase is not _Phase.STARTING or not isinstance(failure, NoResourceAvailableError):
            return None
        self._fail(
            NoResourceAvailableError(
                f"the job continues with its previous parallelism, as slots were lost meanwhile: {failure.message}", hint=failure.hint
            )
        )
        return request.before

    def job_ended(self, error: BaseException | None) -> None:
        """The job has ended."""
        why = "it has finished" if error is None else _text(error)
        self._fail(CheckpointError(f"the job was not rescaled: {why}"))

    def _fail(self, error: BaseException) -> None:
        request, self._request = self._request, None
        if request is not None:
            _log.warning("rescaling failed: %s", error)
            request.answer.set_exception(error)


def _text(error: BaseException | None) -> str:
    return error.message if isinstance(error, WieselError) else f"{type(error).__name__}: {error}"
