"""Several windows over one keyed stream at once: each has its records, its state and its late ones."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, ProcessWindowFunction
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor
from pyflink.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows

KIND = Types.TUPLE([Types.STRING(), Types.LONG()])
EVENTS = [("ab"[n // 3 % 2], t) for n, t in enumerate((1, 4, 2, 11, 9, 16, 23, 12, 21, 35, 28, 36, 51, 44, 60))]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Distinct(AggregateFunction):
    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        return sorted({*accumulator, value[1] % 5})

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return sorted({*a, *b})


class Compare(ProcessWindowFunction):
    """Tells how many records this window has more than the window of the key before."""

    def process(self, key, context, elements):
        before = context.global_state().get_state(ValueStateDescriptor("before", Types.INT()))
        sizes = context.global_state().get_map_state(MapStateDescriptor("sizes", Types.LONG(), Types.INT()))
        size = len(list(elements))
        yield key, context.window().end, size - (before.value() or 0), sorted(sizes.items())
        before.update(size)
        sizes.put(context.window().end, size)


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=KIND).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Second())
    )
    keyed = events.key_by(lambda e: e[0], key_type=Types.STRING())
    tumbling = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(3)))
    sliding = keyed.window(SlidingEventTimeWindows.of(Time.milliseconds(15), Time.milliseconds(5), Time.milliseconds(1)))
    sessions = keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(8)))
    streams = {
        "tumbling": tumbling.process(Compare()),
        "lenient": tumbling.allowed_lateness(20).process(Compare()),
        "sliding": sliding.aggregate(Distinct()),
        "sessions": sessions.process(Compare()),
    }
    return {name: stream.set_parallelism(parallelism) for name, stream in streams.items()}


PARALLELISM = (2,)
