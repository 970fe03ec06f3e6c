"""Savepoints of a job on Spark, taken by the commands, which find it by its registry file."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from tests.faults.counting_job import PacedSource, RunningCount, WindowCount, expected, file_sink
from wiesel.checkpoint.savepoint import Savepoint
from wiesel.common import Configuration, JobClient, JobStatus, Time, Types, WatermarkStrategy
from wiesel.core.errors import CheckpointStorageError, JobCancelledError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.window import TumblingEventTimeWindows
from wiesel.engine.spark.exchange import free_slots
from wiesel.platform.cli import main

RECORDS = 2000
LIMIT_S = 300.0


def start(directory: Path, parallelism: int, go: str, *, hourly: bool = False, **settings: Any) -> JobClient:
    """Count records per key into files, if wanted by the hour, too; the last fifth of the records waits until the file ``go`` exists."""
    config = {
        "wiesel.spark.master": "local[8]",
        "execution.checkpointing.dir": str(directory / "checkpoints"),
        "execution.checkpointing.interval": "500 ms",
        "execution.checkpointing.savepoint-dir": str(directory / "savepoints"),
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({**config, **settings}))
    env.set_parallelism(parallelism)
    source = PacedSource(RECORDS, 1000, str(directory / go))
    records = env.from_source(source, WatermarkStrategy.for_monotonous_timestamps(), "paced").uid("paced")
    counts = records.key_by(lambda record: record[0], key_type=Types.STRING()).process(RunningCount(), Types.STRING()).uid("counts")
    counts.sink_to(file_sink(directory / "counts")).uid("files")
    if hourly:
        hours = records.key_by(lambda record: record[0], key_type=Types.STRING()).window(TumblingEventTimeWindows.of(Time.hours(1)))
        hours.process(WindowCount(), Types.STRING()).uid("hours").sink_to(file_sink(directory / "hours")).uid("files of hours")
    return env.execute_async("counting")


def wiesel(*arguments: str) -> str:
    told = CliRunner().invoke(main, arguments)
    assert told.exit_code == 0, told.output
    return told.stdout.strip()


def until(condition: Callable[[], bool], what: str) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline_s, f"waited in vain for {what}"
        time.sleep(0.1)


def written(directory: Path, what: str = "counts") -> Counter[str]:
    files = [p for p in (directory / what).rglob("*") if p.is_file() and not p.name.startswith((".", "_"))]
    return Counter(line for p in files for line in p.read_text().splitlines())


def refuse(*_: Any, **__: Any) -> None:
    raise CheckpointStorageError("the storage is down")


def test_c24_r6_a_job_is_stopped_by_a_command_and_goes_on_with_another_parallelism(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIESEL_REGISTRY_DIR", str(tmp_path / "registry"))
    client = start(tmp_path, 2, "go")
    job_id = str(client.get_job_id())
    assert re.search(rf"{job_id} +counting ", wiesel("list"))
    first = wiesel("savepoint", job_id, "--label", "half way")
    with monkeypatch.context() as patch:
        patch.setattr(Savepoint, "publish", refuse)
        failed = CliRunner().invoke(main, ["stop", job_id])
    assert failed.exit_code == 1 and "the storage is down; the job runs on" in failed.output
    before = written(tmp_path).total()
    until(lambda: written(tmp_path).total() > before, "tasks that had stopped to go on")
    assert client.get_job_status().result() is JobStatus.RUNNING
    last = wiesel("stop", job_id[:8])
    assert Path(first).parent == Path(last).parent == tmp_path / "savepoints"
    client.get_job_execution_result().result(LIMIT_S)
    assert client.get_job_status().result() is JobStatus.FINISHED
    so_far, everything = written(tmp_path), expected(RECORDS)["counts"]
    assert so_far <= everything and so_far != everything, "it has been stopped before its end, and nothing was written twice"
    session = SparkSession.builder.getOrCreate()
    until(lambda: free_slots(session) == session.sparkContext.defaultParallelism, "its slots to be free")

    client = start(tmp_path, 3, "go", **{"execution.state-recovery.path": last})
    (tmp_path / "go").touch()
    client.get_job_execution_result().result(LIMIT_S)
    assert written(tmp_path) == everything
    assert "half way" in wiesel("savepoint", "list", str(tmp_path / "savepoints"))
    until(lambda: wiesel("list") == "no job runs here", "jobs that have ended to be listed no more")


@pytest.mark.parametrize("drain", [False, True])
def test_windows_fire_if_a_job_is_drained_and_stay_open_if_it_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drain: bool
) -> None:
    monkeypatch.setenv("WIESEL_REGISTRY_DIR", str(tmp_path / "registry"))
    client = start(tmp_path, 2, "never", hourly=True)
    until(lambda: bool(written(tmp_path)), "something to be counted")
    path = wiesel("stop", "counting", *(["--drain"] if drain else []))
    client.get_job_execution_result().result(LIMIT_S)
    # All records are of the first hour, which ends with the records that there were.
    so_far: dict[str, int] = {}
    for key, number in (line.split() for line in written(tmp_path)):
        so_far[key] = max(so_far.get(key, 0), int(number))
    assert written(tmp_path, "hours") == (Counter(f"{key} 0 {number}" for key, number in so_far.items()) if drain else Counter())
    (listed,) = (line for line in wiesel("savepoint", "list", str(tmp_path / "savepoints")).splitlines() if path in line)
    assert ("drained" if drain else "stopped") in listed


def test_a_job_is_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIESEL_REGISTRY_DIR", str(tmp_path / "registry"))
    client = start(tmp_path, 2, "never")
    wiesel("cancel", "counting")
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result(LIMIT_S)
    assert wiesel("list") == "no job runs here"
