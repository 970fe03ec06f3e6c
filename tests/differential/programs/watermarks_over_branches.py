"""Watermarks behind a map, a filter and a second assigner; timers for times that have passed fire with the next one."""

from punctuated import per_record_watermarks
from pyflink.common import Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, ProcessFunction

TIMES = [3, 1, 7, 5, 12, 9, 20]


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Reading(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


class Late(KeyedProcessFunction):
    def process_element(self, value, ctx):
        watermark = ctx.timer_service().current_watermark()
        yield value, ctx.timestamp() <= watermark
        ctx.timer_service().register_event_time_timer(value + 4)

    def on_timer(self, timestamp, ctx):
        yield "timer", timestamp, ctx.timer_service().current_watermark()


def build(env):
    env.set_parallelism(1)
    numbers = env.from_collection(TIMES, type_info=Types.LONG()).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Value())
    )
    again = per_record_watermarks().with_timestamp_assigner(Value())
    mapped = numbers.map(lambda n: n * 10, output_type=Types.LONG())
    return {
        "source": numbers.process(Reading()),
        "mapped": mapped.process(Reading()),
        "filtered": numbers.filter(lambda n: n > 5).process(Reading()),
        "keyed": numbers.key_by(lambda n: "k", key_type=Types.STRING()).process(Late()),
        "assigned again": mapped.assign_timestamps_and_watermarks(again).process(Reading()),
    }


PARALLELISM = (1,)
