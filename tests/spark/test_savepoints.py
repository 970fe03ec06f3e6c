"""Savepoints of a job on Spark, taken by the commands, which find it by its registry file."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from tests.faults.counting_job import PacedSource, RunningCount, expected, file_sink
from wiesel.common import Configuration, JobClient, JobStatus, Types, WatermarkStrategy
from wiesel.core.errors import JobCancelledError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.engine.spark.exchange import free_slots
from wiesel.platform.cli import main

RECORDS = 2000
LIMIT_S = 300.0


def start(directory: Path, parallelism: int, go: str, **settings: Any) -> JobClient:
    """Count records per key into files; the last fifth of the records waits until the file ``go`` exists."""
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
    return env.execute_async("counting")


def wiesel(*arguments: str) -> str:
    told = CliRunner().invoke(main, arguments)
    assert told.exit_code == 0, told.output
    return told.output.strip()


def written(directory: Path) -> Counter[str]:
    files = [p for p in (directory / "counts").rglob("*") if p.is_file() and not p.name.startswith((".", "_"))]
    return Counter(line for p in files for line in p.read_text().splitlines())


def test_c24_r6_a_job_is_stopped_by_a_command_and_goes_on_with_another_parallelism(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIESEL_REGISTRY_DIR", str(tmp_path / "registry"))
    client = start(tmp_path, 2, "go")
    job_id = str(client.get_job_id())
    assert re.search(rf"{job_id} +counting ", wiesel("list"))
    first = wiesel("savepoint", job_id, "--label", "half way")
    last = wiesel("stop", job_id[:8])
    assert Path(first).parent == Path(last).parent == tmp_path / "savepoints"
    client.get_job_execution_result().result(LIMIT_S)
    assert client.get_job_status().result() is JobStatus.FINISHED
    so_far, everything = written(tmp_path), expected(RECORDS)["counts"]
    assert so_far <= everything and so_far != everything, "it has been stopped before its end, and nothing was written twice"
    session = SparkSession.builder.getOrCreate()
    assert free_slots(session) == session.sparkContext.defaultParallelism, "its slots are free"

    client = start(tmp_path, 3, "go", **{"execution.state-recovery.path": last})
    (tmp_path / "go").touch()
    client.get_job_execution_result().result(LIMIT_S)
    assert written(tmp_path) == everything
    assert "half way" in wiesel("savepoint", "list", str(tmp_path / "savepoints"))
    assert wiesel("list").count("\n") == 0, "jobs that have ended are not listed"


def test_a_job_is_drained_and_one_is_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIESEL_REGISTRY_DIR", str(tmp_path / "registry"))
    client = start(tmp_path, 2, "never")
    path = client.stop_with_savepoint(True, None).result(LIMIT_S)
    client.get_job_execution_result().result(LIMIT_S)
    assert Path(path, "_metadata").exists()

    client = start(tmp_path / "other", 2, "never")
    wiesel("cancel", "counting")
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result(LIMIT_S)
