"""Writes a savepoint of a job with connectors, to be kept: ``python -m tests.compat.record_connectors NAME``.

The paths of the files are in what is kept, so no job can go on from it elsewhere; its values are read. ``flat-modules`` was written by
the last commit that had the connectors in a flat list of modules.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from tests.unit.engine.stored_job import environment, start
from wiesel.common import Duration, Encoder, Types, WatermarkStrategy
from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from wiesel.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from wiesel.datastream.connectors.hybrid_source import HybridSource
from wiesel.datastream.connectors.number_seq import NumberSequenceSource
from wiesel.table import StreamTableEnvironment
from wiesel.testing.environment import LocalEnvironment

SAVEPOINTS = Path(__file__).with_name("connector_savepoints")


def build(env: LocalEnvironment, folder: Path) -> None:
    """Build the program: files, a hybrid source and a table as inputs; files and a table with partitions as outputs."""
    given = folder / "given"
    given.mkdir()
    for number in range(3):
        (given / f"{number}.txt").write_text("".join(f"line {number} {i}\n" for i in range(50)))
    lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(given))
    watched = lines.monitor_continuously(Duration.of_seconds(1)).build()
    slow = DataGeneratorSource(int, 1000, RateLimiterStrategy.per_second(100))
    hybrid = HybridSource.builder(NumberSequenceSource(0, 9)).add_source(slow).build()
    no_watermarks = WatermarkStrategy.no_watermarks()
    of_files = env.from_source(watched, no_watermarks, "files").uid("files")
    of_numbers = env.from_source(hybrid, no_watermarks, "numbers").uid("numbers").map(str, Types.STRING()).uid("texts")
    sink = FileSink.for_row_format(str(folder / "lines"), Encoder.simple_string_encoder()).build()
    of_files.union(of_numbers).sink_to(sink).uid("lines")
    t_env = StreamTableEnvironment.create(env)
    t_env.create_temporary_view("generated", of_numbers)
    t_env.execute_sql(f"""
        CREATE TABLE parts (v STRING, p STRING) PARTITIONED BY (p)
        WITH ('connector' = 'filesystem', 'path' = '{folder}/parts', 'format' = 'csv', 'sink.partition-commit.policy.kind' = 'success-file',
              'auto-compaction' = 'true')
    """)
    statements = t_env.create_statement_set()
    statements.add_insert_sql("INSERT INTO parts SELECT f0, SUBSTRING(f0, 1, 1) FROM generated")
    statements.attach_as_datastream()


def record(name: str) -> None:
    """Take a savepoint while the job reads and writes.

    Raises:
        SystemExit: There is such a savepoint.
    """
    target = SAVEPOINTS / name
    if target.exists():
        raise SystemExit(f"{target} exists: a savepoint that is kept is never written again")
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        env = environment(None, 2)
        build(env, folder)
        job = start(env)
        job.advance_processing_time(1500)
        shutil.copytree(job.savepoint(folder / "savepoints", label=name), target)


if __name__ == "__main__":
    record(sys.argv[1])
