"""A bounded job does not wait for pending processing-time timers: they never fire."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction


class Wait(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_processing_time_timer(ctx.timer_service().current_processing_time() + 3_600_000)
        yield "record", value

    def on_timer(self, timestamp, ctx):
        yield "timer", timestamp


def build(env):
    return env.from_collection([1, 2, 3], type_info=Types.INT()).key_by(lambda n: n).process(Wait())
