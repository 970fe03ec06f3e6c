from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.connectors.stream_cache import StreamCache
from wiesel.core.errors import JobExecutionError, ProgramError
from wiesel.datastream import OutputTag, ProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.datastream.connectors import NumberSequenceSource
from wiesel.datastream.data_stream import CachedDataStream, DataStream
from wiesel.spi.watermark import TimestampAssigner

LAST = 2_999


@pytest.fixture
def env(tmp_path: Path) -> Iterator[StreamExecutionEnvironment]:
    made = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    made.set_runtime_mode(RuntimeExecutionMode.BATCH)
    made.set_parallelism(3)
    yield made
    made.close()


class Counted:
    """A map that leaves a line in a file for each record."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, value: int) -> int:
        with self.path.open("a") as calls:
            calls.write(f"{value}\n")
        return value * 2

    @property
    def calls(self) -> int:
        return len(self.path.read_text().splitlines()) if self.path.exists() else 0


def doubled(env: StreamExecutionEnvironment, counted: Any) -> DataStream:
    numbers = env.from_source(NumberSequenceSource(0, LAST), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    return numbers.map(counted, Types.LONG())


def directory(stream: CachedDataStream) -> Path:
    return Path(stream._cache.directory or "/nowhere")


def files(stream: CachedDataStream) -> list[Path]:
    return sorted(file for file in directory(stream).iterdir() if file.name != ".owner")


RESULT = list(range(0, 2 * LAST + 1, 2))


def test_later_jobs_read_what_the_first_one_has_computed(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    counted = Counted(tmp_path / "calls")
    stream = doubled(env, counted).cache()
    assert stream.get_type() == Types.LONG() and isinstance(stream, CachedDataStream)
    assert counted.calls == 0
    assert sorted(stream.execute_and_collect()) == RESULT
    assert counted.calls == LAST + 1
    assert sorted(stream.execute_and_collect()) == RESULT
    assert sorted(stream.key_by(lambda n: n % 10).map(lambda n: n + 1).execute_and_collect()) == [n + 1 for n in RESULT]
    assert sorted(stream.union(stream.map(lambda n: -n, Types.LONG())).execute_and_collect()) == sorted(RESULT + [-n for n in RESULT])
    assert counted.calls == LAST + 1
    assert [file.name.rsplit("-", 1)[1] for file in files(stream)] == ["0", "1", "2"]


def test_it_is_computed_again_when_it_was_invalidated(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    counted = Counted(tmp_path / "calls")
    stream = doubled(env, counted).cache()
    stream.invalidate()
    for times in (1, 2):
        for _ in range(2):
            assert sorted(stream.execute_and_collect()) == RESULT
        assert counted.calls == times * (LAST + 1)
        files = directory(stream)
        assert files.exists()
        stream.invalidate()
        assert not files.exists()


@pytest.mark.parametrize("loss", ["all", "a file", "a part of a file"])
def test_it_is_computed_again_when_it_was_lost(env: StreamExecutionEnvironment, tmp_path: Path, loss: str) -> None:
    counted = Counted(tmp_path / "calls")
    stream = doubled(env, counted).cache()
    assert sorted(stream.execute_and_collect()) == RESULT
    if loss == "all":
        shutil.rmtree(directory(stream))
    else:
        file = files(stream)[1]
        file.write_bytes(file.read_bytes()[:-1]) if loss == "a part of a file" else file.unlink()
    for _ in range(2):
        assert sorted(stream.execute_and_collect()) == RESULT
    assert counted.calls == 2 * (LAST + 1)


def test_a_job_that_fails_keeps_nothing(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    counted = Counted(tmp_path / "calls")
    stream = doubled(env, counted).cache()
    with pytest.raises(JobExecutionError, match="division"):
        list(stream.map(lambda n: 1 // (n - 2 * LAST)).execute_and_collect())
    before = counted.calls
    assert sorted(stream.execute_and_collect()) == RESULT
    assert counted.calls == before + LAST + 1


def test_a_restart_leaves_no_record_out_and_doubles_none(tmp_path: Path) -> None:
    settings = {
        "wiesel.engine": "local",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1",
        "restart-strategy.fixed-delay.delay": "1 ms",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(3)
    marker = tmp_path / "failed"

    def fail_once(value: int) -> int:
        if value == 1_500 and not marker.exists():
            marker.touch()
            raise RuntimeError("once")
        return value * 2

    stream = doubled(env, fail_once).cache()
    stream.filter(lambda n: False).print()
    env.execute()
    assert marker.exists() and len(files(stream)) == 3
    assert sorted(stream.execute_and_collect()) == RESULT
    env.close()


def test_caches_of_caches_and_of_side_outputs(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    tag = OutputTag("odd", Types.LONG())

    class Split(ProcessFunction):
        def process_element(self, value: int, ctx: Any) -> Any:
            if value % 4:
                yield tag, value
            else:
                yield value

    counted = Counted(tmp_path / "calls")
    split = doubled(env, counted).cache().process(Split(), Types.LONG())
    main, side = split.cache(), split.get_side_output(tag).cache()
    for _ in range(2):
        assert sorted(side.execute_and_collect()) == [n for n in RESULT if n % 4]
        assert sorted(main.execute_and_collect()) == [n for n in RESULT if n % 4 == 0]
    assert counted.calls == LAST + 1


class _ByValue(TimestampAssigner):
    def extract_timestamp(self, value: int, record_timestamp: int) -> int:
        return value * 1_000


class _WithTimestamp(ProcessFunction):
    def process_element(self, value: int, ctx: Any) -> Any:
        yield value, ctx.timestamp()


def test_timestamps_are_kept(env: StreamExecutionEnvironment) -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(_ByValue())
    stream = env.from_collection([3, 1, 2], Types.LONG()).assign_timestamps_and_watermarks(strategy).cache()
    for _ in range(2):
        assert sorted(stream.process(_WithTimestamp()).execute_and_collect()) == [(1, 1_000), (2, 2_000), (3, 3_000)]


def test_a_stream_without_records_is_cached_as_well(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    counted = Counted(tmp_path / "calls")
    stream = doubled(env, counted).filter(lambda n: n < 0).cache()
    for _ in range(2):
        assert list(stream.execute_and_collect()) == []
    assert counted.calls == LAST + 1


def test_in_streaming_mode_it_is_computed_each_time(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
    counted = Counted(tmp_path / "calls")
    stream = doubled(env, counted).cache()
    for times in (1, 2):
        assert sorted(stream.execute_and_collect()) == RESULT
        assert counted.calls == times * (LAST + 1)


def test_a_stream_of_batch_mode_is_read_in_streaming_mode_too(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    counted = Counted(tmp_path / "calls")
    stream = doubled(env, counted).cache()
    assert sorted(stream.execute_and_collect()) == RESULT
    env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
    assert sorted(stream.execute_and_collect()) == RESULT
    assert counted.calls == LAST + 1


def test_a_job_that_reads_the_stream_itself_keeps_the_records_too(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    counted = Counted(tmp_path / "calls")
    numbers = doubled(env, counted)
    cached = numbers.cache()
    for stream in (numbers, cached):
        assert sorted(stream.execute_and_collect()) == RESULT
    assert counted.calls == LAST + 1


def test_two_jobs_at_the_same_time_keep_the_records_of_one(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    stream = doubled(env, Counted(tmp_path / "calls")).cache()
    results = [stream.execute_and_collect() for _ in range(2)]
    assert [sorted(result) for result in results] == [RESULT, RESULT]
    assert [file.name.rsplit("-", 1)[1] for file in files(stream)] == ["0", "1", "2"]


def test_plans_stay_the_same(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    stream = doubled(env, Counted(tmp_path / "calls")).cache()
    assert sorted(stream.execute_and_collect()) == RESULT
    stream.print()
    plan = env.get_execution_plan()
    assert "Cache of Map" in plan and plan == env.get_execution_plan()


def test_closing_the_environment_removes_the_files(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    stream = doubled(env, Counted(tmp_path / "calls")).cache()
    list(stream.execute_and_collect())
    files = directory(stream)
    assert files.exists()
    env.close()
    assert not files.exists()


def test_a_directory_that_workers_do_not_see_costs_the_cache_only(
    env: StreamExecutionEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def elsewhere(cache: StreamCache) -> None:
        cache.directory = str(tmp_path / "on another machine")

    monkeypatch.setattr(StreamCache, "prepare", elsewhere)
    counted = Counted(tmp_path / "calls")
    stream = doubled(env, counted).cache()
    for times in (1, 2):
        assert sorted(stream.execute_and_collect()) == RESULT
        assert counted.calls == times * (LAST + 1)
    assert "all workers must see this directory" in caplog.text


def test_what_is_no_operator_cannot_be_cached(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([1, 2], Types.LONG()).map(lambda n: n, Types.LONG())
    for stream in (numbers.union(numbers), numbers.rebalance(), numbers.cache()):
        with pytest.raises(ProgramError, match=r"cache\(\)"):
            stream.cache()
    with pytest.raises(ProgramError, match="KeyedStream"):
        numbers.key_by(lambda n: n).cache()


SETTERS: list[tuple[str, tuple[Any, ...]]] = [
    ("set_parallelism", (2,)),
    ("name", ("n",)),
    ("get_name", ()),
    ("uid", ("u",)),
    ("set_uid_hash", ("0" * 32,)),
    ("set_max_parallelism", (2,)),
    ("force_non_parallel", ()),
    ("set_buffer_timeout", (1,)),
    ("start_new_chain", ()),
    ("disable_chaining", ()),
    ("slot_sharing_group", ("g",)),
]


@pytest.mark.parametrize(("method", "arguments"), SETTERS)
def test_settings_of_operators_are_refused(env: StreamExecutionEnvironment, method: str, arguments: tuple[Any, ...]) -> None:
    stream = env.from_collection([1]).map(lambda n: n).cache()
    with pytest.raises(ProgramError, match=rf"{method}\(\) is not supported for a CachedDataStream"):
        getattr(stream, method)(*arguments)
