"""A stop with a savepoint that fails leaves the job running: tasks that have stopped already go on behind its barrier.

The sums are a closed form: nothing may be missing or counted twice that came before, during or after the stop.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from tests.unit.engine.stored_job import StoredJob, Total, environment, start
from tests.unit.engine.test_loop_savepoints import NUMBERS, countdown
from tests.unit.engine.test_savepoints import TransactionalSink, committing
from wiesel.checkpoint.savepoint import Savepoint, SavepointFiles
from wiesel.common import Time, Types, WatermarkStrategy
from wiesel.common.job_status import JobStatus
from wiesel.core.errors import CheckpointError, CheckpointStorageError, JobExecutionError
from wiesel.datastream import AsyncDataStream, KeyedProcessFunction
from wiesel.datastream.functions import AsyncFunction
from wiesel.engine.recovery import Recovery
from wiesel.runtime.task import StreamTask
from wiesel.testing import CollectedStream, ManualSource

NO_RESTART = {"restart__strategy_type": "none"}
TIMEOUT_MS = 5_000
MOST_STEPS = 5_000


def refuse(*_: Any, **__: Any) -> Any:
    raise CheckpointStorageError("the storage is down")


def acknowledge_nothing(*_: Any) -> None:
    """A task that never gets to the end of writing its state."""


CAUSES = {
    "declined": (SavepointFiles, "write", refuse, "the storage is down"),
    "expired": (StreamTask, "_upload", acknowledge_nothing, "expired after 5000 ms; no acknowledgement from"),
    "metadata": (Savepoint, "publish", refuse, "the metadata could not be written"),
    "checkpoint": (Recovery, "publish", refuse, "the savepoint is complete at .*, but the metadata could not be written"),
    "no permission": (Savepoint, "prepare", refuse, "no savepoint can be written to"),
}


def failing_stop(job: StoredJob, cause: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Stop a job with a savepoint that fails, and return the message."""
    owner, name, instead, expected = CAUSES[cause]
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, instead)
        answer = job.ask(directory, stop=True)
        if cause == "expired":
            job.settle()
            job.advance_processing_time(TIMEOUT_MS)
        job.until(answer.done, "answer")
        with pytest.raises(CheckpointError, match=expected) as caught:
            answer.result(0)
        return str(caught.value)


@pytest.mark.parametrize("cause", list(CAUSES))
def test_the_job_runs_on_and_can_be_stopped_later(tmp_path: Path, cause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers, sink = ManualSource(), TransactionalSink()
    options = {**NO_RESTART, "execution_checkpointing_timeout": f"{TIMEOUT_MS} ms"}
    with committing(numbers, sink, tmp_path / "checkpoints", **options) as job:
        numbers.push(("a", 1))
        job.settle()
        job.store()
        numbers.push(("a", 2))
        told = failing_stop(job, cause, tmp_path / "savepoints", monkeypatch)
        assert "the job runs on" in told or cause == "no permission"
        assert job.status is JobStatus.RUNNING and job.restarts == 0
        assert sink.visible == [("a", 1)], "nothing of a savepoint that failed is committed"
        numbers.push(("a", 3))
        job.settle()
        job.store()
        assert sink.visible == [("a", 1), ("a", 3), ("a", 6)]
        assert bool(list(tmp_path.glob("savepoints/*"))) == (cause == "checkpoint"), "what is not complete is deleted"
        numbers.push(("a", 4))
        job.settle()
        path = job.savepoint(tmp_path / "savepoints", stop=True)
        assert job.status is JobStatus.FINISHED and sink.visible[-1] == ("a", 10)
    numbers.push(("a", 5))
    with committing(numbers, sink, tmp_path / "checkpoints", path) as job:
        job.settle()
        job.store()
        assert sink.visible[-1] == ("a", 15)


def test_checkpoints_go_on_by_their_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers, sink = ManualSource(), TransactionalSink()
    with committing(numbers, sink, tmp_path / "checkpoints", execution_checkpointing_interval="1 s", **NO_RESTART) as job:
        failing_stop(job, "metadata", tmp_path / "savepoints", monkeypatch)
        numbers.push(("a", 1))
        job.settle()
        job.advance_processing_time(1000)
        job.settle()
        assert sink.visible == [("a", 1)]


def test_a_failure_after_a_failed_stop_goes_back_to_the_checkpoint_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers, sink = ManualSource(), TransactionalSink()
    with committing(numbers, sink, tmp_path / "checkpoints") as job:
        numbers.push(("a", 1))
        job.settle()
        job.store()
        numbers.push(("a", 2))
        failing_stop(job, "declined", tmp_path / "savepoints", monkeypatch)
        job.fail()
        job.settle()
        job.store()
        assert sink.visible == [("a", 1), ("a", 3)]


def test_a_drained_job_restarts_as_its_input_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers, sink = ManualSource(), TransactionalSink()
    restart = {"restart__strategy_type": "fixed-delay", "restart__strategy_fixed__delay_delay": "0 s"}
    with committing(numbers, sink, tmp_path / "checkpoints", **restart) as job:
        numbers.push(("a", 1))
        job.settle()
        job.store()
        numbers.push(("a", 2))
        job.settle()
        with monkeypatch.context() as patch, pytest.raises(CheckpointError, match="the job restarts, as its sources were drained"):
            patch.setattr(SavepointFiles, "write", refuse)
            job.savepoint(tmp_path / "savepoints", stop=True, drain=True)
        job.until(lambda: job.status is JobStatus.RUNNING, "run")
        assert job.restarts == 1
        job.settle()
        job.store()
        assert sink.visible == [("a", 1), ("a", 3)]


def test_a_drained_job_without_restarts_fails_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers, sink = ManualSource(), TransactionalSink()
    with committing(numbers, sink, tmp_path / "checkpoints", **NO_RESTART) as job, monkeypatch.context() as patch:
        patch.setattr(Savepoint, "publish", refuse)
        with pytest.raises(CheckpointError, match="the storage is down"):
            job.savepoint(tmp_path / "savepoints", stop=True, drain=True)
        with pytest.raises(JobExecutionError, match="the savepoint to drain and stop the job with failed: the metadata could not"):
            job.settle()


class Later(KeyedProcessFunction):
    """Emits each value 100 ms after it has come."""

    def process_element(self, value, ctx):
        at = ctx.timer_service().current_processing_time() + 100
        ctx.timer_service().register_processing_time_timer(at)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp


def test_timers_that_were_due_while_the_task_had_stopped_fire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = ManualSource()
    env = environment(tmp_path / "checkpoints", execution_checkpointing_timeout=f"{TIMEOUT_MS} ms", **NO_RESTART)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    results = env.collect(stream.key_by(lambda n: n, Types.LONG()).process(Later()).uid("later"))
    with start(env) as job:
        numbers.push(7)
        job.settle()
        begun = job.processing_time
        failing_stop(job, "expired", tmp_path / "savepoints", monkeypatch)
        job.settle()
        assert results.values == [(7, begun + 100)]


class Answer(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(1)
        return [value]


def test_requests_that_were_answered_while_the_task_had_stopped_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = ManualSource()
    env = environment(tmp_path / "checkpoints", execution_checkpointing_timeout=f"{TIMEOUT_MS} ms", **NO_RESTART)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    asked = AsyncDataStream.ordered_wait(stream.key_by(lambda n: n), Answer(), Time.seconds(60), 10, Types.LONG())
    results = env.collect(asked)
    with start(env) as job:
        numbers.push_all([1, 2])
        job.settle()
        failing_stop(job, "expired", tmp_path / "savepoints", monkeypatch)
        job.settle()
        numbers.push(3)
        job.settle()
        job.advance_processing_time(1000)
        assert results.values == [1, 2, 3]


def test_an_input_that_ended_while_the_job_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of one input may be what completes the alignment: it is processed when the job goes on."""
    for seed in range(8):
        endless, ending = ManualSource(bounded=True), ManualSource(bounded=True)
        env = environment(tmp_path / str(seed), wiesel_local_seed=str(seed), **NO_RESTART)
        none = WatermarkStrategy.no_watermarks()
        one, other = env.from_source(endless, none, "endless"), env.from_source(ending, none, "ending")
        sums = one.union(other).key_by(lambda pair: pair[0], Types.STRING()).process(Total())
        results = env.collect(sums)
        with start(env) as job:
            endless.push(("a", 1))
            ending.push(("a", 2))
            ending.end()
            job.step(seed * 3 + 1)
            failing_stop(job, "declined", tmp_path / "savepoints", monkeypatch)
            endless.push(("a", 4))
            job.settle()
            assert max(v for _, v in results.values) == 7
            endless.end()
            job.finish()


def sums(
    numbers: ManualSource, other: ManualSource, checkpoints: Path, parallelism: int, **options: Any
) -> tuple[StoredJob, CollectedStream]:
    env = environment(checkpoints, parallelism, **NO_RESTART, **options)
    none = WatermarkStrategy.no_watermarks()
    one = env.from_source(numbers, none, "numbers").uid("numbers").rebalance().map(lambda pair: pair)
    two = env.from_source(other, none, "other").uid("other").set_parallelism(1)
    totals = one.union(two).key_by(lambda pair: pair[0], Types.STRING()).process(Total()).uid("total")
    results = env.collect(totals.map(lambda pair: pair).set_parallelism(1))
    return start(env), results


@pytest.mark.parametrize("seed", range(6))
def test_stops_that_fail_at_random_moments_change_nothing(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    numbers, other = ManualSource(splits=2), ManualSource()
    parallelism = rng.randint(1, 3)
    job, results = sums(numbers, other, tmp_path / "checkpoints", parallelism, wiesel_local_seed=str(seed))
    totals = {f"k{n}": 1 for n in range(5)}
    write, failed = SavepointFiles.write, 0
    with job:
        numbers.push_all(list(totals.items()))
        job.settle()
        for _ in range(12):
            for _ in range(rng.randint(1, 20)):
                key, number = f"k{rng.randrange(5)}", rng.randint(1, 9)
                totals[key] += number
                (numbers if rng.random() < 0.6 else other).push((key, number))
            job.step(rng.randint(1, 40))
            left = [rng.randrange(min(2, parallelism))]

            def fails_sometime(self: SavepointFiles, *args: Any, left: list[int] = left) -> Any:
                left[0] -= 1
                return refuse() if left[0] < 0 else write(self, *args)

            with monkeypatch.context() as patch:
                patch.setattr(SavepointFiles, "write", fails_sometime)
                answer = job.ask(tmp_path / "savepoints", stop=True)
                for _ in range(MOST_STEPS):
                    if answer.done() or not job.step(rng.randint(1, 5)):
                        break
                assert answer.done(), "the job stands still"
            if answer.exception() is None:
                break
            failed += 1
            job.step(rng.randint(1, 30))
        assert failed > 1 and job.restarts == 0
        path = answer.result(0) if answer.exception() is None else job.savepoint(tmp_path / "savepoints", stop=True)
        before = results.values
    job, results = sums(numbers, other, tmp_path / "checkpoints", 2, execution_state__recovery_path=path)
    with job:
        job.settle()
        reached: dict[str, int] = {}
        for key, value in before + results.values:
            reached[key] = max(value, reached.get(key, 0))
        assert reached == totals


@pytest.mark.parametrize("seed", range(4))
def test_a_loop_goes_on(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers, outside = ManualSource(splits=2, bounded=True), ManualSource(bounded=True)
    job, done = countdown(numbers, outside, tmp_path / "checkpoints")
    with job:
        numbers.push_all(NUMBERS)
        if seed % 2:
            numbers.end()
            outside.end()
        job.step(60 + 60 * seed)
        assert len(done.values) < len(NUMBERS), "nothing was in the loop"
        failing_stop(job, "declined", tmp_path / "savepoints", monkeypatch)
        numbers.end()
        outside.end()
        job.finish()
        assert sorted(done.values) == NUMBERS
