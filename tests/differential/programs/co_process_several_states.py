"""KeyedCoProcessFunction with several states, timers of either input, and side outputs."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedCoProcessFunction, OutputTag
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor

ORDER = Types.TUPLE([Types.STRING(), Types.LONG(), Types.INT()])
PAYMENT = Types.TUPLE([Types.STRING(), Types.LONG()])
OPEN = OutputTag("open", Types.STRING())
ORDERS = [("a", 1, 30), ("b", 2, 10), ("a", 4, 5), ("c", 6, 7)]
PAYMENTS = [("a", 35), ("b", 4), ("d", 9), ("b", 6)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Index(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1] % 10


class Settle(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.items = runtime_context.get_map_state(MapStateDescriptor("items", Types.LONG(), Types.INT()))
        self.paid = runtime_context.get_list_state(ListStateDescriptor("paid", Types.LONG()))
        self.first = runtime_context.get_state(ValueStateDescriptor("first", Types.STRING()))

    def process_element1(self, value, ctx):
        self.items.put(value[1], value[2])
        self.note("order", ctx)

    def process_element2(self, value, ctx):
        self.paid.add(value[1])
        self.note("payment", ctx)

    def note(self, side, ctx):
        # Which side of a key comes first is not defined, so only whether there was one is told.
        self.first.update(self.first.value() or side)
        ctx.timer_service().register_event_time_timer(1_000)

    def on_timer(self, timestamp, ctx):
        owed = sum(self.items.values())
        paid = sum(self.paid.get())
        if owed > paid:
            yield OPEN, f"{ctx.get_current_key()} owes {owed - paid}"
        yield ctx.get_current_key(), timestamp, sorted(self.items.items()), sorted(self.paid.get()), self.first.value() is not None
        self.items.clear()
        self.paid.clear()
        self.first.clear()


def build(env):
    monotonous = WatermarkStrategy.for_monotonous_timestamps()
    orders = env.from_collection(ORDERS, type_info=ORDER).assign_timestamps_and_watermarks(monotonous.with_timestamp_assigner(Second()))
    payments = env.from_collection(PAYMENTS, type_info=PAYMENT).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Index())
    )
    main = orders.connect(payments).key_by(lambda e: e[0], lambda e: e[0], Types.STRING()).process(Settle())
    return {"main": main, "open": main.get_side_output(OPEN)}


PARALLELISM = (2,)
