"""At the end of a bounded input the watermark is the maximum: every pending event-time timer fires, also the largest possible one."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Fire(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(10**15 + value)
        ctx.timer_service().register_event_time_timer(2**63 - 1)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp


def build(env):
    numbers = env.from_collection([1, 2, 3, 4], type_info=Types.LONG())
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Value())
    return {
        "watermarks": numbers.assign_timestamps_and_watermarks(strategy).key_by(lambda n: n % 2, Types.INT()).process(Fire()),
        "none": numbers.key_by(lambda n: n % 2, Types.INT()).process(Fire()),
    }


MODES = ("STREAMING", "BATCH")
