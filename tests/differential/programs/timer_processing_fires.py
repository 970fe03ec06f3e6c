"""A processing-time timer fires while the job runs; it is not an event-time timer."""

import time

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor


class Fire(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        if value == 1:
            ctx.timer_service().register_processing_time_timer(ctx.timer_service().current_processing_time() + 20)
            doomed = ctx.timer_service().current_processing_time() + 40
            ctx.timer_service().register_processing_time_timer(doomed)
            ctx.timer_service().delete_processing_time_timer(doomed)
        self.count.update((self.count.value() or 0) + 1)

    def on_timer(self, timestamp, ctx):
        late_enough = ctx.timer_service().current_processing_time() >= timestamp
        yield ctx.get_current_key(), ctx.time_domain().name, late_enough, self.count.value() < 30


def slowly(value):
    time.sleep(0.1)
    return value


def build(env):
    env.set_parallelism(1)
    numbers = env.from_collection(list(range(1, 31)), type_info=Types.INT())
    return numbers.map(slowly, output_type=Types.INT()).key_by(lambda n: "key", key_type=Types.STRING()).process(Fire())


PARALLELISM = (1,)
NEEDS_CLOCK = True
