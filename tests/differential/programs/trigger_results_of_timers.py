"""The four results of a trigger when an event-time timer fires: one timer after the other in the same window."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import Trigger, TriggerResult, TumblingEventTimeWindows

TIMES = [1, 4, 12, 15, 23, 26, 34, 38, 47, 61, 72, 75, 83, 99, 120]
RESULTS = {10: "CONTINUE", 20: "FIRE", 30: "PURGE", 40: "FIRE_AND_PURGE"}


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class AtTimes(Trigger):
    def on_element(self, element, timestamp, window, ctx):
        for time in RESULTS:
            if window.start + time > ctx.get_current_watermark():
                ctx.register_event_time_timer(window.start + time)
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult[RESULTS.get(time - window.start, "FIRE")]

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        for time in RESULTS:
            ctx.delete_event_time_timer(window.start + time)
        ctx.delete_event_time_timer(window.max_timestamp())


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.current_watermark(), list(elements)


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    numbers = env.from_collection(TIMES, type_info=Types.LONG()).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Value())
    )
    keyed = numbers.key_by(lambda n: n % 2, key_type=Types.LONG())
    return keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(50))).trigger(AtTimes()).process(Show()).set_parallelism(parallelism)


PARALLELISM = (2,)
