"""Asynchronous functions between others: behind a process function, before windows, united, and one behind the other."""

import asyncio

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AsyncDataStream, AsyncFunction, ProcessFunction
from pyflink.datastream.window import TumblingEventTimeWindows

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
EVENTS = [("ab"[n % 2], n * 3) for n in range(20)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Ask(AsyncFunction):
    """Answers late for some, with none, one or two records."""

    async def async_invoke(self, value):
        await asyncio.sleep(value[1] % 4 / 50)
        return [value] * (value[1] % 3 if value[1] % 2 else 1)


class Stamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield *value, ctx.timestamp()


def build(env):
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)).with_timestamp_assigner(Second())
    events = env.from_collection(EVENTS, type_info=PAIR).assign_timestamps_and_watermarks(strategy)
    answers = AsyncDataStream.unordered_wait(events, Ask(), Time.seconds(60), 4, PAIR)
    again = AsyncDataStream.ordered_wait(answers, Ask(), Time.seconds(60), 7, PAIR)
    windows = answers.key_by(lambda v: v[0], key_type=Types.STRING()).window(TumblingEventTimeWindows.of(Time.milliseconds(20)))
    return {
        "stamped": answers.process(Stamp()),
        "again": again,
        "windows": windows.reduce(lambda a, b: (a[0], a[1] + b[1]), output_type=PAIR),
        "united": again.union(events).map(lambda v: v[1]),
    }


PARALLELISM = (1,)
