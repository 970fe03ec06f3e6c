"""A timer registered twice fires once; a deleted one does not; deleting an unknown one does nothing."""

from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction

EVENTS = [("a", "+", 10), ("a", "+", 10), ("b", "+", 10), ("a", "+", 20), ("a", "-", 20), ("b", "-", 30), ("b", "+", 20), ("a", "-+", 40)]


class Position(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Fire(KeyedProcessFunction):
    def process_element(self, value, ctx):
        for operation in value[1]:
            if operation == "+":
                ctx.timer_service().register_event_time_timer(value[2])
            else:
                ctx.timer_service().delete_event_time_timer(value[2])

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(1000)).with_timestamp_assigner(Position())
    kind = Types.TUPLE([Types.STRING(), Types.STRING(), Types.LONG()])
    events = env.from_collection(EVENTS, type_info=kind).assign_timestamps_and_watermarks(strategy)
    return events.key_by(lambda e: e[0], key_type=Types.STRING()).process(Fire()).set_parallelism(parallelism)
