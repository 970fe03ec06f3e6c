"""Timers of both domains in one function: each fires in its own, and deleting in one leaves the other."""

import time

from punctuated import per_record_watermarks
from pyflink.common import Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, OutputTag

PROCESSING = OutputTag("processing", Types.STRING())


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Both(KeyedProcessFunction):
    def process_element(self, value, ctx):
        service = ctx.timer_service()
        if value == 1:
            now = service.current_processing_time()
            service.register_event_time_timer(25)
            service.register_event_time_timer(27)
            service.register_processing_time_timer(now + 30)
            service.register_processing_time_timer(27)  # long past
            service.delete_processing_time_timer(25)  # there is none; the event-time timer stays
            service.delete_event_time_timer(27)

    def on_timer(self, timestamp, ctx):
        domain = ctx.time_domain().name
        if domain == "EVENT_TIME":
            yield ctx.get_current_key(), timestamp
        else:
            yield PROCESSING, f"{ctx.get_current_key()} {timestamp == 27}"


def slowly(value):
    time.sleep(0.1)
    return value


def build(env):
    env.set_parallelism(1)
    numbers = env.from_collection(list(range(1, 31)), type_info=Types.LONG()).map(slowly, output_type=Types.LONG())
    timed = numbers.assign_timestamps_and_watermarks(per_record_watermarks().with_timestamp_assigner(Value()))
    main = timed.key_by(lambda n: "key", key_type=Types.STRING()).process(Both())
    return {"main": main, "processing": main.get_side_output(PROCESSING)}


PARALLELISM = (1,)
NEEDS_CLOCK = True
