"""Without watermarks nothing fires before the end and nothing is late; with one per record the same input loses records."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, ProcessWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield context.window().start, sorted(elements), context.current_watermark()


def build(env):
    env.set_parallelism(1)
    numbers = env.from_collection([3, 30, 4, 12, 28, 31], type_info=Types.LONG())
    result = {}
    for name, strategy in (("none", WatermarkStrategy.no_watermarks()), ("each", per_record_watermarks())):
        late = OutputTag("late", Types.LONG())
        windows = (
            numbers.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Value()))
            .key_by(lambda n: 0)
            .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
            .side_output_late_data(late)
            .process(Show())
        )
        result[name] = windows
        result[f"{name} late"] = windows.get_side_output(late)
    return result


PARALLELISM = (1,)
