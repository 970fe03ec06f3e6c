"""Late records go to the side output; the window has been fired by then and does not change."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    late = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG()]))
    events = env.from_collection(
        [("a", 1), ("a", 4), ("b", 12), ("a", 3), ("a", 11), ("b", 2), ("b", 25), ("a", 19), ("b", 21)],
        type_info=Types.TUPLE([Types.STRING(), Types.LONG()]),
    ).assign_timestamps_and_watermarks(per_record_watermarks().with_timestamp_assigner(Second()))
    windows = (
        events.key_by(lambda e: e[0], key_type=Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .side_output_late_data(late)
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
    windows.set_parallelism(parallelism)
    return {"windows": windows, "late": windows.get_side_output(late)}
