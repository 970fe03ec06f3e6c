"""Windows of windows: the timestamps that window results carry decide which window of the second level they fall in."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction, ProcessWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows

EVENTS = [("a", 1), ("a", 9), ("b", 10), ("a", 4), ("b", 25), ("a", 19), ("a", 20), ("b", 11), ("a", 35), ("c", 0), ("c", 29)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Bounds(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield context.window().start, context.window().end, sum(e[1] for e in elements)


class Stamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp()


def build(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(50)).with_timestamp_assigner(Second())
    kind = Types.TUPLE([Types.STRING(), Types.LONG()])
    events = env.from_collection(EVENTS, type_info=kind).assign_timestamps_and_watermarks(strategy)
    first = (
        events.key_by(lambda e: e[0])
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .reduce(lambda a, b: (a[0], a[1] + b[1]), output_type=kind)
    )
    second = first.key_by(lambda e: 0).window(TumblingEventTimeWindows.of(Time.milliseconds(20))).process(Bounds())
    return {"first": first.process(Stamp()), "second": second, "second stamps": second.process(Stamp())}


PARALLELISM = (1, 2, 3)
