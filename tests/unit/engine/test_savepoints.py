"""Savepoints of running jobs: what is in them, what becomes of the job, and what other jobs make of them."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.unit.engine.stored_job import StoredJob, Total, environment, start, totals
from wiesel.checkpoint.snapshots import is_savepoint
from wiesel.common import Time, Types, WatermarkStrategy
from wiesel.common.job_status import JobStatus
from wiesel.core.errors import CheckpointError, ConfigurationError, CorruptCheckpointError, JobExecutionError, StateMigrationError
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.datastream import KeyedProcessFunction
from wiesel.datastream.connectors.base import CommitRequest, Committer, Sink, SinkWriter
from wiesel.datastream.connectors.number_seq import NumberSequenceSource
from wiesel.datastream.window import TumblingEventTimeWindows
from wiesel.spi.functions import CoMapFunction
from wiesel.state_processor import SavepointReader
from wiesel.testing import CollectedStream, ManualSource

MANY = [(f"key {n}", n) for n in range(5000)]
"""As much as needs files beside the metadata."""


def test_c19_a_savepoint_is_one_directory_and_the_job_runs_on(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, results = totals(numbers, tmp_path / "checkpoints")
    with job:
        numbers.push_all(MANY)
        job.settle()
        path = Path(job.savepoint(tmp_path / "savepoints"))
        assert path.parent == tmp_path / "savepoints" and path.name.startswith(f"savepoint-{job.master.job_id[:6]}-")
        names = {p.name for p in path.iterdir()}
        assert "_metadata" in names and len(names) > 1 and all(p.is_file() for p in path.iterdir())
        numbers.push(("key 7", 1))
        job.settle()
        assert job.status is JobStatus.RUNNING and results.values[-1] == ("key 7", 8)
        before = {p.name: p.read_bytes() for p in path.iterdir()}
        job.store()
        job.store()
    assert {p.name: p.read_bytes() for p in path.iterdir()} == before
    shutil.rmtree(tmp_path / "checkpoints")
    assert {k: v["sum"] for k, v in SavepointReader.read(str(path)).keyed_state("total")} == dict(MANY)


def test_checkpoints_do_not_depend_on_a_savepoint(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, _ = totals(numbers, tmp_path / "checkpoints")
    with job:
        numbers.push_all(MANY)
        job.settle()
        path = job.savepoint(tmp_path)
        numbers.push(("key 7", 1))
        job.settle()
        checkpoint = job.store()
        shutil.rmtree(path)
        job.fail()
        numbers.push(("key 7", 1))
        job.settle()
    job, results = totals(numbers, tmp_path / "checkpoints", checkpoint)
    with job:
        job.settle()
        assert results.values == [("key 7", 9)]


@pytest.mark.parametrize("claim", ["CLAIM", "NO_CLAIM"])
def test_c22_c26_a_savepoint_that_was_moved_starts_a_job_with_another_parallelism(tmp_path: Path, claim: str) -> None:
    numbers = ManualSource(splits=2)
    job, _ = totals(numbers, tmp_path / "checkpoints", parallelism=2)
    with job:
        numbers.push_all(MANY, split=0)
        numbers.push_all(MANY, split=1)
        job.settle()
        path = job.savepoint(tmp_path / "savepoints")
    shutil.rmtree(tmp_path / "checkpoints")
    moved = tmp_path / "other place" / "my savepoint"
    moved.parent.mkdir()
    shutil.move(path, moved)
    given = f"{moved}/_metadata" if claim == "CLAIM" else str(moved)
    job, results = totals(numbers, tmp_path / "checkpoints", given, claim, parallelism=3)
    with job:
        numbers.push_all(MANY)
        job.settle()
        job.fail()
        job.settle()
        assert sorted(results.values) == sorted((key, 3 * n) for key, n in MANY)
        job.store()
        job.settle()
        assert moved.exists() == (claim == "NO_CLAIM"), "who claims it deletes it when a checkpoint has replaced it"
        job.fail()
        numbers.push(("key 7", 1))
        job.settle()
        assert results.values[-1] == ("key 7", 22)


class Doubling(Total):
    """Another variant: what comes counts twice from now on."""

    def process_element(self, value, ctx):
        yield from super().process_element((value[0], 2 * value[1]), ctx)


def variant(function: Total, numbers: ManualSource, checkpoints: Path, restore: str) -> tuple[StoredJob, CollectedStream]:
    env = environment(checkpoints, execution_state__recovery_path=restore)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    results = env.collect(stream.key_by(lambda pair: pair[0], Types.STRING()).process(function).uid("total"))
    return start(env), results


def test_c21_two_variants_start_from_one_savepoint_and_run_side_by_side(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, _ = totals(numbers, tmp_path / "checkpoints")
    with job:
        numbers.push_all([("a", 1), ("b", 5)])
        job.settle()
        path = job.savepoint(tmp_path)
    one, results_of_one = variant(Total(), numbers, tmp_path / "checkpoints", path)
    two, results_of_two = variant(Doubling(), numbers, tmp_path / "checkpoints", path)
    with one, two:
        assert one.directory != two.directory
        for number in (2, 3):
            numbers.push_all([("a", number), ("b", number)])
            one.settle()
            two.settle()
            one.store()
            two.store()
        one.fail()
        numbers.push(("a", 4))
        one.settle()
        two.settle()
        assert (one.restarts, two.restarts) == (1, 0)
    assert results_of_one.values == [("a", 3), ("b", 7), ("a", 6), ("b", 10), ("a", 10)]
    assert results_of_two.values == [("a", 5), ("b", 9), ("a", 11), ("b", 15), ("a", 19)]


class Tally(Committer[Any]):
    def __init__(self, committed: list[Any]) -> None:
        self.committed = committed

    def commit(self, requests: Sequence[CommitRequest[Any]]) -> None:
        # A transaction that is committed already is left alone, as every committer must.
        self.committed += [r.committable for r in requests if r.committable not in self.committed]


class Buffered(SinkWriter):
    def __init__(self, name: str) -> None:
        self.name, self.buffer, self.number = name, [], 0

    def write_batch(self, values: Sequence[Any], timestamps: Any) -> None:
        self.buffer += values

    def flush(self, end_of_input: bool) -> None:
        pass

    def prepare_commit(self) -> list[Any]:
        self.number += 1
        taken, self.buffer = self.buffer, []
        return [(f"{self.name}-{self.number}", tuple(taken))] if taken else []


class TransactionalSink(Sink):
    def __init__(self) -> None:
        self.committed: list[Any] = []

    def __getstate__(self) -> dict[str, Any]:
        return {"committed": []}

    def create_writer(self, context: Any, states: Sequence[Any] = ()) -> SinkWriter:
        return Buffered(f"{context.job_id}-{context.attempt}")

    def create_committer(self) -> Committer[Any]:
        return Tally(self.committed)

    @property
    def visible(self) -> list[Any]:
        return [value for _, values in self.committed for value in values]


def committing(numbers: ManualSource, sink: TransactionalSink, checkpoints: Path, restore: str | None = None, **config: Any) -> StoredJob:
    if restore is not None:
        config["execution_state__recovery_path"] = restore
    env = environment(checkpoints, **config)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    stream.key_by(lambda pair: pair[0], Types.STRING()).process(Total()).uid("total").sink_to(sink).uid("sink")
    return start(env)


def test_a_savepoint_makes_nothing_visible_that_a_failure_could_repeat(tmp_path: Path) -> None:
    numbers, sink = ManualSource(), TransactionalSink()
    with committing(numbers, sink, tmp_path / "checkpoints") as job:
        numbers.push(("a", 1))
        job.settle()
        job.store()
        numbers.push(("a", 2))
        job.settle()
        path = job.savepoint(tmp_path)
        assert sink.visible == [("a", 1)]
        job.fail()
        job.settle()
        assert job.master.attempt.restored_checkpoint_id == 1
        job.store()
        assert sink.visible == [("a", 1), ("a", 3)]
    other = TransactionalSink()
    with committing(numbers, other, tmp_path / "checkpoints", path) as job:
        job.settle()
        assert other.visible == [("a", 3)], "whoever starts from the savepoint commits what is in it"


def test_what_a_savepoint_covers_is_committed_by_the_next_checkpoint(tmp_path: Path) -> None:
    numbers, sink = ManualSource(splits=1), TransactionalSink()
    with committing(numbers, sink, tmp_path / "checkpoints") as job:
        numbers.push(("a", 1))
        job.settle()
        job.savepoint(tmp_path)
        job.savepoint(tmp_path)
        numbers.push(("a", 2))
        job.settle()
        assert sink.visible == []
        job.store()
        assert sink.visible == [("a", 1), ("a", 3)]


@pytest.mark.parametrize("directory", [None, "checkpoints"])
def test_c24_a_job_is_stopped_and_goes_on_later_as_if_there_had_been_no_pause(tmp_path: Path, directory: str | None) -> None:
    numbers, sink = ManualSource(), TransactionalSink()
    checkpoints = None if directory is None else tmp_path / directory
    with committing(numbers, sink, checkpoints) as job:
        numbers.push(("a", 1))
        numbers.push(("b", 5))
        job.settle()
        path = job.savepoint(tmp_path, stop=True)
        assert job.status is JobStatus.FINISHED
        assert sink.visible == [("a", 1), ("b", 5)], "what comes with the savepoint is committed"
        assert checkpoints is None or not [p for p in job.directory.iterdir() if p.name.startswith("chk-")]
    numbers.push(("a", 2))
    with committing(numbers, sink, tmp_path / "checkpoints", path) as job:
        numbers.push(("b", 6))
        job.settle()
        job.finish()
    assert sink.visible == [("a", 1), ("b", 5), ("a", 3), ("b", 11)]


def windowed(
    numbers: ManualSource, checkpoints: Path, restore: str | None = None, parallelism: int = 1
) -> tuple[StoredJob, CollectedStream]:
    config = {} if restore is None else {"execution_state__recovery_path": restore}
    env = environment(checkpoints, parallelism, **config)
    stream = env.from_source(numbers, WatermarkStrategy.for_monotonous_timestamps(), "numbers").uid("numbers")
    windows = stream.key_by(lambda pair: pair[0], Types.STRING()).window(TumblingEventTimeWindows.of(Time.milliseconds(100)))
    results = env.collect(windows.reduce(lambda a, b: (a[0], a[1] + b[1])).uid("windows"))
    return start(env), results


@pytest.mark.parametrize("parallelism", [1, 3])
def test_without_drain_windows_stay_open_and_with_drain_they_fire(tmp_path: Path, parallelism: int) -> None:
    for drain, expected in ((False, [("a", 3)]), (True, [("a", 3), ("a", 4)])):
        numbers = ManualSource(splits=parallelism, bounded=False)
        job, results = windowed(numbers, tmp_path / "checkpoints", parallelism=parallelism)
        with job:
            for split in range(parallelism):
                # The same time in all splits, so that the watermark is that of each.
                numbers.push_all([("a", 3), ("a", 4)] if split == 0 else [("b", 0), ("c", 0)], [10, 150], split=split)
            job.settle()
            job.advance_processing_time(1000)
            path = job.savepoint(tmp_path, stop=True, drain=drain)
            assert job.status is JobStatus.FINISHED
        assert [v for v in results.values if v[0] == "a"] == expected
        timers = list(SavepointReader.read(path).window_state("windows"))
        assert bool(timers) == (not drain)


def test_a_stopped_window_goes_on_filling(tmp_path: Path) -> None:
    numbers = ManualSource(bounded=True)
    job, results = windowed(numbers, tmp_path / "checkpoints")
    with job:
        numbers.push(("a", 1), timestamp=10)
        job.settle()
        path = job.savepoint(tmp_path, stop=True)
        assert results.values == []
    numbers.push(("a", 2), timestamp=20)
    job, results = windowed(numbers, tmp_path / "checkpoints", path)
    with job:
        job.settle()
        job.finish()
    assert results.values == [("a", 3)]


class AtTheEnd(KeyedProcessFunction):
    """Tells the largest watermark that a timer has seen."""

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(MAX_TIMESTAMP)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp


def test_drain_sends_the_last_watermark_before_the_savepoint(tmp_path: Path) -> None:
    numbers = ManualSource(bounded=False)
    env = environment(tmp_path / "checkpoints", 2)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    results = env.collect(stream.key_by(lambda pair: pair[0], Types.STRING()).process(AtTheEnd()).uid("end"))
    with start(env) as job:
        numbers.push(("a", 1))
        job.settle()
        path = job.savepoint(tmp_path, stop=True, drain=True)
    assert results.values == [("a", MAX_TIMESTAMP)]
    assert list(SavepointReader.read(path).timers("end")) == []


@pytest.mark.parametrize("point", ["before-commit", "after-publish", "before-publish", "before-ack", "after-commit"])
def test_a_failure_while_the_job_is_stopped_repeats_nothing(tmp_path: Path, point: str) -> None:
    numbers, sink = ManualSource(), TransactionalSink()
    with committing(numbers, sink, tmp_path / "checkpoints") as job:
        numbers.push(("a", 1))
        job.settle()
        job.store()
        numbers.push(("a", 2))
        job.settle()
        job.fail_at(point)
        answer = job.ask(tmp_path / "savepoints", stop=True)
        if point == "after-commit":
            job.until(answer.done, "answer")
        else:
            job.until(lambda: job.restarts == 1 and job.status is JobStatus.RUNNING, "recover")
            with pytest.raises(CheckpointError, match="savepoint"):
                answer.result(0)
        if job.status is JobStatus.RUNNING:
            job.settle()
            numbers.push(("a", 3))
            job.settle()
            job.finish()
            assert sink.visible == [("a", 1), ("a", 3), ("a", 6)]
    left = list((tmp_path / "savepoints").glob("*/_metadata"))
    assert bool(left) == (point in ("before-commit", "after-publish", "after-commit"))


class FailingTally(Tally):
    """Commits, and does not get as far as saying so, once."""

    def __init__(self, sink: FailingSink) -> None:
        super().__init__(sink.committed)
        self.sink = sink

    def commit(self, requests: Sequence[CommitRequest[Any]]) -> None:
        super().commit(requests)
        if self.sink.failing:
            self.sink.failing = False
            raise OSError("the connection was lost")


class FailingSink(TransactionalSink):
    def __init__(self) -> None:
        super().__init__()
        self.failing = False

    def create_committer(self) -> Committer[Any]:
        return FailingTally(self)


def test_what_was_committed_with_the_last_savepoint_does_not_come_again(tmp_path: Path) -> None:
    numbers, sink = ManualSource(), FailingSink()
    restart = {"restart__strategy_type": "fixed-delay", "restart__strategy_fixed__delay_delay": "0 s"}
    with committing(numbers, sink, tmp_path / "checkpoints", **restart) as job:
        numbers.push(("a", 1))
        job.settle()
        job.store()
        numbers.push(("a", 2))
        job.settle()
        sink.failing = True
        answer = job.ask(tmp_path / "savepoints", stop=True)
        job.until(lambda: job.restarts == 1 and job.status is JobStatus.RUNNING, "recover")
        with pytest.raises(CheckpointError, match=r"the savepoint is complete at .*, but the job failed: OSError"):
            answer.result(0)
        numbers.push(("a", 3))
        job.settle()
        job.finish()
    assert sink.visible == [("a", 1), ("a", 3), ("a", 6)]


def test_requests_wait_for_each_other_and_for_a_checkpoint(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, _ = totals(numbers, tmp_path / "checkpoints", execution_checkpointing_savepoint__dir=str(tmp_path / "default"))
    with job:
        job.master.attempt.trigger()
        assert job.master.attempt.coordinator.pending_id == 1
        answers = [job.ask(label=f"number {n}") for n in range(3)]
        job.until(lambda: all(a.done() for a in answers), "answer")
        paths = {a.result(0) for a in answers}
        assert len(paths) == 3 and all(Path(p).parent == tmp_path / "default" for p in paths)
        assert job.completed_checkpoints == 1
        stop, late = job.ask(stop=True), job.ask()
        with pytest.raises(CheckpointError, match="being stopped"):
            late.result(0)
        job.until(stop.done, "stop")
    with pytest.raises(CheckpointError, match="FINISHED"):
        job.ask()


def test_savepoints_that_cannot_be_taken(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, results = totals(numbers, tmp_path / "checkpoints")
    (tmp_path / "file").touch()
    with job:
        with pytest.raises(ConfigurationError, match="no directory"):
            job.savepoint()
        for options in ({}, {"stop": True}):
            with pytest.raises(CheckpointError, match=r"no savepoint can be written to .*file"):
                job.savepoint(tmp_path / "file" / "below", **options)
        answer = job.ask(tmp_path / "savepoints")
        job.fail()
        with pytest.raises(CheckpointError, match=r"savepoint.*injected|is not running"):
            answer.result(0)
        numbers.push(("a", 1))
        job.settle()
        assert results.values == [("a", 1)] and job.restarts == 1
        assert job.savepoint(tmp_path / "savepoints")


@pytest.mark.parametrize("stop", [False, True])
def test_a_savepoint_that_a_task_cannot_take_part_in(tmp_path: Path, stop: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from wiesel.checkpoint.savepoint import SavepointFiles

    numbers = ManualSource()
    job, results = totals(numbers, tmp_path / "checkpoints")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with job:
        numbers.push(("a", 1))
        job.settle()
        job.store()
        with monkeypatch.context() as patch, pytest.raises(CheckpointError, match="No space left"):
            patch.setattr(SavepointFiles, "write", full)
            job.savepoint(tmp_path / "savepoints", stop=stop)
        assert job.status is JobStatus.RUNNING and job.restarts == 0
        numbers.push(("a", 2))
        job.settle()
        assert results.values == [("a", 1), ("a", 3)]
        assert not list((tmp_path / "savepoints").iterdir())


def test_the_state_of_tasks_that_have_finished_is_in_the_savepoint(tmp_path: Path) -> None:
    ended, endless = ManualSource(), ManualSource()

    def joined(restore: str | None = None) -> tuple[StoredJob, CollectedStream]:
        env = environment(tmp_path / "checkpoints", 1, **({} if restore is None else {"execution_state__recovery_path": restore}))
        one = env.from_source(ended, WatermarkStrategy.no_watermarks(), "ended").uid("ended")
        counted = one.key_by(lambda p: p[0], Types.STRING()).process(Total(), Types.TUPLE([Types.STRING(), Types.LONG()])).uid("counted")
        two = env.from_source(endless, WatermarkStrategy.no_watermarks(), "endless").uid("endless")
        both = counted.connect(two).map(Either()).uid("either")
        return start(env_with(env, both)), COLLECTED.pop()

    job, results = joined()
    with job:
        ended.push_all(MANY)
        ended.end()
        endless.push(("b", 1))
        job.settle()
        assert len(job.master.attempt.finished_tasks) == 2, "the source and the sums"
        path = job.savepoint(tmp_path / "savepoints")
    assert len(results.values) == len(MANY) + 1
    shutil.rmtree(tmp_path / "checkpoints")
    assert {k: v["sum"] for k, v in SavepointReader.read(path).keyed_state("counted")} == dict(MANY)
    job, results = joined(path)
    with job:
        endless.push(("b", 2))
        job.settle()
        assert results.values == [("b", 2)]
        job.finish()


COLLECTED: list[CollectedStream] = []


def env_with(env: Any, stream: Any) -> Any:
    COLLECTED.append(env.collect(stream))
    return env


class Either(CoMapFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return value


def test_c29_operators_with_state_and_no_uid_are_warned_of_with_their_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    numbers = ManualSource()
    env = environment(None)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    stream.key_by(lambda pair: pair[0], Types.STRING()).process(Total()).name("nameless").map(lambda pair: pair[1]).print()
    with start(env) as job:
        numbers.push(("a", 1))
        job.settle()
        job.savepoint(tmp_path)
    told = [r.getMessage() for r in caplog.records if "no uid" in r.getMessage()]
    assert len(told) == 1 and re.match(r"nameless \(.*test_savepoints.py:\d+\) has state and no uid", told[0])


def test_c29_with_uids_an_operator_may_come_before_and_without_them_it_is_told(tmp_path: Path) -> None:
    def build(uid: str | None, more: bool, restore: str | None = None) -> tuple[StoredJob, ManualSource, CollectedStream]:
        env = environment(tmp_path / "checkpoints", **({} if restore is None else {"execution_state__recovery_path": restore}))
        numbers = ManualSource()
        stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
        if more:
            stream = stream.map(lambda pair: pair)
        sums = stream.key_by(lambda pair: pair[0], Types.STRING()).process(Total())
        results = env.collect(sums if uid is None else sums.uid(uid))
        return start(env), numbers, results

    paths = {}
    for uid in ("sums", None):
        job, numbers, _ = build(uid, False)
        with job:
            numbers.push(("a", 1))
            job.settle()
            paths[uid] = job.savepoint(tmp_path)
    job, numbers, results = build("sums", True, paths["sums"])
    with job:
        # The new source's first record lies before the position that is restored.
        numbers.push(("a", 99))
        numbers.push(("a", 2))
        job.settle()
    assert results.values == [("a", 3)]
    with pytest.raises(StateMigrationError, match=r"state of operators that the program does not have: .*uid not set"):
        build(None, True, paths[None])


def test_c20_a_changed_function_goes_on_from_the_old_state(tmp_path: Path) -> None:
    class Corrected(Total):
        def process_element(self, value, ctx):
            for key, total in super().process_element(value, ctx):
                yield f"{key} = {total}"

    numbers = ManualSource()
    job, _ = totals(numbers, tmp_path / "checkpoints")
    with job:
        numbers.push(("a", 1))
        job.settle()
        path = job.savepoint(tmp_path, stop=True)
    numbers.push(("a", 2))
    env = environment(tmp_path / "checkpoints", execution_state__recovery_path=path)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    results = env.collect(stream.key_by(lambda pair: pair[0], Types.STRING()).process(Corrected()).uid("total"))
    with start(env) as job:
        job.settle()
    assert results.values == ["a = 3"]


def test_c28_a_program_without_an_operator_of_the_savepoint_is_refused_or_drops_its_state(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, _ = totals(numbers, tmp_path / "checkpoints")
    with job:
        numbers.push(("a", 1))
        job.settle()
        path = job.savepoint(tmp_path)

    def without(**config: Any) -> tuple[StoredJob, CollectedStream]:
        env = environment(tmp_path / "checkpoints", **config, execution_state__recovery_path=path)
        stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
        collected = env.collect(stream.map(lambda pair: pair[1]).uid("other"))
        return start(env), collected

    with pytest.raises(StateMigrationError, match=rf"{path} has state of operators .*uid total"):
        without()
    job, results = without(execution_state__recovery_ignore__unclaimed__state="true")
    with job:
        numbers.push(("a", 2))
        job.settle()
        assert results.values == [2]


@pytest.mark.parametrize("damage", ["missing file", "torn metadata", "flipped bit"])
def test_a_damaged_savepoint_is_refused(tmp_path: Path, damage: str) -> None:
    numbers = ManualSource()
    job, _ = totals(numbers, tmp_path / "checkpoints")
    with job:
        numbers.push_all(MANY)
        job.settle()
        path = Path(job.savepoint(tmp_path))
    file = next(p for p in path.iterdir() if p.name != "_metadata")
    if damage == "missing file":
        file.unlink()
    elif damage == "torn metadata":
        metadata = path / "_metadata"
        metadata.write_bytes(metadata.read_bytes()[:-10])
    else:
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    with pytest.raises(CorruptCheckpointError):
        totals(numbers, tmp_path / "checkpoints", str(path))


def test_random_pauses_change_nothing(tmp_path: Path) -> None:
    """Stopped at random moments, with records on their way, and started with another parallelism and backend each time."""
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    rng = random.Random(seed)
    numbers, sink = ManualSource(splits=2), TransactionalSink()
    sums: dict[str, int] = {}
    expected: set[tuple[str, int]] = set()
    path, stops = None, 0
    for round_number in range(8):
        config = {
            "parallelism": rng.randint(1, 3),
            "state_backend_type": rng.choice(["hashmap", "lmdb"]),
            "wiesel_local_seed": str(rng.randrange(10**6)),
        }
        parallelism = config.pop("parallelism")
        with started(numbers, sink, tmp_path / "checkpoints", path, parallelism, config) as job:
            for _ in range(rng.randint(1, 30)):
                key, number = f"k{rng.randrange(5)}", rng.randint(1, 9)
                sums[key] = sums.get(key, 0) + number
                expected.add((key, sums[key]))
                # One split per key, so that the sums have one order.
                numbers.push((key, number), split=int(key[1:]) % 2)
            job.step(rng.randint(1, 60))
            if rng.random() < 0.3:
                job.fail()
                job.step(rng.randint(1, 60))
            if round_number == 7:
                job.finish()
                break
            path = job.savepoint(tmp_path / "savepoints", stop=True)
            stops += 1
    assert stops == 7
    assert sorted(sink.visible) == sorted(expected)


def started(
    numbers: ManualSource, sink: Sink, checkpoints: Path, restore: str | None, parallelism: int, config: dict[str, str]
) -> StoredJob:
    given = {} if restore is None else {"execution_state__recovery_path": restore}
    env = environment(checkpoints, parallelism, **config, **given)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    stream.key_by(lambda pair: pair[0], Types.STRING()).process(Total()).uid("total").sink_to(sink).uid("sink")
    return start(env)


def test_a_job_that_was_stopped_is_done_for_its_client(tmp_path: Path) -> None:
    env = environment(tmp_path / "checkpoints")
    numbers = env.from_source(NumberSequenceSource(0, 10**12), WatermarkStrategy.no_watermarks(), "numbers")
    numbers.key_by(lambda n: n % 3).filter(lambda n: False).print()
    client = env.execute_async()
    path = client.trigger_savepoint(str(tmp_path)).result(60)
    assert Path(path, "_metadata").exists()
    stopped = client.stop_with_savepoint(False, str(tmp_path)).result(60)
    assert stopped != path and Path(stopped, "_metadata").exists()
    client.get_job_execution_result().result(60)
    assert client.get_job_status().result() is JobStatus.FINISHED
    with pytest.raises(CheckpointError, match="FINISHED"):
        client.trigger_savepoint(str(tmp_path)).result(60)


def test_a_job_that_is_cancelled_takes_no_savepoint(tmp_path: Path) -> None:
    job, _ = totals(ManualSource(), tmp_path / "checkpoints")
    with job:
        job.settle()
        begun, waiting = job.ask(tmp_path), job.ask(tmp_path)
        job.cancel()
        for answer in (begun, waiting):
            with pytest.raises(CheckpointError, match="was cancelled") as caught:
                answer.result(0)
            assert "failed" not in caught.value.message
        with pytest.raises(CheckpointError, match="CANCELED"):
            job.ask(tmp_path)


def test_batch_jobs_take_no_savepoints(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, _ = totals(numbers, None, execution_runtime__mode="BATCH")
    with job, pytest.raises((CheckpointError, JobExecutionError), match="BATCH"):
        job.savepoint(tmp_path)


def test_savepoints_lie_on_any_filesystem_of_fsspec(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, _ = totals(numbers, None)
    with job:
        numbers.push_all(MANY)
        job.settle()
        path = job.savepoint("memory://savepoints-of-a-test")
    assert path.startswith("memory://savepoints-of-a-test/savepoint-")
    job, results = totals(numbers, tmp_path / "checkpoints", path, "CLAIM")
    with job:
        numbers.push(("key 7", 1))
        job.settle()
        assert results.values == [("key 7", 8)]
        assert is_savepoint(path)
        job.store()
        job.settle()
        assert not is_savepoint(path), "it is the job's to delete"


def test_a_job_that_starts_from_a_drained_one_reads_on(tmp_path: Path) -> None:
    """As in Flink: its sources have not ended, and what the windows held has been emitted."""
    numbers = ManualSource(bounded=False)
    job, results = windowed(numbers, tmp_path / "checkpoints")
    with job:
        numbers.push(("a", 1), timestamp=10)
        job.settle()
        path = job.savepoint(tmp_path, stop=True, drain=True)
        assert results.values == [("a", 1)]
    job, results = windowed(numbers, tmp_path / "checkpoints", path)
    with job:
        numbers.push(("a", 2), timestamp=20)
        numbers.push(("a", 5), timestamp=300)
        job.settle()
        job.advance_processing_time(1000)
        assert job.status is JobStatus.RUNNING and results.values == [("a", 2)]
