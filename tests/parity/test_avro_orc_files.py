"""Records into Avro, Parquet and ORC files on both engines, each once over a failure, and the Avro ones back again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow.orc import ORCFile

from tests.parity.conftest import time_limit
from tests.parity.jobs import SECONDS, FailOnce, environment, execute, hidden_files
from wiesel.common import Row, Types, WatermarkStrategy
from wiesel.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource, OutputFileConfig
from wiesel.datastream.connectors.number_seq import NumberSequenceSource
from wiesel.datastream.formats.avro import AvroBulkWriters, AvroInputFormat, AvroSchema, GenericRecordAvroTypeInfo
from wiesel.datastream.formats.orc import OrcBulkWriters
from wiesel.datastream.formats.parquet import AvroParquetReaders, AvroParquetWriters
from wiesel.spi.file_formats import BulkWriterFactory

NONE = WatermarkStrategy.no_watermarks()
COUNT = 5_000
ROWS = Types.ROW_NAMED(["id", "name"], [Types.LONG(), Types.STRING()])
SCHEMA = AvroSchema.parse_string(
    json.dumps({"type": "record", "name": "R", "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": ["null", "string"]}]})
)
RECORDS = GenericRecordAvroTypeInfo(SCHEMA)


@pytest.fixture(params=["local", "spark"], scope="module")
def engine(request: Any) -> str:
    return request.param


def record(i: int) -> dict[str, Any]:
    return {"id": i, "name": None if i % 7 == 0 else f"näme {i}"}


def sink(folder: Path, factory: BulkWriterFactory) -> FileSink:
    names = OutputFileConfig.builder().with_part_suffix(f".{folder.name}").build()
    builder = FileSink.for_bulk_format(str(folder), factory).with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    return builder.with_output_file_config(names).build()


def test_records_out_and_in_again(engine: str, tmp_path: Path) -> None:
    env = environment(engine, tmp_path / "checkpoints")
    numbers = env.from_source(NumberSequenceSource(0, COUNT - 1), NONE, "numbers")
    records = numbers.map(record, RECORDS).map(FailOnce(tmp_path / "failed", lambda r: r["id"] == 4_000), RECORDS)
    records.sink_to(sink(tmp_path / "avro", AvroBulkWriters.for_generic_record(SCHEMA)))
    records.sink_to(sink(tmp_path / "parquet", AvroParquetWriters.for_generic_record(SCHEMA)))
    records.map(lambda r: Row(r["id"], r["name"]), ROWS).sink_to(sink(tmp_path / "orc", OrcBulkWriters.for_row_type(ROWS)))
    with time_limit(SECONDS):
        metrics = execute(env, "records out")
    assert (tmp_path / "failed").exists() and metrics["restarts"] == 1
    expected = [record(i) for i in range(COUNT)]
    orc = [row for path in (tmp_path / "orc").glob("part-*.orc") for row in ORCFile(path).read().to_pylist()]
    assert sorted(orc, key=lambda r: r["id"]) == expected
    assert [hidden_files(tmp_path / kind) for kind in ("avro", "parquet", "orc")] == [[], [], []]
    env = environment(engine)
    parquet = FileSource.for_record_stream_format(AvroParquetReaders.for_generic_record(SCHEMA), str(tmp_path / "parquet")).build()
    both = env.create_input(AvroInputFormat(str(tmp_path / "avro"), SCHEMA)).union(env.from_source(parquet, NONE, "parquet"))
    with time_limit(SECONDS):
        back = list(both.execute_and_collect())
    assert sorted(back, key=lambda r: r["id"]) == [r for r in expected for _ in range(2)]
