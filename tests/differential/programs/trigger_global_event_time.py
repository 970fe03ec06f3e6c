"""A trigger on global windows that closes what it has at times of its own, by event-time timers."""

from punctuated import per_record_watermarks
from pyflink.common import Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import GlobalWindows, Trigger, TriggerResult

KIND = Types.TUPLE([Types.STRING(), Types.LONG()])
EVENTS = [("a", 1), ("b", 3), ("a", 6), ("a", 12), ("b", 17), ("a", 18), ("b", 22), ("c", 23), ("a", 41), ("c", 52)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class NextTen(Trigger):
    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(timestamp - timestamp % 10 + 10)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE if time % 20 else TriggerResult.FIRE_AND_PURGE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        pass


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.current_watermark(), [e[1] for e in elements]


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=KIND).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Second())
    )
    keyed = events.key_by(lambda e: e[0], key_type=Types.STRING())
    return keyed.window(GlobalWindows.create()).trigger(NextTen()).process(Show()).set_parallelism(parallelism)


PARALLELISM = (2,)
