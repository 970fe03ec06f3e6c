"""The stream of late records is a stream like others: it keeps its timestamps, is keyed, united and counted."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, ProcessFunction
from pyflink.datastream.window import TumblingEventTimeWindows

KIND = Types.TUPLE([Types.STRING(), Types.LONG()])
EVENTS = [("a", 5), ("b", 14), ("a", 3), ("b", 8), ("a", 26), ("a", 12), ("c", 2), ("c", 27), ("b", 19), ("a", 22), ("c", 41), ("b", 30)]
LATE = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG()]))


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Stamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield *value, ctx.timestamp()


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
        .reduce(lambda a, b: (a[0], a[1] + b[1]), output_type=KIND)
        .set_parallelism(parallelism)
    )
    late = windows.get_side_output(LATE)
    return {
        "stamped": late.process(Stamp()),
        "counted": late.map(lambda e: (e[0], 1)).key_by(lambda e: e[0]).reduce(lambda a, b: (a[0], a[1] + b[1])),
        "united": windows.union(late).map(lambda e: e[1] * 10),
    }


PARALLELISM = (2,)
