"""on_timer may register further timers, also for a time the watermark has passed already; later watermarks fire them all."""

from punctuated import per_record_watermarks
from pyflink.common import Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

EVENTS = [("a", 1), ("b", 5), ("c", 30), *(("clock", n) for n in range(100, 1100, 100))]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Countdown(KeyedProcessFunction):
    def open(self, runtime_context):
        self.steps = runtime_context.get_state(ValueStateDescriptor("steps", Types.INT()))

    def process_element(self, value, ctx):
        if value[0] != "clock":
            self.steps.update(5)
            ctx.timer_service().register_event_time_timer(value[1] + 10)

    def on_timer(self, timestamp, ctx):
        left = self.steps.value()
        yield ctx.get_current_key(), timestamp, left
        if left > 0:
            self.steps.update(left - 1)
            ctx.timer_service().register_event_time_timer(timestamp + (90 if left % 2 else -30))


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.LONG()])).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Second())
    )
    return events.key_by(lambda e: e[0], key_type=Types.STRING()).process(Countdown()).set_parallelism(parallelism)
