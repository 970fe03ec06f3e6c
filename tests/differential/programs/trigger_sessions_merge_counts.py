"""Triggers of sessions: counts of merged sessions are added; a user's trigger sees on_merge and its merged state."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.state import ReducingStateDescriptor
from pyflink.datastream.window import CountTrigger, EventTimeSessionWindows, Trigger, TriggerResult

KIND = Types.TUPLE([Types.STRING(), Types.LONG()])
EVENTS = [("a", 100), ("a", 120), ("a", 111), ("b", 100), ("b", 125), ("b", 118), ("b", 111), ("a", 160), ("a", 165)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class SumUpTo(Trigger):
    def __init__(self, limit):
        self.limit = limit
        self.sum = ReducingStateDescriptor("sum", lambda a, b: a + b, Types.LONG())

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())
        total = ctx.get_partitioned_state(self.sum)
        total.add(element[1])
        return TriggerResult.FIRE if total.get() >= self.limit else TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(self.sum)
        ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.sum).clear()
        ctx.delete_event_time_timer(window.max_timestamp())


class Bounds(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, sorted(e[1] for e in elements)


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=KIND).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Second())
    )
    keyed = events.key_by(lambda e: e[0], key_type=Types.STRING())

    def sessions(trigger):
        windowed = keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(10))).allowed_lateness(100)
        return windowed.trigger(trigger).process(Bounds()).set_parallelism(parallelism)

    return {"count": sessions(CountTrigger.of(3)), "sum": sessions(SumUpTo(340))}


PARALLELISM = (2,)
