"""The driver program of the fault tests of the file sink: records into rolling text files, whose parts go on over checkpoints, and into
Parquet files, which every checkpoint closes. Options and pacing are those of ``counting_job``.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from counting_job import SPLITS, PacedSource, configuration, key_of, option_parser

from wiesel.common import Encoder, Row, Types, WatermarkStrategy
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors.file_system import BucketAssigner, FileSink, RollingPolicy
from wiesel.datastream.formats.parquet import ParquetBulkWriters

ROWS = Types.ROW_NAMED(["key", "n"], [Types.STRING(), Types.LONG()])
LOOK_EVERY_S = 0.1
PART_BYTES = 1_000
BUCKETS = 10


def expected(records: int) -> Counter[tuple[str, int]]:
    """Return what ``records`` records per split lead to."""
    return Counter((key_of(split, n), n) for split in range(SPLITS) for n in range(records))


class ByKey(BucketAssigner):
    def get_bucket_id(self, element: str, context: Any) -> str:
        return f"last={element.split()[0][-1]}"


def main() -> int:
    parser = option_parser()
    parser.add_argument("--rolls-after", type=int, default=700, help="how long a part of the text is written to at most, in ms")
    options = parser.parse_args()
    env = StreamExecutionEnvironment.get_execution_environment(configuration(options))
    env.set_parallelism(options.parallelism)
    source = PacedSource(options.records, options.rate, str(options.directory / "go"))
    records = env.from_source(source, WatermarkStrategy.no_watermarks(), "paced").uid("paced").rebalance()
    # Parts roll in the middle of a checkpoint interval as well as after several of them.
    policy = RollingPolicy.default_rolling_policy(
        part_size=PART_BYTES, rollover_interval=options.rolls_after, inactivity_interval=options.rolls_after * 4 // 7
    )
    text = FileSink.for_row_format(str(options.directory / "text"), Encoder.simple_string_encoder()).with_bucket_assigner(ByKey())
    lines = records.map(lambda record: f"{record[0]} {record[1]}", Types.STRING()).uid("lines")
    lines.sink_to(text.with_rolling_policy(policy).with_bucket_check_interval(100).build()).uid("text")
    bulk = FileSink.for_bulk_format(str(options.directory / "bulk"), ParquetBulkWriters.for_row_type(ROWS))
    rows = records.map(lambda record: Row(*record), ROWS).uid("rows")
    rows.sink_to(bulk.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()).uid("bulk")
    client = env.execute_async("files")
    end = client.get_job_execution_result()
    while True:
        print(json.dumps(client.get_job_metrics().result()), flush=True)
        try:
            end.result(LOOK_EVERY_S)
        except TimeoutError:
            continue
        print(json.dumps(client.get_job_metrics().result()), flush=True)
        return 0


if __name__ == "__main__":
    sys.exit(main())
