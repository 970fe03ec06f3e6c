"""Timers of a KeyedCoProcessFunction: registered by either input, fired when the smaller of both watermarks passes."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedCoProcessFunction
from pyflink.datastream.state import MapStateDescriptor


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Gather(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.STRING(), Types.LONG()))

    def process_element1(self, value, ctx):
        self.seen.put(f"left {value[1]}", ctx.timestamp())
        ctx.timer_service().register_event_time_timer(500)

    def process_element2(self, value, ctx):
        self.seen.put(f"right {value[1]}", ctx.timestamp())
        ctx.timer_service().register_event_time_timer(600)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, sorted(self.seen.items())


def build(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    kind = Types.TUPLE([Types.STRING(), Types.LONG()])
    left = env.from_collection([("a", 1), ("b", 2), ("a", 3)], type_info=kind).assign_timestamps_and_watermarks(strategy)
    right = env.from_collection([("a", 10), ("c", 20), ("b", 30)], type_info=kind).assign_timestamps_and_watermarks(strategy)
    return left.connect(right).key_by(lambda e: e[0], lambda e: e[0], Types.STRING()).process(Gather())


PARALLELISM = (1, 2, 3)
