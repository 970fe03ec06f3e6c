"""A running job goes on with another parallelism: exactly once, with the files of the checkpoint, and undisturbed if it cannot."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.unit.engine.stored_job import StoredJob, Total, environment, start, totals
from wiesel.common import Types, WatermarkStrategy
from wiesel.common.job_status import JobStatus
from wiesel.core.errors import CheckpointError, ConfigurationError, NoResourceAvailableError
from wiesel.graph.rescaling import Bounds, moved_groups, present
from wiesel.testing import CollectedStream, InjectedFailure, ManualSource
from wiesel.testing._failures import MASTER_POINTS, TASK_POINTS

KEYS = 40
MANY = [(f"key {i % KEYS}", 1) for i in range(200)]
ROUNDS = 4


def parallelism(job: StoredJob) -> list[int]:
    return [v.parallelism for v in job.master.plan.graph.job.vertices]


def running_totals(times: int) -> list[tuple[str, int]]:
    """Return what ``times`` pushes of MANY lead to: each key's total after each of its records."""
    each = len(MANY) // KEYS
    return sorted((f"key {k}", n) for k in range(KEYS) for n in range(1, times * each + 1))


def files(directory: Path) -> dict[str, int]:
    return {str(p.relative_to(directory)): p.stat().st_size for p in directory.rglob("*") if p.is_file()}


@pytest.mark.parametrize("backend", ["hashmap", "lmdb"])
def test_r6_r9_a_job_is_rescaled_up_and_down_and_its_output_is_as_without(tmp_path: Path, backend: str) -> None:
    numbers = ManualSource(splits=3)
    job, results = totals(numbers, tmp_path, parallelism=2, state_backend_type=backend)
    with job:
        for push, wanted in enumerate((3, 1, 4, 2)):
            numbers.push_all(MANY, split=push % 3)
            job.settle()
            done = job.rescale(wanted)
            assert done.checkpoint_id == job.master.attempt.restored_checkpoint_id > 0
            assert {v.after for v in done.vertices if v.key_groups} == {wanted}
            assert (job.status, job.restarts) == (JobStatus.RUNNING, push + 1)
        job.settle()
        assert not job.master.failures
        job.checkpoint()
        assert sorted(results.committed) == running_totals(4)


def test_without_checkpoints_on_storage_a_job_is_rescaled_as_well(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, results = totals(numbers, None, parallelism=2)
    with job:
        for wanted in (3, 1):
            numbers.push_all(MANY)
            job.settle()
            job.rescale(wanted)
        job.fail()
        job.settle()
        job.checkpoint()
        assert sorted(results.committed) == running_totals(2)


def test_r7_maximum_parallelism_and_key_groups_stay(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, _ = totals(numbers, tmp_path, parallelism=2, pipeline_max__parallelism=8)
    with job:
        before = job.master.plan.graph.job
        job.rescale(8)
        after = job.master.plan.graph.job
        assert [v.max_parallelism for v in after.vertices] == [v.max_parallelism for v in before.vertices]
        with pytest.raises(ConfigurationError, match="cannot have parallelism 9: its maximum parallelism is 8"):
            job.rescale(9)
        assert (job.status, job.restarts) == (JobStatus.RUNNING, 1)


def test_r2_the_share_of_moved_groups_is_told(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, _ = totals(numbers, tmp_path, parallelism=2, pipeline_max__parallelism=12)
    with job:
        done = job.rescale(3)
    (keyed,) = (v for v in done.vertices if v.key_groups)
    # Subtasks had the groups 0-5 and 6-11, and have 0-3, 4-7 and 8-11: 4, 5 and 8 to 11 have moved.
    assert (keyed.key_groups, keyed.moved, keyed.before, keyed.after) == (12, 6, 2, 3)
    assert keyed.moved == moved_groups(12, 2, 3)


@pytest.mark.parametrize("backend", ["hashmap", "lmdb"])
@pytest.mark.parametrize("wanted", [1, 3])
def test_key_groups_move_as_references_to_files_that_stay(tmp_path: Path, backend: str, wanted: int) -> None:
    numbers = ManualSource(splits=2)
    job, results = totals(numbers, tmp_path, parallelism=2, state_backend_type=backend)
    keys = [(f"a key that is long enough to make some bytes {i}", i) for i in range(5000)]
    with job:
        for split in (0, 1):
            numbers.push_all(keys[split::2], split=split)
        job.settle()
        job.store()
        before = files(job.directory)
        state = {name: size for name, size in before.items() if not re.search(r"_metadata|attempts/", name)}
        assert sum(state.values()) > 150_000
        job.rescale(wanted)
        after = files(job.directory)
        written = {name: size for name, size in after.items() if name not in before}
        # The checkpoint that the job was stopped with has nothing new but its metadata; the other file announces the new attempt.
        attempt = str(job.master.attempt.number)
        assert sorted(Path(name).name for name in written) == [attempt, "_metadata"]
        assert sum(written.values()) < 0.05 * sum(state.values())
        job.store()
        # Nor has the first one of the new tasks, which names the old files.
        later = {name: size for name, size in files(job.directory).items() if name not in after}
        assert [Path(name).name for name in later] == ["_metadata"]
        assert state.items() <= files(job.directory).items()
        job.fail()
        for split in (0, 1):
            numbers.push_all([(key, 1) for key, _ in keys[split::2]], split=split)
        job.settle()
        assert sorted(results.values) == sorted((key, i + n) for key, i in keys for n in (0, 1))


def test_what_the_program_fixes_stays(tmp_path: Path) -> None:
    numbers = ManualSource()
    env = environment(tmp_path, parallelism=2)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    fixed = stream.key_by(lambda pair: pair[0], Types.STRING()).process(Total(), Types.TUPLE([Types.STRING(), Types.LONG()]))
    results = env.collect(fixed.uid("total").name("fixed").set_parallelism(2))
    job = start(env)
    with job:
        numbers.push_all(MANY)
        done = job.rescale(3)
        assert {v.name: (v.before, v.after) for v in done.vertices if "fixed" in v.name or "numbers" in v.name} == {
            "Source: numbers": (2, 3),
            "fixed": (2, 2),
        }
        job.settle()
        assert sorted(results.values) == running_totals(1)


def test_a_job_that_has_the_parallelism_is_left_alone(tmp_path: Path) -> None:
    job, _ = totals(ManualSource(), tmp_path, parallelism=2)
    with job:
        assert job.rescale(2).checkpoint_id == 0
        assert job.restarts == 0 and job.completed_checkpoints == 0


def test_too_few_slots_are_told_and_the_job_runs_on(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, results = totals(numbers, tmp_path, parallelism=1)
    with job:
        job._world.slots = needed = 1 + len(job._world.tasks)
        with pytest.raises(NoResourceAvailableError, match=rf"needs \d+ slots .* there are {needed}: \d+ that it has and 1 free"):
            job.rescale(4)
        assert (job.status, job.restarts, job.completed_checkpoints) == (JobStatus.RUNNING, 0, 0)
        numbers.push_all(MANY)
        job.settle()
        assert sorted(results.values) == running_totals(1)


def test_slots_that_are_lost_while_the_job_stands_lead_back(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, results = totals(numbers, tmp_path, parallelism=2)
    with job:
        numbers.push_all(MANY)
        job.settle()
        before = parallelism(job)
        job._world.slots = 100
        answer = job.master.rescale(4)
        job.until(lambda: job.master.attempt.ended, "stop")
        job._world.slots = sum(before)
        job.until(lambda: answer.done() and job.status is JobStatus.RUNNING, "go on")
        with pytest.raises(NoResourceAvailableError, match="continues with"):
            answer.result()
        assert parallelism(job) == before
        job.settle()
        assert sorted(results.values) == running_totals(1)
        # Nothing is left of it that would be in the way of another one.
        job._world.slots = None
        job.rescale(4)
        assert parallelism(job) != before


def test_one_rescaling_at_a_time(tmp_path: Path) -> None:
    job, _ = totals(ManualSource(), tmp_path, parallelism=2)
    with job:
        first = job.master.rescale(3)
        with pytest.raises(CheckpointError, match="rescaled already"):
            job.master.rescale(4)
        job.until(first.done, "be rescaled")
        job.rescale(4)
        assert job.master.rescaling.completed == 2


def test_a_job_that_is_being_stopped_or_has_ended_is_not_rescaled(tmp_path: Path) -> None:
    job, _ = totals(ManualSource(), tmp_path, parallelism=2)
    with job:
        answer = job.ask(tmp_path, stop=True)
        with pytest.raises(CheckpointError, match="being stopped with a savepoint"):
            job.master.rescale(3)
        job.until(answer.done, "stop")
        with pytest.raises(CheckpointError, match="FINISHED and cannot be rescaled"):
            job.master.rescale(3)


def test_a_job_that_is_cancelled_meanwhile_ends(tmp_path: Path) -> None:
    job, _ = totals(ManualSource(), tmp_path, parallelism=2)
    with job:
        answer = job.master.rescale(3)
        job.until(lambda: job.master.attempt.ended, "stop")
        job.cancel()
        assert job.status is JobStatus.CANCELED
        with pytest.raises(CheckpointError, match="was not rescaled: job"):
            answer.result()


def test_records_in_flight_that_cannot_be_shared_out_anew_are_in_the_way(tmp_path: Path) -> None:
    env = environment(tmp_path, 2, execution_checkpointing_unaligned_enabled="true", execution_checkpointing_unaligned_forced="true")
    stream = env.from_source(ManualSource(), WatermarkStrategy.no_watermarks(), "numbers")
    env.collect(stream.partition_custom(lambda key, n: key % n, lambda pair: pair[1]).map(lambda pair: pair))
    with start(env) as job:
        with pytest.raises(CheckpointError, match="partition_custom and unaligned checkpoints cannot be rescaled"):
            job.master.rescale(3)
        assert (job.status, job.restarts) == (JobStatus.RUNNING, 0)


# Failures in between


def pushed(tmp_path: Path) -> tuple[StoredJob, CollectedStream, ManualSource]:
    numbers = ManualSource(splits=2)
    job, results = totals(numbers, tmp_path, parallelism=2)
    numbers.push_all(MANY)
    job.settle()
    return job, results, numbers


def must_be_exact(job: StoredJob, results: CollectedStream, numbers: ManualSource) -> None:
    numbers.push_all(MANY, split=1)
    job.settle()
    job.checkpoint()
    assert sorted(results.committed) == running_totals(2)


@pytest.mark.parametrize("point", [*TASK_POINTS, *MASTER_POINTS])
def test_a_failure_at_any_point_of_the_checkpoint_leaves_the_job_as_it_was(tmp_path: Path, point: str) -> None:
    job, results, numbers = pushed(tmp_path)
    with job:
        job.fail_at(point)
        with pytest.raises(InjectedFailure):
            job.rescale(3)
        assert parallelism(job)[0] == 2 and job.restarts == 1
        must_be_exact(job, results, numbers)
        job.rescale(3)
        assert parallelism(job)[0] == 3


@pytest.mark.parametrize("seed", range(5))
def test_killed_twice_while_the_new_tasks_start(tmp_path: Path, seed: int) -> None:
    print(f"seed {seed}")
    numbers = ManualSource(splits=2)
    job, results = totals(numbers, tmp_path, parallelism=2, wiesel_local_seed=str(seed))
    with job:
        numbers.push_all(MANY)
        job.settle()
        answer = job.master.rescale(4)
        for restarts in (1, 2):
            job.until(lambda restarts=restarts: job.restarts == restarts and job.master.attempt.pids, "start some tasks")
            assert not answer.done()
            job.master.attempt.fail(InjectedFailure("while tasks start"))
        job.until(answer.done, "be rescaled")
        assert answer.result().vertices[0].after == 4 == parallelism(job)[0]
        assert job.restarts == 3
        must_be_exact(job, results, numbers)


@pytest.mark.parametrize("point", ["before-publish", "after-publish", "before-commit", "after-commit"])
def test_killed_again_in_the_first_checkpoint_after_a_failure_and_a_rescaling(tmp_path: Path, point: str) -> None:
    job, results, numbers = pushed(tmp_path)
    with job:
        job.fail()
        job.rescale(3)
        numbers.push(("another", 1))
        job.settle()
        job.master.on_point = lambda passed: kill(job, passed, point)
        with pytest.raises(InjectedFailure):
            job.checkpoint()
        job.fail()
        job.settle()
        job.checkpoint()
        assert sorted(results.committed) == sorted([*running_totals(1), ("another", 1)])


def kill(job: StoredJob, passed: str, point: str) -> None:
    if passed == point:
        job.master.on_point = lambda _: None
        job.master.attempt.fail(InjectedFailure(f"at {point}"))


# Requirements


def test_requirements_take_as_much_as_the_slots_allow(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, results = totals(numbers, tmp_path, parallelism=1)
    with job:
        vertices = job.master.plan.graph.job.vertices
        nodes = {o.node.name: o.node_id for v in vertices for o in v.operators}
        assert job.master.rescaling.bounds == dict.fromkeys(nodes.values(), Bounds(1, 1))
        wanted = dict.fromkeys(nodes.values(), Bounds(1, 4)) | {nodes["Sink: Collected"]: Bounds(1, 2)}
        job._world.slots = 9
        accepted = job.master.require(wanted)
        job.until(lambda: job.master.rescaling.completed == 1, "be rescaled")
        assert accepted.result() is None
        # With 4, 4 and 2 there would be ten tasks.
        assert present(job.master.plan.graph.job) == {v: min(3, b.upper) for v, b in wanted.items()}
        assert job.master.rescaling.bounds == wanted
        refused = job.master.require({v: Bounds(5, 5) if b.upper == 4 else b for v, b in wanted.items()})
        job.until(refused.done, "answer")
        with pytest.raises(NoResourceAvailableError, match="would need"):
            refused.result()
        assert job.restarts == 1 and job.master.rescaling.bounds == wanted
        numbers.push_all(MANY)
        job.settle()
        assert sorted(results.values) == running_totals(1)


def test_the_metadata_tells_the_new_parallelism(tmp_path: Path) -> None:
    job, _ = totals(ManualSource(), tmp_path, parallelism=2)
    with job:
        job.rescale(3)
        job.store()
        told: dict[str, Any] = job.master.recovery.facts
        assert {v["parallelism"] for v in told["vertices"] if "numbers" in v["name"]} == {3}
        assert json.dumps(told)
