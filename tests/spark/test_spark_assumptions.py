"""What ``wiesel.engine.spark.exchange`` takes for granted of Spark's internals, one test each. Another version of Spark breaks here."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.parity.conftest import time_limit
from wiesel.core.config import Configuration
from wiesel.engine.spark.exchange import (
    ROW_SCHEMA,
    cancel_group,
    exchange,
    free_slots,
    lacks_slots,
    materialize,
    use_in_this_thread,
)
from wiesel.engine.spark.pipelined_settings import PIPELINED_SETTINGS
from wiesel.engine.spark.session import spark_session
from wiesel.engine.spark.session_settings import _executor_settings
from wiesel.engine.spark.shared_event_loops import share_event_loops

SECONDS = 300
SLOTS = 64


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    with time_limit(SECONDS):
        yield


@pytest.fixture(scope="module")
def session() -> Any:
    session = spark_session(Configuration.from_dict({"wiesel.spark.master": f"local[{SLOTS}]"}), 4)
    use_in_this_thread(session)
    return session


def waiting_producer(directory: Path, limit_s: float) -> Any:
    """Return a stage that sends its second record only when somebody has seen the first one."""

    def run(batches: Any) -> Any:
        import pyarrow as pa

        def row(p: int, value: bytes | None) -> Any:
            return pa.RecordBatch.from_arrays([pa.array([p], pa.int32()), pa.array([value], pa.binary())], names=["p", "v"])

        for _ in batches:
            pass
        yield row(0, b"first")
        yield row(0, None)
        deadline_s = time.monotonic() + limit_s
        while not (directory / "seen").exists():
            if time.monotonic() > deadline_s:
                raise TimeoutError("nobody has seen the first record")
            time.sleep(0.005)
        yield row(0, b"second")

    return run


def noting_consumer(directory: Path) -> Any:
    """Return a stage that notes what it sees and passes it on."""

    def run(batches: Any) -> Any:
        for batch in batches:
            if b"first" in batch.column(1).to_pylist():
                (directory / "seen").touch()
            yield batch

    return run


@pytest.mark.parametrize("pipelined", [True, False])
def test_stages_of_a_pipelined_exchange_run_at_the_same_time(session: Any, tmp_path: Path, pipelined: bool) -> None:
    limit_s = SECONDS / 2 if pipelined else 1
    frame = session.range(0, 1, 1, 1).mapInArrow(waiting_producer(tmp_path, limit_s), ROW_SCHEMA)
    frame = exchange(frame, 2, pipelined=pipelined).mapInArrow(noting_consumer(tmp_path), ROW_SCHEMA)
    if pipelined:
        assert [row.v for row in frame.collect() if row.v is not None] == [b"first", b"second"]
    else:
        with pytest.raises(Exception, match="nobody has seen the first record"):
            frame.collect()


def test_what_a_finished_stage_has_given_is_used_by_further_jobs(session: Any, tmp_path: Path) -> None:
    def produce(batches: Any) -> Any:
        import pyarrow as pa
        from pyspark import TaskContext

        me = TaskContext.get().partitionId()
        (tmp_path / f"{me}-{uuid4().hex}").touch()
        yield pa.RecordBatch.from_arrays([pa.array([me], pa.int32()), pa.array([b"row"], pa.binary())], names=["p", "v"])

    kept = materialize(session.range(0, 3, 1, 3).mapInArrow(produce, ROW_SCHEMA), 3, 3)
    assert not kept.is_there()
    for _ in range(2):
        assert [row.v for row in kept.frame.collect()] == [b"row"] * 3
        assert kept.is_there()
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("pipelined", [True, False])
def test_rows_come_to_the_partition_of_their_number_in_order(session: Any, pipelined: bool) -> None:
    partitions, count = 5, 100

    def produce(batches: Any) -> Any:
        import pyarrow as pa
        from pyspark import TaskContext

        for _ in batches:
            pass
        me = TaskContext.get().partitionId()
        for n in range(count):
            p, value = (n * 7 + me) % partitions, f"{me} {n}".encode()
            yield pa.RecordBatch.from_arrays([pa.array([p, p], pa.int32()), pa.array([value, None], pa.binary())], names=["p", "v"])

    def consume(batches: Any) -> Any:
        import pyarrow as pa
        from pyspark import TaskContext

        me = TaskContext.get().partitionId()
        for batch in batches:
            for p, value in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
                assert p == me, f"a row of partition {p} came to partition {me}"
                yield pa.RecordBatch.from_arrays([pa.array([me], pa.int32()), pa.array([value], pa.binary())], names=["p", "v"])

    moved = exchange(session.range(0, 3, 1, 3).mapInArrow(produce, ROW_SCHEMA), partitions, pipelined=pipelined)
    rows = [(row.p, *map(int, row.v.split())) for row in moved.mapInArrow(consume, ROW_SCHEMA).collect() if row.v is not None]
    assert Counter(rows) == Counter(((n * 7 + me) % partitions, me, n) for me in range(3) for n in range(count))
    for me in range(3):
        for p in range(partitions):
            numbers = [n for at, source, n in rows if (at, source) == (p, me)]
            assert numbers == sorted(numbers), "a channel is not first in, first out"


def test_readers_share_threads_for_their_connections(session: Any, tmp_path: Path) -> None:
    assert share_event_loops(session, 1_000)
    partitions, count = 3, 200

    def produce(batches: Any) -> Any:
        import pyarrow as pa
        from pyspark import TaskContext

        for _ in batches:
            pass
        me, sent = TaskContext.get().partitionId(), [n for n in range(count) for _ in range(partitions)]
        to = [*range(partitions)] * count
        yield pa.RecordBatch.from_arrays([pa.array(to, pa.int32()), pa.array([f"{me} {n}".encode() for n in sent])], names=["p", "v"])
        while not (tmp_path / "seen").exists():
            time.sleep(0.01)

    moved = exchange(session.range(0, partitions, 1, partitions).mapInArrow(produce, ROW_SCHEMA), partitions, pipelined=True)
    found: list[Any] = []
    job = threading.Thread(target=lambda: found.extend(moved.collect()), daemon=True)
    job.start()
    threads: list[str] = []
    deadline_s = time.monotonic() + 60
    # Threads of Spark's own end when they have found the writers, or when they have found nothing to do.
    while not any("wiesel-exchange" in name for name in threads) or any("-reader-" in name or "discovery" in name for name in threads):
        assert time.monotonic() < deadline_s, sorted(threads)
        time.sleep(0.1)
        threads = [thread.getName() for thread in session._jvm.java.lang.Thread.getAllStackTraces().keySet()]
    (tmp_path / "seen").touch()
    job.join()
    assert len([name for name in threads if "streaming-shuffle-writer" in name and "server" in name]) == partitions
    for p in range(partitions):
        rows = [tuple(map(int, row.v.split())) for row in found if row.p == p]
        assert [[n for source, n in rows if source == me] for me in range(partitions)] == [[*range(count)]] * partitions


@pytest.mark.parametrize("key", sorted(PIPELINED_SETTINGS))
def test_setting_is_known_to_spark_and_in_force(session: Any, key: str) -> None:
    value = PIPELINED_SETTINGS[key]
    if key.startswith("spark.sql."):
        assert session.conf.get(key) == value
    else:
        assert session.sparkContext.getConf().get(key) == value
    must_be_known(session, key)


EXECUTOR_SETTINGS = sorted(_executor_settings(Configuration(), "local-cluster[2,2,512]").keys())


@pytest.mark.parametrize("key", EXECUTOR_SETTINGS)
def test_setting_of_executors_is_known_to_spark(session: Any, key: str) -> None:
    must_be_known(session, key)


def must_be_known(session: Any, key: str) -> None:
    """A misspelt or removed key would be accepted and have no effect."""
    session._jvm.org.apache.spark.sql.internal.SQLConf.get()
    assert session._jvm.org.apache.spark.internal.config.ConfigEntry.findEntry(key) is not None


def test_failing_task_fails_the_job_at_once_and_is_not_run_again(session: Any, tmp_path: Path) -> None:
    stop = tmp_path / "stop"

    def endless(batches: Any) -> Any:
        import pyarrow as pa

        for _ in batches:
            pass
        (tmp_path / f"source-{uuid4().hex}").touch()
        deadline_s = time.monotonic() + SECONDS
        while not stop.exists() and time.monotonic() < deadline_s:
            yield pa.RecordBatch.from_arrays([pa.array([0], pa.int32()), pa.array([b"x"], pa.binary())], names=["p", "v"])
            time.sleep(0.02)

    def failing(batches: Any) -> Any:
        (tmp_path / f"consumer-{uuid4().hex}").touch()
        for batch in batches:
            if batch.num_rows:
                raise ValueError("this record is bad")
            yield batch

    frame = exchange(session.range(0, 1, 1, 1).mapInArrow(endless, ROW_SCHEMA), 1, pipelined=True).mapInArrow(failing, ROW_SCHEMA)
    started_s = time.monotonic()
    try:
        with pytest.raises(Exception, match="this record is bad"):
            frame.collect()
    finally:
        stop.touch()
    assert time.monotonic() - started_s < SECONDS / 2, "the job waited for its endless stage"
    assert len(list(tmp_path.glob("source-*"))) == 1
    assert len(list(tmp_path.glob("consumer-*"))) == 1


def test_every_plan_runs_all_of_its_stages(session: Any, tmp_path: Path) -> None:
    """A collected plan keeps its shuffle and would not run its first stage again; a new attempt makes a new plan."""

    def source(batches: Any) -> Any:
        import pyarrow as pa

        for _ in batches:
            pass
        (tmp_path / uuid4().hex).touch()
        yield pa.RecordBatch.from_arrays([pa.array([0, 0], pa.int32()), pa.array([b"x", None], pa.binary())], names=["p", "v"])

    for attempt in (1, 2, 3):
        moved = exchange(session.range(0, 2, 1, 2).mapInArrow(source, ROW_SCHEMA), 1, pipelined=True)
        assert sum(row.v == b"x" for row in moved.mapInArrow(lambda batches: batches, ROW_SCHEMA).collect()) == 2
        assert len(list(tmp_path.iterdir())) == 2 * attempt


def test_too_few_slots_are_refused_by_name(session: Any) -> None:
    def nothing(batches: Any) -> Any:
        import pyarrow as pa

        for _ in batches:
            pass
        yield pa.RecordBatch.from_arrays([pa.array([], pa.int32()), pa.array([], pa.binary())], names=["p", "v"])

    frame = exchange(session.range(0, SLOTS, 1, SLOTS).mapInArrow(nothing, ROW_SCHEMA), 2, pipelined=True)
    with pytest.raises(Exception) as raised:
        frame.collect()
    assert lacks_slots(raised.value)


def test_free_slots_are_those_that_no_task_holds(session: Any, tmp_path: Path) -> None:
    stop = tmp_path / "stop"

    def hold(batches: Any) -> Any:
        yield from batches
        while not stop.exists():
            time.sleep(0.02)

    wait_until(lambda: free_slots(session) == SLOTS)
    held = threading.Thread(target=session.range(0, 3, 1, 3).mapInArrow(hold, "id long").collect)
    held.start()
    try:
        wait_until(lambda: free_slots(session) == SLOTS - 3)
    finally:
        stop.touch()
        held.join()
    wait_until(lambda: free_slots(session) == SLOTS)


def test_a_cancelled_group_cancels_also_the_jobs_that_begin_later(session: Any) -> None:
    group = uuid4().hex
    cancel_group(session, group)
    session.sparkContext.setJobGroup(group, "late", interruptOnCancel=True)
    try:
        with pytest.raises(Exception, match=group):
            session.range(0, 1, 1, 1).mapInArrow(lambda batches: batches, "id long").collect()
    finally:
        session.sparkContext.setLocalProperty("spark.jobGroup.id", None)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + SECONDS / 2
    while not holds():
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


def test_workers_find_pyspark_installed_and_read_no_archive_of_it(session: Any) -> None:
    def look(batches: Any) -> Any:
        import sys

        import pyarrow as pa
        import pyspark

        seen = [pyspark.__file__, str(any(path.endswith("pyspark.zip") for path in sys.path_importer_cache))]
        for _ in batches:
            pass
        yield pa.RecordBatch.from_arrays([pa.array(seen)], names=["seen"])

    file, archive = [row.seen for row in session.range(1, numPartitions=1).mapInArrow(look, "seen string").collect()]
    assert file.endswith("site-packages/pyspark/__init__.py")
    assert archive == "False"
