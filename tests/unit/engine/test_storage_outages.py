"""The storage of checkpoints fails, for a moment or for long, at any operation: no state is lost, and none counts twice."""

from __future__ import annotations

import errno
import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from tests.unit.engine.stored_job import StoredJob, totals
from wiesel.checkpoint import file_io, retries
from wiesel.checkpoint.file_io import LocalFileIO
from wiesel.core.errors import CheckpointError, JobExecutionError
from wiesel.testing import ManualSource


class Outage:
    """Decides which operations of the storage fail."""

    def __init__(self) -> None:
        self.seen = self.failed = 0
        self.share = 0.0
        self.only: tuple[str, str] = ("", "")
        self.random = random.Random(0)

    def strike(self, operation: str, path: str) -> None:
        self.seen += 1
        if self.random.random() < self.share and operation.startswith(self.only[0]) and self.only[1] in path:
            self.failed += 1
            raise OSError(self.random.choice((errno.ENOSPC, errno.EIO, errno.ETIMEDOUT)), f"injected at {operation} of {path}")


@pytest.fixture
def outage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Outage]:
    found = Outage()

    class Failing(LocalFileIO):
        """Half of what fails has been done before."""

        def write(self, path: str, parts: Sequence[bytes | memoryview]) -> None:
            if found.random.random() < 0.5:
                super().write(path, [b"".join(parts)[:-1]])
            found.strike("write", path)
            super().write(path, parts)

        def create(self, path: str, data: bytes) -> bool:
            early = found.random.random() < 0.5
            if early:
                found.strike("create", path)
            created = super().create(path, data)
            if not early:
                found.strike("create", path)
            return created

        def read(self, path: str) -> bytes:
            found.strike("read", path)
            return super().read(path)

        def names(self, directory: str) -> list[str]:
            found.strike("names", directory)
            return super().names(directory)

        def delete(self, path: str) -> None:
            found.strike("delete", path)
            super().delete(path)

    monkeypatch.setattr(retries, "DELAYS_S", (0, 0))
    monkeypatch.setattr(file_io, "LocalFileIO", Failing)
    yield found


def fixed(attempts: int) -> dict[str, str]:
    return {
        "restart__strategy_type": "fixed-delay",
        "restart__strategy_fixed__delay_attempts": str(attempts),
        "restart__strategy_fixed__delay_delay": "1 s",
    }


def large(number: int) -> str:
    """A key so long that the state does not travel inside the metadata."""
    return f"key {number} {'x' * 5000}"


def die(job: StoredJob) -> None:
    """Have all tasks die, if they run."""
    if job.master.attempt is not None:
        job.master.attempt.fail(RuntimeError("killed"))


def feed(job: StoredJob, numbers: ManualSource, *pairs: tuple[str, int]) -> None:
    numbers.push_all(pairs)
    job.settle()


@pytest.mark.parametrize("point", [("write", "shared"), ("create", "_metadata")])
def test_a_checkpoint_fails_and_the_next_one_has_all_that_it_would_have_had(tmp_path: Path, outage: Outage, point: tuple[str, str]) -> None:
    numbers = ManualSource()
    tolerant = {"execution_checkpointing_tolerable__failed__checkpoints": "1"}
    job, results = totals(numbers, tmp_path, **tolerant, **fixed(1))
    with job:
        feed(job, numbers, *((large(n), 1) for n in range(5)))
        job.checkpoint()
        feed(job, numbers, *((large(n), 10) for n in range(3)))
        outage.share, outage.only = 1.0, point
        with pytest.raises(CheckpointError, match="aborted"):
            job.checkpoint()
        assert outage.failed == 3, "it was tried three times"
        feed(job, numbers, (large(0), 100))
        assert results.values[-1] == (large(0), 111) and job.master.restarts == 0, "the job has gone on"
        outage.share = 0.0
        done = job.checkpoint()
        feed(job, numbers, (large(0), 1000))
        die(job)
        job.advance_processing_time(1_000)
        assert job.master.attempt.restored_checkpoint_id == done.checkpoint.checkpoint_id
        feed(job, numbers, *((large(n), 0) for n in range(5)))
        assert dict(results.values) == {large(0): 1111, large(1): 11, large(2): 11, large(3): 1, large(4): 1}


def test_more_failures_than_are_tolerated_restart_the_job_from_its_last_checkpoint(tmp_path: Path, outage: Outage) -> None:
    numbers = ManualSource()
    job, results = totals(numbers, tmp_path, **fixed(1))
    with job:
        feed(job, numbers, (large(1), 1))
        job.checkpoint()
        feed(job, numbers, (large(1), 10))
        outage.share, outage.only = 1.0, ("write", "shared")
        with pytest.raises(CheckpointError, match="aborted"):
            job.checkpoint()
        outage.share = 0.0
        job.advance_processing_time(3_000)
        job.settle()
        assert job.master.restarts == 1 and job.master.attempt.restored_checkpoint_id == 1
        feed(job, numbers, (large(1), 100))
        assert results.values[-1] == (large(1), 111)


@pytest.mark.parametrize("operation", ["names", "create", "read"])
def test_a_storage_that_is_down_when_the_job_restarts_costs_attempts_but_not_the_state(
    tmp_path: Path, outage: Outage, operation: str, caplog: pytest.LogCaptureFixture
) -> None:
    numbers = ManualSource()
    job, results = totals(numbers, tmp_path, **fixed(4))
    with job:
        feed(job, numbers, (large(1), 1))
        job.checkpoint()
        outage.share, outage.only = 1.0, (operation, "")
        die(job)
        for attempts in (1, 2):
            job.advance_processing_time(1_000)
            assert job.master.restarts == attempts and job.master.status.name == "RESTARTING"
        told = [record.getMessage().partition(",")[0] for record in caplog.records if "restarting" in record.getMessage()]
        assert told == ["attempt 1 failed", *["another attempt could not begin"] * 2]
        outage.share = 0.0
        job.advance_processing_time(1_000)
        feed(job, numbers, (large(1), 10))
        assert job.master.attempt.restored_checkpoint_id == 1 and results.values[-1] == (large(1), 11)


def test_a_storage_that_does_not_come_back_ends_the_job_with_what_is_wrong(tmp_path: Path, outage: Outage) -> None:
    job, _ = totals(ManualSource(), tmp_path, **fixed(2))
    job.checkpoint()
    outage.share, outage.only = 1.0, ("names", "")
    die(job)
    with pytest.raises(JobExecutionError, match=r"listing .* failed: .*injected"):
        job.advance_processing_time(5_000)
    job.close()


def test_any_failures_of_the_storage_change_nothing_of_the_results(tmp_path: Path, outage: Outage) -> None:
    for round_ in range(10):
        seed = random.SystemRandom().randrange(1 << 30)
        print(f"seed {seed}")
        rnd = outage.random = random.Random(seed)
        numbers = ManualSource()
        retain = {"execution_checkpointing_tolerable__failed__checkpoints": "1000000", **fixed(1_000_000)}
        outage.share, outage.only = 0.0, ("", "")
        job, results = totals(numbers, tmp_path / str(round_), parallelism=rnd.choice((1, 2)), **retain)
        sums: dict[str, int] = {}
        with job:
            for _ in range(rnd.randrange(5, 25)):
                outage.share = rnd.choice((0.0, 0.2, 0.5, 0.9))
                action = rnd.choice(("feed", "feed", "checkpoint", "fail"))
                if action == "feed":
                    pairs = [(large(rnd.randrange(5)), rnd.randrange(100)) for _ in range(rnd.randrange(1, 10))]
                    for key, number in pairs:
                        sums[key] = sums.get(key, 0) + number
                    numbers.push_all(pairs)
                elif action == "fail":
                    die(job)
                else:
                    with suppress(CheckpointError, JobExecutionError):
                        job.checkpoint()
                job.advance_processing_time(1_000)
            outage.share = 0.0
            job.advance_processing_time(3_000)
            feed(job, numbers, *((key, 0) for key in sums))
            assert dict(results.values[-len(sums) :] if sums else []) == sums
    assert outage.failed > 20
