"""window_all with lateness: late records fire again at once, those behind the lateness go to the side output."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.window import SlidingEventTimeWindows, TumblingEventTimeWindows

TIMES = [1, 7, 12, 3, 9, 24, 11, 5, 19, 33, 21, 14, 29, 48, 31]


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield context.window().start, context.window().end, sorted(elements)


def build(env):
    env.set_parallelism(1)
    numbers = env.from_collection(TIMES, type_info=Types.LONG()).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Value())
    )

    def late(name, assigner):
        tag = OutputTag(f"late {name}", Types.LONG())
        windows = numbers.window_all(assigner).allowed_lateness(5).side_output_late_data(tag).process(Show())
        return {name: windows, f"{name} late": windows.get_side_output(tag)}

    return {
        **late("tumbling", TumblingEventTimeWindows.of(Time.milliseconds(10))),
        **late("sliding", SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(4))),
    }


PARALLELISM = (1,)
