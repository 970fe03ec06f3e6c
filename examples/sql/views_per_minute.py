"""How often each page is viewed in each minute: the program that does what ``views_per_minute.sql`` does.

The watermark is five seconds behind the latest view, as ``WATERMARK FOR at AS at - INTERVAL '5' SECOND`` says in SQL; the key and the
window are what stands behind ``GROUP BY`` there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from wiesel.common import Duration, Time, Types, WatermarkStrategy
from wiesel.common.watermark_strategy import TimestampAssigner
from wiesel.datastream import DataStream, ProcessWindowFunction, StreamExecutionEnvironment
from wiesel.datastream.connectors.file_system import FileSource, StreamFormat
from wiesel.datastream.window import TumblingEventTimeWindows

VIEW = Types.TUPLE([Types.STRING(), Types.LONG()])
COUNT = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])


class At(TimestampAssigner):
    def extract_timestamp(self, value: tuple[str, int], record_timestamp: int) -> int:
        return value[1]


class Count(ProcessWindowFunction):
    def process(self, key: str, context: Any, elements: Iterable[tuple[str, int]]) -> Iterable[tuple[str, int, int]]:
        yield key, context.window().start // 1000, sum(1 for _ in elements)


def views(env: StreamExecutionEnvironment, path: str) -> DataStream:
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), path).build()
    lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "views")
    parsed = lines.map(json.loads).map(lambda view: (view["page"], view["at_ms"]), VIEW)
    late = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    return parsed.assign_timestamps_and_watermarks(late.with_timestamp_assigner(At()))


def per_minute(stream: DataStream) -> DataStream:
    windows = stream.key_by(lambda view: view[0], Types.STRING()).window(TumblingEventTimeWindows.of(Time.minutes(1)))
    return windows.process(Count(), COUNT)


def main(path: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    per_minute(views(env, path)).print()
    env.execute("views per minute")


if __name__ == "__main__":
    main(sys.argv[1])
