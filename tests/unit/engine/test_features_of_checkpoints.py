"""What checkpoints promise, watched where it happens: in channels, in the storage, in messages and in what is restored."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.unit.engine.stored_job import StoredJob, environment, start
from wiesel.checkpoint import retries
from wiesel.checkpoint.file_io import LocalFileIO
from wiesel.checkpoint.messages import AckCheckpoint, DeclineCheckpoint
from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.core.errors import CheckpointError
from wiesel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.engine.local.simulation import SimulatedTask
from wiesel.state_processor import SavepointReader
from wiesel.testing import CollectedStream, InjectedFailure, ManualSource
from wiesel.wire.buffers import BARRIER, DATA, decode_batch, decode_event, read_buffers

SPLITS = 3
PAIR = COUNT = Types.TUPLE([Types.LONG(), Types.LONG()])


def seeded() -> random.Random:
    seed = random.SystemRandom().randrange(1 << 30)
    print(f"seed {seed}")
    return random.Random(seed)


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: tuple[int, int], ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        yield ctx.get_current_key(), self.count.value()


def counting(numbers: ManualSource, directory: Path, rnd: random.Random, **config: Any) -> tuple[StoredJob, CollectedStream]:
    """Count pairs (split, number) by number modulo 7, on two subtasks."""
    env = environment(directory, 2, wiesel_local_seed=rnd.randrange(1 << 30), **config)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    results = env.collect(stream.key_by(lambda pair: pair[1] % 7, Types.LONG()).process(Count(), COUNT).uid("counts"))
    return start(env), results


def positions(checkpoint: Any) -> dict[int, int]:
    """Return how many records of each split a checkpoint covers."""
    splits = [split for task in checkpoint.tasks.values() for state in task.operators.values() for split in state.reader_splits or ()]
    return {int(split.split_id.removeprefix("split-")): split.position for split in splits}


@pytest.mark.parametrize("backend", ["hashmap", "lmdb", "rocksdb"])
def test_b1_results_are_the_same_with_every_backend(tmp_path: Path, backend: str) -> None:
    rnd = random.Random(11)
    numbers = ManualSource(SPLITS)
    job, results = counting(numbers, tmp_path, rnd, state_backend_type=backend)
    keys: Counter[int] = Counter()
    with job:
        for number in range(300):
            numbers.push((number % SPLITS, number * number), split=number % SPLITS)
            keys[number * number % 7] += 1
            if number % 60 == 30:
                job.step(rnd.randrange(1, 40))
                job.checkpoint()
            elif number % 60 == 50:
                job.step(rnd.randrange(1, 40))
                job.fail()
        job.finish()
        assert job.restarts == 5
        written = {state.meta["backend"] for task in job.master.last_checkpoint.tasks.values() for state in states_of(task)}
    assert written == {backend}
    assert Counter(results.committed) == Counter((key, n + 1) for key, count in keys.items() for n in range(count))


def states_of(task: Any) -> list[Any]:
    return [operator.state for operator in task.operators.values() if operator.state is not None]


class FailsOnce(Count):
    """Counts, and fails when it has counted enough for checkpoints, if there is one by then."""

    def open(self, runtime_context: Any) -> None:
        super().open(runtime_context)
        self.left = 150 if runtime_context.get_attempt_number() == 0 else -1

    def process_element(self, value: tuple[int, int], ctx: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise RuntimeError("told to fail")
        yield from super().process_element(value, ctx)


def test_b5_a_small_job_takes_checkpoints_with_no_storage_set_and_goes_back_to_them() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    env.enable_checkpointing(20)
    source = DataGeneratorSource(split_and_number, 400, RateLimiterStrategy.per_second(500), PAIR)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    counts = numbers.key_by(lambda pair: pair[1] % 7, Types.LONG()).process(FailsOnce(), COUNT)
    with counts.execute_and_collect() as results:
        found = sorted(results)
        client = results.get_job_client()
    look = client.get_job_metrics().result()
    assert (look["attempt"], look["restarts"]) == (2, 1) and look["checkpoints"]["restored_id"] > 0
    assert found == sorted((n % 7, n // 7 + 1) for n in range(400))


def split_and_number(index: int) -> tuple[int, int]:
    return 0, index


def test_c3_the_counts_in_a_checkpoint_are_those_of_the_records_before_its_positions(tmp_path: Path) -> None:
    rnd = seeded()
    numbers = ManualSource(SPLITS)
    job, _ = counting(numbers, tmp_path, rnd)
    pushed: defaultdict[int, list[int]] = defaultdict(list)
    behind = 0
    with job:
        for _ in range(15):
            for _ in range(rnd.randrange(40)):
                split, number = rnd.randrange(SPLITS), rnd.randrange(1000)
                numbers.push((split, number), split=split)
                pushed[split].append(number)
            job.step(rnd.randrange(1, 60))
            checkpoint = job.checkpoint().checkpoint
            reader = SavepointReader.read(str(job.directory / f"chk-{checkpoint.checkpoint_id}"))
            counts = {row["key"]: row["count"] for row in reader.keyed_state("counts").dicts()}
            covered = positions(checkpoint)
            before = [number for split, taken in covered.items() for number in pushed[split][:taken]]
            assert counts == Counter(number % 7 for number in before)
            behind += sum(map(len, pushed.values())) - len(before)
    assert behind > 0, "no checkpoint was taken while records were still to be read"


def test_c6_a_barrier_parts_a_channel_into_what_the_checkpoint_covers_and_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rnd = seeded()
    channels: defaultdict[Any, list[Any]] = defaultdict(list)
    collect = SimulatedTask.collect

    def note(task: SimulatedTask) -> None:
        before = {partition: len(rows) for partition, rows in task.links.items()}
        collect(task)
        for partition, rows in task.links.items() if task.level == 0 else ():
            for row in list(rows)[before.get(partition, 0) :]:
                for buffer in read_buffers(row):
                    if buffer.kind == DATA:
                        channels[task.key, partition].extend(decode_batch(buffer.payload).values)
                    elif buffer.kind == BARRIER:
                        channels[task.key, partition].append(decode_event(buffer.kind, buffer.payload))

    monkeypatch.setattr(SimulatedTask, "collect", note)
    numbers = ManualSource(SPLITS)
    job, _ = counting(numbers, tmp_path, rnd)
    covered = {}
    with job:
        for number in range(400):
            numbers.push((number % SPLITS, number // SPLITS), split=number % SPLITS)
            job.step(rnd.randrange(1, 3))
            if number % 50 == 25:
                checkpoint = job.checkpoint().checkpoint
                covered[checkpoint.checkpoint_id] = positions(checkpoint)
        job.settle()
    assert len(covered) == 8 and len(channels) >= 4
    for seen in channels.values():
        assert [item.checkpoint_id for item in seen if not isinstance(item, tuple)] == list(covered)
        for at, barrier in enumerate(seen):
            if not isinstance(barrier, tuple):
                ends = covered[barrier.checkpoint_id]
                assert all(number < ends[split] for split, number in filter(is_record, seen[:at]))
                assert all(number >= ends[split] for split, number in filter(is_record, seen[at + 1 :]))


def is_record(item: Any) -> bool:
    return isinstance(item, tuple)


class Storage:
    """What happened in which order: files of state written, or not, and what tasks told the JobMaster."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events: list[tuple[str, str, int]] = []
        self.full = False
        write, send = LocalFileIO.write, SimulatedTask.send

        def noted_write(files: LocalFileIO, path: str, parts: Sequence[bytes | memoryview]) -> None:
            if "/shared/" in path:
                # <job>/shared/<attempt>-<vertex>-<subtask>-...
                task = "-".join(path.rpartition("/")[2].split("-")[1:3])
                self.events.append(("begins", task, 0))
                if self.full:
                    raise OSError(28, "No space left on device")
                write(files, path, parts)
                self.events.append(("stored", task, 0))
                return
            write(files, path, parts)

        def noted_send(task: SimulatedTask, message: Any) -> None:
            if isinstance(message, (AckCheckpoint, DeclineCheckpoint)):
                kind = "acknowledged" if isinstance(message, AckCheckpoint) else "declined"
                self.events.append((kind, f"{task.key[0]}-{task.key[1]}", message.checkpoint_id))
            send(task, message)

        monkeypatch.setattr(LocalFileIO, "write", noted_write)
        monkeypatch.setattr(SimulatedTask, "send", noted_send)
        monkeypatch.setattr(retries, "DELAYS_S", ())

    def of(self, kind: str) -> set[str]:
        return {task for what, task, _ in self.events if what == kind}


def test_c8_no_task_acknowledges_before_its_state_is_stored_nor_when_it_could_not_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage, numbers = Storage(monkeypatch), ManualSource()
    tolerant = {"execution_checkpointing_tolerable__failed__checkpoints": "1", "execution_checkpointing_data__inline__threshold": "0"}
    job, _ = counting(numbers, tmp_path, seeded(), **tolerant)
    with job:
        for number in range(50):
            numbers.push((0, number))
        job.settle()
        job.checkpoint()
        writing = storage.of("stored")
        assert len(writing) == 2, "both subtasks with counts have stored them"
        for task in writing:
            mine = [what for what, of, _ in storage.events if of == task]
            assert mine == ["begins", "stored", "acknowledged"]

        storage.events.clear()
        storage.full = True
        for number in range(50):
            numbers.push((0, number))
        job.settle()
        with pytest.raises(CheckpointError, match="aborted"):
            job.checkpoint()
        job.settle()
        tried = storage.of("begins")
        assert tried and tried <= writing and not tried & storage.of("acknowledged") and storage.of("declined") & tried
        assert job.completed_checkpoints == 1


@pytest.mark.parametrize("point", ["before-barrier", "before-snapshot", "before-ack"])
def test_c10_c17_a_checkpoint_that_a_task_has_not_acknowledged_is_not_complete_and_the_one_before_is_restored(
    tmp_path: Path, point: str
) -> None:
    rnd = seeded()
    numbers = ManualSource()
    job, results = counting(numbers, tmp_path, rnd)
    with job:
        for number in range(30):
            numbers.push((0, number))
        job.settle()
        job.checkpoint()
        job.checkpoint()
        for number in range(30, 50):
            numbers.push((0, number))
        job.step(rnd.randrange(1, 30))
        job.fail_at(point)
        with pytest.raises(InjectedFailure):
            job.checkpoint()
        assert job.completed_checkpoints == 2 and not (job.directory / "chk-3" / "_metadata").exists()
        assert job.master.attempt.restored_checkpoint_id == 2
        job.finish()
    keys = Counter(number % 7 for number in range(50))
    assert Counter(results.committed) == Counter((key, n + 1) for key, count in keys.items() for n in range(count))
