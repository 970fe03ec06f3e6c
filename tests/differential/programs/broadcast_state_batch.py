"""BATCH mode: both kinds of broadcast functions see all broadcast records before the first record of the other side."""

from pyflink.common import Types
from pyflink.datastream.functions import BroadcastProcessFunction, KeyedBroadcastProcessFunction
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor

PRICES = MapStateDescriptor("prices", Types.STRING(), Types.INT())


class Price(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        prices = ctx.get_broadcast_state(PRICES)
        yield value[0], value[1] * prices.get(value[0]) if prices.contains(value[0]) else None

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(PRICES).put(value[0], value[1])


class RunningPrice(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.INT()))

    def process_element(self, value, ctx):
        prices = ctx.get_broadcast_state(PRICES)
        price = prices.get(value[0]) if prices.contains(value[0]) else 0
        self.total.update((self.total.value() or 0) + value[1] * price)
        ctx.timer_service().register_event_time_timer(10)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(PRICES).put(value[0], value[1])

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), self.total.value(), sorted(ctx.get_broadcast_state(PRICES).items())


def build(env):
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    orders = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", 5)], type_info=pair)
    prices = env.from_collection([("a", 10), ("b", 20), ("a", 30)], type_info=pair)
    return {
        "plain": orders.connect(prices.broadcast(PRICES)).process(Price()),
        "keyed": orders.key_by(lambda v: v[0], key_type=Types.STRING()).connect(prices.broadcast(PRICES)).process(RunningPrice()),
    }


PARALLELISM = (1, 2)
MODES = ("BATCH",)
