"""KeyedCoProcessFunction joins two inputs by key in state and emits at the end by an event-time timer."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedCoProcessFunction
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor

ORDERS = [("o1", "anna", 10), ("o2", "ben", 20), ("o3", "anna", 30), ("o4", "dora", 40), ("o5", "ben", 50)]
CUSTOMERS = [("anna", "Bern", 5), ("ben", "Bonn", 6), ("carl", "Graz", 7)]


class Last(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Join(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.city = runtime_context.get_state(ValueStateDescriptor("city", Types.STRING()))
        self.orders = runtime_context.get_list_state(ListStateDescriptor("orders", Types.STRING()))

    def process_element1(self, value, ctx):
        self.orders.add(value[0])
        ctx.timer_service().register_event_time_timer(1000)

    def process_element2(self, value, ctx):
        self.city.update(value[1])
        ctx.timer_service().register_event_time_timer(1000)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), self.city.value(), sorted(self.orders.get()), timestamp


def build(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(_millis(100)).with_timestamp_assigner(Last())
    row = Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT()])
    orders = env.from_collection(ORDERS, type_info=row).assign_timestamps_and_watermarks(strategy)
    customers = env.from_collection(CUSTOMERS, type_info=row).assign_timestamps_and_watermarks(strategy)
    return {
        "keyed after": orders.connect(customers).key_by(lambda o: o[1], lambda c: c[0], Types.STRING()).process(Join()),
        "keyed before": orders.key_by(lambda o: o[1], Types.STRING())
        .connect(customers.key_by(lambda c: c[0], Types.STRING()))
        .process(Join()),
    }


def _millis(n):
    from pyflink.common import Duration

    return Duration.of_millis(n)


PARALLELISM = (1, 2, 3)
MODES = ("STREAMING", "BATCH")
