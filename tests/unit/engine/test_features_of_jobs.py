"""Features of running jobs: their settings, what is in their savepoints, and the past played again. Named after the features."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from tests.unit.engine.stored_job import StoredJob, environment, start
from wiesel.common import Configuration, Duration, Time, Types, WatermarkStrategy
from wiesel.common.watermark_strategy import TimestampAssigner
from wiesel.dataset import ExecutionEnvironment
from wiesel.datastream import CoMapFunction, DataStream, RuntimeExecutionMode
from wiesel.datastream.connectors.file_system import FileSource, StreamFormat
from wiesel.datastream.functions import AggregateFunction, ProcessWindowFunction
from wiesel.datastream.window import (
    CountEvictor,
    CountTrigger,
    CountTumblingWindowAssigner,
    EventTimeSessionWindows,
    GlobalWindows,
    SlidingEventTimeWindows,
    TimeWindow,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from wiesel.engine.gateway import MasterGateway
from wiesel.rest.routes import Request, Routes
from wiesel.state_processor import SavepointReader
from wiesel.testing import CollectedStream, ManualSource, local_environment

NONE = WatermarkStrategy.no_watermarks()
PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


def test_a4_the_settings_of_the_environment_are_read_back_from_the_running_job(tmp_path: Path) -> None:
    env = environment(tmp_path / "checkpoints", parallelism=3, user_password="nobody is to read it")
    env.set_buffer_timeout(7)
    env.enable_checkpointing(2_500)
    env.get_checkpoint_config().set_min_pause_between_checkpoints(500)
    env.get_config().set_global_job_parameters({"city": "Kiel"}).set_auto_watermark_interval(50)
    env.collect(env.from_source(ManualSource(), NONE, "numbers"))
    with start(env) as job:
        routes = Routes(MasterGateway(job.master, _at_once))

        def get(path: str) -> Any:
            reply = routes.answer(Request("GET", f"/jobs/{job.master.job_id}{path}"))
            assert reply.status == 200
            return reply.body

        assert get("")["vertices"][0]["parallelism"] == 3
        execution = get("/config")["execution-config"]
        assert (execution["execution-mode"], execution["job-parallelism"]) == ("STREAMING", 3)
        assert execution["user-config"] == {"city": "Kiel"}
        checkpoints = get("/checkpoints/config")
        assert (checkpoints["mode"], checkpoints["interval"], checkpoints["min_pause"]) == ("exactly_once", 2_500, 500)
        assert (checkpoints["state_backend"], checkpoints["checkpoint_storage"]) == ("hashmap", str(tmp_path / "checkpoints"))
        assert checkpoints["externalization"] == {"enabled": True, "delete_on_cancellation": False}
        options = {entry["key"]: entry["value"] for entry in get("/jobmanager/config")}
        assert options["execution.buffer-timeout.interval"] == "7 ms"
        # Event time by watermarks each 50 ms.
        assert options["pipeline.auto-watermark-interval"] == "50 ms"
        assert options["user.password"] == "******"


def _at_once(question: Any) -> Future[Any]:
    answer: Future[Any] = Future()
    answer.set_result(question())
    return answer


class Numbers(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, sorted(number for _, number in elements)


WINDOWS = {
    "tumbling": TumblingEventTimeWindows.of(Time.seconds(10)),
    "sliding": SlidingEventTimeWindows.of(Time.seconds(10), Time.seconds(5)),
    "session": EventTimeSessionWindows.with_gap(Time.seconds(5)),
    "count": CountTumblingWindowAssigner.of(4),
}


def windows_job(path: Path, source: ManualSource, kind: str, restore: str | None, parallelism: int) -> tuple[StoredJob, CollectedStream]:
    config = {} if restore is None else {"execution_state__recovery_path": restore}
    env = environment(path / "checkpoints", parallelism, **config)
    keyed = env.from_source(source, NONE, "numbers", PAIR).uid("numbers").key_by(lambda pair: pair[0], Types.STRING())
    results = env.collect(keyed.window(WINDOWS[kind]).process(Numbers()).uid("windows"))
    return start(env), results


@pytest.mark.parametrize("kind", list(WINDOWS))
def test_w16_windows_are_in_checkpoints_and_savepoints_and_go_on_with_other_subtasks(tmp_path: Path, kind: str) -> None:
    keys = [f"key {n}" for n in range(20)]

    def push(first: int) -> None:
        for key in keys:
            for number in (first, first + 1):
                source.push((key, number), timestamp=1_000 * number)

    source = ManualSource()
    job, _ = windows_job(tmp_path, source, kind, None, 2)
    with job:
        push(0)
        job.settle()
        checkpoint, path = job.store(), job.savepoint(tmp_path / "savepoints")
    for stored in (checkpoint, path):
        rows = list(SavepointReader.read(stored).window_state("windows"))
        assert {row.key for row in rows} == set(keys)
        assert all([number for _, number in row.contents] == [0, 1] for row in rows)
    if kind == "tumbling":
        assert {row.window for row in rows} == {TimeWindow(0, 10_000)}
    job, results = windows_job(tmp_path, source, kind, path, 5)
    with job:
        push(2)
        job.finish()
        whole = [key for key, numbers in results.values if numbers == [0, 1, 2, 3]]
        # Of the sliding windows two have all: from -5 and from 0 on.
        assert sorted(whole) == sorted(keys * (2 if kind == "sliding" else 1))


class LastHundred(ProcessWindowFunction):
    def process(self, key, context, elements):
        numbers = [number for _, number in elements]
        yield numbers[0], numbers[-1], len(numbers)


def test_w4_after_each_10_records_a_result_over_the_last_100_at_most() -> None:
    env = local_environment(parallelism=2)
    keyed = env.from_collection([("a", n) for n in range(250)], PAIR).key_by(lambda pair: pair[0])
    windows = keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(10)).evictor(CountEvictor.of(100))
    with windows.process(LastHundred()).execute_and_collect() as results:
        assert list(results) == [(max(0, n - 100), n - 1, min(n, 100)) for n in range(10, 251, 10)]


class Sum(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value[1]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class WithWindow(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, next(iter(elements))


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return int(value.split(",")[2])


def sums_per_second(lines: DataStream) -> DataStream:
    """The one piece of code: for what comes and for what has been."""
    timed = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(60)).with_timestamp_assigner(SecondField())
    values = lines.assign_timestamps_and_watermarks(timed).map(lambda line: (line.split(",")[0], int(line.split(",")[1])), PAIR)
    return values.key_by(lambda pair: pair[0]).window(TumblingEventTimeWindows.of(Time.seconds(1))).aggregate(Sum(), WithWindow())


def write_log(directory: Path, hours: range) -> None:
    """Write a file for each minute: what a durable log keeps. Within a file records are out of order."""
    for hour in hours:
        times = [hour * 60_000 + 997 * n % 60_000 for n in range(300)]
        (directory / f"{hour:02}.csv").write_text("".join(f"key {t % 7},{t % 11},{t}\n" for t in times))


def test_u2_a_past_range_replayed_through_the_live_jobs_code_gives_the_first_results_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.mkdir()
    write_log(log, range(2))
    env = local_environment(parallelism=2)
    lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(log))
    live = lines.monitor_continuously(Duration.of_seconds(1)).build()
    out = env.collect(sums_per_second(env.from_source(live, NONE, "log", Types.STRING()).set_parallelism(1)))
    with env.start() as job:
        job.advance_processing_time(1_000)
        write_log(log, range(2, 6))
        job.advance_processing_time(3_000)
        live_results = set(out.values)
    # The watermark is a minute behind: the last minute's windows are still open.
    complete = {result for result in live_results if result[1] < 5 * 60_000 - 1_000}

    env = local_environment(parallelism=3)
    paths = [str(log / f"{minute:02}.csv") for minute in (2, 3)]
    past = FileSource.for_record_stream_format(StreamFormat.text_line_format(), *paths).build()
    with sums_per_second(env.from_source(past, NONE, "log", Types.STRING()).set_parallelism(1)).execute_and_collect() as results:
        replayed = list(results)
    of_the_range = {result for result in complete if 2 * 60_000 <= result[1] < 4 * 60_000}
    assert len(replayed) == len(set(replayed)) and len(of_the_range) > 100
    assert set(replayed) == of_the_range


def test_u9_the_same_user_code_runs_with_exactly_once_and_with_nothing() -> None:
    def define(stream: DataStream) -> DataStream:
        return stream.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))

    found = []
    for interval in (None, 100):
        env = local_environment(parallelism=2)
        if interval is not None:
            env.enable_checkpointing(interval)
        source = ManualSource()
        out = env.collect(define(env.from_source(source, NONE, "numbers")))
        with env.start() as job:
            for n in range(20):
                source.push(("a", n))
                job.advance_processing_time(50)
            assert (job.completed_checkpoints > 0) == (interval is not None)
            job.finish()
        found.append(out.values)
    assert found[0] == found[1] == [("a", n * (n + 1) // 2) for n in range(20)]


WORDS = "to be or not to be that is the question".split()


def test_a1_a_program_of_streams_and_one_of_data_sets_count_the_same_words() -> None:
    counted = sorted(Counter(WORDS).items())
    sets = ExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"})).set_parallelism(2)
    assert sorted(sets.from_collection([(word, 1) for word in WORDS], PAIR).group_by(0).sum(1).collect()) == counted
    streams = local_environment(parallelism=2)
    streams.set_runtime_mode(RuntimeExecutionMode.BATCH)
    words = streams.from_collection([(word, 1) for word in WORDS], PAIR)
    with words.key_by(lambda pair: pair[0]).sum(1).execute_and_collect() as results:
        assert sorted(results) == counted


class Later(CoMapFunction):
    def map1(self, value):
        return value[0], value[1]

    def map2(self, value):
        return value[0], -value[1]


def test_a3_the_basic_operations_with_several_subtasks() -> None:
    numbers = range(60)
    env = local_environment(parallelism=3)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    # Two sources read as one, of texts that become pairs.
    texts = [env.from_collection([str(n) for n in numbers if n % 2 == half], Types.STRING()).rebalance() for half in (0, 1)]
    pairs = texts[0].union(texts[1]).map(int, Types.INT()).filter(lambda n: n % 5 != 0).map(lambda n: (f"key {n % 7}", n), PAIR)
    keyed = pairs.key_by(lambda pair: pair[0])
    kept: dict[str, list[int]] = {}
    for n in numbers:
        if n % 5:
            kept.setdefault(f"key {n % 7}", []).append(n)
    sums, least = env.collect(keyed.sum(1)), env.collect(keyed.min(1))
    counts = env.collect(pairs.map(lambda pair: (pair[0], 1), PAIR).key_by(lambda pair: pair[0]).sum(1))
    joined = env.collect(
        pairs.join(pairs.filter(lambda pair: pair[1] < 20))
        .where(lambda pair: pair[0])
        .equal_to(lambda pair: pair[0])
        .window(TumblingProcessingTimeWindows.of(Time.days(1)))
        .apply(lambda one, other: (one[1], other[1]))
    )
    both = env.collect(keyed.connect(keyed).map(Later(), PAIR))
    with env.start() as job:
        job.finish()
    assert sorted(sums.values) == sorted((key, sum(of_key)) for key, of_key in kept.items())
    assert sorted(least.values) == sorted((key, min(of_key)) for key, of_key in kept.items())
    assert sorted(counts.values) == sorted((key, len(of_key)) for key, of_key in kept.items())
    assert sorted(joined.values) == sorted((n, m) for of_key in kept.values() for n in of_key for m in of_key if m < 20)
    assert sorted(both.values) == sorted((key, sign * n) for key, of_key in kept.items() for n in of_key for sign in (1, -1))
