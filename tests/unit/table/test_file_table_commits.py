"""Tables of files: what happens when files become visible, what files tell of themselves, and folders that are watched."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from wiesel.common import Configuration
from wiesel.connectors.filesystem.parts import FileCommitter, PendingPart, WriterEnded
from wiesel.connectors.filesystem.table_commit import TableCommit, TableCommitter
from wiesel.core.errors import ConfigurationError, ProgramError
from wiesel.spi.sink import CommitRequest
from wiesel.table import TableEnvironment


def environment(mode: str = "BATCH", **options: str) -> TableEnvironment:
    config = Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", mode).set("parallelism.default", "2")
    for key, value in options.items():
        config.set(key.replace("_", "."), value)
    return TableEnvironment.create(config)


def parts_table(t_env: TableEnvironment, path: Path, options: str = "", form: str = "csv") -> None:
    t_env.execute_sql(
        f"CREATE TABLE parts (a INT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = '{form}'"
        f"{options})"
    )


def names(folder: Path) -> set[str]:
    return {name if name.startswith("_") else "part" for name in os.listdir(folder)}


def test_partitions_are_marked_when_their_files_are_visible(tmp_path: Path) -> None:
    t_env = environment()
    parts_table(t_env, tmp_path, ", 'sink.partition-commit.policy.kind' = 'success-file'")
    t_env.execute_sql("INSERT INTO parts VALUES (1, 'x'), (2, 'y')").wait()
    assert names(tmp_path / "p=x") == names(tmp_path / "p=y") == {"part", "_SUCCESS"}
    assert (tmp_path / "p=x" / "_SUCCESS").read_bytes() == b""
    t_env.execute_sql("INSERT INTO parts VALUES (3, 'x')").wait()
    assert sorted(row[1:] for row in t_env.execute_sql("SELECT a, p FROM parts").text_rows()) == [["1", "x"], ["2", "y"], ["3", "x"]]


def test_marks_have_other_names_and_come_in_streams_too(tmp_path: Path) -> None:
    t_env = environment("STREAMING", execution_checkpointing_interval="1 s", execution_checkpointing_dir=str(tmp_path / "checkpoints"))
    options = ", 'sink.partition-commit.policy.kind' = 'success-file', 'sink.partition-commit.success-file.name' = '_there'"
    parts_table(t_env, tmp_path / "out", options)
    t_env.execute_sql("INSERT INTO parts VALUES (1, 'x')").wait()
    assert names(tmp_path / "out" / "p=x") == {"part", "_there"}


def test_files_of_a_checkpoint_are_put_together(tmp_path: Path) -> None:
    t_env = environment(parallelism_default="1")
    t_env.execute_sql(
        f"CREATE TABLE small (a INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv', 'auto-compaction' = 'true',"
        " 'sink.rolling-policy.file-size' = '1 b')"
    )
    t_env.execute_sql("INSERT INTO small SELECT a FROM (VALUES (1)) AS t (a) UNION ALL SELECT 2 UNION ALL SELECT 3").wait()
    (file,) = [path for path in tmp_path.iterdir() if not path.name.startswith(".")]
    assert file.name.startswith("compacted-") and sorted(file.read_text().split()) == ["1", "2", "3"]
    parts_table(t_env, tmp_path / "parquet", ", 'auto-compaction' = 'true'", "parquet")
    with pytest.raises(ConfigurationError, match="cannot be compacted"):
        t_env.execute_sql("INSERT INTO parts VALUES (1, 'x')")


def test_overwriting_a_table_that_is_read_by_the_same_statement(tmp_path: Path) -> None:
    t_env = environment()
    parts_table(t_env, tmp_path, form="parquet")
    t_env.execute_sql("INSERT INTO parts VALUES (1, 'x'), (2, 'y')").wait()
    t_env.execute_sql("INSERT OVERWRITE parts SELECT a * 10, p FROM parts").wait()
    assert sorted(row[1:] for row in t_env.execute_sql("SELECT a, p FROM parts").text_rows()) == [["10", "x"], ["20", "y"]]


@contextmanager
def staged(base: Path, *targets: str) -> Iterator[list[CommitRequest[Any]]]:
    staging = base / ".inprogress-job-sink"
    staging.mkdir(parents=True, exist_ok=True)
    found: list[PendingPart | WriterEnded] = []
    for number, target in enumerate(targets):
        source = staging / f".part-new-00000000-0000-0000-0000-000000000000-{number}.inprogress.1"
        source.write_text("new")
        found.append(PendingPart(str(source), str(base / target), 3))
    yield [*map(CommitRequest, [*found, WriterEnded(str(staging), 0, 1)])]


def test_a_commit_that_comes_again_changes_nothing(tmp_path: Path) -> None:
    for name in ("p=x/part-old-1", "p=y/part-old-1", "p=x/_SUCCESS"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("old")
    commit = TableCommit(str(tmp_path), True, "part-new", "_SUCCESS")
    with staged(tmp_path, "p=x/part-new-1", "p=z/part-new-2") as requests:
        for _ in range(2):
            TableCommitter(FileCommitter(str(tmp_path)), commit).commit(requests)
            left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
            assert left == ["p=x/_SUCCESS", "p=x/part-new-1", "p=y/part-old-1", "p=z/_SUCCESS", "p=z/part-new-2"]


def test_an_empty_result_empties_a_table_without_partitions_only(tmp_path: Path) -> None:
    (tmp_path / "part-old-1").write_text("old")
    with staged(tmp_path) as requests:
        TableCommitter(FileCommitter(str(tmp_path)), TableCommit(str(tmp_path), True, "part-new")).commit(requests)
        assert (tmp_path / "part-old-1").exists()
        TableCommitter(FileCommitter(str(tmp_path)), TableCommit(str(tmp_path), False, "part-new")).commit(requests)
    assert not (tmp_path / "part-old-1").exists()


# What files tell of themselves


def test_files_tell_their_path_and_time(tmp_path: Path) -> None:
    file = tmp_path / "some file.csv"
    file.write_text("1\n")
    changed = datetime.datetime(2021, 3, 4, 5, 6, 7, 890_000, tzinfo=datetime.timezone.utc)
    os.utime(file, (changed.timestamp(), changed.timestamp()))
    t_env = environment()
    t_env.execute_sql(
        "CREATE TABLE files (a INT, path STRING METADATA FROM 'file.path' VIRTUAL, at TIMESTAMP_LTZ(3) METADATA FROM "
        f"'file.modification-time' VIRTUAL) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
    )
    assert [row[1:] for row in t_env.execute_sql("SELECT * FROM files").text_rows()] == [["1", str(file), "2021-03-04 05:06:07.890"]]
    with pytest.raises(ProgramError, match="no metadata"):
        t_env.execute_sql("CREATE TABLE wrong (a INT, b INT METADATA) WITH ('connector' = 'datagen')")
        t_env.execute_sql("SELECT * FROM wrong")


def test_rows_that_are_written_leave_virtual_columns_out(tmp_path: Path) -> None:
    t_env = environment()
    t_env.execute_sql(
        "CREATE TABLE files (a INT, name STRING METADATA FROM 'file.name' VIRTUAL) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json')"
    )
    t_env.execute_sql("INSERT INTO files VALUES (1)").wait()
    (file,) = tmp_path.glob("part-*")
    assert file.read_text() == '{"a":1}\n'
    assert [row[1:] for row in t_env.execute_sql("SELECT name, a FROM files").text_rows()] == [[file.name, "1"]]


# Folders that are watched


def test_a_watched_folder_gives_the_rows_of_files_that_come_later(tmp_path: Path) -> None:
    (tmp_path / "first.csv").write_text("1\n")
    t_env = environment("STREAMING")
    t_env.execute_sql(
        "CREATE TABLE files (a INT, name STRING METADATA FROM 'file.name' VIRTUAL) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path}', 'format' = 'csv', 'source.monitor-interval' = '100 ms')"
    )
    with t_env.execute_sql("SELECT a, name FROM files").collect() as rows:
        assert list(next(rows)) == [1, "first.csv"]
        (tmp_path / ".second.csv").write_text("2\n")
        (tmp_path / ".second.csv").rename(tmp_path / "second.csv")
        assert list(next(rows)) == [2, "second.csv"]
