"""Two broadcast states of one stream, filled and emptied by commands; timers and keyed state beside them."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag
from pyflink.datastream.functions import KeyedBroadcastProcessFunction
from pyflink.datastream.state import MapStateDescriptor, ReducingStateDescriptor

PRICES = MapStateDescriptor("prices", Types.STRING(), Types.INT())
NAMES = MapStateDescriptor("names", Types.STRING(), Types.STRING())
PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
COMMAND = Types.TUPLE([Types.STRING(), Types.STRING(), Types.STRING()])
COMMANDS = [
    ("price", "a", "3"),
    ("name", "a", "apple"),
    ("price", "b", "5"),
    ("price", "a", "4"),
    ("forget", "b", ""),
    ("name", "c", "cake"),
]
FREE = OutputTag("free", Types.STRING())


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Never(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return 0


class Sell(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.sold = runtime_context.get_reducing_state(ReducingStateDescriptor("sold", lambda a, b: a + b, Types.LONG()))

    def process_element(self, value, ctx):
        self.sold.add(value[1])
        ctx.timer_service().register_event_time_timer(1_000 + value[1])

    def process_broadcast_element(self, value, ctx):
        command, key, argument = value
        if command == "price":
            ctx.get_broadcast_state(PRICES).put(key, int(argument))
        elif command == "name":
            ctx.get_broadcast_state(NAMES).put(key, argument)
        else:
            ctx.get_broadcast_state(PRICES).remove(key)

    def on_timer(self, timestamp, ctx):
        key = ctx.get_current_key()
        prices, names = ctx.get_broadcast_state(PRICES), ctx.get_broadcast_state(NAMES)
        name = names.get(key) if names.contains(key) else key
        if not prices.contains(key):
            yield FREE, f"{name} at {timestamp}"
        else:
            yield name, timestamp, self.sold.get() * prices.get(key), sorted(prices.keys()), sorted(names.values())


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    sales = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", 5)], type_info=PAIR).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    )
    commands = env.from_collection(COMMANDS, type_info=COMMAND).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Never())
    )
    keyed = sales.key_by(lambda v: v[0], key_type=Types.STRING())
    sold = keyed.connect(commands.broadcast(PRICES, NAMES)).process(Sell()).set_parallelism(parallelism)
    return {"sold": sold, "free": sold.get_side_output(FREE)}


PARALLELISM = (2,)
