"""A count trigger in time windows: late records within the lateness count on, a window that never reached the count says nothing."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, ProcessWindowFunction
from pyflink.datastream.window import CountTrigger, PurgingTrigger, SlidingEventTimeWindows, TumblingEventTimeWindows

KIND = Types.TUPLE([Types.STRING(), Types.LONG()])
EVENTS = [("a", n) for n in (1, 2, 3, 12, 4, 15, 5, 13, 28, 14, 6, 16, 17, 31, 18, 7)] + [("b", n) for n in (30, 33, 45)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, [e[1] for e in elements]


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=KIND).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Second())
    )
    keyed = events.key_by(lambda e: e[0], key_type=Types.STRING())
    result = {}
    for name, assigner, trigger in (
        ("keeping", TumblingEventTimeWindows.of(Time.milliseconds(10)), CountTrigger.of(3)),
        ("purging", TumblingEventTimeWindows.of(Time.milliseconds(10)), PurgingTrigger.of(CountTrigger.of(3))),
        ("sliding", SlidingEventTimeWindows.of(Time.milliseconds(20), Time.milliseconds(10)), CountTrigger.of(4)),
    ):
        tag = OutputTag(f"late {name}", Types.TUPLE([Types.STRING(), Types.LONG()]))
        windowed = keyed.window(assigner).trigger(trigger).allowed_lateness(10).side_output_late_data(tag)
        result[name] = windowed.process(Show()).set_parallelism(parallelism)
        result[f"{name} late"] = result[name].get_side_output(tag)
    return result


PARALLELISM = (2,)
