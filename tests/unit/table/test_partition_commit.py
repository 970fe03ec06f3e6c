"""Partitions of files are marked when the watermark of all writers has passed the time that they tell, or when the clock has."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from wiesel.columnar.row_batch import RowBatch
from wiesel.common import Configuration
from wiesel.connectors.filesystem.partition_commit import CommitTimes
from wiesel.core.errors import ConfigurationError, JobExecutionError
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.spi.sink import CommitRequest, Committer, SinkWriter, WriterInitContext
from wiesel.sql.language.parser import parse_statement
from wiesel.sql.physical.sinks import sink_of
from wiesel.table import TableEnvironment

MARKED = "'sink.partition-commit.policy.kind' = 'success-file'"
BY_TIME = f"{MARKED}, 'sink.partition-commit.trigger' = 'partition-time'"
HOURS = "'partition.time-extractor.timestamp-pattern' = '$d $h:00:00'"
HOUR = 3_600_000


def millis(text: str) -> int:
    return int(datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp()) * 1000


def table(path: Path, options: str, mode: str = "STREAMING") -> TableEnvironment:
    t_env = TableEnvironment.create(Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", mode))
    t_env.execute_sql(
        "CREATE TABLE parts (a INT, d STRING, h STRING) PARTITIONED BY (d, h) WITH ('connector' = 'filesystem', 'format' = 'csv', "
        f"'path' = '{path}', {options})"
    )
    return t_env


class Sink:
    """The sink of a table with some writers, driven by hand."""

    def __init__(self, path: Path, options: str, writers: int = 2) -> None:
        t_env = table(path, options)
        sql = "INSERT INTO parts VALUES (1, '', '')"
        self._path = path
        self._sink = sink_of(t_env._insertion_of(sql, parse_statement(sql)), Configuration(), in_batch=False).sink
        self.now = 0
        self._writers = writers
        self._attempt = 0
        self._checkpoint = 0
        self._start([[] for _ in range(writers)])

    def _start(self, states: list[list[Any]]) -> None:
        self._attempt += 1
        self.writers: list[SinkWriter] = [
            self._sink.create_writer(
                WriterInitContext("job", "sink", index, self._writers, self._attempt, self._checkpoint, now_ms=lambda: self.now), state
            )
            for index, state in enumerate(states)
        ]
        committer = self._sink.create_committer()
        assert committer is not None
        self.committer: Committer[Any] = committer

    def write(self, writer: int, *rows: tuple[int, str, str]) -> None:
        arrays = [pa.array(list(column)) for column in zip(*rows, strict=True)]
        self.writers[writer].write_batch([RowBatch(pa.RecordBatch.from_arrays(arrays, names=["a", "d", "h"]))], None)

    def watermark(self, *texts: str) -> None:
        for writer, text in zip(self.writers, texts, strict=True):
            writer.write_watermark(millis(text))

    def checkpoint(self, *, end: bool = False, commits: bool = True, restarts: bool = False) -> set[str]:
        """Return the partitions that are marked behind a checkpoint."""
        self._checkpoint += 1
        committables: list[Any] = []
        states: list[list[Any]] = []
        for writer in self.writers:
            writer.flush(end)
            committables += writer.prepare_commit()
            states.append([writer.snapshot_state(self._checkpoint)])
        if restarts:
            for writer in self.writers:
                writer.close()
            self._start(states)
        if commits:
            self.committer.commit([*map(CommitRequest, committables)])
        return self.marks()

    def marks(self) -> set[str]:
        return {str(path.parent.relative_to(self._path)) for path in self._path.rglob("_SUCCESS")}

    def visible(self, folder: str) -> int:
        return len(list((self._path / folder).glob("part-*")))


def test_partitions_are_marked_behind_the_slowest_watermark(tmp_path: Path) -> None:
    sink = Sink(tmp_path, f"{BY_TIME}, {HOURS}, 'sink.partition-commit.delay' = '1 h'")
    sink.write(0, (1, "2024-03-01", "09"), (2, "2024-03-01", "10"))
    sink.write(1, (3, "2024-03-01", "09"))
    assert sink.checkpoint() == set()
    sink.watermark("2024-03-01T10:00:00", "2024-03-01T10:00:01")
    assert sink.checkpoint() == set()
    sink.watermark("2024-03-01T10:00:01", "2024-03-01T10:00:01")
    assert sink.checkpoint() == {"d=2024-03-01/h=09"}
    assert sink.visible("d=2024-03-01/h=09") == 2
    sink.watermark("2024-03-01T12:00:00", "2024-03-01T10:30:00")
    assert sink.checkpoint() == {"d=2024-03-01/h=09"}
    assert sink.checkpoint(end=True) == {"d=2024-03-01/h=09", "d=2024-03-01/h=10"}


def test_late_rows_mark_a_partition_again(tmp_path: Path) -> None:
    sink = Sink(tmp_path, BY_TIME, writers=1)
    sink.write(0, (1, "2024-03-01", "a"))
    sink.watermark("2024-03-02T00:00:00")
    folder = "d=2024-03-01/h=a"
    assert sink.checkpoint() == {folder}
    (tmp_path / folder / "_SUCCESS").unlink()
    assert sink.checkpoint() == {folder}  # it could have been lost
    assert sink.checkpoint() == {folder}
    (tmp_path / folder / "_SUCCESS").unlink()
    assert sink.checkpoint() == set()  # it was seen, so it is not put there again
    sink.write(0, (2, "2024-03-01", "a"))
    assert sink.checkpoint() == {folder}
    assert sink.visible(folder) == 2


@pytest.mark.parametrize("commits", [True, False])
def test_a_restart_forgets_no_partition(tmp_path: Path, commits: bool) -> None:
    sink = Sink(tmp_path, f"{BY_TIME}, {HOURS}")
    sink.write(1, (3, "2024-03-01", "09"))
    assert sink.checkpoint(restarts=True, commits=commits) == set()
    sink.watermark("2024-03-01T09:00:01", "2024-03-01T09:00:01")
    assert sink.checkpoint(restarts=True, commits=False) == set()
    sink.watermark("2024-03-01T09:00:01", "2024-03-01T09:00:01")
    assert sink.checkpoint() == {"d=2024-03-01/h=09"}


def test_the_clock_can_decide(tmp_path: Path) -> None:
    sink = Sink(tmp_path, f"{MARKED}, 'sink.partition-commit.delay' = '1 h'", writers=1)
    sink.now = 5 * HOUR
    sink.write(0, (1, "x", "y"))
    assert sink.checkpoint() == set()
    sink.now = 6 * HOUR
    assert sink.checkpoint() == set()
    sink.now += 1
    assert sink.checkpoint() == {"d=x/h=y"}


@pytest.mark.parametrize(
    "folder, pattern, formatter, zone, expected",
    [
        ("d=2024-03-01/h=x", None, None, "UTC", "2024-03-01T00:00:00"),
        ("d=2024-3-1 7:08:09/h=x", None, None, "UTC", "2024-03-01T07:08:09"),
        ("d=2024-03-01/h=7", "$d $h:00:00", None, "UTC", "2024-03-01T07:00:00"),
        ("d=20240301/h=07", "$d$h", "yyyyMMddHH", "UTC", "2024-03-01T07:00:00"),
        ("d=20240301/h=07", "$d", "yyyyMMdd", "UTC", "2024-03-01T00:00:00"),
        ("d=2024-07-01/h=x", "$d", None, "Europe/Vienna", "2024-06-30T22:00:00"),
        ("d=2024-01-01 08%3A30%3A00/h=x", None, None, "America/New_York", "2024-01-01T13:30:00"),
    ],
)
def test_times_of_partitions(folder: str, pattern: str | None, formatter: str | None, zone: str, expected: str) -> None:
    times = CommitTimes(False, 500, zone, pattern, formatter)
    assert times.complete_at(folder, MAX_TIMESTAMP) == millis(expected) + 500


def test_in_batch_mode_all_are_marked_at_the_end(tmp_path: Path) -> None:
    t_env = table(tmp_path, f"{BY_TIME}, {HOURS}, 'sink.partition-commit.delay' = '1 d'", "BATCH")
    t_env.execute_sql("INSERT INTO parts VALUES (1, '2024-03-01', '09'), (2, '2999-01-01', '10')").wait()
    assert {str(path.parent.relative_to(tmp_path)) for path in tmp_path.rglob("_SUCCESS")} == {"d=2024-03-01/h=09", "d=2999-01-01/h=10"}


def test_partitions_without_time_fail_the_job(tmp_path: Path) -> None:
    t_env = table(tmp_path, f"{BY_TIME}, {HOURS}", "BATCH")
    with pytest.raises(JobExecutionError, match="d=some day/h=09 tells no time: 'some day 09:00:00'"):
        t_env.execute_sql("INSERT INTO parts VALUES (1, 'some day', '09')").wait()


@pytest.mark.parametrize(
    "options, message",
    [
        ("'sink.partition-commit.trigger' = 'always'", "no trigger 'always'"),
        ("'partition.time-extractor.kind' = 'custom'", "class of Java"),
        ("'sink.partition-commit.watermark-time-zone' = 'Nowhere'", "no time zone 'Nowhere'"),
        ("'sink.partition-commit.policy.kind' = 'metastore,success-file'", "policy 'metastore'"),
        ("'sink.partition-commit.policy.kind' = 'mail'", "no policy 'mail'"),
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, options: str, message: str) -> None:
    t_env = table(tmp_path, options)
    for statement in ("INSERT INTO parts VALUES (1, 'x', 'y')", "SELECT a FROM parts"):
        with pytest.raises(ConfigurationError, match=message) as caught:
            t_env.execute_sql(statement)
        assert caught.value.hint
