"""The driver program of the fault tests of regions: two pipelines that share nothing, each a keyed running count into files, exactly once.

Options, pacing and metrics are those of ``counting_job``.
"""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from counting_job import PacedSource, RunningCount, configuration, file_sink, parse

from wiesel.common import Types, WatermarkStrategy
from wiesel.datastream import StreamExecutionEnvironment

PIPELINES = ("left", "right")
LOOK_EVERY_S = 0.1


def main() -> int:
    options = parse()
    env = StreamExecutionEnvironment.get_execution_environment(configuration(options))
    env.set_parallelism(options.parallelism)
    for name in PIPELINES:
        source = PacedSource(options.records, options.rate, str(options.directory / "go"))
        records = env.from_source(source, WatermarkStrategy.no_watermarks(), name).uid(name)
        counts = records.key_by(lambda record: record[0], key_type=Types.STRING()).process(RunningCount(), Types.STRING())
        counts.name(f"{name} counts").uid(f"{name} counts").sink_to(file_sink(options.directory / name)).uid(f"{name} files")
    client = env.execute_async("regions")
    end = client.get_job_execution_result()
    while True:
        ended = end.done()  # before the look, so that the last one is that of the end
        print(json.dumps(client.get_job_metrics().result()), flush=True)
        if ended:
            end.result()
            return 0
        with contextlib.suppress(TimeoutError):
            end.result(LOOK_EVERY_S)


if __name__ == "__main__":
    sys.exit(main())
