"""Whole pipelines in the hands of a test: records, event time, the clock, the end."""

from __future__ import annotations

import pickle

import pytest

from tests.unit.testing.programs import CountOfKey, Silent, WithTimes, add, first, sums_of
from wiesel.common import Types, WatermarkStrategy
from wiesel.common.job_status import JobStatus
from wiesel.common.watermark_strategy import TimestampAssigner
from wiesel.core.errors import ConfigurationError, JobExecutionError, ProgramError, SerializationError, UserFunctionError
from wiesel.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from wiesel.datastream.functions import MapFunction, ProcessFunction
from wiesel.testing import ManualSource, Record, local_environment

NO_WATERMARKS = WatermarkStrategy.no_watermarks()


def sums(stream):
    return stream.key_by(first).reduce(add)


def test_records_come_through_when_the_test_lets_them():
    env = local_environment(parallelism=2)
    source = ManualSource()
    out = env.collect(sums(env.from_source(source, NO_WATERMARKS, "numbers")))
    source.push(("a", 1))
    with env.start() as job:
        assert out.values == [("a", 1)]
        source.push(("a", 2))
        assert out.values == [("a", 1)]
        job.settle()
        assert out.values == [("a", 1), ("a", 3)]
        job.settle()
        assert out.values == [("a", 1), ("a", 3)]
        assert job.status is JobStatus.RUNNING
        assert job.metric("Reduce.numRecordsOut") == 2
    assert job.status is JobStatus.CANCELED
    assert out.values == [("a", 1), ("a", 3)]


def test_watermarks_of_the_source_move_event_time():
    env = local_environment(parallelism=3)
    source = ManualSource(splits=2)
    out = env.collect(sums_of(100)(env.from_source(source, NO_WATERMARKS, "numbers")))
    with env.start() as job:
        source.push(("a", 1), timestamp=10, split=0)
        source.push_all([("a", 2), ("b", 4)], [20, 110], split=1)
        source.advance_watermark(150, split=0)
        job.settle()
        assert out.records == []
        source.advance_watermark(99, split=1)
        job.settle()
        assert out.records == [Record(("a", 3), 99)]
        # The split that is behind no longer holds the other back.
        source.set_idle(split=1)
        source.advance_watermark(199, split=0)
        job.settle()
        assert out.records == [Record(("a", 3), 99), Record(("b", 4), 199)]
        source.push(("a", 8), timestamp=500)
        assert job.finish().get_net_runtime() == 0
        assert out.records[2:] == [Record(("a", 8), 599)]
        assert job.status is JobStatus.FINISHED


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def test_the_strategies_of_the_program_work_by_the_clock():
    env = local_environment(start_time=1_000)
    source = ManualSource()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    out = env.collect(env.from_source(source, strategy, "times").process(TimeTeller()))
    with env.start() as job:
        source.push(("a", 50))
        job.settle()
        source.push(("a", 60))
        job.advance_processing_time(200)
        assert job.processing_time == 1_200
        source.push(("a", 70))
        job.settle()
        # Periodic watermarks come every 200 ms of the clock.
        assert out.values == [(50, -(2**63)), (60, -(2**63)), (70, 59)]


class TimeTeller(ProcessFunction):
    def process_element(self, value, ctx):
        yield ctx.timestamp(), ctx.timer_service().current_watermark()


def test_timers_of_processing_time_fire_on_the_way():
    env = local_environment(parallelism=2)
    source = ManualSource()
    out = env.collect(env.from_source(source, NO_WATERMARKS, "numbers").key_by(first).process(CountOfKey()))
    with env.start() as job:
        source.push(("a", 1), timestamp=0)
        job.settle()
        job.set_processing_time(300)
        source.push(("b", 1), timestamp=0)
        job.set_processing_time(999)
        assert out.values == [("a", 1), ("b", 1)]
        job.set_processing_time(1_000)
        assert out.records[2:] == [Record(("PROCESSING_TIME", "a", 1), 1_000)]
        job.advance_processing_time(10_000_000)
        assert out.records[3:] == [Record(("PROCESSING_TIME", "b", 1), 1_300)]


def test_side_outputs_are_collected_like_other_streams():
    env = local_environment()
    source = ManualSource(type_info=Types.INT())
    main = env.from_source(source, NO_WATERMARKS, "numbers").process(WithTimes())
    out, aside = env.collect(main), env.collect(main.get_side_output(WithTimes.NEGATIVE))
    with env.start() as job:
        source.push_all([1, -2, 3], [5, 6, 7])
        job.settle()
        assert [value for value, *_ in out.values] == [1, 3]
        assert aside.records == [Record(-2, 6)]


def test_bounded_sources_and_the_plain_ways_to_run_work_as_well():
    env = local_environment(parallelism=2)
    out = env.collect(sums(env.from_collection([("a", 1), ("a", 2)])))
    env.execute("plain")
    assert out.values == out.committed == [("a", 1), ("a", 3)]
    with local_environment().from_collection([1, 2]).map(lambda v: v + 1).execute_and_collect() as results:
        assert list(results) == [2, 3]
    source = ManualSource()
    source.push_all([1, 2])
    source.end()
    assert list(local_environment().from_source(source, NO_WATERMARKS, "ended").execute_and_collect()) == [1, 2]


def test_batch_mode():
    env = local_environment(parallelism=2)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    source = ManualSource()
    out = env.collect(sums(env.from_source(source, NO_WATERMARKS, "numbers")))
    with env.start() as job:
        source.push_all([("a", 1), ("b", 1), ("a", 2)])
        job.settle()
        assert out.values == []
        with pytest.raises(ProgramError, match="no checkpoints in BATCH mode"):
            job.checkpoint()
        job.finish()
        assert sorted(out.values) == [("a", 3), ("b", 1)]


def test_periodic_checkpoints_follow_the_clock():
    env = local_environment()
    env.enable_checkpointing(1_000)
    source = ManualSource()
    out = env.collect(env.from_source(source, NO_WATERMARKS, "numbers"))
    with env.start() as job:
        source.push(1)
        job.settle()
        assert (out.values, out.committed) == ([1], [])
        job.set_processing_time(1_000)
        assert (out.committed, job.completed_checkpoints) == ([1], 1)
        job.set_processing_time(5_500)
        assert job.completed_checkpoints == 5


def test_a_job_can_be_stopped_in_the_midst_of_something():
    env = local_environment(parallelism=2)
    source = ManualSource()
    out = env.collect(sums(env.from_source(source, NO_WATERMARKS, "numbers")))
    with env.start() as job:
        for i in range(20):
            source.push((i % 3, i))
        seen = [0]
        while job.step(3) == 3:
            seen.append(len(out.values))
        assert seen == sorted(seen)
        assert seen[-1] == 20
        assert any(0 < count < 20 for count in seen)


class Broken(MapFunction):
    def map(self, value):
        return 1 // value


def test_what_the_program_raises_comes_out_and_is_not_retried():
    env = local_environment()
    env.enable_checkpointing(1_000)
    source = ManualSource()
    out = env.collect(env.from_source(source, NO_WATERMARKS, "numbers").map(Broken()))
    with pytest.raises(JobExecutionError, match="ZeroDivisionError") as caught, env.start() as job:
        source.push(1)
        job.settle()
        source.push(0)
        job.settle()
    assert isinstance(caught.value.__cause__, UserFunctionError)
    assert job.status is JobStatus.FAILED
    assert out.values == [1]


def test_a_restart_strategy_that_the_program_asks_for_is_followed():
    env = local_environment(config={"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": 2})
    source = ManualSource()
    env.collect(env.from_source(source, NO_WATERMARKS, "numbers").map(Broken()))
    source.push(0)
    with env.start() as job:
        job.settle()
        assert (job.status, job.restarts) == (JobStatus.RESTARTING, 0)
        with pytest.raises(JobExecutionError, match="waits for time to pass"):
            job.checkpoint()
        job.advance_processing_time(1_000)
        assert (job.status, job.restarts) == (JobStatus.RESTARTING, 1)
        with pytest.raises(JobExecutionError, match="ZeroDivisionError"):
            job.advance_processing_time(1_000)


def test_misuse_of_an_environment():
    with pytest.raises(ProgramError, match="nothing to run"):
        local_environment().start()
    with pytest.raises(ProgramError, match="seed must be an int"):
        local_environment(seed="x")
    with pytest.raises(ConfigurationError):
        local_environment(config={"parallelism.default": "two"})
    env = local_environment()
    with pytest.raises(ProgramError, match="another environment"):
        env.collect(StreamExecutionEnvironment.get_execution_environment().from_collection([1]))
    with pytest.raises(ProgramError, match="argument of collect"):
        env.collect([1])
    env.collect(env.from_source(ManualSource(), NO_WATERMARKS, "numbers"))
    with pytest.raises(ProgramError, match=r"(?s)'Source: numbers' has not ended.*start"):
        env.execute()
    with pytest.raises(ProgramError, match="restore_from"):
        env.start(restore_from=3)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda s, j: (s.end(), s.push(1)), "split 0 of the source has ended"),
        (lambda s, j: (s.end(), s.advance_watermark(1)), "the source has ended"),
        (lambda s, j: s.push(1, split=2), "split must be from 0 to 1, got 2"),
        (lambda s, j: s.push(1, "now"), "a timestamp must be a whole number of ms, got 'now'"),
        (lambda s, j: s.push_all([1, 2], [1]), "2 records were pushed with 1 timestamps"),
        (lambda s, j: (s.advance_watermark(5), s.advance_watermark(4, split=1)), "cannot go back from 5 to 4"),
        (lambda s, j: (j.set_processing_time(5), j.set_processing_time(4)), "cannot go back from 5 to 4"),
        (lambda s, j: j.metric("nothing"), "no metric 'nothing'.*numRecordsIn"),
        (lambda s, j: j.step(0), "count must be at least 1"),
        (lambda s, j: (j.close(), j.settle()), "the job is closed"),
        (lambda s, j: (j.close(), j.checkpoint()), "the job is closed"),
        (lambda s, j: (j.finish(), j.fail()), "FINISHED and cannot fail"),
        (lambda s, j: (j.finish(), j.checkpoint()), "FINISHED and cannot take a checkpoint"),
        (lambda s, j: j.fail_at("somewhere"), "(?s)no point 'somewhere'.*before-snapshot"),
        (lambda s, j: j.fail_at("before-ack", operator="Sum"), "(?s)no operator 'Sum'.*Map"),
        (lambda s, j: j.fail_at("before-ack", operator="Map", subtask=5), "no subtask 5.*parallelism is 1"),
        (lambda s, j: j.fail_at("before-commit", subtask=0), "JobMaster passes"),
        (lambda s, j: j.fail_at("before-ack", nth=0), "nth must be at least 1"),
    ],
)
def test_misuse_of_a_source_or_a_job(act, message):
    env = local_environment()
    source = ManualSource(splits=2)
    env.collect(env.from_source(source, NO_WATERMARKS, "numbers").map(lambda v: v))
    with env.start() as job:
        with pytest.raises(ProgramError, match=f"(?s){message}") as caught:
            act(source, job)
        assert caught.value.hint
        assert "test_pipeline.py" in caught.value.message


def test_records_that_cannot_be_pickled_are_found_where_they_are_pushed():
    with pytest.raises(SerializationError, match="generator"):
        ManualSource().push(value for value in "abc")


def test_a_source_that_never_rests_is_noticed(monkeypatch):
    monkeypatch.setattr("wiesel.testing.job._MOST_STEPS_OF_OTHERS", 300)
    env = local_environment()
    numbers = DataGeneratorSource(lambda i: i, 1 << 60, RateLimiterStrategy.no_op())
    env.collect(env.from_source(numbers, NO_WATERMARKS, "numbers").filter(lambda n: False))
    with pytest.raises(JobExecutionError, match="not come to rest after 300 steps"):
        env.start()


def test_a_job_with_a_source_that_never_ends_cannot_finish():
    env = local_environment()
    env.collect(env.from_source(Silent(), NO_WATERMARKS, "endless"))
    source = ManualSource(bounded=False)
    out = env.collect(sums_of(10)(env.from_source(source, NO_WATERMARKS, "manual")))
    source.push(("a", 1), timestamp=5)
    with env.start() as job:
        with pytest.raises(ProgramError, match="'Source: endless' never ends"):
            job.finish()
        source.end()
        job.settle()
        # The end of an unbounded source is not the end of time.
        assert (out.values, job.status) == ([], JobStatus.RUNNING)


def test_a_source_works_in_its_process_and_while_it_is_held_only():
    source = ManualSource()
    pickled = pickle.dumps(source)
    assert pickle.loads(pickled) is source
    del source
    with pytest.raises(ProgramError, match="process of its test"):
        pickle.loads(pickled)


@pytest.mark.parametrize("steps", range(4, 30, 5))
def test_a_source_that_is_ended_amid_its_records_ends_at_once(steps):
    env = local_environment()
    source = ManualSource()
    out = env.collect(env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers"))
    with env.start() as job:
        source.push_all(range(500))
        job.step(steps)
        job.finish()
        assert (out.committed, job.processing_time < 1_000) == (list(range(500)), True)
