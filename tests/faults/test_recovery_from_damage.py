"""A job whose newest checkpoint was damaged goes on from an older one, takes checkpoints again, and loses nothing (local engine)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.counting_job import PacedSource, RunningCount, expected, file_sink
from tests.parity.conftest import time_limit
from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.core.errors import JobExecutionError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors.base import Sink, SinkWriter

RECORDS = 1000
SECONDS = 200


def newest(job: Path) -> Path:
    return max(job.glob("chk-*/_metadata"), key=lambda path: int(path.parent.name[4:]))


def damage_newest(job: Path) -> None:
    os.truncate(newest(job), 100)


def damage_all(job: Path) -> None:
    for path in job.glob("chk-*/_metadata"):
        os.truncate(path, 100)


class FailingCount(RunningCount):
    """Counts; damages checkpoints and fails once, in the middle of the stream."""

    def __init__(self, directory: Path, damage: Callable[[Path], None]) -> None:
        self.directory, self.damage = directory, damage

    def process_element(self, value: tuple[str, int], ctx: Any) -> Iterator[str]:
        marker = self.directory / "failed"
        if value[1] == RECORDS // 2 and not marker.exists():
            (job,) = (self.directory / "checkpoints").iterdir()
            marker.write_text(newest(job).parent.name[4:])
            self.damage(job)
            raise RuntimeError("fails once")
        if value[1] > RECORDS // 2:
            (self.directory / "go").touch()
        yield from super().process_element(value, ctx)


def job(directory: Path, damage: Callable[[Path], None]) -> Any:
    settings = {
        "wiesel.engine": "local",
        "execution.checkpointing.dir": str(directory / "checkpoints"),
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.num-retained": "2",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1",
        "restart-strategy.fixed-delay.delay": "10 ms",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.set_parallelism(2)
    source = PacedSource(RECORDS, 200, str(directory / "go"))
    records = env.from_source(source, WatermarkStrategy.for_monotonous_timestamps(), "paced")
    return records.key_by(lambda record: record[0]).process(FailingCount(directory, damage), Types.STRING())


class Lines(Sink):
    """Appends records to a file per subtask at once, at least once each."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def create_writer(self, context: Any, state: Any = ()) -> SinkWriter:
        return LineWriter(self.directory / f"lines-{context.subtask_index}")


class LineWriter(SinkWriter):
    def __init__(self, path: Path) -> None:
        self.path = path

    def write_batch(self, values: list[Any], timestamps: list[int] | None) -> None:
        with self.path.open("a") as file:
            file.writelines(f"{value}\n" for value in values)

    def flush(self, end_of_input: bool) -> None:
        pass  # every batch was flushed


def test_goes_on_from_the_older_checkpoint(tmp_path: Path) -> None:
    stream = job(tmp_path, damage_newest)
    stream.sink_to(Lines(tmp_path))
    with time_limit(SECONDS):
        stream.get_execution_environment().execute("goes back")
    assert int((tmp_path / "failed").read_text()) > 2
    counts = [line for path in tmp_path.glob("lines-*") for line in path.read_text().splitlines()]
    # What came behind the older checkpoint is there twice; no count is missing, and none is beyond the total.
    assert set(counts) == set(expected(RECORDS)["counts"])
    assert len(counts) > 2 * RECORDS


def test_exactly_once_sink_refuses_to_write_again_what_is_visible(tmp_path: Path) -> None:
    stream = job(tmp_path, damage_newest)
    stream.sink_to(file_sink(tmp_path / "counts"))
    with time_limit(SECONDS), pytest.raises(JobExecutionError, match=r"is ahead of checkpoint \d+: the parts"):
        stream.get_execution_environment().execute("goes back")


def test_results_that_were_handed_out_are_not_handed_out_again(tmp_path: Path) -> None:
    with (
        time_limit(SECONDS),
        pytest.raises(JobExecutionError, match="results of later checkpoints have been handed out and would come twice"),
        job(tmp_path, damage_newest).execute_and_collect() as results,
    ):
        list(results)


def test_named_error_when_all_checkpoints_are_damaged(tmp_path: Path) -> None:
    with (
        time_limit(SECONDS),
        pytest.raises(JobExecutionError, match="no checkpoint of the job can be restored"),
        job(tmp_path, damage_all).execute_and_collect() as results,
    ):
        list(results)
    assert (tmp_path / "failed").exists()
