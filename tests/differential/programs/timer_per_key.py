"""Timers belong to a key: equal times of one key are one timer, deleting takes only the own key's, later ones stay."""

from punctuated import per_record_watermarks
from pyflink.common import Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

KIND = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
EVENTS = [
    ("a", 1, "+10"), ("b", 2, "+10"), ("a", 3, "+10"), ("c", 4, "+12"), ("b", 5, "-10"), ("a", 6, "+20"), ("c", 7, "-11"),
    ("b", 11, "+20"), ("b", 12, "-20"), ("c", 13, "+20"), ("b", 14, "+20"), ("a", 25, "+30"), ("a", 26, "-30"), ("c", 27, "-30"),
]  # fmt: skip


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Obey(KeyedProcessFunction):
    def open(self, runtime_context):
        self.fired = runtime_context.get_state(ValueStateDescriptor("fired", Types.INT()))

    def process_element(self, value, ctx):
        service = ctx.timer_service()
        act = service.register_event_time_timer if value[2][0] == "+" else service.delete_event_time_timer
        act(int(value[2][1:]))

    def on_timer(self, timestamp, ctx):
        self.fired.update((self.fired.value() or 0) + 1)
        yield ctx.get_current_key(), timestamp, ctx.timestamp(), self.fired.value(), ctx.timer_service().current_watermark()


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=KIND).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Second())
    )
    return events.key_by(lambda v: v[0], key_type=Types.STRING()).process(Obey()).set_parallelism(parallelism)


PARALLELISM = (2,)
