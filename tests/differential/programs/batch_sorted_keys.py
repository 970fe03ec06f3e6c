"""In BATCH mode the records of a keyed operator come key after key, in order of their timestamps."""

from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor

EVENTS = [("a", 5), ("b", 9), ("a", 1), ("c", 7), ("a", 3), ("b", 2), ("c", 4), ("a", 2), ("b", 6)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Order(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))

    def process_element(self, value, ctx):
        self.seen.add(value[1])
        yield "record", value[0], list(self.seen.get()), ctx.timer_service().current_watermark()
        ctx.timer_service().register_event_time_timer(value[1] + 10)

    def on_timer(self, timestamp, ctx):
        yield "timer", ctx.get_current_key(), timestamp, list(self.seen.get()), ctx.timer_service().current_watermark()


def build(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(3)).with_timestamp_assigner(Second())
    events = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.LONG()])).assign_timestamps_and_watermarks(strategy)
    return events.key_by(lambda e: e[0], key_type=Types.STRING()).process(Order())


MODES = ("BATCH",)
