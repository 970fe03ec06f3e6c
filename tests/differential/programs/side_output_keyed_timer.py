"""Side outputs of a KeyedProcessFunction, from process_element and from on_timer."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, OutputTag

TIMED = OutputTag("timed", Types.TUPLE([Types.STRING(), Types.LONG()]))
SEEN = OutputTag("seen", Types.STRING())


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Watch(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] // 10 * 10 + 10)
        yield SEEN, value[0]

    def on_timer(self, timestamp, ctx):
        yield TIMED, (ctx.get_current_key(), timestamp)
        yield f"{ctx.get_current_key()}@{timestamp}"


def build(env):
    events = env.from_collection(
        [("a", 1), ("b", 5), ("a", 9), ("a", 12), ("b", 31)], type_info=Types.TUPLE([Types.STRING(), Types.LONG()])
    ).assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second()))
    main = events.key_by(lambda e: e[0], key_type=Types.STRING()).process(Watch(), output_type=Types.STRING())
    return {"main": main, "timed": main.get_side_output(TIMED), "seen": main.get_side_output(SEEN)}
