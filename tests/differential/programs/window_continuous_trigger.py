"""ContinuousEventTimeTrigger fires at each interval the watermark passes, and at the window's end."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import ContinuousEventTimeTrigger, TumblingEventTimeWindows

TIMES = [1, 3, 6, 9, 11, 14, 16, 18, 19, 21, 24, 26, 29, 31, 34, 36, 39]


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield context.window().start, sorted(elements), context.current_watermark()


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    numbers = env.from_collection(TIMES, type_info=Types.LONG()).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Value())
    )
    return (
        numbers.key_by(lambda n: 0)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(20)))
        .trigger(ContinuousEventTimeTrigger.of(Time.milliseconds(5)))
        .process(Show())
        .set_parallelism(parallelism)
    )
