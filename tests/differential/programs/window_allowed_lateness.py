"""Allowed lateness: one more firing per late record until the watermark passes the end plus lateness; after that records are late."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, ProcessWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows

EVENTS = [("a", 1), ("a", 9), ("a", 12), ("a", 3), ("b", 14), ("a", 4), ("a", 15), ("a", 5), ("a", 19), ("a", 6), ("a", 20), ("a", 18)]
LATE = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG()]))


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, sorted(e[1] for e in elements), context.current_watermark()


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.LONG()])).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Second())
    )
    keyed = events.key_by(lambda e: e[0], key_type=Types.STRING())

    def windows(lateness):
        windowed = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).allowed_lateness(lateness)
        return windowed.side_output_late_data(LATE).process(Show()).set_parallelism(parallelism)

    none, some = windows(0), windows(6)
    return {"0": none, "0 late": none.get_side_output(LATE), "6": some, "6 late": some.get_side_output(LATE)}
