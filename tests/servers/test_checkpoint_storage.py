"""Checkpoints, savepoints, file sources and file sinks on an S3 server and on HDFS, and checkpoints in a database."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.checkpoint.file_io_contract import keeps_all
from tests.unit.engine.stored_job import StoredJob, totals
from wiesel.checkpoint.file_io import open_root
from wiesel.checkpoint.snapshots import is_savepoint
from wiesel.common import Encoder, WatermarkStrategy
from wiesel.datastream.connectors.file_system import FileSink, FileSource, RollingPolicy, StreamFormat
from wiesel.testing import ManualSource, local_environment

# The first time a jar of 56 MB is fetched for HDFS.
pytestmark = pytest.mark.timeout(900)
SERVERS = ("s3", "hdfs")
# State that is larger than what travels inside the metadata.
MANY = [(f"key {i} {'x' * 100}", i) for i in range(500)]


@pytest.fixture
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a test may write."""
    return f"sqlite:///{tmp_path}/files.db" if request.param == "database" else str(request.getfixturevalue(request.param))


@pytest.mark.parametrize("address", SERVERS, indirect=True)
def test_the_storage_keeps_its_promises(address: str) -> None:
    keeps_all(f"{address}/checkpoints", steps=30, rounds=5, somebody=False)


def feed(job: StoredJob, numbers: ManualSource, *records: tuple[str, int]) -> None:
    numbers.push_all(records)
    job.settle()


@pytest.mark.parametrize("address", [*SERVERS, "database"], indirect=True)
def test_jobs_fail_stop_and_go_on(address: str, tmp_path: Path) -> None:
    numbers, key = ManualSource(), MANY[3][0]
    backend = "lmdb" if address.startswith("webhdfs") else "hashmap"
    job, results = totals(numbers, f"{address}/checkpoints", state_backend_type=backend)
    with job:
        feed(job, numbers, *MANY)
        assert sorted(results.values) == sorted(MANY)
        assert job.checkpoint().checkpoint.checkpoint_id == 1
        feed(job, numbers, (key, 10))
        job.fail()
        job.settle()
        assert job.master.attempt.restored_checkpoint_id == 1
        assert results.values[-1] == (key, 13), "the record behind the checkpoint was read again, onto the state from the storage"
        feed(job, numbers, (key, 100))
        assert results.values[-1] == (key, 113)
        job.checkpoint()
        job.settle()
        files = open_root(f"{address}/checkpoints")
        assert [n for n in files.names(job.master.job_id) if n.startswith("chk-")] == ["chk-2"], "the first one was replaced"
        assert files.names(f"{job.master.job_id}/shared")
        savepoint = job.savepoint(f"{address}/savepoints")
        latest = f"{address}/checkpoints/{job.master.job_id}"
    assert is_savepoint(savepoint) and savepoint.startswith(f"{address}/savepoints/")
    # Each job reads again what those before it have read since.
    starts = ((savepoint, "NO_CLAIM"), (latest, "CLAIM"), (savepoint, "CLAIM"))
    for number, (start, claim) in enumerate(starts):
        job, results = totals(numbers, f"{address}/checkpoints", start, claim, parallelism=2)
        with job:
            feed(job, numbers, (key, 1))
            assert results.values == [(key, 113 + n) for n in range(1, number + 2)]
            if start == savepoint:
                job.checkpoint()
                job.settle()
    assert not is_savepoint(savepoint), "it was claimed, and a checkpoint has replaced it"


# More than the cache in front of the disk may have.
MUCH, CACHE = [(f"{i:06d} {'x' * 1000}", i) for i in range(20_000)], "1 mb"


@pytest.mark.parametrize("address", ["hdfs"], indirect=True)
def test_b12_much_state_on_disk_goes_to_hdfs_by_what_has_changed(address: str) -> None:
    options = {"state_backend_type": "lmdb", "wiesel_state_lmdb_cache__size": CACHE}
    numbers = ManualSource()
    job, results = totals(numbers, f"{address}/much", parallelism=2, **options)
    written = []
    with job:
        for round_ in range(3):
            feed(job, numbers, *(MUCH if round_ == 0 else MUCH[::1000]))
            stats = [task.stats for task in job.checkpoint().checkpoint.tasks.values()]
            written.append(sum(s.checkpointed_bytes for s in stats))
            assert sum(s.state_bytes for s in stats) > 20_000_000
        feed(job, numbers, MUCH[1])
        job.fail()
        job.settle()
        assert job.master.attempt.restored_checkpoint_id == 3 and results.values[-1] == (MUCH[1][0], 2)
        latest = f"{address}/much/{job.master.job_id}"
    assert written[0] > 20_000_000 and max(written[1:]) < 200_000, written
    job, results = totals(numbers, f"{address}/much", latest, parallelism=3, **options)
    with job:
        feed(job, numbers, *((key, 0) for key, _ in MUCH))
    # What was read last is read again.
    sums = {key: 3 * i if i % 1000 == 0 else i for key, i in MUCH} | {MUCH[1][0]: 2}
    assert dict(results.values) == sums and len(results.values) == len(MUCH) + 1


@pytest.mark.parametrize("address", SERVERS, indirect=True)
def test_files_are_read_and_written(address: str) -> None:
    files, lines = open_root(address), sorted(f"line {i}" for i in range(1000))
    for part in range(4):
        files.write(f"in/part-{part}", ["".join(f"{line}\n" for line in lines[part::4]).encode()])
    env = local_environment(parallelism=2)
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), f"{address}/in").build()
    sink = FileSink.for_row_format(f"{address}/out", Encoder.simple_string_encoder())
    sink = sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
    env.from_source(source, WatermarkStrategy.no_watermarks(), "lines").sink_to(sink.build())
    env.execute()
    written = [f"out/{bucket}/{name}" for bucket in files.names("out") for name in files.names(f"out/{bucket}")]
    assert sorted(line for name in written for line in files.read(name).decode().splitlines()) == lines
