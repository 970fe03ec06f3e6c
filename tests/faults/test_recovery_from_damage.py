"""A job whose newest checkpoint was damaged goes on from an older one, takes checkpoints again, and loses nothing (local engine)."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.faults.counting_job import PacedSource, RunningCount, expected, file_sink
from tests.parity.conftest import time_limit
from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.core.errors import JobExecutionError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors.base import Sink, SinkWriter
from wiesel.engine.registry import ENVIRONMENT_VARIABLE, snapshot_key
from wiesel.platform.cli import main

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


def job(directory: Path, damage: Callable[[Path], None], **more: str) -> Any:
    settings = {
        "wiesel.engine": "local",
        "execution.checkpointing.dir": str(directory / "checkpoints"),
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.num-retained": "2",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1",
        "restart-strategy.fixed-delay.delay": "10 ms",
        **more,
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


def test_the_output_is_repaired_by_following_the_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "registry"))
    assert snapshot_key(make=True)
    stay = {"execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"}
    stream = job(tmp_path, damage_newest, **stay)
    stream.sink_to(file_sink(tmp_path / "counts"))
    with time_limit(SECONDS), pytest.raises(JobExecutionError) as refused:
        stream.get_execution_environment().execute("goes back")
    text = str(refused.value).replace("CHECKPOINT_DIR", str(tmp_path / "checkpoints"))
    repair = re.search(r"wiesel (savepoint repair (\S+) (\S+)) && wiesel run -s \2 --claimMode claim PROGRAM", text)
    assert repair is not None, text
    # The job's process is this one, which lives on.
    monkeypatch.setattr("wiesel.platform.cli._savepoints._ends", lambda master: True)
    done = CliRunner().invoke(main, repair[1].split())
    assert done.exit_code == 0, done.output
    taken = [line for line in done.output.splitlines() if "/.taken-back-" in line]
    uids = {found[0] for line in taken if (found := re.search(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=-\d+\.txt$)", line))}
    assert len(uids) == 2, f"both writers were ahead: {done.output}"
    # Once more does no harm.
    assert CliRunner().invoke(main, repair[1].split()).exit_code == 0
    claim = {"execution.state-recovery.path": repair[2], "execution.state-recovery.claim-mode": "CLAIM"}
    again = job(tmp_path, damage_newest, **stay, **claim)
    again.sink_to(file_sink(tmp_path / "counts"))
    with time_limit(SECONDS):
        again.get_execution_environment().execute("goes on")
    visible = [p for p in (tmp_path / "counts").rglob("*") if p.is_file() and not any(part.startswith(".") for part in p.parts[-3:])]
    counts = Counter(line for path in visible for line in path.read_text().splitlines())
    assert counts == Counter(expected(RECORDS)["counts"])


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
