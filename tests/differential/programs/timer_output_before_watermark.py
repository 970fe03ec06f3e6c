"""What on_timer emits comes downstream before the watermark that fired it: nothing of it is late."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, OutputTag, ProcessWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows

LATE = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG()]))


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Delay(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value + 4)
        yield "record", value

    def on_timer(self, timestamp, ctx):
        yield "timer", timestamp


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield context.window().start, sorted(elements)


def build(env):
    env.set_parallelism(1)
    numbers = env.from_collection([1, 3, 8, 9, 15, 16, 27, 50], type_info=Types.LONG()).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Value())
    )
    delayed = numbers.key_by(lambda n: 0).process(Delay(), Types.TUPLE([Types.STRING(), Types.LONG()]))
    windows = (
        delayed.key_by(lambda e: 0).window(TumblingEventTimeWindows.of(Time.milliseconds(5))).side_output_late_data(LATE).process(Show())
    )
    return {"windows": windows, "late": windows.get_side_output(LATE)}


PARALLELISM = (1,)
