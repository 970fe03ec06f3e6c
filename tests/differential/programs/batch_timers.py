"""BATCH mode: timers of a key fire in order when all its records are through, also those that timers register."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, OutputTag
from pyflink.datastream.state import ListStateDescriptor

KIND = Types.TUPLE([Types.STRING(), Types.LONG()])
EVENTS = [("a", 5), ("b", 1), ("a", 2), ("c", 9), ("b", 30), ("a", 8), ("c", 3), ("a", 2)]
LAST = OutputTag("last", Types.STRING())


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Order(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))

    def process_element(self, value, ctx):
        self.seen.add(value[1])
        ctx.timer_service().register_event_time_timer(value[1] * 2)
        ctx.timer_service().register_event_time_timer(40)
        if value[1] == 8:
            ctx.timer_service().delete_event_time_timer(4)

    def on_timer(self, timestamp, ctx):
        self.seen.add(-timestamp)
        yield ctx.get_current_key(), timestamp, list(self.seen.get())
        if timestamp == 40:
            yield LAST, ctx.get_current_key()


def build(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    events = env.from_collection(EVENTS, type_info=KIND).assign_timestamps_and_watermarks(strategy)
    main = events.key_by(lambda e: e[0], key_type=Types.STRING()).process(Order())
    return {"main": main, "last": main.get_side_output(LAST)}


PARALLELISM = (2,)
MODES = ("BATCH",)
