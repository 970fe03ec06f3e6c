"""A user's trigger with partitioned state fires early on a threshold, purges, and fires at the window's end."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.state import ReducingStateDescriptor
from pyflink.datastream.window import Trigger, TriggerResult, TumblingEventTimeWindows

EVENTS = [("a", 1, 4), ("a", 2, 3), ("a", 3, 5), ("b", 4, 1), ("a", 5, 2), ("a", 12, 9), ("a", 13, 8), ("b", 15, 20), ("a", 16, 1)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Threshold(Trigger):
    def __init__(self, limit, result):
        self.limit = limit
        self.result = result
        self.sum = ReducingStateDescriptor("sum", lambda a, b: a + b, Types.LONG())

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())
        state = ctx.get_partitioned_state(self.sum)
        state.add(element[2])
        if state.get() >= self.limit:
            state.clear()
            return self.result
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE_AND_PURGE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.sum).clear()
        ctx.delete_event_time_timer(window.max_timestamp())


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, [e[2] for e in elements]


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(100)).with_timestamp_assigner(Second())
    kind = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
    keyed = env.from_collection(EVENTS, type_info=kind).assign_timestamps_and_watermarks(strategy).key_by(lambda e: e[0])

    def windows(result):
        assigner = TumblingEventTimeWindows.of(Time.milliseconds(10))
        return keyed.window(assigner).trigger(Threshold(7, result)).process(Show()).set_parallelism(parallelism)

    return {
        "fire": windows(TriggerResult.FIRE),
        "fire and purge": windows(TriggerResult.FIRE_AND_PURGE),
        "purge": windows(TriggerResult.PURGE),
    }
