"""A timer fires when the watermark reaches its time exactly; one registered at or before the watermark fires with the next watermark."""

from punctuated import per_record_watermarks
from pyflink.common import Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor

EVENTS = [(10, 20), (19, 19), (20, 5), (20, 20), (21, 21), (25, 3), (26, 1000)]


class First(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[0]


class Log(KeyedProcessFunction):
    def open(self, runtime_context):
        self.log = runtime_context.get_list_state(ListStateDescriptor("log", Types.STRING()))

    def process_element(self, value, ctx):
        self.log.add(f"record {value[0]}, watermark {ctx.timer_service().current_watermark()}, timer {value[1]}")
        ctx.timer_service().register_event_time_timer(value[1])

    def on_timer(self, timestamp, ctx):
        self.log.add(f"timer {timestamp}, watermark {ctx.timer_service().current_watermark()}")
        yield list(self.log.get())


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.LONG(), Types.LONG()])).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(First())
    )
    return events.key_by(lambda e: 0, key_type=Types.INT()).process(Log()).set_parallelism(parallelism)
