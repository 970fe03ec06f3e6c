"""Late records among sessions of their own gaps: a long gap reaches over the watermark, a short one does not."""

from punctuated import per_record_watermarks
from pyflink.common import Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, ProcessWindowFunction
from pyflink.datastream.window import EventTimeSessionWindows, SessionWindowTimeGapExtractor

KIND = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
LATE = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()]))
EVENTS = [
    ("a", 10, 5), ("a", 13, 5), ("b", 20, 10), ("a", 12, 3), ("a", 12, 30), ("b", 14, 2), ("b", 28, 4),
    ("a", 41, 1), ("b", 25, 40), ("a", 40, 1), ("c", 60, 5), ("b", 61, 5), ("a", 30, 100), ("c", 10, 49), ("c", 10, 51),
]  # fmt: skip


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Third(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[2]


class Bounds(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, sorted(e[1:] for e in elements)


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=KIND).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Second())
    )
    windows = (
        events.key_by(lambda e: e[0], key_type=Types.STRING())
        .window(EventTimeSessionWindows.with_dynamic_gap(Third()))
        .side_output_late_data(LATE)
        .process(Bounds())
        .set_parallelism(parallelism)
    )
    return {"sessions": windows, "late": windows.get_side_output(LATE)}


PARALLELISM = (2,)
