"""Checkpoints made of data: jobs on the local engine go on from them. What must come out is computed from all records at once."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from tests.unit.state_processor.programs import RULES, SUM, TTL_MS, Everything, Keep, Remember, Ruled, everything_of, user
from tests.unit.state_processor.retained import retain, state_files
from wiesel.common import Configuration, Time, Types, WatermarkStrategy
from wiesel.core.errors import (
    CheckpointStorageError,
    CorruptCheckpointError,
    JobExecutionError,
    ProgramError,
    StateMigrationError,
    UserFunctionError,
)
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.state import ListStateDescriptor, ValueStateDescriptor
from wiesel.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from wiesel.spi.functions import KeySelector
from wiesel.state_processor import (
    BroadcastStateBootstrapFunction,
    KeyedStateBootstrapFunction,
    OperatorIdentifier,
    OperatorTransformation,
    SavepointReader,
    SavepointWriter,
    StateBootstrapFunction,
    StateBootstrapTransformation,
)
from wiesel.testing import ManualSource, local_environment

NONE = WatermarkStrategy.no_watermarks()
PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class Fill(KeyedStateBootstrapFunction):
    """Makes of records what ``Everything`` has made of them."""

    def open(self, runtime_context):
        self.as_in_the_program = Everything()
        self.as_in_the_program.open(runtime_context)

    def process_element(self, value, ctx):
        self.as_in_the_program.process_element(value, ctx)


def filled(records: Any) -> StateBootstrapTransformation:
    return OperatorTransformation.bootstrap_with(records).key_by(user, Types.STRING()).transform(Fill())


def random_records(seed: int, count: int) -> list[tuple[str, int]]:
    print(f"seed {seed}")
    rng = random.Random(seed)
    return [(f"user {rng.randrange(60)}", rng.randrange(9)) for _ in range(count)]


class Tell(Everything):
    """Tells what a user has, when asked by a number below zero."""

    def process_element(self, value, ctx):
        if value[1] >= 0:
            super().process_element(value, ctx)
        elif self.last.value() is not None:
            times = dict(self.times.items())
            yield value[0], self.last.value(), self.all.get(), times, self.largest.get(), self.mean.get()

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp


def go_on(path: str, records: list[tuple[str, int]], parallelism: int, **options: str) -> list[Any]:
    """Run the job from a checkpoint; ask for all users at the end."""
    settings = {"wiesel.engine": "local", "execution.state-recovery.path": path, **options}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings)).set_parallelism(parallelism)
    asked = [*records, *((f"user {i}", -1) for i in range(60))]
    stream = env.from_collection(asked, PAIR).key_by(user, Types.STRING()).process(Tell()).uid("everything")
    return list(stream.execute_and_collect())


def answers(records: list[tuple[str, int]]) -> list[tuple[Any, ...]]:
    found = sorted(everything_of(records).items())
    return [(name, s["last"], s["all"], s["times"], s["largest"], s["mean"][1] / s["mean"][0]) for name, s in found]


def timers(records: list[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted((name, 1000 + number) for name, states in everything_of(records).items() for number in states["times"])


@pytest.mark.parametrize(
    ("seed", "made", "written_by", "parallelism", "options"),
    [
        (1, 1, "hashmap", 1, {}),
        (2, 2, "lmdb", 3, {"state.backend.type": "hashmap"}),
        (3, 3, "hashmap", 3, {"state.backend.type": "lmdb"}),
        (4, 2, "hashmap", 2, {"state.backend.type": "hashmap", "dir": "other"}),
        (5, 2, "hashmap", 4, {"dir": "same"}),
    ],
)
def test_a_job_goes_on_from_state_made_of_data(
    tmp_path: Path, seed: int, made: int, written_by: str, parallelism: int, options: dict[str, str]
) -> None:
    before, after = random_records(seed, 2000), random_records(seed + 100, 50)
    writer = SavepointWriter.new_savepoint(parallelism=made, state_backend=written_by)
    path = str(tmp_path / "checkpoints" / "first")
    written = writer.with_operator("everything", filled(before)).write(path)
    assert written == f"{path}/chk-1"
    assert state_files(written)  # not all in the metadata
    settings = dict(options)
    where = settings.pop("dir", None)
    if where is not None:
        directory = tmp_path / ("checkpoints" if where == "same" else where)
        settings |= {"execution.checkpointing.dir": str(directory), "execution.checkpointing.interval": "10 ms"}
    results = go_on(path, after, parallelism, **settings)
    assert sorted(result for result in results if len(result) > 2) == answers(before + after)
    assert sorted(result for result in results if len(result) == 2) == timers(before + after)


def test_what_was_written_reads_back_and_belongs_to_the_user(tmp_path: Path) -> None:
    records = random_records(11, 3000)
    written = SavepointWriter.new_savepoint(parallelism=2).with_operator("everything", filled(records)).write(str(tmp_path / "first"))
    reader = SavepointReader.read(written)
    assert dict(reader.keyed_state("everything")) == everything_of(records)
    # A job's first checkpoint has all state anew: it does not need the user's files.
    env = local_environment(parallelism=2)
    source = ManualSource()
    env.from_source(source, NONE, "numbers", PAIR).key_by(user, Types.STRING()).process(Tell()).uid("everything")
    with env.start(restore_from=written) as job:
        job.settle()
        path = retain(job.checkpoint(), tmp_path)
    for file in state_files(written):
        file.unlink()
    assert dict(SavepointReader.read(path).keyed_state("everything")) == everything_of(records)


def test_what_was_written_may_be_moved(tmp_path: Path) -> None:
    records, more = random_records(12, 2000), random_records(13, 20)
    SavepointWriter.new_savepoint(parallelism=2).with_operator("everything", filled(records)).write(str(tmp_path / "here" / "first"))
    shutil.move(tmp_path / "here" / "first", tmp_path / "there")
    shutil.rmtree(tmp_path / "here")
    results = go_on(str(tmp_path / "there"), more, 2)
    assert sorted(result for result in results if len(result) > 2) == answers(records + more)


class Names(KeySelector):
    """Has to be opened before it gives keys."""

    def open(self, runtime_context):
        self.place = 0

    def get_key(self, value):
        return value[self.place]


def test_what_records_may_come_from(tmp_path: Path) -> None:
    table = pa.table({"user": ["ada", "bob", "ada"], "number": pa.array([1, 2, 3], pa.int32())})
    expected = everything_of([("ada", 1), ("bob", 2), ("ada", 3)])
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    sources = {
        "arrow": table,
        "batch": table.to_batches()[0],
        "reader": table.to_reader(),
        "pandas": table.to_pandas(),
        "generator": (tuple(row) for row in [("ada", 1), ("bob", 2), ("ada", 3)]),
        "stream": env.from_collection([("ada", 0), ("bob", 1), ("ada", 2)]).map(lambda pair: (pair[0], pair[1] + 1)),
    }
    assert isinstance(sources["pandas"], pd.DataFrame)
    for name, data in sources.items():
        state = OperatorTransformation.bootstrap_with(data).key_by(Names()).transform(Fill())
        path = SavepointWriter.new_savepoint().with_operator("everything", state).write(str(tmp_path / name))
        assert dict(SavepointReader.read(path).keyed_state("everything")) == expected, name


def add(a: tuple[str, int], b: tuple[str, int]) -> tuple[str, int]:
    return a[0], a[1] + b[1]


@pytest.mark.parametrize("sessions", [False, True])
def test_windows_made_of_data_go_on(tmp_path: Path, sessions: bool) -> None:
    rng = random.Random(5)
    times = sorted(rng.randrange(60_000) for _ in range(300))
    records = [(f"user {rng.randrange(5)}", 1, t) for t in times]
    assigner = EventTimeSessionWindows.with_gap(Time.milliseconds(700)) if sessions else TumblingEventTimeWindows.of(Time.seconds(7))
    half = len(records) // 2
    state = (
        OperatorTransformation.bootstrap_with([(name, number) for name, number, _ in records[:half]], PAIR)
        .assign_timestamps(_times(times[:half]))
        .key_by(user, Types.STRING())
        .window(assigner)
        .reduce(add)
    )
    path = SavepointWriter.new_savepoint(parallelism=2).with_operator("windows", state).write(str(tmp_path / "half"))
    env = local_environment(parallelism=3)
    source = ManualSource()
    stream = env.from_source(source, NONE, "numbers", PAIR)
    sums = env.collect(stream.key_by(user, Types.STRING()).window(assigner).reduce(add).uid("windows"))
    with env.start(restore_from=path) as job:
        for name, number, timestamp in records[half:]:
            source.push((name, number), timestamp=timestamp)
        job.finish()
    assert sorted(sums.values) == sorted(_session_sums(records) if sessions else _tumbling_sums(records))


def _times(times: list[int]) -> Any:
    given = iter(times)
    return lambda record: next(given)


def _tumbling_sums(records: list[tuple[str, int, int]]) -> Iterator[tuple[str, int]]:
    windows: dict[tuple[str, int], int] = {}
    for name, number, timestamp in records:
        windows[name, timestamp // 7000] = windows.get((name, timestamp // 7000), 0) + number
    for (name, _), total in windows.items():
        yield name, total


def _session_sums(records: list[tuple[str, int, int]]) -> Iterator[tuple[str, int]]:
    by_user: dict[str, list[int]] = {}
    for name, _, timestamp in records:
        by_user.setdefault(name, []).append(timestamp)
    for name, times in by_user.items():
        count, last = 0, times[0]
        for timestamp in times:
            if timestamp - last > 700:
                yield name, count
                count = 0
            count, last = count + 1, timestamp
        yield name, count


def test_reduce_goes_on(tmp_path: Path) -> None:
    state = OperatorTransformation.bootstrap_with([("ada", 1), ("bob", 2), ("ada", 3)], PAIR).key_by(user, Types.STRING()).reduce(add)
    path = SavepointWriter.new_savepoint().with_operator("sums", state).write(str(tmp_path / "sums"))
    settings = {"wiesel.engine": "local", "execution.state-recovery.path": path}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    sums = env.from_collection([("ada", 10), ("eve", 5)], PAIR).key_by(user, Types.STRING()).reduce(add).uid("sums")
    assert sorted(sums.execute_and_collect()) == [("ada", 14), ("eve", 5)]


class PutRules(BroadcastStateBootstrapFunction):
    def process_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(*value)


class PutNumbers(StateBootstrapFunction):
    def initialize_state(self, context):
        self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("numbers", Types.INT()))
        self.numbers = []

    def process_element(self, value, ctx):
        self.numbers.append(value)

    def snapshot_state(self, context):
        self.state.update(self.numbers)


def ruled_job(parallelism: int, numbers: ManualSource) -> Any:
    env = local_environment(parallelism=parallelism)
    rules = env.from_source(ManualSource(), NONE, "rules").broadcast(RULES)
    kept = env.from_source(numbers, NONE, "numbers").uid("numbers").map(Keep()).uid("keep")
    results = env.collect(kept.key_by(user, Types.STRING()).connect(rules).process(Ruled()).uid("ruled"))
    return env, results


@pytest.mark.parametrize("parallelism", [1, 3])
def test_operator_and_broadcast_state_made_of_data(tmp_path: Path, parallelism: int) -> None:
    path = (
        SavepointWriter.new_savepoint(parallelism=2)
        .with_operator("keep", OperatorTransformation.bootstrap_with(range(10)).transform(PutNumbers()))
        .with_operator("ruled", OperatorTransformation.bootstrap_with([("ada", 10), ("bob", 20)]).transform(PutRules()))
        .write(str(tmp_path / "made"))
    )
    assert sorted(SavepointReader.read(path).list_state("keep", "numbers")) == list(range(10))
    numbers = ManualSource()
    env, results = ruled_job(parallelism, numbers)
    with env.start(restore_from=path) as job:
        for name in ("ada", "bob", "eve"):
            numbers.push((name, 100))
        job.settle()
        assert sorted(results.values) == [("ada", 1000), ("bob", 2000), ("eve", 100)]
        after = retain(job.checkpoint(), tmp_path)
    assert sorted(SavepointReader.read(after).list_state("keep", "numbers")) == [*range(10), 100, 100, 100]


class PutSum(KeyedStateBootstrapFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_state(SUM)

    def process_element(self, value, ctx):
        self.sum.update(value[1])


@pytest.fixture
def ruled(tmp_path: Path) -> tuple[str, ManualSource]:
    """A checkpoint of a job with a source, a list, rules and sums; and the source."""
    numbers = ManualSource()
    env, results = ruled_job(2, numbers)
    with env.start() as job:
        for number in range(50):
            numbers.push((f"user {number % 10}", number))
        job.settle()
        assert len(results.values) == 50
        return retain(job.checkpoint(), tmp_path / "old"), numbers


def sums_of(path: str, operator: str = "ruled") -> dict[str, int]:
    return {key: values["sum"] for key, values in SavepointReader.read(path).keyed_state(operator)}


OLD_SUMS = {f"user {i}": sum(range(i, 50, 10)) for i in range(10)}


def test_an_operators_state_is_replaced_and_all_else_kept(tmp_path: Path, ruled: tuple[str, ManualSource]) -> None:
    old, numbers = ruled
    old_metadata = (Path(old) / "_metadata").read_bytes()
    made = OperatorTransformation.bootstrap_with([("user 1", 7)]).key_by(user, Types.STRING()).transform(PutSum())
    writer = SavepointWriter.from_existing_savepoint(old)
    with pytest.raises(ProgramError, match="has an operator with uid 'ruled' already"):
        writer.with_operator("ruled", made)
    new = writer.remove_operator("ruled").with_operator("ruled", made).write(str(tmp_path / "new"))
    assert sums_of(new) == {"user 1": 7}
    assert (Path(old) / "_metadata").read_bytes() == old_metadata
    assert sums_of(old) == OLD_SUMS
    for file in state_files(old):
        file.unlink()  # the new one needs none of them
    env, results = ruled_job(3, numbers)
    with env.start(restore_from=new) as job:
        numbers.push(("user 1", 1000))  # the source goes on behind the fifty of the first job
        job.settle()
        assert results.values == [("user 1", 1007)]
        kept = retain(job.checkpoint(), tmp_path / "after")
    assert sorted(SavepointReader.read(kept).list_state("keep", "numbers")) == [*range(50), 1000]


def test_another_uid(tmp_path: Path, ruled: tuple[str, ManualSource]) -> None:
    old, _ = ruled
    new = SavepointWriter.from_existing_savepoint(old).change_operator_identifier("ruled", "ruled 2").write(str(tmp_path / "new"))
    assert sums_of(new, "ruled 2") == OLD_SUMS
    with pytest.raises(ProgramError, match="no operator with uid 'ruled'"):
        SavepointReader.read(new).keyed_state("ruled")
    with pytest.raises(ProgramError, match="already"):
        SavepointWriter.from_existing_savepoint(old).change_operator_identifier("ruled", "keep")
    with pytest.raises(ProgramError, match="no operator with uid 'nothing'"):
        SavepointWriter.from_existing_savepoint(old).remove_operator("nothing")


@pytest.mark.parametrize(("backend", "groups"), [("hashmap", 300), ("lmdb", 7)])
def test_another_number_of_key_groups(tmp_path: Path, ruled: tuple[str, ManualSource], backend: str, groups: int) -> None:
    old, numbers = ruled
    env, results = ruled_job(3, numbers)
    env.set_max_parallelism(groups)
    with pytest.raises((StateMigrationError, JobExecutionError), match="maximum parallelism"):
        env.start(restore_from=old)
    writer = SavepointWriter.from_existing_savepoint(old, state_backend=backend).change_max_parallelism(groups)
    new = writer.write(str(tmp_path / "new"))
    assert sums_of(new) == OLD_SUMS
    assert {operator.max_parallelism for operator in SavepointReader.read(new).operators()} == {groups}
    env, results = ruled_job(3, numbers)
    env.set_max_parallelism(groups)
    with env.start(restore_from=new) as job:
        for name in OLD_SUMS:
            numbers.push((name, 1000))
        job.settle()
        assert sorted(results.values) == sorted((name, total + 1000) for name, total in OLD_SUMS.items())
        kept = retain(job.checkpoint(), tmp_path / "after")
    assert sorted(SavepointReader.read(kept).list_state("keep", "numbers")) == sorted([*range(50), *[1000] * 10])


def test_all_kinds_of_state_and_timers_survive_other_key_groups(tmp_path: Path) -> None:
    records = random_records(21, 500)
    first = SavepointWriter.new_savepoint(parallelism=2).with_operator("everything", filled(records)).write(str(tmp_path / "first"))
    second = SavepointWriter.from_existing_savepoint(first).change_max_parallelism(11).write(str(tmp_path / "second"))
    for path in (first, second):
        reader = SavepointReader.read(path)
        assert dict(reader.keyed_state("everything")) == everything_of(records)
        found = sorted((t.key, t.timestamp) for t in reader.timers("everything") if t.time_domain == "event")
        assert found == timers(records)


@pytest.mark.parametrize("backend", ["hashmap", "lmdb", "rocksdb"])
def test_times_of_last_access_survive_other_key_groups(tmp_path: Path, backend: str) -> None:
    env = local_environment(parallelism=2)
    source = ManualSource()
    env.from_source(source, NONE, "numbers").key_by(user).process(Remember()).uid("remember")
    with env.start() as job:
        start = job.processing_time
        for i in range(20):
            source.push((f"user {i}", i))
            job.settle()
            job.advance_processing_time(100)
        old = retain(job.checkpoint(), tmp_path / "old")
    new = SavepointWriter.from_existing_savepoint(old, state_backend=backend).change_max_parallelism(5).write(str(tmp_path / "new"))
    for now_ms in (start, start + TTL_MS + 950, start + TTL_MS + 5000):
        found = dict(SavepointReader.read(new, now_ms=now_ms).keyed_state("remember"))
        assert set(found) == {f"user {i}" for i in range(20) if start + 100 * i + TTL_MS > now_ms}


class FailsLate(KeyedStateBootstrapFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum"))

    def process_element(self, value, ctx):
        if value[1] == 9999:
            raise ValueError("no such number")
        self.sum.update(value[1])


def test_a_failure_leaves_nothing_and_nothing_is_overwritten(tmp_path: Path) -> None:
    many = [(f"user {i}", i) for i in range(10_000)]
    failing = OperatorTransformation.bootstrap_with(many).key_by(user).transform(FailsLate())
    writer = SavepointWriter.new_savepoint().with_operator("everything", filled(many[:1000])).with_operator("late", failing)
    with pytest.raises(UserFunctionError, match="ValueError: no such number"):
        writer.write(str(tmp_path / "made"))
    assert list(tmp_path.iterdir()) == []
    fine = SavepointWriter.new_savepoint().with_operator("everything", filled(many[:10]))
    path = fine.write(str(tmp_path / "made"))
    with pytest.raises(CheckpointStorageError, match="there is something at"):
        fine.write(str(tmp_path / "made"))
    assert len(list(SavepointReader.read(path).keyed_state("everything"))) == 9  # 0 forgets


def test_a_damaged_base_is_refused(tmp_path: Path, ruled: tuple[str, ManualSource]) -> None:
    old, _ = ruled
    file = max(state_files(old), key=lambda f: f.stat().st_size)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(CorruptCheckpointError, match=file.name):
        SavepointWriter.from_existing_savepoint(old).remove_operator("numbers").write(str(tmp_path / "new"))
    assert not (tmp_path / "new").exists()


def test_wrong_calls_say_so(tmp_path: Path) -> None:
    begin = OperatorTransformation.bootstrap_with([("ada", 1)])
    with pytest.raises(ProgramError, match="cannot be made of 'ada'"):
        OperatorTransformation.bootstrap_with("ada")
    with pytest.raises(ProgramError, match="for keyed state call key_by") as error:
        begin.transform(Fill())  # type: ignore[arg-type]
    assert Path(__file__).name in str(error.value)
    with pytest.raises(ProgramError, match="KeyedStateBootstrapFunction"):
        begin.key_by(user).transform(PutRules())  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="no operator"):
        SavepointWriter.new_savepoint().write(str(tmp_path / "empty"))
    with pytest.raises(ProgramError, match="32768"):
        SavepointWriter.new_savepoint(max_parallelism=40_000)
    with pytest.raises(ProgramError, match="2 subtasks"):
        SavepointWriter.new_savepoint(parallelism=2).with_operator("everything", filled([])).change_max_parallelism(1)
    one = SavepointWriter.new_savepoint().with_operator(OperatorIdentifier.for_uid_hash("ab" * 16), filled([("ada", 1)]))
    assert SavepointReader.read(one.write(str(tmp_path / "hashed" / "chk-7"))).checkpoint_id == 7
