"""KeyedBroadcastProcessFunction: rules in broadcast state reach every subtask; timers at the end see all of them."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.functions import KeyedBroadcastProcessFunction
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())
PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Apply(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))

    def process_element(self, value, ctx):
        self.seen.add(value[1])
        ctx.timer_service().register_event_time_timer(10_000)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(value[0], value[1])

    def on_timer(self, timestamp, ctx):
        rules = ctx.get_broadcast_state(RULES)
        factor = rules.get(ctx.get_current_key()) if rules.contains(ctx.get_current_key()) else None
        yield ctx.get_current_key(), factor, sorted(self.seen.get()), sorted(rules.items())


def build(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    values = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("c", 4)], type_info=PAIR).assign_timestamps_and_watermarks(strategy)
    rules = env.from_collection([("a", 10), ("b", 20), ("x", 30)], type_info=PAIR).assign_timestamps_and_watermarks(strategy)
    return values.key_by(lambda v: v[0], key_type=Types.STRING()).connect(rules.broadcast(RULES)).process(Apply())


PARALLELISM = (1, 2, 3)
