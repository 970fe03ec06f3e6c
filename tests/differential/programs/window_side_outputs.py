"""A window function with side outputs of its own, beside that of late records."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, ProcessWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows

KIND = Types.TUPLE([Types.STRING(), Types.LONG()])
EVENTS = [("a", 1), ("b", 3), ("a", 6), ("a", 12), ("b", 5), ("b", 17), ("a", 23), ("b", 22), ("a", 14), ("c", 35), ("c", 34)]
LATE = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG()]))
ODD = OutputTag("odd", Types.LONG())
SIZES = OutputTag("sizes")


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Split(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield SIZES, (key, len(list(elements)))
        for element in elements:
            if element[1] % 2:
                yield ODD, element[1]
            else:
                yield element


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=KIND).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Second())
    )
    windows = (
        events.key_by(lambda e: e[0], key_type=Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .side_output_late_data(LATE)
        .process(Split(), output_type=KIND)
        .set_parallelism(parallelism)
    )
    sides = {"late": LATE, "odd": ODD, "sizes": SIZES}
    return {"main": windows, **{name: windows.get_side_output(tag) for name, tag in sides.items()}}


PARALLELISM = (2,)
