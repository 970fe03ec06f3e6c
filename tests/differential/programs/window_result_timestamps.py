"""The timestamp a window's result carries when it was fired by the watermark, by a late record, and by a count."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction
from pyflink.datastream.window import CountTrigger, TumblingEventTimeWindows

TIMES = [1, 9, 12, 3, 14, 18, 25, 17]


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Stamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp()


def build(env):
    env.set_parallelism(1)
    numbers = env.from_collection(TIMES, type_info=Types.LONG()).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Value())
    )
    keyed = numbers.key_by(lambda n: 0)

    def windows():
        return keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).allowed_lateness(100)

    return {
        "watermark": windows().reduce(lambda a, b: a + b).process(Stamp()),
        "count": windows().trigger(CountTrigger.of(2)).reduce(lambda a, b: a + b).process(Stamp()),
    }


PARALLELISM = (1,)
