"""A pattern on Spark: the operator's kind is known to the workers, and matches are those of the rules."""

from __future__ import annotations

from tests.parity.conftest import time_limit
from wiesel.cep import CEP, Pattern
from wiesel.common import Configuration, Duration, WatermarkStrategy
from wiesel.common.watermark_strategy import TimestampAssigner
from wiesel.datastream import StreamExecutionEnvironment

SECONDS = 300


class TimeOfEvent(TimestampAssigner):
    def extract_timestamp(self, value: tuple[str, str, int], record_timestamp: int) -> int:
        return value[2]


def test_matches_per_key() -> None:
    options = {"restart-strategy.type": "none", "wiesel.spark.master": "local[64]"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options)).set_parallelism(2)
    # Of each of 20 keys out of order: a at 10, b at 20, c at 30 and, for even keys only, x at 25, which the rule forbids.
    kinds = (("c", 30), ("a", 10), ("x", 25), ("b", 20))
    events = [(f"k{k}", kind, time) for kind, time in kinds for k in range(20) if kind != "x" or k % 2 == 0]
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)).with_timestamp_assigner(TimeOfEvent())
    stream = env.from_collection(events).rebalance().map(lambda e: e).assign_timestamps_and_watermarks(strategy)
    pattern = Pattern.begin("a").where(lambda e: e[1] == "a").next("b").where(lambda e: e[1] == "b").not_followed_by("x")
    pattern = pattern.where(lambda e: e[1] == "x").followed_by("c").where(lambda e: e[1] == "c").within("1 s")
    matches = CEP.pattern(stream.key_by(lambda e: e[0]), pattern).select(lambda m: (m["a"][0][0], len(m)))
    with time_limit(SECONDS):
        found = list(matches.execute_and_collect())
    assert sorted(found) == sorted((f"k{k}", 3) for k in range(1, 20, 2))
