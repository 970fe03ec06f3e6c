"""The adaptive scheduler: a job runs with the slots that there are, not with fewer than it needs, and takes more when they come."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.engine.stored_job import StoredJob, Total, environment
from tests.unit.engine.test_rescaling import MANY, running_totals
from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.common.job_status import JobStatus
from wiesel.core.errors import JobExecutionError, NoResourceAvailableError
from wiesel.engine.base import job_settings
from wiesel.engine.job_master import JobMaster
from wiesel.graph.rescaling import Bounds, present
from wiesel.testing import CollectedStream, InjectedFailure, ManualSource

STABLE_BEFORE_START_MS, STABLE_BEFORE_RESCALING_MS, COOLDOWN_MS, WAIT_MS = 10_000, 60_000, 30_000, 300_000
LOOK_MS = 500
"""Slots are looked for so often; what is due comes so much later at most."""


class SlottedJob(StoredJob):
    """A job in a world with so many slots."""

    slots: int | None = None

    def _make_master(self, *args: Any) -> Any:
        self._world.slots = self.slots
        return super()._make_master(*args)

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        """Let time pass, too: attempts wait for slots."""
        while not condition():
            self._raise_failure()
            assert not self._ended, f"the job ended before it could {what}"
            self._world.step()

    @property
    def width(self) -> int:
        """The parallelism of the operators, but for the last one, which collects."""
        (width,) = {p for node, p in present(self.master.plan.graph.job).items() if node != max(present(self.master.plan.graph.job))}
        return width

    def lose(self, slots: int) -> None:
        """Let tasks die, and slots with them."""
        self._world.slots = slots
        self.fail()


def totals(numbers: ManualSource, directory: Path, slots: int | None, **config: Any) -> tuple[SlottedJob, CollectedStream]:
    """Start a job of two vertices with parallelism 4 and a sink with one task: 9 slots."""
    env = environment(directory, 4, jobmanager_scheduler="Adaptive", **config)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    sums = stream.key_by(lambda pair: pair[0], Types.STRING()).process(Total(), Types.TUPLE([Types.STRING(), Types.LONG()])).uid("total")
    results = env.collect(sums)
    kind = type("Job", (SlottedJob,), {"slots": slots})
    return kind(env._generate_stream_graph(clear_transformations=True), Configuration(env._config), None), results


def test_a_job_starts_at_once_if_there_are_all_slots(tmp_path: Path) -> None:
    job, _ = totals(ManualSource(), tmp_path, 9)
    with job:
        assert (job.width, job.processing_time - job.master.history.started_ms) == (4, 0)


def test_a_job_starts_with_fewer_slots_after_a_while(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, results = totals(numbers, tmp_path, 8)
    with job:
        assert job.width == 3
        assert STABLE_BEFORE_START_MS <= job.processing_time - job.master.history.started_ms <= STABLE_BEFORE_START_MS + LOOK_MS
        numbers.push_all(MANY)
        job.settle()
        assert sorted(results.values) == running_totals(1)


def test_a_job_that_loses_slots_runs_on_and_takes_those_that_come(tmp_path: Path) -> None:
    numbers = ManualSource(splits=2)
    job, results = totals(numbers, tmp_path, 9)
    with job:
        numbers.push_all(MANY)
        job.settle()
        job.store()
        job.lose(5)
        assert (job.width, job.restarts, len(job.master.failures)) == (2, 1, 1)
        numbers.push_all(MANY, split=1)
        job.settle()
        # Two more are enough for three subtasks; they are taken when they have been there for a minute.
        job._world.slots = 7
        job.advance_processing_time(STABLE_BEFORE_RESCALING_MS - LOOK_MS)
        assert job.width == 2
        job.advance_processing_time(3 * LOOK_MS)
        assert (job.width, job.restarts, job.master.rescaling.completed, len(job.master.failures)) == (3, 2, 1, 1)
        # All that it wants is taken as soon as it has run for half a minute.
        job._world.slots = 20
        job.advance_processing_time(COOLDOWN_MS - 3 * LOOK_MS)
        assert job.width == 3
        job.advance_processing_time(4 * LOOK_MS)
        assert (job.width, job.restarts) == (4, 3)
        job.checkpoint()
        assert sorted(results.committed) == running_totals(2)


def test_slots_that_come_and_go_disturb_nothing(tmp_path: Path) -> None:
    job, _ = totals(ManualSource(), tmp_path, 5)
    with job:
        for slots in (7, 5) * 3:
            job._world.slots = slots
            job.advance_processing_time(STABLE_BEFORE_RESCALING_MS - 2 * LOOK_MS)
        assert (job.width, job.restarts) == (2, 0)


def test_a_job_does_not_run_with_fewer_slots_than_it_needs(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, results = totals(numbers, tmp_path, 9)
    with job:
        numbers.push_all(MANY)
        job.settle()
        bounds = job.master.rescaling.bounds
        needed = job.master.require({node: Bounds(3, b.upper) if b.upper == 4 else b for node, b in bounds.items()})
        job.until(needed.done, "answer")
        assert needed.result() is None and job.restarts == 0
        job._world.slots = 6
        job.master.attempt.fail(InjectedFailure("an executor was lost"))
        job.until(lambda: job.processing_time - job.master.history.started_ms > STABLE_BEFORE_START_MS * 3, "wait")
        assert job.status is JobStatus.RESTARTING
        job._world.slots = 7
        job.until(lambda: job.status is JobStatus.RUNNING and len(job.master.attempt.pids) == 7, "run")
        assert job.width == 3
        job.settle()
        job.checkpoint()
        assert sorted(results.committed) == running_totals(1)


def test_a_job_that_never_gets_what_it_needs_fails_in_the_end(tmp_path: Path) -> None:
    job, _ = totals(ManualSource(), tmp_path, 9)
    with job:
        started = job.processing_time
        job._world.slots = 2
        job.master.attempt.fail(InjectedFailure("an executor was lost"))
        job.until(job.master.result.done, "fail")
        with pytest.raises(JobExecutionError, match="needs at least 3 slots at the same time, there were 2 after 300 s") as failed:
            job.master.result.result()
        assert isinstance(failed.value.__cause__, NoResourceAvailableError)
        assert WAIT_MS <= job.processing_time - started <= WAIT_MS + 2 * LOOK_MS and job.status is JobStatus.FAILED


def test_a_job_that_waits_for_its_first_slots_can_be_cancelled(tmp_path: Path) -> None:
    job, _ = totals(ManualSource(), tmp_path, 9)
    with job:
        settings = job_settings(Configuration.from_dict({"jobmanager.scheduler": "adaptive"}))
        world = job._world
        master = JobMaster(
            job.master.plan, settings, job.master.strategy, job_id="1" * 32, launcher=world, background=world, clock=world.clock
        )
        world.slots = 0
        master.start()
        assert (master.status, master.attempt) == (JobStatus.CREATED, None)
        master.on_time(world.clock.now_ms())
        master.cancel()
        job.until(master.result.done, "end")
        assert master.status is JobStatus.CANCELED and master.next_deadline_ms() is None


def test_a_lower_parallelism_that_is_asked_for_is_kept(tmp_path: Path) -> None:
    job, _ = totals(ManualSource(), tmp_path, 9)
    with job:
        job.rescale(2)
        job.advance_processing_time(10 * STABLE_BEFORE_RESCALING_MS)
        assert (job.width, job.restarts) == (2, 1)
        # More than there are slots for is taken as soon as there are.
        job._world.slots = 9
        wanted = job.master.require({node: Bounds(1, 6) if b.upper == 2 else b for node, b in job.master.rescaling.bounds.items()})
        job.until(wanted.done, "answer")
        job.until(lambda: job.master.rescaling.completed == 2, "be rescaled")
        assert job.width == 4
        job._world.slots = 13
        job.advance_processing_time(COOLDOWN_MS + 2 * LOOK_MS)
        assert job.width == 6


def test_without_the_scheduler_a_job_waits_for_all_slots(tmp_path: Path) -> None:
    assert job_settings(Configuration()).adaptive is None
    found = job_settings(Configuration.from_dict({"jobmanager.scheduler": "Adaptive"})).adaptive
    assert found is not None
    assert (found.wait_ms, found.stable_before_start_ms) == (WAIT_MS, STABLE_BEFORE_START_MS)
    assert (found.stable_before_rescaling_ms, found.cooldown_ms) == (STABLE_BEFORE_RESCALING_MS, COOLDOWN_MS)
