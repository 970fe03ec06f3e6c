"""window_state belongs to one window and is cleaned by clear; global_state belongs to the key."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import TumblingEventTimeWindows

EVENTS = [("a", 1), ("a", 9), ("b", 11), ("a", 3), ("a", 12), ("b", 14), ("a", 4), ("b", 25), ("a", 19), ("b", 40)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Firings(ProcessWindowFunction):
    def process(self, key, context, elements):
        of_window = context.window_state().get_state(ValueStateDescriptor("window firings", Types.LONG()))
        of_key = context.global_state().get_state(ValueStateDescriptor("key firings", Types.LONG()))
        of_window.update((of_window.value() or 0) + 1)
        of_key.update((of_key.value() or 0) + 1)
        yield key, context.window().start, of_window.value(), of_key.value(), len(list(elements))

    def clear(self, context):
        context.window_state().get_state(ValueStateDescriptor("window firings", Types.LONG())).clear()


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.LONG()])).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Second())
    )
    return (
        events.key_by(lambda e: e[0], key_type=Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .allowed_lateness(20)
        .process(Firings())
        .set_parallelism(parallelism)
    )
