"""Jobs from files to files on both engines: every record once, also over a failure in the middle."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.parity.conftest import time_limit
from tests.parity.jobs import SECONDS, FailOnce, WaitsForACheckpoint, environment, execute, hidden_files, visible_lines
from wiesel.common import Duration, Encoder, Row, Types, WatermarkStrategy
from wiesel.core.errors import ConnectorError, JobExecutionError
from wiesel.datastream.connectors.datagen import DataGeneratorSource
from wiesel.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    FileEnumeratorProvider,
    FileSink,
    FileSource,
    OutputFileConfig,
    RollingPolicy,
    StreamFormat,
)
from wiesel.datastream.connectors.number_seq import NumberSequenceSource
from wiesel.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from wiesel.datastream.formats.json import JsonLinesEncoder, JsonLinesFormat
from wiesel.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat

ROOT = BucketAssigner.base_path_bucket_assigner()
NONE = WatermarkStrategy.no_watermarks()
ROWS = Types.ROW_NAMED(["id", "name"], [Types.LONG(), Types.STRING()])


@pytest.fixture(params=["local", "spark"], scope="module")
def engine(request: Any) -> str:
    return request.param


def write_input(folder: Path, count: int) -> list[str]:
    folder.mkdir()
    lines = [f"line {i}" for i in range(count)]
    for n in range(3):
        (folder / f"{n}.txt").write_text("".join(f"{line}\n" for line in lines[n::4]))
    (folder / "3.txt.gz").write_bytes(gzip.compress("".join(f"{line}\n" for line in lines[3::4]).encode()))
    return lines


def text_files(env: Any, folder: Path) -> Any:
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder))
    return env.from_source(files.set_file_enumerator(FileEnumeratorProvider(20_000)).build(), NONE, "files")


def text_sink(folder: Path, policy: RollingPolicy | None = None) -> FileSink:
    builder = FileSink.for_row_format(str(folder), Encoder.simple_string_encoder()).with_bucket_assigner(ROOT)
    return builder.with_rolling_policy(policy or RollingPolicy.default_rolling_policy()).build()


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_text_in_and_out_without_checkpoints(engine: str, mode: str, tmp_path: Path) -> None:
    lines = write_input(tmp_path / "in", 20_000)
    env = environment(engine, mode=mode)
    text_files(env, tmp_path / "in").map(str.upper, Types.STRING()).rebalance().sink_to(text_sink(tmp_path / "out"))
    with time_limit(SECONDS):
        env.execute("text")
    assert sorted(visible_lines(tmp_path / "out")) == sorted(line.upper() for line in lines)
    assert hidden_files(tmp_path / "out") == []


POLICIES = {"default": RollingPolicy.default_rolling_policy(), "checkpoint": RollingPolicy.on_checkpoint_rolling_policy()}


PACED = 1_200


def failing_behind_a_checkpoint(env: Any, directory: Path) -> Any:
    """Return a stream of numbers that fails once, when there is a checkpoint; so slow that there are others behind the failure."""
    checkpoints = directory / "checkpoints"
    pace = WaitsForACheckpoint(300, 800, checkpoints)
    paced = env.from_source(DataGeneratorSource(str, PACED, pace, Types.STRING()), NONE, "paced")
    fail = FailOnce(directory / "failed", lambda text: int(text) >= 400 and any(checkpoints.glob("*/chk-*/_metadata")))
    return paced.map(fail, Types.STRING())


@pytest.mark.parametrize("policy", POLICIES)
def test_every_line_once_over_a_failure(engine: str, policy: str, tmp_path: Path) -> None:
    lines = write_input(tmp_path / "in", 20_000)
    env = environment(engine, tmp_path / "checkpoints")
    failing = failing_behind_a_checkpoint(env, tmp_path)
    text_files(env, tmp_path / "in").union(failing).rebalance().sink_to(text_sink(tmp_path / "out", POLICIES[policy])).uid("files")
    with time_limit(SECONDS):
        metrics = execute(env, "text with a failure")
    assert (tmp_path / "failed").exists()
    assert metrics["restarts"] == 1 and metrics["checkpoints"]["restored_id"] > 0, metrics["checkpoints"]
    assert sorted(visible_lines(tmp_path / "out")) == sorted([*lines, *map(str, range(PACED))])
    assert hidden_files(tmp_path / "out") == []


def test_small_files_are_put_together_over_a_failure(engine: str, tmp_path: Path) -> None:
    env = environment(engine, tmp_path / "checkpoints")
    strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(3).set_size_threshold(1_000).build()
    builder = FileSink.for_row_format(str(tmp_path / "out"), Encoder.simple_string_encoder()).with_bucket_assigner(ROOT)
    builder.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
    sink = builder.enable_compact(strategy, FileCompactor.concat_file_compactor()).build()
    failing_behind_a_checkpoint(env, tmp_path).rebalance().sink_to(sink).uid("files")
    with time_limit(SECONDS):
        metrics = execute(env, "files put together")
    assert (tmp_path / "failed").exists()
    assert metrics["restarts"] == 1 and metrics["checkpoints"]["restored_id"] > 0, metrics["checkpoints"]
    assert sorted(visible_lines(tmp_path / "out")) == sorted(map(str, range(PACED)))
    assert hidden_files(tmp_path / "out") == []
    assert all(path.name.startswith("compacted-part-") for path in (tmp_path / "out").iterdir())


CSV = CsvSchema.builder().add_number_column("id").add_string_column("name").build()


def row_sink(kind: str, folder: Path) -> FileSink:
    names = OutputFileConfig.builder().with_part_suffix(f".{kind}").build()
    if kind == "jsonl":
        lines = FileSink.for_row_format(str(folder), JsonLinesEncoder(ROWS))
        return lines.with_bucket_assigner(ROOT).with_output_file_config(names).build()
    factory = CsvBulkWriters.for_schema(CSV) if kind == "csv" else ParquetBulkWriters.for_row_type(ROWS)
    return FileSink.for_bulk_format(str(folder), factory).with_bucket_assigner(ROOT).with_output_file_config(names).build()


def row_source(kind: str, folder: Path) -> FileSource:
    if kind == "parquet":
        return FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(ROWS), str(folder)).build()
    rows = CsvReaderFormat.for_schema(CSV) if kind == "csv" else JsonLinesFormat(ROWS)
    return FileSource.for_record_stream_format(rows, str(folder)).build()


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_rows_out_and_in_again(engine: str, kind: str, tmp_path: Path) -> None:
    count = 5_000
    env = environment(engine, tmp_path / "checkpoints")
    numbers = env.from_source(NumberSequenceSource(0, count - 1), NONE, "numbers")
    rows = numbers.map(lambda i: Row(i, f'näme "{i}"\n'), ROWS).map(FailOnce(tmp_path / "failed", lambda row: row[0] == 4_000), ROWS)
    rows.sink_to(row_sink(kind, tmp_path / "out"))
    with time_limit(SECONDS):
        env.execute("rows out")
    assert (tmp_path / "failed").exists()
    files = [p for p in (tmp_path / "out").rglob(f"*.{kind}") if not p.name.startswith(".")]
    if kind == "parquet":
        assert sorted(i for p in files for i in pq.read_table(p)["id"].to_pylist()) == list(range(count))
    elif kind == "jsonl":
        assert sorted(json.loads(line)["id"] for p in files for line in p.read_text().split("\n") if line) == list(range(count))
    env = environment(engine)
    with time_limit(SECONDS):
        back = list(env.from_source(row_source(kind, tmp_path / "out"), NONE, "rows in").execute_and_collect())
    assert sorted((row.id, row.name) for row in back) == [(i, f'näme "{i}"\n') for i in range(count)]


def test_new_files_are_read_until_the_job_is_cancelled(engine: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text("1\n2\n")
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path / "in"))
    env = environment(engine, parallelism=1)
    found = []
    stream = env.from_source(source.monitor_continuously(Duration.of_millis(50)).build(), NONE, "watched")
    with time_limit(SECONDS), stream.execute_and_collect() as results:
        for value in results:
            found.append(value)
            if len(found) == 2:
                (tmp_path / ".new").write_text("3\n4\n")
                (tmp_path / ".new").rename(tmp_path / "in" / "b")
            if len(found) == 4:
                break
    assert found == ["1", "2", "3", "4"]


def cause_of(error: BaseException) -> list[str]:
    texts = []
    while error is not None:
        texts.append(str(error))
        error = error.__cause__
    return texts


def test_a_missing_path_is_named_at_the_start(engine: str, tmp_path: Path) -> None:
    env = environment(engine)
    text_files(env, tmp_path / "nothing").sink_to(text_sink(tmp_path / "out"))
    with time_limit(SECONDS), pytest.raises((ConnectorError, JobExecutionError)) as caught:
        env.execute("no input")
    assert any("there is no file or folder" in text and "nothing" in text for text in cause_of(caught.value))


def test_a_bad_line_is_named(engine: str, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("1,a\n2,b\nthree,c\n")
    env = environment(engine, parallelism=1)
    rows = env.from_source(row_source("csv", tmp_path / "in.csv"), NONE, "bad rows")
    with time_limit(SECONDS), pytest.raises(JobExecutionError) as caught:
        list(rows.execute_and_collect())
    assert any("in.csv, line 3: field id: not a whole number: 'three'" in text for text in cause_of(caught.value))
    lenient = CsvReaderFormat.for_schema(CSV).with_ignore_parse_errors()
    rows = env.from_source(FileSource.for_record_stream_format(lenient, str(tmp_path / "in.csv")).build(), NONE, "lenient")
    with time_limit(SECONDS):
        assert [tuple(row) for row in rows.execute_and_collect()] == [(1, "a"), (2, "b"), (None, "c")]


def test_event_time_buckets_by_an_assigner_of_ones_own(engine: str, tmp_path: Path) -> None:
    class ByHundred(BucketAssigner):
        def get_bucket_id(self, element: str, context: Any) -> str:
            return f"t={context.timestamp() // 100}"

    env = environment(engine)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    numbers = env.from_source(NumberSequenceSource(0, 999), strategy, "numbers").map(str, Types.STRING())
    sink = FileSink.for_row_format(str(tmp_path / "out"), Encoder.simple_string_encoder()).with_bucket_assigner(ByHundred()).build()
    numbers.sink_to(sink)
    with time_limit(SECONDS):
        env.execute("buckets")
    for n in range(10):
        assert sorted(visible_lines(tmp_path / "out" / f"t={n}"), key=int) == [str(i) for i in range(100 * n, 100 * n + 100)]


class Times:
    def extract_timestamp(self, value: int, record_timestamp: int) -> int:
        return value
