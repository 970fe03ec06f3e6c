"""Side outputs of both inputs and of the timers of a KeyedCoProcessFunction."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedCoProcessFunction, OutputTag

KIND = Types.TUPLE([Types.STRING(), Types.LONG()])
LEFT = OutputTag("left", Types.TUPLE([Types.STRING(), Types.LONG()]))
RIGHT = OutputTag("right", Types.ROW([Types.STRING(), Types.LONG()]))
TIMES = OutputTag("times")


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Route(KeyedCoProcessFunction):
    def process_element1(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 100)
        yield LEFT, value
        yield "left", ctx.get_current_key(), ctx.timestamp()

    def process_element2(self, value, ctx):
        from pyflink.common import Row

        ctx.timer_service().register_event_time_timer(value[1] + 200)
        yield RIGHT, Row(*value)
        yield "right", ctx.get_current_key(), ctx.timestamp()

    def on_timer(self, timestamp, ctx):
        yield TIMES, (ctx.get_current_key(), timestamp, ctx.time_domain().name)


def build(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    left = env.from_collection([("a", 1), ("b", 3), ("a", 5)], type_info=KIND).assign_timestamps_and_watermarks(strategy)
    right = env.from_collection([("b", 2), ("c", 4)], type_info=KIND).assign_timestamps_and_watermarks(strategy)
    main = left.connect(right).key_by(lambda v: v[0], lambda v: v[0], Types.STRING()).process(Route())
    return {"main": main, **{tag.tag_id: main.get_side_output(tag) for tag in (LEFT, RIGHT, TIMES)}}


PARALLELISM = (2,)
