"""Checkpoints, failures and restores of a pipeline in the hands of a test."""

from __future__ import annotations

import pickle
from collections import Counter
from random import Random

import pytest

from tests.unit.testing.programs import CountOfKey, Outside, TwoPhaseSink, add, first, sums_of
from wiesel.checkpoint.store import MemoryStateFiles
from wiesel.common import Configuration, WatermarkStrategy
from wiesel.common.job_status import JobStatus
from wiesel.core.errors import CheckpointError, CorruptCheckpointError, JobExecutionError, ProgramError, StateMigrationError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.functions import KeyedProcessFunction
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.testing import InjectedFailure, ManualSource, for_seeds, local_environment
from wiesel.testing._failures import MASTER_POINTS, TASK_POINTS

NO_WATERMARKS = WatermarkStrategy.no_watermarks()


def sums(stream):
    return stream.key_by(first).reduce(add).uid("sums")


def started(source, define=sums, restore_from=None, **options):
    """Return a running job and what it has collected."""
    env = local_environment(**options)
    out = env.collect(define(env.from_source(source, NO_WATERMARKS, "numbers")))
    return env.start(restore_from=restore_from), out


def test_a_job_goes_on_from_its_newest_checkpoint():
    source = ManualSource()
    job, out = started(source, parallelism=2)
    with job:
        source.push(("a", 1))
        job.settle()
        snapshot = job.checkpoint()
        assert (out.committed, job.completed_checkpoints, snapshot.checkpoint_id) == ([("a", 1)], 1, 1)
        assert snapshot.size_bytes > 0
        source.push(("a", 2))
        job.settle()
        assert (out.values, out.committed) == ([("a", 1), ("a", 3)], [("a", 1)])
        job.fail("pulled the plug")
        # What came after the checkpoint is taken back, and made again.
        assert (out.values, job.restarts, job.status) == ([("a", 1)], 1, JobStatus.RUNNING)
        job.settle()
        assert out.values == [("a", 1), ("a", 3)]


def test_without_a_checkpoint_a_job_begins_again():
    source = ManualSource()
    job, out = started(source)
    with job:
        source.push_all([("a", 1), ("a", 2)])
        job.settle()
        job.fail()
        assert out.values == []
        job.finish()
        assert out.values == out.committed == [("a", 1), ("a", 3)]


def test_timers_and_windows_survive_with_their_times():
    source = ManualSource()
    job, out = started(source, lambda s: s.key_by(first).process(CountOfKey()), parallelism=2)
    with job:
        source.push(("a", 1), timestamp=10)
        job.settle()
        job.set_processing_time(400)
        job.checkpoint()
        job.fail()
        job.set_processing_time(1_000)
        assert out.values == [("a", 1), ("PROCESSING_TIME", "a", 1)]
        source.advance_watermark(110)
        job.settle()
        assert out.values[2:] == [("EVENT_TIME", "a", None)]


@pytest.mark.parametrize("parallelism", [1, 2, 5])
@pytest.mark.parametrize("backend", ["hashmap", "lmdb", "rocksdb"])
def test_another_job_goes_on_with_another_parallelism(parallelism, backend):
    source = ManualSource(splits=3)
    job, _ = started(source, parallelism=3)
    with job:
        for i in range(30):
            source.push((i % 7, i), split=i % 3)
        job.step(60)
        snapshot = pickle.loads(pickle.dumps(job.checkpoint()))
        # What the first job does after its checkpoint is not known to the second.
        job.settle()
    for i in range(30, 40):
        source.push((i % 7, i), split=i % 3)
    job, out = started(source, restore_from=snapshot, parallelism=parallelism, state_backend=backend)
    with job:
        job.finish()
    last = {key: max(total for k, total in out.values if k == key) for key in range(7)}
    assert last == {key: sum(range(key, 40, 7)) for key in range(7)}


def test_a_checkpoint_that_does_not_fit_the_program():
    source = ManualSource()
    job, _ = started(source)
    with job:
        source.push(("a", 1))
        job.settle()
        snapshot = job.checkpoint()
    with pytest.raises(StateMigrationError, match="uid sums"):
        started(source, lambda s: s.map(first), restore_from=snapshot)
    with pytest.raises(StateMigrationError, match="maximum parallelism"):
        started(source, lambda s: sums(s).set_max_parallelism(64), restore_from=snapshot)


def real_job(directory):
    """Run a job that ends by a failure and leaves its checkpoints; return the path of the job's directory."""
    config = {
        "wiesel.engine": "local",
        "execution.checkpointing.interval": "10 ms",
        "execution.checkpointing.dir": str(directory),
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        "restart-strategy.type": "none",
        "execution.buffer-timeout.interval": "0 ms",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(config))
    source = ManualSource()
    source.push_all([("a", 1), ("b", 2), ("a", 4)])
    counted = env.from_source(source, NO_WATERMARKS, "numbers").key_by(first).reduce(add).uid("sums")
    counted.key_by(first).process(FailsLater()).print()
    client = env.execute_async()
    with pytest.raises(Exception, match="later"):
        client.get_job_execution_result().result(60)
    return f"{directory}/{client.get_job_id()}"


class FailsLater(KeyedProcessFunction):
    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        timers.register_processing_time_timer(timers.current_processing_time() + 100)

    def on_timer(self, timestamp, ctx):
        raise RuntimeError("later")


def test_a_checkpoint_of_a_real_job_can_be_tried_and_is_only_read(tmp_path):
    path = real_job(tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    source = ManualSource()
    env = local_environment(config={"execution.state-recovery.ignore-unclaimed-state": True})
    out = env.collect(env.from_source(source, NO_WATERMARKS, "another source").uid("new").key_by(first).reduce(add).uid("sums"))
    with env.start(restore_from=path) as job:
        source.push(("a", 10))
        job.settle()
        job.checkpoint()
        assert out.values == [("a", 15)]
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before
    env.collect(env.from_source(source, NO_WATERMARKS, "numbers"))
    with pytest.raises(CorruptCheckpointError, match="no checkpoint at"):
        env.start(restore_from=f"{path}/chk-9999")


@pytest.mark.parametrize("point", TASK_POINTS + MASTER_POINTS)
@for_seeds(10)
def test_output_is_exactly_once_wherever_a_checkpoint_fails(point, seed):
    outside = Outside()
    env = local_environment(parallelism=2, seed=seed)
    source = ManualSource(splits=2)
    summed = sums(env.from_source(source, NO_WATERMARKS, "numbers"))
    summed.sink_to(TwoPhaseSink(outside))
    out = env.collect(summed)
    with env.start() as job:
        for i in range(12):
            source.push((i % 3, 1), split=i % 2)
        job.settle()
        job.checkpoint()
        for i in range(12):
            source.push((i % 3, 1), split=i % 2)
        job.step(10)
        job.fail_at(point)
        with pytest.raises(InjectedFailure, match=point):
            job.checkpoint()
        assert job.restarts == 1
        job.finish()
    expected = Counter((key, total) for key in range(3) for total in range(1, 9))
    assert Counter(outside.values) == Counter(out.values) == Counter(out.committed) == expected


@for_seeds(40)
def test_output_is_exactly_once_under_failures_at_any_time(seed):
    """Everything is drawn from the seed: records, checkpoints, failures, changes of parallelism."""
    random = Random(seed)
    outside, source, snapshot, expected = Outside(), ManualSource(splits=2), None, Counter()
    count = dict.fromkeys("abc", 0)
    for last in (False, False, True):
        env = local_environment(parallelism=random.randint(1, 3), seed=seed)
        sums(env.from_source(source, NO_WATERMARKS, "numbers")).sink_to(TwoPhaseSink(outside)).uid("sink")
        with env.start(restore_from=snapshot) as job:
            for _ in range(random.randint(1, 15)):
                key = random.choice("abc")
                count[key] += 1
                expected[key, count[key]] += 1
                source.push((key, 1), split=ord(key) % 2)
                job.step(random.randint(1, 12))
                if random.random() < 0.2:
                    job.checkpoint()
                if random.random() < 0.2:
                    job.fail()
            if last:
                job.finish()
            else:
                snapshot = job.checkpoint()
    assert Counter(outside.values) == expected


def test_failures_are_planned_for_certain_tasks_and_passages():
    source = ManualSource()
    job, out = started(source, parallelism=2)
    with job:
        source.push(("a", 1))
        job.settle()
        job.fail_at("before-snapshot", operator="sums", subtask=1, nth=2)
        job.checkpoint()
        with pytest.raises(InjectedFailure, match=r"before-snapshot of Reduce \(2\)"):
            job.checkpoint()
        assert (job.restarts, job.completed_checkpoints) == (1, 1)
        job.checkpoint()
        assert out.committed == [("a", 1)]


def test_a_planned_failure_that_never_happens_fails_the_test():
    job, _ = started(ManualSource())
    with pytest.raises(AssertionError, match="never passed: before-ack"), job:
        job.fail_at("before-ack", nth=3)
    job, _ = started(ManualSource())
    with pytest.raises(AssertionError, match="never passed"), job:
        job.fail_at("after-commit", nth=2)
        job.finish()


class Unpicklable(KeyedProcessFunction):
    def open(self, runtime_context):
        self.state = runtime_context.get_state(ValueStateDescriptor("generator"))

    def process_element(self, value, ctx):
        self.state.update(n for n in range(3))


def test_a_checkpoint_that_cannot_be_taken_says_so(monkeypatch):
    source = ManualSource()
    job, _ = started(source, lambda s: s.key_by(first).process(Unpicklable()))
    with pytest.raises(JobExecutionError, match="'generator' holds a value that cannot be pickled"), job:
        source.push(("a", 1))
        job.settle()
        job.checkpoint()

    job, out = started(source, config={"execution.checkpointing.tolerable-failed-checkpoints": 1})
    with job:
        with monkeypatch.context() as patch:
            patch.setattr(MemoryStateFiles, "write", lambda *_: 1 // 0)
            with pytest.raises(CheckpointError, match="could not store its part"):
                job.checkpoint()
        job.checkpoint()
        assert (job.status, job.restarts, out.committed) == (JobStatus.RUNNING, 0, [("a", 1)])


def test_large_state_needs_no_directory():
    source = ManualSource()
    job, _ = started(source)
    with job:
        source.push(("a" * 8_000_000, 1))
        job.settle()
        assert job.checkpoint().size_bytes > 8_000_000


def test_windows_are_those_of_a_batch_under_failures():
    source = ManualSource(splits=2)
    job, out = started(source, sums_of(10), parallelism=2)
    random = Random(5)
    expected = Counter()
    with job:
        for _ in range(60):
            key, timestamp = random.choice("abc"), random.randrange(200)
            expected[key, timestamp // 10] += 1
            source.push((key, 1), timestamp=timestamp, split=random.randrange(2))
            if random.random() < 0.1:
                job.checkpoint()
            if random.random() < 0.1:
                job.fail()
        job.finish()
    assert {(value[0], timestamp // 10): value[1] for value, timestamp in out.records} == expected
    assert len(out.records) == len(expected)


def test_misuse():
    job, _ = started(ManualSource())
    with job, pytest.raises(ProgramError, match="restore_from"):
        local_environment().start(restore_from=job)
