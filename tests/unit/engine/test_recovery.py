"""What a job starts and restarts from, and what becomes of it: the modes of execution.state-recovery.claim-mode."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.unit.engine.stored_job import totals
from wiesel.checkpoint.snapshots import find_snapshot
from wiesel.common import Types
from wiesel.core.errors import JobExecutionError
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.state_processor import KeyedStateBootstrapFunction, OperatorTransformation, SavepointWriter
from wiesel.testing import ManualSource


def three_checkpoints(directory: Path, numbers: ManualSource) -> list[str]:
    """Have a job that is killed write three checkpoints, with the sums 1, 3 and 6; return their paths."""
    job, _ = totals(numbers, directory, execution_checkpointing_num__retained="3")
    paths = []
    with job:
        for number in (1, 2, 3):
            numbers.push(("a", number))
            job.settle()
            paths.append(job.store())
    return paths


def test_a_failure_after_the_claim_of_an_older_checkpoint_goes_back_to_that_one(tmp_path: Path) -> None:
    numbers = ManualSource()
    oldest, *_ = three_checkpoints(tmp_path, numbers)
    job, results = totals(numbers, tmp_path, oldest, "CLAIM")
    with job:
        # The job reads 2 and 3 again.
        assert results.values == [("a", 3), ("a", 6)]
        job.fail()
        job.settle()
        # Checkpoint 3, which the user did not choose, would have left nothing to be read again.
        assert results.values == [("a", 3), ("a", 6)]
        assert job.master.attempt.restored_checkpoint_id == 1
        own = job.store()
        assert own.endswith("chk-4"), "numbers of the abandoned checkpoints are not used again"
        numbers.push(("a", 10))
        job.settle()
        job.fail()
        job.settle()
        assert job.master.attempt.restored_checkpoint_id == 4 and results.values[-1] == ("a", 16)


def test_a_claimed_checkpoint_of_a_job_goes_when_newer_ones_replace_it(tmp_path: Path) -> None:
    numbers = ManualSource()
    *_, newest = three_checkpoints(tmp_path, numbers)
    job, _ = totals(numbers, tmp_path, newest, "CLAIM")
    with job:
        assert str(job.directory) == str(Path(newest).parent), "the job goes on under its id"
        job.store()
        job.settle()
        assert not Path(newest).exists()


def test_without_claim_nothing_of_the_checkpoint_is_touched_and_none_depends_on_it(tmp_path: Path) -> None:
    numbers = ManualSource()
    *_, newest = three_checkpoints(tmp_path, numbers)
    before = {p: p.read_bytes() for p in Path(newest).parent.rglob("*") if p.is_file()}
    job, _ = totals(numbers, tmp_path, newest)
    with job:
        assert job.directory != Path(newest).parent
        own = job.store()
        numbers.push(("a", 4))
        job.settle()
        own = job.store()
    assert {p: p.read_bytes() for p in Path(newest).parent.rglob("*") if p.is_file()} == before
    shutil.rmtree(Path(newest).parent)
    job, results = totals(numbers, tmp_path, own)
    with job:
        numbers.push(("a", 5))
        job.settle()
        assert results.values == [("a", 15)]


class PutSum(KeyedStateBootstrapFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value, ctx):
        self.sum.update(value[1])


def written(path: Path) -> str:
    rows = [("a", 100)]
    sums = OperatorTransformation.bootstrap_with(rows).key_by(lambda row: row[0], Types.STRING()).transform(PutSum())
    return SavepointWriter.new_savepoint().with_operator("total", sums).write(str(path))


@pytest.mark.parametrize("named", ["directory", "checkpoint"])
def test_what_the_state_processor_wrote_is_claimed_and_goes_when_a_checkpoint_replaces_it(tmp_path: Path, named: str) -> None:
    checkpoint = written(tmp_path / "given")
    path = checkpoint if named == "checkpoint" else str(tmp_path / "given")
    numbers = ManualSource()
    job, results = totals(numbers, tmp_path / "checkpoints", path, "CLAIM")
    with job:
        assert len(job.master.job_id) == 32 and job.master.job_id != "given"
        numbers.push(("a", 1))
        job.settle()
        job.fail()
        job.settle()
        assert results.values == [("a", 101)], "before the first checkpoint the job goes back to what it was given"
        assert (tmp_path / "given").exists()
        job.store()
        job.settle()
        assert not (tmp_path / "given").exists()
        job.fail()
        numbers.push(("a", 2))
        job.settle()
        assert results.values[-1] == ("a", 103)


def test_without_claim_what_the_state_processor_wrote_stays(tmp_path: Path) -> None:
    path = written(tmp_path / "given")
    job, _ = totals(ManualSource(), tmp_path / "checkpoints", path)
    with job:
        job.store()
        job.store()
    assert Path(path).exists()


def test_a_claimed_snapshot_goes_when_the_job_finishes(tmp_path: Path) -> None:
    path = written(tmp_path / "given")
    job, _ = totals(ManualSource(), tmp_path / "checkpoints", path, "CLAIM")
    with job:
        job.finish()
    assert not (tmp_path / "given").exists()


@pytest.mark.parametrize("claim", ["CLAIM", "NO_CLAIM"])
def test_a_checkpoint_that_was_moved_below_another_directory_is_restored(tmp_path: Path, claim: str) -> None:
    numbers = ManualSource()
    # Large enough for files beside the metadata.
    job, _ = totals(numbers, tmp_path / "before")
    with job:
        numbers.push_all([(f"key {n}", n) for n in range(5000)])
        job.settle()
        path = job.store()
    assert list((Path(path).parent / "shared").iterdir())
    (tmp_path / "elsewhere").mkdir()
    shutil.move(Path(path).parent, tmp_path / "elsewhere")
    moved = Path(path.replace("/before/", "/elsewhere/"))
    job, results = totals(numbers, tmp_path / "after", str(moved), claim)
    with job:
        numbers.push(("key 7", 1))
        job.settle()
        job.fail()
        job.settle()
        own = job.store()
        job.settle()
        assert moved.exists() == (claim == "NO_CLAIM"), "who claims it deletes it"
    assert results.values == [("key 7", 8)]
    shutil.rmtree(tmp_path / "elsewhere")
    job, results = totals(numbers, tmp_path / "after", own)
    with job:
        numbers.push(("key 9", 1))
        job.settle()
    assert results.values == [("key 9", 10)]


RETENTION = "execution_checkpointing_externalized__checkpoint__retention"


@pytest.mark.parametrize(
    ("retention", "stays"), [("RETAIN_ON_CANCELLATION", True), ("DELETE_ON_CANCELLATION", False), ("NO_EXTERNALIZED_CHECKPOINTS", False)]
)
def test_the_checkpoints_of_a_cancelled_job_stay_or_go_as_the_user_says(tmp_path: Path, retention: str, stays: bool) -> None:
    job, _ = totals(ManualSource(), tmp_path, **{RETENTION: retention})
    with job:
        path = Path(job.store())
        job.cancel()
    assert path.exists() == stays


def test_what_was_claimed_survives_a_job_that_is_cancelled_before_it_has_a_checkpoint(tmp_path: Path) -> None:
    path = written(tmp_path / "given")
    job, _ = totals(ManualSource(), tmp_path / "checkpoints", path, "CLAIM", **{RETENTION: "DELETE_ON_CANCELLATION"})
    with job:
        job.cancel()
    assert Path(path).exists()


@pytest.mark.parametrize(
    ("retention", "stays"), [("RETAIN_ON_CANCELLATION", True), ("DELETE_ON_CANCELLATION", True), ("NO_EXTERNALIZED_CHECKPOINTS", False)]
)
def test_the_checkpoints_of_a_job_that_has_failed_stay_or_go_as_the_user_says(tmp_path: Path, retention: str, stays: bool) -> None:
    numbers = ManualSource()
    job, _ = totals(numbers, tmp_path, **{RETENTION: retention})
    path = Path(job.store())
    numbers.push("no pair")
    with pytest.raises(JobExecutionError):
        job.settle()
    job.close()
    assert path.exists() == stays


@pytest.mark.parametrize("kind", ["savepoint", "checkpoint"])
def test_what_a_job_claims_that_keeps_its_checkpoints_in_memory_stays(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    numbers = ManualSource()
    job, _ = totals(numbers, tmp_path / "checkpoints")
    with job:
        numbers.push(("a", 1))
        job.settle()
        path = job.store() if kind == "checkpoint" else job.savepoint(tmp_path, stop=True)
    # The second one, after the end of the first, which has left nothing else, reads again what came after the snapshot.
    for total in (111, 221):
        job, results = totals(numbers, None, path, "CLAIM")
        with job:
            assert job.master.history.restored.path == path
            assert f"{path} is claimed by a job with checkpoints in memory, and is retained" in caplog.text
            job.checkpoint()
            numbers.push(("a", 10))
            job.settle()
            job.checkpoint()
            job.fail()
            numbers.push(("a", 100))
            job.settle()
            assert results.values[-1] == ("a", total) and job.master.history.restored.path is None
        assert (Path(path) / "_metadata").exists()
    assert find_snapshot(path).checkpoint, "all of its files are whole"
