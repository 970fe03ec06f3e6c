"""Event-time timers fire in order of time for each key, whatever the order of registering, and see their own timestamp and domain."""

from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor

EVENTS = [("a", 50), ("a", 10), ("b", 30), ("a", 90), ("b", 70), ("a", 20)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Fire(KeyedProcessFunction):
    def open(self, runtime_context):
        self.fired = runtime_context.get_list_state(ListStateDescriptor("fired", Types.LONG()))

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 5)
        ctx.timer_service().register_event_time_timer(value[1] - 5)

    def on_timer(self, timestamp, ctx):
        self.fired.add(timestamp)
        yield ctx.get_current_key(), timestamp, ctx.timestamp(), ctx.time_domain().name, list(self.fired.get())


def build(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(1000)).with_timestamp_assigner(Second())
    events = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.LONG()])).assign_timestamps_and_watermarks(strategy)
    return events.key_by(lambda e: e[0], key_type=Types.STRING()).process(Fire())


PARALLELISM = (1, 2, 3)
MODES = ("STREAMING", "BATCH")
