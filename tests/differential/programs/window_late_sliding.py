"""A record late for some sliding windows only is counted in the others and not sent to the late output."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, ProcessWindowFunction
from pyflink.datastream.window import SlidingEventTimeWindows

TIMES = [2, 7, 11, 6, 12, 3, 17, 9, 30]
LATE = OutputTag("late", Types.LONG())


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield context.window().start, context.window().end, sorted(elements)


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    numbers = env.from_collection(TIMES, type_info=Types.LONG()).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Value())
    )
    windows = (
        numbers.key_by(lambda n: 0)
        .window(SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5)))
        .side_output_late_data(LATE)
        .process(Show())
        .set_parallelism(parallelism)
    )
    return {"windows": windows, "late": windows.get_side_output(LATE)}
