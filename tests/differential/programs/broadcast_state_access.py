"""All that can be done to broadcast state, several states of one broadcast stream, timestamps, and side outputs of both sides."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag
from pyflink.datastream.functions import KeyedBroadcastProcessFunction
from pyflink.datastream.state import MapStateDescriptor

COUNTS = MapStateDescriptor("counts", Types.STRING(), Types.INT())
NOTES = MapStateDescriptor("notes", Types.INT(), Types.STRING())
PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
SEEN = OutputTag("seen", Types.STRING())
TOLD = OutputTag("told", Types.STRING())


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Change(KeyedBroadcastProcessFunction):
    def __init__(self, seen, told):
        self.seen = seen
        self.told = told

    def process_element(self, value, ctx):
        yield self.seen, f"{ctx.get_current_key()} {value} {ctx.timestamp()}"
        ctx.timer_service().register_event_time_timer(value[1] + 1000)

    def process_broadcast_element(self, value, ctx):
        counts, notes = ctx.get_broadcast_state(COUNTS), ctx.get_broadcast_state(NOTES)
        what, time = value
        if what == "put":
            counts.put("x", (counts.get("x") if counts.contains("x") else 0) + 1)
        elif what == "all":
            counts.put_all([("y", 5), ("z", 6)])
        elif what == "remove":
            counts.remove("y")
        elif what == "clear":
            counts.clear()
        notes.put(time, what)
        yield self.told, f"{what} at {ctx.timestamp()}"
        yield what, sorted(counts.items()), sorted(counts.keys()), sorted(counts.values()), counts.is_empty(), "y" in counts, sorted(notes)

    def on_timer(self, timestamp, ctx):
        counts, notes = ctx.get_broadcast_state(COUNTS), ctx.get_broadcast_state(NOTES)
        key, domain = ctx.get_current_key(), ctx.time_domain().name
        yield key, timestamp, ctx.timestamp(), domain, counts["x"], sorted(counts.items()), sorted(notes.items())


def build(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    values = env.from_collection([("a", 1), ("b", 2), ("a", 3)], type_info=PAIR).assign_timestamps_and_watermarks(strategy)
    changes = [("put", 1), ("put", 2), ("all", 3), ("remove", 4), ("clear", 5), ("put", 6)]
    changed = env.from_collection(changes, type_info=PAIR).assign_timestamps_and_watermarks(strategy)
    keyed = values.key_by(lambda v: v[0], key_type=Types.STRING())
    result = keyed.connect(changed.broadcast(COUNTS, NOTES)).process(Change(SEEN, TOLD)).set_parallelism(2)
    return {"main": result, "seen": result.get_side_output(SEEN), "told": result.get_side_output(TOLD)}


# The function alone has two subtasks: both see the changes, which come from one, in the same order.
PARALLELISM = (1,)
