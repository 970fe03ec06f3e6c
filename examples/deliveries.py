"""Joins in windows: what was delivered and returned per shop and hour; and who may have brought back what.

The balance is a co-group: it also tells of hours in which a shop had only one of the two, as an outer join. The pairs are a join.
"""

from __future__ import annotations

from collections.abc import Iterable

from wiesel.common import Time, Types, WatermarkStrategy
from wiesel.common.watermark_strategy import TimestampAssigner
from wiesel.datastream import CoGroupFunction, DataStream, StreamExecutionEnvironment
from wiesel.datastream.window import TumblingEventTimeWindows

PARCEL = Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT()])

# Shop, customer, minute of the day.
DELIVERIES = [("north", "ada", 545), ("south", "bob", 550), ("north", "eve", 580), ("north", "ada", 610), ("south", "kim", 665)]
RETURNS = [("north", "eve", 590), ("south", "bob", 630), ("north", "ada", 655)]


class Minute(TimestampAssigner):
    def extract_timestamp(self, value: tuple[str, str, int], record_timestamp: int) -> int:
        return value[2] * 60_000


class Balance(CoGroupFunction[tuple[str, str, int], tuple[str, str, int], str]):
    def co_group(self, first: list[tuple[str, str, int]], second: list[tuple[str, str, int]]) -> Iterable[str]:
        shop, _, minute = (first or second)[0]
        yield f"{shop} from {minute // 60}:00: {len(first)} delivered, {len(second)} returned"


def shop_of(parcel: tuple[str, str, int]) -> str:
    return parcel[0]


def timed(env: StreamExecutionEnvironment, parcels: list[tuple[str, str, int]]) -> DataStream:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Minute())
    return env.from_collection(parcels, PARCEL).assign_timestamps_and_watermarks(strategy)


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    deliveries, returns = timed(env, DELIVERIES), timed(env, RETURNS)
    hours = TumblingEventTimeWindows.of(Time.hours(1))
    balance = deliveries.co_group(returns).where(shop_of, Types.STRING()).equal_to(shop_of).window(hours)
    balance.apply(Balance(), Types.STRING()).print()
    pairs = deliveries.join(returns).where(shop_of, Types.STRING()).equal_to(shop_of).window(hours)
    pairs.apply(lambda delivered, returned: f"{delivered[1]} met {returned[1]} in {delivered[0]}", Types.STRING()).print()
    env.execute("deliveries and returns")


if __name__ == "__main__":
    main()
