"""Checkpoints of jobs on the local engine, read; what must be in them is computed from the records."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.unit.state_processor.programs import (
    MEAN,
    RULES,
    TIMES,
    TTL_MS,
    Everything,
    Keep,
    Remember,
    Ruled,
    everything_of,
    user,
)
from tests.unit.state_processor.retained import retain, state_files
from wiesel.common import Time, Types, WatermarkStrategy
from wiesel.core.errors import CorruptCheckpointError, ProgramError, StateMigrationError, TypeMismatchError, UserFunctionError
from wiesel.datastream import KeyedProcessFunction, ProcessWindowFunction, TimeWindow
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.datastream.window import CountEvictor, CountTrigger, EventTimeSessionWindows, TumblingEventTimeWindows
from wiesel.state_processor import KeyedStateReaderFunction, KeyedTimer, OperatorIdentifier, SavepointReader, WindowContents
from wiesel.testing import ManualSource, local_environment

NONE = WatermarkStrategy.no_watermarks()


def random_records(rng: random.Random, count: int) -> list[tuple[str, int]]:
    return [(f"user {rng.randrange(40)}", rng.randrange(8)) for _ in range(count)]


def everything_job(parallelism: int, backend: str, source: ManualSource) -> Any:
    env = local_environment(parallelism=parallelism, config={"state.backend.type": backend, "pipeline.max-parallelism": "32"})
    stream = env.from_source(source, NONE, "numbers", Types.TUPLE([Types.STRING(), Types.INT()]))
    stream.key_by(user, Types.STRING()).process(Everything()).name("keep everything").uid("everything")
    return env


@pytest.mark.parametrize(
    ("backend", "read_with"),
    [("hashmap", "hashmap"), ("hashmap", "lmdb"), ("lmdb", "hashmap"), ("lmdb", "rocksdb"), ("rocksdb", "lmdb"), ("rocksdb", "rocksdb")],
)
@pytest.mark.parametrize("seed", range(3))
def test_keyed_state_of_incremental_checkpoints_before_and_after_rescaling(tmp_path: Path, backend: str, read_with: str, seed: int) -> None:
    print(f"seed {seed}")
    rng = random.Random(seed)
    seen: list[tuple[str, int]] = []
    source, snapshot = ManualSource(), None
    for parallelism in (2, 3):
        env = everything_job(parallelism, backend, source)
        with env.start(restore_from=snapshot) as job:
            for _ in range(4):
                records = random_records(rng, 100)
                for record in records:
                    source.push(record)
                seen += records
                job.settle()
                snapshot = job.checkpoint()
        path = retain(snapshot, tmp_path)
        reader = SavepointReader.read(path, state_backend=read_with)
        assert len(state_files(path)) > parallelism  # several files per subtask: changes only
        rows = list(reader.keyed_state("everything"))
        assert dict(rows) == everything_of(seen)
        assert len(rows) == len(dict(rows))
        expected = {(1000 + n, name) for name, states in everything_of(seen).items() for n in states["times"]}
        timers = list(reader.timers("everything"))
        assert {(t.timestamp, t.key) for t in timers if t.time_domain == "event"} == expected
        clocks = {(t.timestamp, t.key) for t in timers if t.time_domain == "processing"}
        assert clocks == {(10**9, name) for name, number in seen if number}


@pytest.fixture
def everything(tmp_path: Path) -> str:
    """The path of a checkpoint; the records are those of SMALL."""
    source = ManualSource()
    env = everything_job(2, "hashmap", source)
    with env.start() as job:
        for record in SMALL:
            source.push(record)
        job.settle()
        return retain(job.checkpoint(), tmp_path)


SMALL = [("ada", 3), ("bob", 5), ("ada", 4), ("eve", 1), ("eve", 0), ("ada", 3)]


def test_the_overview_names_operators_states_kinds_and_types(everything: str) -> None:
    reader = SavepointReader.read(everything)
    assert reader.path == everything
    operators = {operator.uid or operator.name: operator for operator in reader.operators()}
    overview = operators["everything"]
    assert (overview.name, overview.parallelism, overview.max_parallelism) == ("keep everything", 2, 32)
    assert {name: state.kind for name, state in overview.states.items()} == {
        "last": "value", "all": "list", "times": "map", "largest": "reducing", "mean": "aggregating",
    }  # fmt: skip
    assert str(overview.states["last"]) == "last (value, Integer)"
    assert overview.size_bytes == sum(file.stat().st_size for file in state_files(everything))
    assert overview.files == len(state_files(everything))
    assert not overview.has_other_state
    sources = [operator for operator in operators.values() if operator.has_other_state]
    assert [operator.name for operator in sources] == ["Source: numbers"]
    assert reader.operator(OperatorIdentifier.for_uid_hash(overview.operator_id)) == overview


def test_chosen_states_and_descriptors(everything: str) -> None:
    reader = SavepointReader.read(everything)
    assert sorted(reader.keyed_state("everything", "last")) == [("ada", {"last": 3}), ("bob", {"last": 5})]
    assert dict(reader.keyed_state("everything", ["largest", MEAN])) == {
        "ada": {"largest": 4, "mean": 10 / 3},
        "bob": {"largest": 5, "mean": 5.0},
    }
    wider = ValueStateDescriptor("last", Types.LONG())
    assert dict(reader.keyed_state("everything", wider)) == {"ada": {"last": 3}, "bob": {"last": 5}}
    with pytest.raises(StateMigrationError, match="'last' was written with type Integer, the program declares String"):
        list(reader.keyed_state("everything", ValueStateDescriptor("last", Types.STRING())))
    assert reader.keyed_state("everything").take(1)[0][0] in ("ada", "bob")


class Report(KeyedStateReaderFunction):
    def open(self, runtime_context):
        self.times = runtime_context.get_map_state(TIMES)
        self.mean = runtime_context.get_aggregating_state(MEAN)

    def read_key(self, key, ctx):
        yield key, dict(self.times.items()), self.mean.get(), ctx.registered_event_time_timers(), ctx.registered_processing_time_timers()


def test_a_reader_function_sees_state_and_timers(everything: str) -> None:
    rows = SavepointReader.read(everything).keyed_state("everything", Report())
    assert sorted(rows) == [
        ("ada", {3: 2, 4: 1}, 10 / 3, [1003, 1004], [10**9]),
        ("bob", {5: 1}, 5.0, [1005], [10**9]),
    ]
    table = rows.map(lambda row: {"user": row[0], "mean": row[2]}, {"user": Types.STRING(), "mean": pa.float64()}).to_arrow()
    assert sorted(table.to_pylist(), key=lambda row: row["user"]) == [{"user": "ada", "mean": 10 / 3}, {"user": "bob", "mean": 5.0}]


class Failing(KeyedStateReaderFunction):
    def open(self, runtime_context):
        self.times = runtime_context.get_map_state(TIMES)

    def read_key(self, key, ctx):
        raise ValueError(f"no {key}")


class Unknown(KeyedStateReaderFunction):
    def open(self, runtime_context):
        runtime_context.get_state(ValueStateDescriptor("sum"))

    def read_key(self, key, ctx):
        raise AssertionError("there is no such state")


def test_errors_say_what_there_is(everything: str, tmp_path: Path) -> None:
    reader = SavepointReader.read(everything)
    with pytest.raises(ProgramError, match="no operator with uid 'nothing'") as error:
        reader.keyed_state("nothing")
    assert "keep everything (uid 'everything')" in str(error.value)
    with pytest.raises(ProgramError, match=r"(?s)no keyed state 'sum' in the checkpoint.*all, largest, last, mean, times"):
        reader.keyed_state("everything", "sum")
    with pytest.raises(ProgramError, match="no broadcast state 'rules'"):
        reader.broadcast_state("everything", "rules")
    with pytest.raises(ProgramError, match="keeps no windows"):
        reader.window_state("everything")
    with pytest.raises(UserFunctionError, match=r"ValueError: no (ada|bob)"):
        list(reader.keyed_state("everything", Failing()))
    with pytest.raises(StateMigrationError, match="no keyed state 'sum'"):
        list(reader.keyed_state("everything", Unknown()))
    with pytest.raises(CorruptCheckpointError, match="there is no checkpoint at"):
        SavepointReader.read(str(tmp_path / "job" / "chk-77"))
    with pytest.raises(ProgramError, match="hexadecimal"):
        OperatorIdentifier.for_uid_hash("everything")


def test_damaged_files_are_named(everything: str) -> None:
    reader = SavepointReader.read(everything)
    keyed = [f for f in state_files(everything) if f.stat().st_size > 200]
    contents = keyed[0].read_bytes()
    keyed[0].write_bytes(contents[:-20])
    with pytest.raises(CorruptCheckpointError, match=keyed[0].name):
        list(reader.keyed_state("everything"))
    keyed[0].write_bytes(contents[:50] + bytes([contents[50] ^ 1]) + contents[51:])
    with pytest.raises(CorruptCheckpointError, match="incomplete or altered"):
        list(reader.timers("everything"))
    keyed[0].unlink()
    with pytest.raises(CorruptCheckpointError, match="missing"):
        list(reader.keyed_state("everything"))
    assert len(SavepointReader.read(everything).operators()) == len(reader.operators())
    metadata = Path(everything) / "_metadata"
    metadata.write_bytes(metadata.read_bytes()[:-9])
    with pytest.raises(CorruptCheckpointError, match="incomplete or altered"):
        SavepointReader.read(everything)


def test_arrow_and_pandas_have_declared_types(everything: str) -> None:
    rows = SavepointReader.read(everything).keyed_state("everything")
    table = rows.to_arrow()
    types = {field.name: field.type for field in table.schema}
    assert (types["key"], types["last"], types["all"]) == (pa.string(), pa.int32(), pa.list_(pa.int32()))
    assert types["times"] == pa.map_(pa.int32(), pa.int32())
    by_key = {row["key"]: row for row in table.to_pylist()}
    assert by_key["ada"] == {
        "key": "ada", "last": 3, "all": [3, 4, 3], "times": [(3, 2), (4, 1)], "largest": 4, "mean": {"f0": 3, "f1": 10},
    }  # fmt: skip
    frame = rows.to_pandas().set_index("key")
    assert frame.loc["bob", "largest"] == 5
    with pytest.raises(ProgramError, match="no column 'sum'"):
        rows.to_arrow({"sum": pa.int64()})
    narrow = SavepointReader.read(everything).keyed_state("everything", "all")
    with pytest.raises(TypeMismatchError, match="column 'all' holds a value that is no string"):
        narrow.to_arrow({"all": pa.string()})


class Opaque:
    pass


class KeepObjects(KeyedProcessFunction):
    def open(self, runtime_context):
        self.state = runtime_context.get_state(ValueStateDescriptor("object"))

    def process_element(self, value, ctx):
        self.state.update(Opaque())


def test_objects_without_an_arrow_type_are_refused_with_a_way_out(tmp_path: Path) -> None:
    env = local_environment()
    source = ManualSource()
    env.from_source(source, NONE, "names").key_by(lambda name: name).process(KeepObjects()).uid("objects")
    with env.start() as job:
        source.push("ada")
        job.settle()
        rows = SavepointReader.read(retain(job.checkpoint(), tmp_path)).keyed_state("objects")
    assert isinstance(next(iter(rows))[1]["object"], Opaque)
    with pytest.raises(TypeMismatchError, match="no type for what column 'object' holds") as error:
        rows.to_arrow()
    assert "types={'object': Types.STRING()}" in str(error.value)


@pytest.mark.parametrize("backend", ["hashmap", "lmdb", "rocksdb"])
def test_time_to_live(tmp_path: Path, backend: str) -> None:
    env = local_environment(config={"state.backend.type": backend})
    source = ManualSource()
    env.from_source(source, NONE, "numbers").key_by(user).process(Remember()).uid("remember")
    with env.start() as job:
        start = job.processing_time
        source.push(("ada", 1))
        source.push(("bob", 2))
        job.settle()
        job.advance_processing_time(TTL_MS - 1)
        source.push(("ada", 3))
        job.settle()
        path = retain(job.checkpoint(), tmp_path)

    def rows(**options: Any) -> list[Any]:
        return sorted(SavepointReader.read(path, **options).keyed_state("remember"))

    both = [("ada", {"last": 3, "numbers": [1, 3]}), ("bob", {"last": 2, "numbers": [2]})]
    assert rows(now_ms=start + TTL_MS - 1) == both
    assert rows(now_ms=start + TTL_MS) == [("ada", {"last": 3, "numbers": [3]})]
    assert rows(now_ms=start + 2 * TTL_MS - 1) == []
    assert rows(show_expired=True) == both
    assert SavepointReader.read(path).operator("remember").states["last"].ttl_ms == TTL_MS
    reading = SavepointReader.read(path, now_ms=start + TTL_MS).keyed_state("remember", Last())
    assert list(reading) == [("ada", 3)]


class Last(KeyedStateReaderFunction):
    """Does not repeat the time to live."""

    def open(self, runtime_context):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.INT()))

    def read_key(self, key, ctx):
        return [(key, self.last.value())]


class Sorted(ProcessWindowFunction):
    """Counts, over all windows of a user, how many were evaluated."""

    def open(self, runtime_context):
        pass

    def process(self, key, context, elements):
        count = context.global_state().get_state(ValueStateDescriptor("evaluated", Types.INT()))
        count.update((count.value() or 0) + 1)
        yield key, sorted(elements)


def windows_job(tmp_path: Path, define: Any, records: list[tuple[str, int, int]]) -> SavepointReader:
    env = local_environment(parallelism=2)
    source = ManualSource()
    define(env.from_source(source, NONE, "numbers", Types.TUPLE([Types.STRING(), Types.INT()])).key_by(user, Types.STRING())).uid("windows")
    with env.start() as job:
        for name, number, timestamp in records:
            source.push((name, number), timestamp=timestamp)
        job.settle()
        return SavepointReader.read(retain(job.checkpoint(), tmp_path))


RECORDS = [("ada", 1, 100), ("ada", 2, 1100), ("bob", 3, 150), ("ada", 4, 900), ("ada", 5, 5000)]


def test_windows_with_a_reduced_value_and_state_of_their_trigger(tmp_path: Path) -> None:
    def define(stream: Any) -> Any:
        windows = stream.window(TumblingEventTimeWindows.of(Time.seconds(1))).trigger(CountTrigger.of(10))
        return windows.reduce(lambda a, b: (a[0], a[1] + b[1]))

    reader = windows_job(tmp_path, define, RECORDS)
    found = {(row.key, row.window): (row.contents, set(row.states.values())) for row in reader.window_state("windows")}
    assert found == {
        ("ada", TimeWindow(0, 1000)): (("ada", 5), {2}),
        ("ada", TimeWindow(1000, 2000)): (("ada", 2), {1}),
        ("ada", TimeWindow(5000, 6000)): (("ada", 5), {1}),
        ("bob", TimeWindow(0, 1000)): (("bob", 3), {1}),
    }
    timers = {(timer.key, timer.window, timer.timestamp) for timer in reader.timers("windows")}
    assert timers == {(key, window, window.end - 1) for key, window in found}
    first = min(reader.window_state("windows").to_arrow().to_pylist(), key=lambda row: (row["key"], row["window"]["start"]))
    assert first["window"] == {"start": 0, "end": 1000}
    assert first["contents"] == {"f0": "ada", "f1": 5}


def test_windows_with_their_usual_trigger_and_with_an_evictor(tmp_path: Path) -> None:
    windows = TumblingEventTimeWindows.of(Time.seconds(1))
    expected = {
        ("ada", TimeWindow(0, 1000)): [(("ada", 1), 100), (("ada", 4), 900)],
        ("ada", TimeWindow(1000, 2000)): [(("ada", 2), 1100)],
        ("ada", TimeWindow(5000, 6000)): [(("ada", 5), 5000)],
        ("bob", TimeWindow(0, 1000)): [(("bob", 3), 150)],
    }
    usual = windows_job(tmp_path / "usual", lambda s: s.window(windows).process(Sorted()), RECORDS)
    found = {(row.key, row.window): row.contents for row in usual.window_state("windows")}
    assert found == {window: [element for element, _ in contents] for window, contents in expected.items()}
    evicting = windows_job(tmp_path / "evictor", lambda s: s.window(windows).evictor(CountEvictor.of(1)).process(Sorted()), RECORDS)
    assert {(row.key, row.window): row.contents for row in evicting.window_state("windows")} == expected


def test_session_windows_have_their_merged_contents(tmp_path: Path) -> None:
    reader = windows_job(tmp_path, lambda s: s.window(EventTimeSessionWindows.with_gap(Time.seconds(1))).process(Sorted()), RECORDS)
    rows = {(row.key, row.window): sorted(row.contents) for row in reader.window_state("windows")}
    assert rows == {
        ("ada", TimeWindow(100, 2100)): [("ada", 1), ("ada", 2), ("ada", 4)],
        ("ada", TimeWindow(5000, 6000)): [("ada", 5)],
        ("bob", TimeWindow(150, 1150)): [("bob", 3)],
    }
    assert isinstance(next(iter(reader.window_state("windows"))), WindowContents)


def test_operator_and_broadcast_state(tmp_path: Path) -> None:
    env = local_environment(parallelism=3)
    numbers, rules = ManualSource(splits=3), ManualSource()
    kept = env.from_source(numbers, NONE, "numbers").map(Keep()).uid("keep")
    told = env.from_source(rules, NONE, "rules")
    kept.key_by(user, Types.STRING()).connect(told.broadcast(RULES)).process(Ruled()).uid("ruled")
    with env.start() as job:
        for number in range(20):
            numbers.push(("ada", number), split=number % 3)
        rules.push(("ada", 10))
        rules.push(("bob", 20))
        job.settle()
        reader = SavepointReader.read(retain(job.checkpoint(), tmp_path))
    assert Counter(reader.list_state("keep", "numbers")) == Counter(range(20))
    counts = list(reader.union_state("keep", "counts"))
    assert (len(counts), sum(counts)) == (3, 20)
    assert dict(reader.broadcast_state("ruled", "rules")) == {"ada": 10, "bob": 20}
    table = reader.broadcast_state("ruled", "rules").to_arrow()
    assert table.schema == pa.schema([("key", pa.string()), ("value", pa.int32())])
    assert table.num_rows == 2
    kinds = {name: state.kind for name, state in reader.operator("keep").states.items()}
    assert kinds == {"numbers": "operator list", "counts": "union list"}
    with pytest.raises(ProgramError, match=r"(?s)no union list state 'numbers'.*it has counts"):
        reader.union_state("keep", "numbers")


def test_timers_are_tuples_with_names(everything: str) -> None:
    assert KeyedTimer("event", 1005, "bob", None) in list(SavepointReader.read(everything).timers("everything"))
