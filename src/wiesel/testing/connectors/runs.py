"""Internal. One run of a connector under test: a job on the local engine, what happens to it, and the story of that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from wiesel.common.job_status import JobStatus
from wiesel.core.config import Configuration
from wiesel.core.errors import CheckpointError, JobExecutionError
from wiesel.testing._failures import MASTER_POINTS, TASK_POINTS, InjectedFailure
from wiesel.testing.collected import CollectedStream
from wiesel.testing.connectors.instruments import Fault, Faults
from wiesel.testing.environment import LocalEnvironment, local_environment
from wiesel.testing.job import PipelineJob
from wiesel.testing.snapshots import JobSnapshot

__all__ = ["POINTS", "Run"]

POINTS = (*TASK_POINTS, *MASTER_POINTS)
_PARALLELISM_MAX = 3
_ROUNDS_MAX = 200


class Run:
    """A job with the connector, and what is done to it.

    Attributes:
        story: What has happened, one phrase each.
        faults: Those of the run.
    """

    def __init__(
        self,
        build: Callable[[LocalEnvironment], CollectedStream | None],
        faults: Faults,
        *,
        seed: int,
        parallelism: int,
        rescales: bool,
    ) -> None:
        self.random = Random(seed)
        self.faults = faults
        self.story: list[str] = []
        self._build = build
        self._seed = seed
        self._parallelism = parallelism
        self._rescales = rescales
        self._jobs = 0
        self._collected: CollectedStream | None = None
        self._before: list[Any] = []
        """The records that jobs with an earlier JobMaster have collected up to the checkpoint that the next one began with."""
        self.job = self._start(None)

    def _start(self, snapshot: JobSnapshot | None) -> PipelineJob:
        origin = "" if snapshot is None else f" from checkpoint {snapshot.checkpoint_id}"
        self.story.append(f"start{origin} with parallelism {self._parallelism}")
        self._jobs += 1
        self._restored = snapshot
        env = local_environment(parallelism=self._parallelism, seed=self._seed + self._jobs)
        self._collected = self._build(env)
        graph = env._generate_stream_graph(clear_transformations=True)
        # Without settling: a bounded source would come to its end before anything has happened to it.
        job = PipelineJob(graph, Configuration(env._config), snapshot, settles=False)
        job._world._faults = self._on_task_point
        job._master.on_point = self._on_master_point
        return job

    def _on_task_point(self, point: str, task: Any) -> None:
        self.faults.passes(point)

    def _on_master_point(self, point: str) -> None:
        attempt = self.job._master.attempt
        if attempt is not None and not attempt.ended and self.faults.is_due(point):
            attempt.fail(InjectedFailure(f"planned at {point}"))

    @property
    def ended(self) -> bool:
        """Return whether the job has ended."""
        return self.job._ended

    # Actions

    def step(self, count: int) -> None:
        """Let so many single things happen, in an order that the seed decides."""
        if not self.ended:
            self.job.step(count)

    def pass_time(self, by_ms: int) -> None:
        """Let time pass."""
        if not self.ended:
            self.job.advance_processing_time(by_ms)

    def checkpoint(self) -> None:
        """Take a checkpoint, which a fault may prevent."""
        self._do("checkpoint", lambda: self.job.checkpoint())

    def fail(self) -> None:
        """Kill all tasks, and perhaps those of the next attempt while they start."""

        def fail_often() -> None:
            for _ in range(self.random.randrange(1, 3)):
                attempt = self.job._master.attempt
                if attempt is not None and not attempt.ended:
                    attempt.fail(InjectedFailure("killed"))
                self.job.step(self.random.randrange(1, 40))

        self._do("failure of all tasks", fail_often)

    def rescale(self) -> None:
        """Let the job go on with another parallelism."""
        if self._rescales:
            self._parallelism = self.random.randrange(1, _PARALLELISM_MAX + 1)
            self._do(f"rescaling to parallelism {self._parallelism}", lambda: self.job.rescale(self._parallelism))

    def kill_job_master(self) -> None:
        """End the job with its JobMaster, and start another one from the last checkpoint, perhaps with another parallelism."""
        if self.ended:
            return
        published = self.job._master.recovery.published
        snapshot = self._restored if published is None else JobSnapshot(*published)
        self.story.append("end of the JobMaster")
        self.faults.disarm()
        self.job.close()
        if self._collected is not None and snapshot is not None:
            reached = [each for each in self._collected._receiver.collected if each.epoch < snapshot.checkpoint_id]
            self._before += [record.value for each in reached for record in each.values]
        if self._rescales:
            self._parallelism = self.random.randrange(1, _PARALLELISM_MAX + 1)
        self.job = self._start(snapshot)

    @property
    def collected(self) -> list[Any]:
        """Return the final records of a source, which no failure drops."""
        return self._before + ([] if self._collected is None else self._collected.committed)

    def _do(self, what: str, action: Callable[[], object]) -> None:
        if self.ended:
            return
        self.story.append(what)
        hits = len(self.faults.hits)
        try:
            action()
        except (InjectedFailure, CheckpointError):
            self.story.append("not done")
        except JobExecutionError:
            # A bounded job may come to its end meanwhile; one that has failed says why.
            if self.job.status is not JobStatus.FINISHED:
                raise
        self.story += [f"failure {fault}" for fault in self.faults.hits[hits:]]
        if not self.ended:
            self.job._until(lambda: self.job._running() or self.ended, "recover")

    def play(self, actions: Sequence[Callable[[], None]], places: Sequence[tuple[str, str]], count: int) -> None:
        """Do things in an order that the seed decides; some of them fail at places that it chooses."""
        for _ in range(count):
            if self.random.random() < 0.3:
                self.faults.disarm()
                place, when = self.random.choice(places)
                self.faults.arm(Fault(place, when, self.random.randrange(1, 4)))
            self.random.choice(actions)()
            self.step(self.random.randrange(1, 60))

    def finish(self) -> None:
        """Run a job that ends to its end."""
        self._do("end of the input", self.job.finish)

    def wait_for(self, done: Callable[[], bool]) -> None:
        """Let time pass and take checkpoints until ``done``, or until it has been waited for too long; then once more."""
        for _ in range(_ROUNDS_MAX):
            if self.ended or done():
                break
            self.pass_time(100)
            self.checkpoint()
        self.pass_time(100)
        self.checkpoint()

    def close(self) -> None:
        """End the job."""
        self.faults.disarm()
        self.job.close()
