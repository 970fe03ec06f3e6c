"""PurgingTrigger around the event-time trigger: a late record within the lateness is alone in its window."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import EventTimeTrigger, PurgingTrigger, SlidingEventTimeWindows, TumblingEventTimeWindows

TIMES = [2, 5, 11, 7, 8, 14, 22, 13, 3, 31, 29, 12, 45, 24]


class Value(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield context.window().start, context.window().end, list(elements)


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    numbers = env.from_collection(TIMES, type_info=Types.LONG()).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Value())
    )
    keyed = numbers.key_by(lambda n: 0, key_type=Types.INT())

    def windows(assigner):
        trigger = PurgingTrigger.of(EventTimeTrigger.create())
        return keyed.window(assigner).trigger(trigger).allowed_lateness(12).process(Show()).set_parallelism(parallelism)

    return {
        "tumbling": windows(TumblingEventTimeWindows.of(Time.milliseconds(10))),
        "sliding": windows(SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5))),
    }


PARALLELISM = (2,)
