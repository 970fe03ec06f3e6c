"""Rules that change while the job runs: limits are broadcast to all subtasks, and each payment is held against those of its time."""

from __future__ import annotations

from collections.abc import Iterator

from wiesel.common import Types, WatermarkStrategy
from wiesel.common.watermark_strategy import TimestampAssigner
from wiesel.datastream import KeyedBroadcastProcessFunction, RuntimeContext, StreamExecutionEnvironment
from wiesel.datastream.state import MapStateDescriptor, ValueStateDescriptor

MINUTE_MS = 60_000

# Minute, way of paying, limit from then on (0: no limit any more).
LIMIT = Types.TUPLE([Types.INT(), Types.STRING(), Types.INT()])
LIMITS = [(0, "card", 100), (20, "transfer", 1000), (30, "card", 50), (45, "card", 0)]
# Minute, account, way of paying, amount.
PAYMENT = Types.TUPLE([Types.INT(), Types.STRING(), Types.STRING(), Types.INT()])
PAYMENTS = [
    (5, "ada", "card", 80),
    (10, "bob", "transfer", 5000),
    (25, "bob", "transfer", 5000),
    (29, "eve", "card", 120),
    (30, "eve", "card", 60),
    (35, "ada", "card", 80),
    (40, "bob", "card", 20),
    (50, "ada", "card", 500),
]

# For each way of paying its limits so far, with the times from which they hold.
LIMITS_SO_FAR = MapStateDescriptor("limits", Types.STRING(), Types.LIST(Types.TUPLE([Types.LONG(), Types.INT()])))


class MinuteOfRecord(TimestampAssigner):
    def extract_timestamp(self, value: tuple[int, ...], record_timestamp: int) -> int:
        return value[0] * MINUTE_MS


class Check(KeyedBroadcastProcessFunction[str, tuple[int, str, str, int], tuple[int, str, int], str]):
    """Looks at a payment when event time has reached it: then all limits of that time have come, on every subtask."""

    def open(self, runtime_context: RuntimeContext) -> None:
        payments = Types.LIST(Types.TUPLE([Types.STRING(), Types.INT()]))
        self.waiting = runtime_context.get_map_state(MapStateDescriptor("waiting", Types.LONG(), payments))
        self.alerts = runtime_context.get_state(ValueStateDescriptor("alerts", Types.INT()))

    def process_broadcast_element(self, value: tuple[int, str, int], ctx: KeyedBroadcastProcessFunction.Context) -> None:
        # Depends on the record alone, so it is the same on all subtasks; the watermark, for one, need not be.
        limits = ctx.get_broadcast_state(LIMITS_SO_FAR)
        limits.put(value[1], sorted([*(limits.get(value[1]) or []), (ctx.timestamp(), value[2])]))

    def process_element(self, value: tuple[int, str, str, int], ctx: KeyedBroadcastProcessFunction.ReadOnlyContext) -> None:
        time = ctx.timestamp()
        self.waiting.put(time, [*(self.waiting.get(time) or []), (value[2], value[3])])
        ctx.timer_service().register_event_time_timer(time)

    def on_timer(self, timestamp: int, ctx: KeyedBroadcastProcessFunction.OnTimerContext) -> Iterator[str]:
        limits = ctx.get_broadcast_state(LIMITS_SO_FAR)
        for way, amount in self.waiting.get(timestamp) or []:
            limit = next((limit for since, limit in reversed(limits.get(way) or []) if since <= timestamp), 0)
            if 0 < limit < amount:
                self.alerts.update((self.alerts.value() or 0) + 1)
                minute = timestamp // MINUTE_MS
                yield f"{ctx.get_current_key()}: {amount} by {way} in minute {minute}, the limit is {limit} (alert {self.alerts.value()})"
        self.waiting.remove(timestamp)


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(MinuteOfRecord())
    limits = env.from_collection(LIMITS, LIMIT).assign_timestamps_and_watermarks(strategy)
    payments = env.from_collection(PAYMENTS, PAYMENT).assign_timestamps_and_watermarks(strategy)
    (
        payments.key_by(lambda payment: payment[1], Types.STRING())
        .connect(limits.broadcast(LIMITS_SO_FAR))
        .process(Check(), Types.STRING())
        .print()
    )
    env.execute("payment limits")


if __name__ == "__main__":
    main()
