"""A record that joins two or more open sessions into one, with apply and process; another key has the same times."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, WindowFunction
from pyflink.datastream.window import EventTimeSessionWindows

KIND = Types.TUPLE([Types.STRING(), Types.LONG()])
TIMES = [0, 20, 10, 50, 41, 32, 100, 88, 94, 110]
EVENTS = [("a", t) for t in TIMES] + [("b", t) for t in TIMES if t != 41]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Bounds(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, sorted(e[1] for e in elements)


class Size(WindowFunction):
    def apply(self, key, window, inputs):
        yield key, window.end - window.start, len(list(inputs))


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)).with_timestamp_assigner(Second())
    keyed = env.from_collection(EVENTS, type_info=KIND).assign_timestamps_and_watermarks(strategy).key_by(lambda e: e[0])
    return {
        "process": keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(12))).process(Bounds()).set_parallelism(parallelism),
        "apply": keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(9))).apply(Size()).set_parallelism(parallelism),
    }


PARALLELISM = (2,)
