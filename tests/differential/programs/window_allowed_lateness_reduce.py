"""Allowed lateness with incremental aggregation and with a purging trigger, which starts again from nothing."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.window import EventTimeTrigger, PurgingTrigger, TumblingEventTimeWindows

EVENTS = [("a", 1), ("a", 9), ("a", 12), ("a", 3), ("b", 14), ("a", 4), ("a", 15), ("a", 5), ("a", 19), ("a", 6), ("a", 20), ("a", 18)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.LONG()])).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Second())
    )
    keyed = events.key_by(lambda e: e[0], key_type=Types.STRING())

    def windows():
        return keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).allowed_lateness(100)

    def add(a, b):
        return a[0], a[1] + b[1]

    return {
        "keeping": windows().reduce(add).set_parallelism(parallelism),
        "purging": windows().trigger(PurgingTrigger.of(EventTimeTrigger.create())).reduce(add).set_parallelism(parallelism),
    }
