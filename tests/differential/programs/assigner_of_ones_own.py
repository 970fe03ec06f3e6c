"""A user's window assigner that puts a record into no window, one, or several, with the default trigger of its own."""

from punctuated import per_record_watermarks
from pyflink.common import Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import EventTimeTrigger, TimeWindow, TimeWindowSerializer, WindowAssigner

KIND = Types.TUPLE([Types.STRING(), Types.LONG()])
EVENTS = [("a", 1), ("b", 2), ("", 3), ("abc", 4), ("a", 12), ("abc", 11), ("b", 25), ("", 26), ("abc", 31), ("a", 44)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class OnePerLetter(WindowAssigner):
    """The n-th letter of the text gives a window n * 5 long that starts at a multiple of 10."""

    def assign_windows(self, element, timestamp, context):
        start = timestamp - timestamp % 10
        return [TimeWindow(start, start + 5 * (n + 1)) for n in range(len(element[0]))]

    def get_default_trigger(self, env):
        return EventTimeTrigger.create()

    def get_window_serializer(self):
        return TimeWindowSerializer()

    def is_event_time(self):
        return True


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield context.window().start, context.window().end, sorted(elements)


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=KIND).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Second())
    )
    keyed = events.key_by(lambda e: "all", key_type=Types.STRING())
    return {
        "process": keyed.window(OnePerLetter()).process(Show()).set_parallelism(parallelism),
        "reduce": keyed.window(OnePerLetter()).reduce(lambda a, b: (a[0] + b[0], a[1] + b[1])).set_parallelism(parallelism),
        "lenient": keyed.window(OnePerLetter()).allowed_lateness(10).process(Show()).set_parallelism(parallelism),
    }


