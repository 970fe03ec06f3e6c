"""Sessions with watermarks in between: fired sessions, late records with and without lateness, a late record that joins an open session."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, ProcessWindowFunction
from pyflink.datastream.window import EventTimeSessionWindows

EVENTS = [("a", 0), ("a", 4), ("a", 30), ("a", 5), ("a", 22), ("a", 33), ("b", 43), ("a", 41), ("a", 60), ("a", 44), ("a", 100)]
LATE = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG()]))


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Bounds(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, sorted(e[1] for e in elements), context.current_watermark()


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.LONG()])).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Second())
    )
    keyed = events.key_by(lambda e: e[0], key_type=Types.STRING())

    def sessions(lateness):
        windowed = keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(10)))
        return windowed.allowed_lateness(lateness).side_output_late_data(LATE).process(Bounds()).set_parallelism(parallelism)

    strict, lenient = sessions(0), sessions(15)
    return {
        "strict": strict,
        "strict late": strict.get_side_output(LATE),
        "lenient": lenient,
        "lenient late": lenient.get_side_output(LATE),
    }
