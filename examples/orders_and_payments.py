"""Two streams with common state: says of each order what has been paid of it within a day."""

from __future__ import annotations

from collections.abc import Iterator

from wiesel.common import Types, WatermarkStrategy
from wiesel.common.watermark_strategy import TimestampAssigner
from wiesel.datastream import KeyedCoProcessFunction, RuntimeContext, StreamExecutionEnvironment
from wiesel.datastream.state import ValueStateDescriptor

DAY_MS = 24 * 3_600_000

RECORD = Types.TUPLE([Types.STRING(), Types.INT(), Types.INT()])
# Number of the order, hour, amount.
ORDERS = [("A1", 0, 100), ("A2", 1, 250), ("A3", 2, 70), ("A4", 30, 10)]
PAYMENTS = [("A3", 1, 70), ("A1", 5, 90), ("A4", 31, 10), ("A2", 60, 250)]


class HourOfRecord(TimestampAssigner):
    def extract_timestamp(self, value: tuple[str, int, int], record_timestamp: int) -> int:
        return value[1] * 3_600_000


class Match(KeyedCoProcessFunction):
    """Decides a day after the order. Which of the two streams is ahead makes no difference: only event time counts."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.order = runtime_context.get_state(ValueStateDescriptor("order", Types.TUPLE([Types.LONG(), Types.INT()])))
        self.payment = runtime_context.get_state(ValueStateDescriptor("payment", Types.TUPLE([Types.LONG(), Types.INT()])))

    def process_element1(self, value: tuple[str, int, int], ctx: KeyedCoProcessFunction.Context) -> None:
        self.order.update((ctx.timestamp() + DAY_MS, value[2]))
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + DAY_MS)

    def process_element2(self, value: tuple[str, int, int], ctx: KeyedCoProcessFunction.Context) -> None:
        self.payment.update((ctx.timestamp(), value[2]))
        # So that a payment for which there is no order is not kept for ever.
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 2 * DAY_MS)

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Iterator[str]:
        order, payment = self.order.value(), self.payment.value()
        if order is not None and order[0] == timestamp:
            paid = payment[1] if payment is not None and payment[0] <= timestamp else 0
            yield f"{ctx.get_current_key()}: {'paid' if paid == order[1] else f'{paid} of {order[1]} paid'}"
            self.order.clear()
            self.payment.clear()
        if payment is not None and payment[0] + 2 * DAY_MS <= timestamp:
            self.payment.clear()


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(HourOfRecord())
    orders = env.from_collection(ORDERS, RECORD).assign_timestamps_and_watermarks(strategy)
    payments = env.from_collection(PAYMENTS, RECORD).assign_timestamps_and_watermarks(strategy)
    (
        orders.connect(payments)
        .key_by(lambda order: order[0], lambda payment: payment[0], Types.STRING())
        .process(Match(), Types.STRING())
        .print()
    )
    env.execute("orders and payments")


if __name__ == "__main__":
    main()
