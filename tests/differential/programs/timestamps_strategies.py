"""The timestamps records carry after each watermark strategy, and what a second assigner sees as the record's timestamp."""

from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction


class FromValue(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * 100


class FromPrevious(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return record_timestamp + 7


class Previous(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return 1 if record_timestamp == -(2**63) else 2


class Stamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp()


def build(env):
    numbers = env.from_collection([1, 3, 2], type_info=Types.LONG())
    bounded = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    first = numbers.assign_timestamps_and_watermarks(bounded.with_timestamp_assigner(FromValue()))
    monotonous = WatermarkStrategy.for_monotonous_timestamps()
    return {
        "bounded": first.process(Stamp()),
        "no watermarks": numbers.assign_timestamps_and_watermarks(
            WatermarkStrategy.no_watermarks().with_timestamp_assigner(FromValue())
        ).process(Stamp()),
        "second": first.assign_timestamps_and_watermarks(bounded.with_timestamp_assigner(FromPrevious())).process(Stamp()),
        "without assigner": first.assign_timestamps_and_watermarks(monotonous).process(Stamp()),
        "unset": numbers.assign_timestamps_and_watermarks(bounded.with_timestamp_assigner(Previous())).process(Stamp()),
        "kept by map": first.map(lambda n: n + 1).filter(lambda n: n > 2).flat_map(lambda n: [n, n]).process(Stamp()),
        "kept by key_by": first.key_by(lambda n: n % 2).map(lambda n: n, output_type=Types.LONG()).union(first).process(Stamp()),
    }
