"""What the tests of the harnesses run."""

from __future__ import annotations

from wiesel.common import Time, Types
from wiesel.datastream import OutputTag
from wiesel.datastream.functions import (
    AggregateFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    ReduceFunction,
)
from wiesel.datastream.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from wiesel.datastream.window import TumblingEventTimeWindows
from wiesel.spi.sink import Committer, Sink, SinkWriter
from wiesel.spi.source import Boundedness, InputStatus, Source, SourceReader, SplitEnumerator


class Double(MapFunction):
    def map(self, value):
        return 2 * value


class Words(FlatMapFunction):
    def flat_map(self, value):
        return value.split()


class Even(FilterFunction):
    def filter(self, value):
        return value % 2 == 0


class Largest(ReduceFunction):
    def reduce(self, value1, value2):
        return max(value1, value2)


class WithTimes(ProcessFunction):
    """Gives (value, timestamp, watermark); negative values go aside."""

    NEGATIVE = OutputTag("negative", Types.INT())

    def process_element(self, value, ctx):
        if value < 0:
            yield self.NEGATIVE, value
        else:
            yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


class Sides(CoMapFunction):
    def map1(self, value):
        return "left", value

    def map2(self, value):
        return "right", value


class Numbered(CoProcessFunction):
    def open(self, runtime_context):
        self.count = 0

    def process_element1(self, value, ctx):
        self.count += 1
        yield self.count, value

    def process_element2(self, value, ctx):
        self.count += 1
        yield self.count, value


class CountOfKey(KeyedProcessFunction):
    """Counts the records of a key; 100 ms of event time after each a timer tells the count, 1 s of the clock after the first ends it."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))
        self.by_time = runtime_context.get_map_state(MapStateDescriptor("by time", Types.LONG(), Types.LONG()))
        self.metric = runtime_context.get_metrics_group().counter("counted")

    def process_element(self, value, ctx):
        count = self.count.value()
        timers = ctx.timer_service()
        if count is None:
            count = 0
            timers.register_processing_time_timer(timers.current_processing_time() + 1_000)
        self.count.update(count + 1)
        self.seen.add(value[1])
        self.by_time.put(ctx.timestamp(), value[1])
        self.metric.inc()
        timers.register_event_time_timer(ctx.timestamp() + 100)
        yield value[0], count + 1

    def on_timer(self, timestamp, ctx):
        domain = ctx.time_domain().name
        yield domain, ctx.get_current_key(), self.count.value()
        if domain == "PROCESSING_TIME":
            self.count.clear()
            self.seen.clear()
            self.by_time.clear()


class Remember(KeyedProcessFunction):
    """State that lives for a second after it was read or written."""

    def open(self, runtime_context):
        lives = StateTtlConfig.new_builder(Time.seconds(1)).set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite).build()
        descriptor = ValueStateDescriptor("last", Types.STRING())
        descriptor.enable_time_to_live(lives)
        self.last = runtime_context.get_state(descriptor)

    def process_element(self, value, ctx):
        yield self.last.value()
        self.last.update(value)


class Match(KeyedCoProcessFunction):
    """Pairs each order with the payment of the same id, whichever comes first."""

    def open(self, runtime_context):
        self.order = runtime_context.get_state(ValueStateDescriptor("order", Types.PICKLED_BYTE_ARRAY()))
        self.payment = runtime_context.get_state(ValueStateDescriptor("payment", Types.PICKLED_BYTE_ARRAY()))

    def process_element1(self, value, ctx):
        payment = self.payment.value()
        if payment is None:
            self.order.update(value)
        else:
            yield value, payment

    def process_element2(self, value, ctx):
        order = self.order.value()
        if order is None:
            self.payment.update(value)
        else:
            yield order, value


class CountAll(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return f"{accumulator} records"

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


def first(value):
    return value[0]


def add(a, b):
    return a[0], a[1] + b[1]


def sums_of(size_ms):
    """Return the definition of sums per key and window."""
    return lambda stream: stream.key_by(first).window(TumblingEventTimeWindows.of(Time.milliseconds(size_ms))).reduce(add)


class Outside(Committer):
    """The world outside: what was committed, by the name of each part."""

    def __init__(self):
        self.parts = {}

    def commit(self, requests):
        self.parts.update(request.committable for request in requests)

    @property
    def values(self):
        return [value for part in self.parts.values() for value in part]


class TwoPhaseSink(Sink):
    """Commits what came between two checkpoints as one part; parts of different jobs and attempts have different names."""

    def __init__(self, outside):
        self.outside = outside

    def create_writer(self, context, state=()):
        return PartWriter(context)

    def create_committer(self):
        return self.outside

    def __reduce__(self):
        return TwoPhaseSink, (None,)


class PartWriter(SinkWriter):
    def __init__(self, context):
        self.name = (context.job_id, context.attempt, context.subtask_index)
        self.count = 0
        self.values = []

    def write_batch(self, values, timestamps):
        self.values.extend(values)

    def flush(self, end_of_input):
        pass

    def prepare_commit(self):
        values, self.values = self.values, []
        self.count += 1
        return [((*self.name, self.count), values)] if values else []


class Silent(Source):
    """A source that never ends and never gives anything."""

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def create_enumerator(self, context, state=None):
        return SilentEnumerator()

    def create_reader(self, context):
        return SilentReader()


class SilentEnumerator(SplitEnumerator):
    def add_reader(self, subtask):
        pass

    def snapshot_state(self, checkpoint_id):
        return None


class SilentReader(SourceReader):
    def poll(self, output):
        return InputStatus.NOTHING_AVAILABLE

    def add_splits(self, splits):
        pass

    def snapshot_state(self, checkpoint_id):
        return []
