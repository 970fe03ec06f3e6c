"""The current watermark each record sees when a watermark follows every record: it is that of the records before."""

from punctuated import per_record_watermarks
from pyflink.common import Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, ProcessFunction


class FromValue(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Reading(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


class KeyedReading(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    numbers = env.from_collection([5, 3, 10, 7, 12, 12, 11], type_info=Types.LONG()).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(FromValue())
    )
    return {
        "process": numbers.process(Reading()),
        "keyed": numbers.key_by(lambda n: n % 2).process(KeyedReading()).set_parallelism(parallelism),
    }
