"""Declared rows and tuples through a keyed reduce, a window, a union, a connect and a side output."""

from pyflink.common import Row, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import CoMapFunction, OutputTag, ProcessFunction
from pyflink.datastream.window import TumblingEventTimeWindows

ITEM = Types.ROW_NAMED(["name", "tags", "size"], [Types.STRING(), Types.LIST(Types.STRING()), Types.TUPLE([Types.INT(), Types.DOUBLE()])])
ITEMS = [Row("a", ["x"], (1, 0.5)), Row("b", [], (2, 0.25)), Row("a", ["y", "z"], (3, 4.0)), Row("c", ["x"], (5, 0.1))]


class Size(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value.size[0]


class Split(ProcessFunction):
    def process_element(self, value, ctx):
        if value.tags:
            yield OutputTag("tagged"), value
        yield value


class Names(CoMapFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return Row(name=value.name * 2, tags=value.tags, size=value.size)


def together(left, right):
    return Row(name=left.name, tags=left.tags + right.tags, size=(left.size[0] + right.size[0], left.size[1] + right.size[1]))


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Size())
    items = env.from_collection(ITEMS, type_info=ITEM).assign_timestamps_and_watermarks(strategy)
    keyed = items.key_by(lambda i: i.name, key_type=Types.STRING())
    split = items.process(Split(), output_type=ITEM).set_parallelism(parallelism)
    windows = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    return {
        "reduce": keyed.reduce(together).set_parallelism(parallelism),
        "window": windows.reduce(together, output_type=ITEM).set_parallelism(parallelism),
        "united": items.union(items).map(lambda i: i, output_type=ITEM),
        "connected": items.connect(items).map(Names(), output_type=ITEM),
        "split": split,
        "side": split.get_side_output(OutputTag("tagged")),
        "tuple": items.map(lambda i: i.size, output_type=Types.TUPLE([Types.INT(), Types.DOUBLE()])).project(1, 0),
    }


PARALLELISM = (2,)
