"""A hand-written session: value state, timers moved with every record, output by on_timer with a watermark after each record."""

from punctuated import per_record_watermarks
from pyflink.common import Row, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

EVENTS = [("a", 1), ("b", 2), ("a", 4), ("a", 9), ("b", 11), ("a", 20), ("b", 13), ("c", 30), ("a", 33), ("b", 45)]
SESSION = Types.ROW_NAMED(["first", "last", "count"], [Types.LONG(), Types.LONG(), Types.INT()])


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Sessions(KeyedProcessFunction):
    def open(self, runtime_context):
        self.session = runtime_context.get_state(ValueStateDescriptor("session", SESSION))

    def process_element(self, value, ctx):
        session = self.session.value()
        if session is None:
            session = Row(value[1], value[1], 0)
        else:
            ctx.timer_service().delete_event_time_timer(session[1] + 6)
        last = max(session[1], value[1])
        self.session.update(Row(session[0], last, session[2] + 1))
        ctx.timer_service().register_event_time_timer(last + 6)

    def on_timer(self, timestamp, ctx):
        session = self.session.value()
        self.session.clear()
        yield ctx.get_current_key(), timestamp, session[0], session[1], session[2], ctx.timer_service().current_watermark()


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.LONG()])).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Second())
    )
    return events.key_by(lambda e: e[0], key_type=Types.STRING()).process(Sessions()).set_parallelism(parallelism)


PARALLELISM = (1, 2, 3)
