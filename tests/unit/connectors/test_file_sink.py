"""The file sink without an engine: a model of the job crashes, aborts checkpoints, commits twice and changes parallelism."""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import fsspec
import pytest

from wiesel.common import Encoder, Types
from wiesel.connectors.filesystem.buckets import BucketAssigner, BucketContext
from wiesel.connectors.filesystem.compaction import FileCompactor, FileCompactStrategy
from wiesel.connectors.filesystem.parts import FileCommitter, StagedName
from wiesel.connectors.filesystem.rolling import OutputFileConfig, RollingPolicy
from wiesel.connectors.filesystem.sink import FileSink, StreamingFileSink
from wiesel.core.errors import ConnectorError, ProgramError
from wiesel.formats.json import JsonBulkWriters
from wiesel.spi.sink import CommitRequest, SinkWriter, WriterInitContext

JOB, OPERATOR = "a" * 32, "b" * 32
ROOT = BucketAssigner.base_path_bucket_assigner()


class Clock:
    now = 1_000_000

    def __call__(self) -> int:
        return self.now


def context(attempt: int, subtask: int, parallelism: int, restored: int, clock: Callable[[], int], job: str = JOB) -> WriterInitContext:
    return WriterInitContext(job, OPERATOR, subtask, parallelism, attempt, restored, None, Types.STRING(), clock)


class ByFirstLetter(BucketAssigner):
    def get_bucket_id(self, element: str, context: BucketContext) -> str:
        return {"a": "", "b": "b", "c": "c/d"}[element[0]]


class Crash(Exception):
    pass


def record(number: int) -> str:
    return f"{'abc'[number % 3]}{number}"


class Job:
    """Writers, a committer and a coordinator. Records are numbered; a checkpoint has the position."""

    def __init__(self, sink: FileSink, seed: int, visible: Callable[[], dict[str, bytes]]) -> None:
        self.sink = sink
        self.chance = random.Random(seed)
        self.visible = visible
        self.clock = Clock()
        self.attempt = 0
        self.parallelism = 2
        self.checkpoint: dict[str, Any] | None = None
        self.written = 0
        self.durable = 0
        self.committed: dict[str, bytes] = {}
        self.start()

    def start(self) -> None:
        self.attempt += 1
        self.chance.random()
        restored = self.checkpoint
        self.written = restored["position"] if restored else 0
        states: list[list[Any]] = [[] for _ in range(self.parallelism)]
        for i, state in enumerate(restored["states"] if restored else []):
            states[i % self.parallelism].append(state)
        self.committer = self.sink.create_committer()
        restored_id = restored["id"] if restored else 0
        if restored:
            self.commit(restored)
        self.writers: list[SinkWriter] = [
            self.sink.create_writer(context(self.attempt, i, self.parallelism, restored_id, self.clock), states[i])
            for i in range(self.parallelism)
        ]
        self.uncommitted: list[Any] = []

    def write(self) -> None:
        until = self.written + self.chance.randrange(1, 12)
        for i, writer in enumerate(self.writers):
            writer.write_batch([record(n) for n in range(self.written, until) if n % self.parallelism == i], None)
        self.written = until

    def pass_time(self) -> None:
        self.clock.now += self.chance.choice([10, 1000, 70_000])
        for writer in self.writers:
            writer.on_processing_time(self.clock.now)

    def take(self, end: bool = False) -> dict[str, Any]:
        states = []
        for writer in self.writers:
            writer.flush(end)
            self.uncommitted += writer.prepare_commit()
            states.append(writer.snapshot_state((self.checkpoint or {"id": 0})["id"] + 1))
        number = (self.checkpoint or {"id": 0})["id"] + 1
        data = {"id": number, "position": self.written, "states": states, "commit": list(self.uncommitted)}
        # State that names a file must be usable from its bytes alone.
        return pickle.loads(pickle.dumps(data))

    def commit(self, checkpoint: dict[str, Any]) -> None:
        committables = checkpoint["commit"]
        if self.chance.random() < 0.3:
            # A commit that is cut off, and repeated.
            self.committer.commit([*map(CommitRequest, committables[: self.chance.randrange(len(committables) + 1)])])
        self.committer.commit([*map(CommitRequest, committables)])
        self.durable = checkpoint["position"]
        now = self.visible()
        assert {n: c for n, c in now.items() if n in self.committed} == self.committed, "a visible file has changed"
        self.committed = now

    def do_checkpoint(self, end: bool = False) -> None:
        taken = self.take(end)
        fate = self.chance.random()
        if fate < 0.15 and not end:
            return  # aborted; its committables go with the next one
        self.checkpoint = taken
        if fate < 0.3:
            raise Crash  # published, not committed
        self.commit(taken)
        self.uncommitted = []

    def crash(self) -> None:
        zombies = self.writers
        if self.chance.random() < 0.5:
            for writer in self.writers:
                writer.close()
            zombies = []
        self.committer.close()
        if self.chance.random() < 0.3:
            self.parallelism = self.chance.choice([1, 2, 3])
        self.start()
        for writer in zombies:
            # A process that does not know that it is dead.
            writer.write_batch(["azombie", "bzombie"], None)
            # The parts that it would put together may be gone.
            with suppress(ConnectorError):
                writer.flush(False)
            writer.close()


KINDS = ["default", "checkpoint", "small", "bulk", "compact", "compact by size"]
CONCAT = FileCompactor.concat_file_compactor()


def make_sink(base: str, kind: str) -> FileSink:
    if kind == "bulk":
        return FileSink.for_bulk_format(base, JsonBulkWriters.for_type()).with_bucket_assigner(ByFirstLetter()).build()
    policy = {
        "default": RollingPolicy.default_rolling_policy(),
        "checkpoint": RollingPolicy.on_checkpoint_rolling_policy(),
        "small": RollingPolicy.default_rolling_policy(part_size=100, rollover_interval=3_000),
        "compact": RollingPolicy.on_checkpoint_rolling_policy(),
        "compact by size": RollingPolicy.default_rolling_policy(part_size=30, rollover_interval=3_000),
    }[kind]
    builder = FileSink.for_row_format(base, Encoder.simple_string_encoder()).with_rolling_policy(policy)
    if kind.startswith("compact"):
        strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(3)
        if kind == "compact by size":
            strategy.set_size_threshold(60).set_num_compact_threads(2)
        builder.enable_compact(strategy.build(), CONCAT)
    names = OutputFileConfig.builder().with_part_prefix("out").with_part_suffix(".txt").build()
    return builder.with_bucket_assigner(ByFirstLetter()).with_output_file_config(names).with_bucket_check_interval(1000).build()


def local_files(base: Path) -> dict[str, bytes]:
    found = {}
    for folder, folders, names in os.walk(base):
        folders[:] = [f for f in folders if not f.startswith((".", "_"))]
        for name in names:
            if not name.startswith((".", "_")):
                path = Path(folder, name)
                found[str(path.relative_to(base))] = path.read_bytes()
    return found


def remote_files(base: str) -> dict[str, bytes]:
    fs = fsspec.filesystem("memory")
    paths = [p for p in (fs.find(base) if fs.exists(base) else []) if "/." not in p]
    return {p.removeprefix(base + "/"): fs.cat_file(p) for p in paths}


def records_in(files: dict[str, bytes], kind: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for name, content in files.items():
        lines = content.decode().splitlines()
        lines = [json.loads(line) for line in lines] if kind == "bulk" else lines
        bucket = name.rpartition("/")[0]
        assert {ByFirstLetter().get_bucket_id(line, BucketContext()) for line in lines} == {bucket}
        found.update(lines)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("where", ["local", "memory"])
@pytest.mark.parametrize("round_", range(4))
def test_every_record_is_visible_once_after_any_crashes(tmp_path: Path, kind: str, where: str, round_: int) -> None:
    seed = random.SystemRandom().randrange(10**9)
    print(f"seed {seed}")
    base = str(tmp_path / "out") if where == "local" else f"memory://{tmp_path.name}-{seed}"
    visible = (lambda: local_files(tmp_path / "out")) if where == "local" else lambda: remote_files(f"/{tmp_path.name}-{seed}")
    job = Job(make_sink(base, kind), seed, visible)
    for _ in range(60):
        try:
            job.chance.choice([job.write, job.write, job.write, job.pass_time, job.do_checkpoint, job.crash])()
        except Crash:
            job.crash()
        # Nothing is visible that a crash could take back.
        assert all(int(t[1:]) < job.durable for t in records_in(visible(), kind))
    while True:
        try:
            job.do_checkpoint(end=True)
            break
        except Crash:
            job.crash()
    for writer in job.writers:
        writer.close()
    job.committer.close()
    assert records_in(visible(), kind) == Counter(record(n) for n in range(job.written))
    hidden = [n for n in os.listdir(tmp_path / "out") if n.startswith(".")] if where == "local" else []
    # What dead attempts have left is gone, but for files that zombies made after the clean-up.
    assert len(hidden) <= 1


def writer_of(sink: FileSink, attempt: int = 1, states: Any = (), restored: int = 0, clock: Any = None, job: str = JOB) -> Any:
    return sink.create_writer(context(attempt, 0, 1, restored, clock or Clock(), job), states)


def text_sink(base: Path, **policy: Any) -> FileSink:
    builder = FileSink.for_row_format(str(base), Encoder.simple_string_encoder()).with_bucket_assigner(ROOT)
    return builder.with_rolling_policy(RollingPolicy.default_rolling_policy(**policy)).with_bucket_check_interval(10).build()


def finish(sink: FileSink, writer: Any) -> None:
    writer.flush(True)
    sink.create_committer().commit([*map(CommitRequest, writer.prepare_commit())])
    writer.close()


def compacting_sink(base: Path, strategy: FileCompactStrategy.Builder, compactor: FileCompactor = CONCAT) -> FileSink:
    builder = FileSink.for_row_format(str(base), Encoder.simple_string_encoder()).with_bucket_assigner(ByFirstLetter())
    builder.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
    return builder.enable_compact(strategy.build(), compactor).build()


def write_and_commit(sink: FileSink, writer: Any, records: list[str], end: bool = False) -> Any:
    """Go through a checkpoint; return the writer's state."""
    writer.write_batch(records, None)
    writer.flush(end)
    committables = writer.prepare_commit()
    state = writer.snapshot_state(1)
    sink.create_committer().commit([*map(CommitRequest, committables)])
    return pickle.loads(pickle.dumps(state))


def test_files_of_a_bucket_become_one_after_some_checkpoints(tmp_path: Path) -> None:
    delimited = FileCompactor.concat_file_compactor(b"--\n")
    sink = compacting_sink(tmp_path, FileCompactStrategy.builder().enable_compaction_on_checkpoint(3), delimited)
    writer = writer_of(sink)
    for i in range(2):
        write_and_commit(sink, writer, [f"a{i}", f"b{i}"])
        assert local_files(tmp_path) == {}
    write_and_commit(sink, writer, ["a2"])
    uid = writer.snapshot_state(1).uid
    contents = {f"compacted-part-{uid}-5": b"a0\n--\na1\n--\na2\n", f"b/compacted-part-{uid}-6": b"b0\n--\nb1\n"}
    assert local_files(tmp_path) == contents
    write_and_commit(sink, writer, ["a3"])
    assert local_files(tmp_path) == contents
    # The end does not wait.
    write_and_commit(sink, writer, ["c4"], end=True)
    assert sorted(local_files(tmp_path).values()) == sorted([*contents.values(), b"a3\n", b"c4\n"])
    writer.close()
    assert [path for path in os.listdir(tmp_path) if path.startswith(".")] == []


def test_files_of_a_bucket_become_one_when_they_are_large(tmp_path: Path) -> None:
    sink = compacting_sink(tmp_path, FileCompactStrategy.builder().set_size_threshold(8).set_num_compact_threads(3))
    writer = writer_of(sink)
    for i in range(1, 6):
        write_and_commit(sink, writer, [f"a{i}", f"b{i}"] if i != 2 else ["a2"])
    # Lines have three bytes: the third reaches eight.
    assert sorted(local_files(tmp_path).values()) == [b"a1\na2\na3\n", b"b1\nb3\nb4\n"]
    writer.close()


def test_what_waits_is_found_again(tmp_path: Path) -> None:
    sink = compacting_sink(tmp_path, FileCompactStrategy.builder().enable_compaction_on_checkpoint(2))
    first = writer_of(sink)
    state = write_and_commit(sink, first, ["a0"])
    first.write_batch(["a1"], None)
    # A checkpoint that comes to nothing: what it put together does not count.
    first.flush(False)
    first.close()
    # Another job that starts from the first checkpoint has a copy of what waits.
    other = writer_of(sink, states=[state], restored=1, job="c" * 32)
    again = writer_of(sink, attempt=2, states=[state], restored=1)
    write_and_commit(sink, again, ["a2"], end=True)
    assert list(local_files(tmp_path).values()) == [b"a0\na2\n"]
    write_and_commit(sink, other, ["a3"], end=True)
    assert sorted(local_files(tmp_path).values()) == [b"a0\na2\n", b"a0\na3\n"]
    for writer in (other, again):
        writer.close()


def test_what_waits_becomes_visible_when_nothing_is_put_together_any_more(tmp_path: Path) -> None:
    strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(9)
    writer = writer_of(compacting_sink(tmp_path, strategy))
    state = write_and_commit(compacting_sink(tmp_path, strategy), writer, ["a0", "b0"])
    writer.close()
    plain = text_sink(tmp_path)
    finish(plain, writer_of(plain, attempt=2, states=[state], restored=1))
    assert local_files(tmp_path) == {f"part-{state.uid}-0": b"a0\n", f"b/part-{state.uid}-1": b"b0\n"}


def test_parts_that_wait_and_are_gone_are_an_error(tmp_path: Path) -> None:
    sink = compacting_sink(tmp_path, FileCompactStrategy.builder().enable_compaction_on_checkpoint(2))
    writer = writer_of(sink)
    state = write_and_commit(sink, writer, ["a0"])
    Path(state.waiting[0].staged.removeprefix("file://")).unlink()
    with pytest.raises(ConnectorError, match="is gone"):
        writer.flush(False)
    writer.close()


def test_the_copying_compactor_takes_one_file(tmp_path: Path) -> None:
    strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(2)
    sink = compacting_sink(tmp_path, strategy, FileCompactor.identical_file_compactor())
    writer = writer_of(sink)
    write_and_commit(sink, writer, ["a0"])
    write_and_commit(sink, writer, ["b0"])
    assert sorted(local_files(tmp_path).values()) == [b"a0\n", b"b0\n"]
    write_and_commit(sink, writer, ["a1"])
    writer.write_batch(["a2"], None)
    with pytest.raises(ConnectorError, match="copies only one"):
        writer.flush(False)
    writer.close()


def test_strategies_that_make_no_sense() -> None:
    builder = FileCompactStrategy.builder()
    for make in (builder.build, lambda: builder.enable_compaction_on_checkpoint(0), lambda: builder.set_num_compact_threads(0)):
        with pytest.raises(ProgramError):
            make()
    with pytest.raises(ProgramError, match="enable_compact got"):
        FileSink.for_row_format("x", Encoder.simple_string_encoder()).enable_compact(builder, CONCAT)  # type: ignore[arg-type]


def test_names_are_those_of_flink(tmp_path: Path) -> None:
    sink = text_sink(tmp_path)
    writer = writer_of(sink)
    writer.write_batch(["a", "b"], None)
    staged = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert len(staged) == 1 and staged[0].parent.name.startswith(".") and staged[0].name.startswith(".part-")
    finish(sink, writer)
    (visible,) = [p for p in tmp_path.rglob("*") if p.is_file()]
    # part-<uuid>-<number>, as Flink's documentation has it.
    prefix, uid, number = visible.name.partition("-")[0], visible.name[5:41], visible.name[42:]
    assert (prefix, number, len(uid.split("-"))) == ("part", "0", 5)
    assert [p.name for p in tmp_path.iterdir()] == [visible.name]
    assert visible.read_text() == "a\nb\n"


def test_parts_roll_by_size_age_and_inactivity(tmp_path: Path) -> None:
    clock = Clock()
    sink = text_sink(tmp_path, part_size=10, rollover_interval=1000, inactivity_interval=300)
    writer = writer_of(sink, clock=clock)
    writer.write_batch(["x" * 11], None)
    writer.write_batch(["size"], None)
    clock.now += 299
    writer.on_processing_time(clock.now)
    writer.write_batch(["!"], None)
    assert len(writer._pending) == 1
    clock.now += 300
    writer.on_processing_time(clock.now)
    assert len(writer._pending) == 2
    for _ in range(5):
        writer.write_batch([], None)
        writer.write_batch(["y"], None)
        clock.now += 200
        writer.on_processing_time(clock.now)
    assert len(writer._pending) == 3
    finish(sink, writer)
    assert sorted(p.read_text() for p in tmp_path.iterdir()) == ["size\n!\n", "x" * 11 + "\n", "y\n" * 5]


def test_open_parts_go_on_over_checkpoints(tmp_path: Path) -> None:
    sink = text_sink(tmp_path)
    writer = writer_of(sink)
    for i in range(20):
        writer.write_batch([str(i)], None)
        writer.flush(False)
        assert writer.prepare_commit() == []
        writer.snapshot_state(i + 1)
    finish(sink, writer)
    (only,) = tmp_path.iterdir()
    assert only.read_text() == "".join(f"{i}\n" for i in range(20))


def test_many_buckets_do_not_need_many_open_files(tmp_path: Path) -> None:
    class ByNumber(BucketAssigner):
        def get_bucket_id(self, element: str, context: BucketContext) -> str:
            return f"n={element}"

    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).with_bucket_assigner(ByNumber()).build()
    writer = writer_of(sink)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(2):
        writer.write_batch([str(i) for i in range(500)], None)
        writer.flush(False)
    assert len(os.listdir("/proc/self/fd")) - before < 200
    finish(sink, writer)
    assert {p.parent.name: p.read_text() for p in tmp_path.glob("*/*")} == {f"n={i}": f"{i}\n{i}\n" for i in range(500)}


def checkpointed(tmp_path: Path) -> tuple[FileSink, Any]:
    sink = text_sink(tmp_path)
    writer = writer_of(sink)
    writer.write_batch(["kept"], None)
    writer.flush(False)
    state = writer.snapshot_state(1)
    writer.write_batch(["undone"], None)
    writer.close()
    return sink, state


def test_an_open_part_that_is_gone_is_an_error(tmp_path: Path) -> None:
    sink, state = checkpointed(tmp_path)
    for path in [p for p in tmp_path.rglob("*") if p.is_file()]:
        path.unlink()
    with pytest.raises(ConnectorError, match=r"cannot go on writing the part file .* of which checkpoint 1 has 5 bytes"):
        writer_of(sink, 2, [state], 1)


def test_an_open_part_that_is_too_short_is_an_error(tmp_path: Path) -> None:
    sink, state = checkpointed(tmp_path)
    for path in [p for p in tmp_path.rglob("*") if p.is_file()]:
        os.truncate(path, 3)
    with pytest.raises(ConnectorError, match="has only 3 of 5 bytes"):
        writer_of(sink, 2, [state], 1)


def test_another_job_that_starts_from_the_checkpoint_writes_beside(tmp_path: Path) -> None:
    sink, state = checkpointed(tmp_path)
    other = writer_of(sink, 1, [state], 1, job="c" * 32)
    other.write_batch(["other"], None)
    finish(sink, other)
    same = writer_of(sink, 2, [state], 1)
    same.write_batch(["same"], None)
    finish(sink, same)
    files = local_files(tmp_path)
    assert sorted(files.values()) == [b"kept\nother\n", b"kept\nsame\n"]
    assert not [n for n in os.listdir(tmp_path) if n.startswith(".")]


def test_output_from_after_the_checkpoint_is_noticed(tmp_path: Path) -> None:
    builder = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).with_bucket_assigner(ROOT)
    sink = builder.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
    writer, states = writer_of(sink), []
    for i in range(3):
        writer.write_batch([str(i)], None)
        writer.flush(False)
        committables = writer.prepare_commit()
        states.append(writer.snapshot_state(i + 1))
        sink.create_committer().commit([*map(CommitRequest, committables)])
    writer.close()
    writer_of(sink, 2, [states[2]], 3).close()
    with pytest.raises(ConnectorError, match=r"is ahead of checkpoint 2: the parts \*-[0-9a-f-]+-2 to -2 were committed by a later"):
        writer_of(sink, 3, [states[1]], 2)


def pending(tmp_path: Path) -> Any:
    sink = text_sink(tmp_path)
    writer = writer_of(sink)
    writer.write_batch(["x"], None)
    writer.flush(True)
    part = writer.prepare_commit()[0]
    writer.close()
    return part


def test_a_pending_part_that_is_gone_is_an_error(tmp_path: Path) -> None:
    part = pending(tmp_path)
    os.unlink(part.staged)
    with pytest.raises(ConnectorError, match="is gone before it became visible"):
        FileCommitter(str(tmp_path)).commit([CommitRequest(part)])


def test_parts_of_another_cluster_are_left_to_the_job_that_wrote_them(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    part = pending(here)
    os.unlink(part.staged)
    with pytest.raises(ConnectorError, match="is gone before it became visible"):
        FileCommitter(str(here)).commit([CommitRequest(part)])
    shutil.rmtree(here)
    with pytest.raises(ConnectorError, match="is gone before it became visible"):
        FileCommitter(str(here)).commit([CommitRequest(part)])
    FileCommitter(str(there)).commit([CommitRequest(part)])
    assert f"1 parts of the savepoint were written to {here}, which does not exist here" in caplog.text
    assert not here.exists() and not there.exists()


def test_parts_of_another_folder_that_is_there_become_visible(tmp_path: Path) -> None:
    part = pending(tmp_path / "here")
    FileCommitter(str(tmp_path / "there")).commit([CommitRequest(part)])
    assert Path(part.target).read_text() == "x\n"
    FileCommitter(str(tmp_path / "there")).commit([CommitRequest(part)])


def test_a_part_that_was_taken_away_after_it_was_visible_is_no_error(tmp_path: Path) -> None:
    part = pending(tmp_path)
    FileCommitter(str(tmp_path)).commit([CommitRequest(part)])
    os.unlink(part.target)
    FileCommitter(str(tmp_path)).commit([CommitRequest(part)])
    assert not os.path.exists(part.target)


def test_a_torn_part_is_an_error(tmp_path: Path) -> None:
    part = pending(tmp_path)
    os.truncate(part.staged, 1)
    with pytest.raises(ConnectorError, match="has 1 instead of 2 bytes"):
        FileCommitter(str(tmp_path)).commit([CommitRequest(part)])


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    part = pending(tmp_path)
    Path(part.target).write_text("something else")
    with pytest.raises(ConnectorError, match="exists already, with 14 instead of 2 bytes"):
        FileCommitter(str(tmp_path)).commit([CommitRequest(part)])
    assert Path(part.target).read_text() == "something else"


def test_a_damaged_commit_record_is_ignored(tmp_path: Path) -> None:
    part = pending(tmp_path)
    Path(os.path.dirname(part.staged), ".committed.json").write_text("{")
    FileCommitter(str(tmp_path)).commit([CommitRequest(part)])
    assert Path(part.target).read_text() == "x\n"


def test_staged_names() -> None:
    name = StagedName("my-part", "9a6ee85f-f534-5fa0-af0c-d54f49986347", 12, "-x.txt", 7)
    assert StagedName.parse(f"/some/folder/{name}") == name
    assert name.visible == "my-part-9a6ee85f-f534-5fa0-af0c-d54f49986347-12-x.txt"
    assert StagedName.parse(".committed.json") is None


def test_default_buckets_are_hours_of_processing_time(tmp_path: Path) -> None:
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    clock = Clock()
    clock.now = 1_700_000_000_000
    writer = writer_of(sink, clock=clock)
    writer.write_batch(["a"], None)
    clock.now += 3_600_000
    writer.write_batch(["b"], None)
    finish(sink, writer)
    import time

    names = [time.strftime("%Y-%m-%d--%H", time.localtime(s)) for s in (1_700_000_000, 1_700_003_600)]
    assert sorted(p.name for p in tmp_path.iterdir()) == names


@pytest.mark.parametrize(
    ("pattern", "zone", "text"),
    [
        # 1700000000123 is 2023-11-14T22:13:20.123Z.
        ("yyyy-MM-dd--HH", "UTC", "2023-11-14--22"),
        ("yyyy-MM-dd--HH", "GMT-08:00", "2023-11-14--14"),
        ("yyyy-MM-dd--HH", "Asia/Tokyo", "2023-11-15--07"),
        ("'year='yyyy/'month='M/'day='d", "+05:30", "year=2023/month=11/day=15"),
        ("yy.HHmmss.SSS", "Z", "23.221320.123"),
        ("'it''s' HH", "UTC", "it's 22"),
        ("yyyy''MM", "UTC", "2023'11"),
    ],
)
def test_date_patterns(pattern: str, zone: str, text: str) -> None:
    assigner = BucketAssigner.date_time_bucket_assigner(pattern, zone)
    assert assigner.get_bucket_id("x", BucketContext(1_700_000_000_123)) == text


@pytest.mark.parametrize(
    "make",
    [
        lambda: BucketAssigner.date_time_bucket_assigner("yyyy-EEE"),
        lambda: BucketAssigner.date_time_bucket_assigner("MMM"),
        lambda: BucketAssigner.date_time_bucket_assigner("'open"),
        lambda: BucketAssigner.date_time_bucket_assigner("HH", "Nowhere/Land"),
        lambda: RollingPolicy.default_rolling_policy(part_size=0),
        lambda: OutputFileConfig.builder().with_part_prefix("_x").build(),
        lambda: OutputFileConfig.builder().with_part_suffix("/x").build(),
        lambda: FileSink.for_row_format("", Encoder.simple_string_encoder()),
        lambda: FileSink.for_row_format("/x", "no encoder"),  # type: ignore[arg-type]
        lambda: FileSink.for_bulk_format("/x", Encoder.simple_string_encoder()),  # type: ignore[arg-type]
        lambda: FileSink.for_row_format("/x", Encoder.simple_string_encoder()).with_bucket_check_interval(0),
    ],
)
def test_bad_settings(make: Any) -> None:
    with pytest.raises(ProgramError):
        make()


def test_bulk_formats_roll_on_checkpoints_only() -> None:
    builder = FileSink.for_bulk_format("/x", JsonBulkWriters.for_type())
    with pytest.raises(ValueError, match="rolling_policy must be OnCheckpointRollingPolicy for bulk format"):
        builder.with_rolling_policy(RollingPolicy.default_rolling_policy())  # type: ignore[arg-type]
    assert builder.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()) is builder


@pytest.mark.parametrize("bucket", ["../x", "/x", 3, "a/../../b"])
def test_buckets_outside_the_base_path_are_refused(tmp_path: Path, bucket: Any) -> None:
    class Outside(BucketAssigner):
        def get_bucket_id(self, element: str, context: BucketContext) -> str:
            return bucket

    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).with_bucket_assigner(Outside()).build()
    with pytest.raises(ConnectorError, match="the bucket assigner gave"):
        writer_of(sink).write_batch(["x"], None)


def test_bucket_assigners_see_times(tmp_path: Path) -> None:
    class ByTimes(BucketAssigner):
        def get_bucket_id(self, element: str, context: BucketContext) -> str:
            return f"{context.timestamp()}-{context.current_watermark()}-{context.current_processing_time()}"

    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).with_bucket_assigner(ByTimes()).build()
    writer = writer_of(sink)
    writer.write_watermark(5)
    writer.write_batch(["a", "b"], [7, 8])
    writer.write_batch(["c"], None)
    finish(sink, writer)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["7-5-1000000", "8-5-1000000", "None-5-1000000"]


def test_the_older_name_warns(tmp_path: Path) -> None:
    with pytest.warns(DeprecationWarning, match="Use FileSink"):
        assert isinstance(StreamingFileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build(), FileSink)
