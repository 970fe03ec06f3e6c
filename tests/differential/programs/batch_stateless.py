"""BATCH mode of what has no state: map, flat_map, filter, process with side output, union, partitioning, asynchronous calls."""

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, OutputTag, ProcessFunction

SMALL = OutputTag("small", Types.INT())


class Split(ProcessFunction):
    def process_element(self, value, ctx):
        if value < 4:
            yield SMALL, value
        else:
            yield value, ctx.timer_service().current_watermark()


class Double(AsyncFunction):
    async def async_invoke(self, value):
        return [value * 2]


def build(env):
    numbers = env.from_collection(list(range(10)), type_info=Types.INT())
    split = numbers.process(Split())
    return {
        "map": numbers.map(lambda n: n + 1, output_type=Types.INT()),
        "flat map": numbers.flat_map(lambda n: range(n % 4), output_type=Types.INT()),
        "filter": numbers.filter(lambda n: n % 3),
        "process": split,
        "small": split.get_side_output(SMALL),
        "union": numbers.union(split.get_side_output(SMALL)),
        # Flink's scheduler decides how many subtasks there are to choose from, so that only the values are told.
        "custom": numbers.partition_custom(lambda key, n: key // 3 % n, lambda n: n).map(lambda n: n, output_type=Types.INT()),
        "rebalanced": numbers.rebalance().map(lambda n: -n, output_type=Types.INT()),
        "async": AsyncDataStream.unordered_wait(numbers, Double(), Time.seconds(60), output_type=Types.INT()),
    }


PARALLELISM = (2,)
MODES = ("BATCH",)
