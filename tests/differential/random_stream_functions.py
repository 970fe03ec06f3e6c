"""Kinds of records and the user functions of the random DataStream programs (``random_streams.py``).

Functions that depend on the order of records have it in their results; the others sort what they have collected.
"""

from __future__ import annotations

import asyncio
import datetime
from decimal import Decimal
from random import Random

from pyflink.common import Row, Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    AsyncFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from pyflink.datastream.functions import AllWindowFunction, ProcessAllWindowFunction
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from pyflink.datastream.window import SessionWindowTimeGapExtractor

LAST = 2**60
"""A time that only the end of the input passes."""

# Kinds of fields: how their type is made, and a value for a number.
_DAY = datetime.date(2024, 2, 28)
KINDS = {
    "int": (lambda: Types.INT(), lambda n: n % 7 - 2),
    "long": (lambda: Types.LONG(), lambda n: (n % 5 - 1) * 3_000_000_000),
    "double": (lambda: Types.DOUBLE(), lambda n: (n % 9 - 3) / 4),
    "decimal": (lambda: Types.BIG_DEC(), lambda n: Decimal(n % 50 - 10) / 4),
    "string": (lambda: Types.STRING(), lambda n: ("a", "", "b c", "é😀", "B")[n % 5]),
    "boolean": (lambda: Types.BOOLEAN(), lambda n: n % 3 == 0),
    "date": (lambda: Types.SQL_DATE(), lambda n: _DAY + datetime.timedelta(days=n % 4)),
    "time": (lambda: Types.SQL_TIME(), lambda n: datetime.time(n % 24, n % 60, n % 7)),
    "timestamp": (lambda: Types.SQL_TIMESTAMP(), lambda n: datetime.datetime(2024, 2, 28, n % 24, 59, n % 60, n % 4 * 250_000)),
    "list": (lambda: Types.LIST(Types.INT()), lambda n: list(range(n % 4))),
    "texts": (lambda: Types.BASIC_ARRAY(Types.STRING()), lambda n: ["x" * k for k in range(n % 3)]),
    "map": (lambda: Types.MAP(Types.STRING(), Types.LONG()), lambda n: {"k": n, "l": -n} if n % 2 else {}),
    "tuple": (lambda: Types.TUPLE([Types.INT(), Types.STRING()]), lambda n: (n, "" if n % 4 == 1 else str(n))),
    "row": (lambda: Types.ROW([Types.STRING(), Types.DOUBLE()]), lambda n: Row(str(n % 3), None if n % 5 == 2 else n / 2)),
    "named": (lambda: Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.BOOLEAN()]), lambda n: Row(a=n, b=n % 2 == 0)),
    "rows": (lambda: Types.LIST(Types.ROW_NAMED(["p"], [Types.INT()])), lambda n: [Row(p=k) for k in range(n % 3)]),
    "pickled": (lambda: Types.PICKLED_BYTE_ARRAY(), lambda n: {n, "s"} if n % 3 else "p"),
    "byte": (lambda: Types.BYTE(), lambda n: n % 200 - 100),
    "short": (lambda: Types.SHORT(), lambda n: n % 3 * 9000 - 5),
    "float": (lambda: Types.FLOAT(), lambda n: (n % 11 - 5) / 8),
    "bytes": (lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()), lambda n: bytes(range(n % 4))),
    "doubles": (lambda: Types.PRIMITIVE_ARRAY(Types.DOUBLE()), lambda n: [k / 4 for k in range(n % 3)]),
    "flags": (lambda: Types.BASIC_ARRAY(Types.BOOLEAN()), lambda n: [n % 2 == 0] * (n % 3)),
    "objects": (lambda: Types.OBJECT_ARRAY(Types.STRING()), lambda n: [str(k) if k else None for k in range(n % 3)]),
    "lists": (lambda: Types.MAP(Types.LONG(), Types.LIST(Types.STRING())), lambda n: {n: ["l"] * (n % 3), -1: []}),
    "nested": (
        lambda: Types.TUPLE([Types.ROW([Types.INT(), Types.STRING()]), Types.LIST(Types.TUPLE([Types.INT(), Types.STRING()]))]),
        lambda n: (Row(n, None if n % 3 else "r"), [(k, "t") for k in range(n % 3)]),
    ),
}
NUMBERS = ("int", "long", "double", "decimal")
NAMES = ("k", "n", "s", "x", "t")
KEYS = ("int", "string", "boolean", "long", "date", "decimal", "double", "short", "time", "timestamp", "tuple", "row", "named")


class Shape:
    """Shapes of records: key, number, text, something, time; as tuples, rows or rows with names, of a declared type or not."""

    def __init__(self, random: Random, key: str, number: str, extra: str) -> None:
        self.key, self.number, self.extra = key, number, extra
        self.container = random.choice(("tuple", "tuple", "row", "named"))
        self.declared = random.random() < 0.75

    def type_info(self):
        """The declared type, or None."""
        if not self.declared:
            return None
        kinds = [KINDS[self.key][0](), KINDS[self.number][0](), Types.STRING(), KINDS[self.extra][0](), Types.LONG()]
        if self.container == "tuple":
            return Types.TUPLE(kinds)
        return Types.ROW(kinds) if self.container == "row" else Types.ROW_NAMED(list(NAMES), kinds)

    def maker(self, *, text_key=False):
        """A function that makes records."""
        return Maker(self.container, self.number if self.declared else None, self.extra if self.declared else None, text_key)


class Maker:
    """Makes records; with ``text_key`` a key that is a tuple becomes a text."""

    def __init__(self, container, number, extra, text_key):
        # Fields of a declared tuple cannot be None where it is serialised.
        self.container, self.text_key = container, text_key
        self.number, self.text, self.extra = (
            KINDS[kind][1](5) if number and container == "tuple" else None for kind in (number, "string", extra)
        )

    def __call__(self, key, number, text, extra, time):
        values = (
            text_of(key) if self.text_key else key,
            self.number if number is None else number,
            self.text if text is None else text,
            self.extra if extra is None else extra,
            time,
        )
        if self.container == "tuple":
            return values
        return Row(*values) if self.container == "row" else Row(**dict(zip(NAMES, values, strict=True)))


class Stream:
    """A stream of the program and what is known of it.

    ``ordered``: the order of its records is defined. ``alone``: one subtask makes it. ``each``: watermarks follow each record.
    """

    def __init__(self, stream, shape, *, ordered, alone, each):
        self.stream, self.shape, self.ordered, self.alone, self.each = stream, shape, ordered, alone, each

    def then(self, stream, shape=None, *, ordered, alone):
        """The stream that follows."""
        return Stream(stream, shape or self.shape, ordered=ordered, alone=alone, each=self.each)


class Moment(TimestampAssigner):
    """The time of a record, or some milliseconds later."""

    def __init__(self, later=0):
        self.later = later

    def extract_timestamp(self, value, record_timestamp):
        return value[4] + self.later


def text_of(value):
    """A text that is the same for equal values, on any engine."""
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{text_of(k)}:{text_of(v)}" for k, v in value.items())) + "}"
    if isinstance(value, (set, frozenset)):
        return "{" + ",".join(sorted(map(text_of, value))) + "}"
    if type(value).__name__ == "Row":
        return "Row(" + ",".join(map(text_of, value)) + ")"
    if isinstance(value, (list, tuple)):
        return type(value).__name__ + "(" + ",".join(map(text_of, value)) + ")"
    if isinstance(value, Decimal):
        return f"D{value.normalize() + 0}"
    return repr(value)


# Functions of one record.


class Convert:
    """Map: another number, another kind of the fourth field."""

    def __init__(self, make, number, factor, extra_value):
        self.make, self.number, self.factor, self.extra_value = make, number, factor, extra_value

    def __call__(self, value):
        number = value[1]
        if number is not None:
            number = {"int": lambda n: int(n) % 99_991, "long": int, "double": float, "decimal": lambda n: Decimal(str(n))}[self.number](
                number
            ) * self.factor
        seed = value[4] + len(value[2] or "")
        extra = None if seed % 6 == 5 else self.extra_value(seed)
        return self.make(value[0], number, value[2], extra, value[4])


class Kept:
    """Filter."""

    def __init__(self, what, number):
        self.what, self.number = what, number

    def __call__(self, value):
        if self.what == "time":
            return value[4] % 5 != self.number
        if self.what == "text":
            return value[2]
        return value[1] is None or value[1] >= self.number - 2


class Copies:
    """Flat map: none, one or two of each record."""

    def __init__(self, make, modulus):
        self.make, self.modulus = make, modulus

    def __call__(self, value):
        for number in range(value[4] % self.modulus):
            yield self.make(value[0], value[1], f"{value[2]}/{number}" if number else value[2], value[3], value[4] + number)


class Split(ProcessFunction):
    """Sends some records aside, and tells the time of the others."""

    def __init__(self, make, tag):
        self.make, self.tag = make, tag

    def process_element(self, value, ctx):
        if value[4] % 3 == 0:
            yield self.tag, (value[0], value[2] or "", ctx.timestamp())
        else:
            yield self.make(value[0], value[1], value[2], value[3], value[4])


class Seen(ProcessFunction):
    """Tells the timestamp and the watermark at each record."""

    def __init__(self, make):
        self.make = make

    def process_element(self, value, ctx):
        seen = f"{value[2]} {ctx.timestamp()} {ctx.timer_service().current_watermark()}"
        return [self.make(value[0], value[1], seen, value[3], value[4])]


class Asked(AsyncFunction):
    """Answers later, with none, one or two records."""

    def __init__(self, make):
        self.make = make

    async def async_invoke(self, value):
        await asyncio.sleep(value[4] % 4 / 1000)
        return [self.make(value[0], value[1], f"{value[2]}?{number}", value[3], value[4]) for number in range(value[4] * 7 % 3)]


# Functions with state. Those that need an order have numbers in their results.


def live_long(descriptor, ttl):
    """The descriptor, with a time to live that no program reaches; ``ttl`` has what the builder is told."""
    if ttl:
        builder = StateTtlConfig.new_builder(Time.hours(3))
        for setting in ttl:
            builder = getattr(builder, setting)()
        descriptor.enable_time_to_live(builder.build())
    return descriptor


TTLS = (
    (),
    ("update_ttl_on_create_and_write", "never_return_expired"),
    ("update_ttl_on_read_and_write", "return_expired_if_not_cleaned_up", "cleanup_full_snapshot"),
)


class Numbered(MapFunction):
    """Counts the records of each key."""

    def __init__(self, make, ttl):
        self.make, self.ttl = make, ttl

    def open(self, runtime_context):
        self.count = runtime_context.get_state(live_long(ValueStateDescriptor("count", Types.INT()), self.ttl))

    def map(self, value):
        number = (self.count.value() or 0) + 1
        self.count.update(number)
        return self.make(value[0], None, f"{value[2]}#{number}", value[3], value[4])


class FirstOfTexts(FilterFunction):
    """Records whose text is new to their key."""

    def __init__(self, ttl):
        self.ttl = ttl

    def open(self, runtime_context):
        self.texts = runtime_context.get_map_state(live_long(MapStateDescriptor("texts", Types.STRING(), Types.BOOLEAN()), self.ttl))

    def filter(self, value):
        text = value[2] or ""
        if self.texts.contains(text):
            return False
        self.texts.put(text, True)
        return True


class Groups(FlatMapFunction):
    """Emits the times of each three records of a key."""

    def __init__(self, make, ttl):
        self.make, self.ttl = make, ttl

    def open(self, runtime_context):
        self.times = runtime_context.get_list_state(live_long(ListStateDescriptor("times", Types.LONG()), self.ttl))

    def flat_map(self, value):
        self.times.add(value[4])
        times = list(self.times.get())
        if len(times) == 3:
            self.times.clear()
            yield self.make(value[0], value[1], str(times), value[3], value[4])


STEPS = (
    "put", "put", "put all", "remove", "clear map", "add", "add", "add all", "replace", "clear list", "set", "set", "clear value",
    "reduce", "clear reduced", "aggregate", "clear total",
)  # fmt: skip


class States(KeyedProcessFunction):
    """Changes state in the steps that it is given, each at some records, and tells after each record what there is."""

    def __init__(self, make, key, extra, steps, ttl, tag):
        self.make, self.key, self.extra, self.steps, self.ttl, self.tag = make, key, extra, steps, ttl, tag

    def open(self, runtime_context):
        key, extra = KINDS[self.key][0], KINDS[self.extra][0]
        get, ttl = runtime_context, self.ttl
        self.value = get.get_state(live_long(ValueStateDescriptor("value", Types.ROW([Types.STRING(), extra()])), ttl))
        self.list = get.get_list_state(live_long(ListStateDescriptor("list", extra()), ttl))
        self.map = get.get_map_state(live_long(MapStateDescriptor("map", key(), Types.TUPLE([Types.LONG(), Types.STRING()])), ttl))
        self.reduced = get.get_reducing_state(live_long(ReducingStateDescriptor("reduced", lambda a, b: a * 2 + b, Types.LONG()), ttl))
        self.total = get.get_aggregating_state(live_long(AggregatingStateDescriptor("total", Total(), Types.PICKLED_BYTE_ARRAY()), ttl))

    def change(self, step, value):
        text = value[2] or ""
        extras = [] if value[3] is None else [value[3]]
        if step == "put":
            self.map.put(value[0], (value[4], text))
        elif step == "put all":
            self.map.put_all([(value[0], (0, text))])
        elif step == "remove" and self.map.contains(value[0]):
            self.map.remove(value[0])
        elif step == "add" and extras:
            self.list.add(value[3])
        elif step == "add all" and extras:
            self.list.add_all(extras * 2)
        elif step == "replace":
            self.list.update(extras)
        elif step == "set":
            self.value.update(Row(text, value[3]))
        elif step == "reduce":
            self.reduced.add(value[4])
        elif step == "aggregate":
            self.total.add(value[4])
        elif step.startswith("clear"):
            {"map": self.map, "list": self.list, "value": self.value, "reduced": self.reduced, "total": self.total}[step[6:]].clear()

    def process_element(self, value, ctx):
        for place, step in enumerate(self.steps):
            if (value[4] + place) % 4:
                self.change(step, value)
        mapped = sorted(f"{text_of(key)}={text_of(item)}" for key, item in self.map.items())
        known = sorted(map(text_of, self.map.keys())), sorted(map(text_of, self.map.values())), self.map.is_empty()
        listed = text_of(list(self.list.get() or []))
        found = f"{text_of(self.value.value())} {listed} {mapped} {self.reduced.get()} {self.total.get()}"
        yield self.make(value[0], None, found, value[3], value[4])
        yield self.tag, (value[4], text_of(list(known)))


class Running(KeyedProcessFunction):
    """Results after each record, from each sort of state."""

    def __init__(self, make, key, number, extra, pickled, clear_at):
        self.make, self.key, self.number, self.extra, self.pickled, self.clear_at = make, key, number, extra, pickled, clear_at

    def open(self, runtime_context):
        kind = Types.PICKLED_BYTE_ARRAY if self.pickled else None
        of_extra, of_number = (kind or KINDS[name][0] for name in (self.extra, self.number))
        get = runtime_context
        self.last = get.get_state(ValueStateDescriptor("last", of_extra()))
        self.texts = get.get_list_state(ListStateDescriptor("texts", Types.STRING()))
        self.counts = get.get_map_state(MapStateDescriptor("counts", Types.STRING(), Types.INT()))
        self.most = get.get_reducing_state(ReducingStateDescriptor("most", lambda a, b: max(a, b), of_number()))
        self.total = get.get_aggregating_state(AggregatingStateDescriptor("total", Total(), Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        if value[1] is not None:
            self.most.add(value[1])
        before = self.last.value()
        if value[3] is not None:
            self.last.update(value[3])
        text = value[2] or ""
        self.texts.add(text)
        self.counts.put(text, (self.counts.get(text) or 0) + 1)
        self.total.add(value[4])
        texts, counts = list(self.texts.get()), dict(self.counts.items())
        yield self.make(value[0], self.most.get(), f"{'|'.join(texts)} {text_of(counts)} {self.total.get()}", before, value[4])
        if len(texts) == self.clear_at:
            for state in (self.texts, self.counts, self.last, self.most, self.total):
                state.clear()


class Total(AggregateFunction):
    def create_accumulator(self):
        return (0, 0)

    def add(self, value, accumulator):
        return accumulator[0] + (value[4] if isinstance(value, (tuple, Row)) else value), accumulator[1] + 1

    def get_result(self, accumulator):
        return f"{accumulator[0]}/{accumulator[1]}"

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class Waiting(KeyedProcessFunction):
    """Collects records and sends them sorted when a time has come."""

    def __init__(self, make, every, deleted, tag):
        self.make, self.every, self.deleted, self.tag = make, every, deleted, tag

    def open(self, runtime_context):
        self.records = runtime_context.get_map_state(MapStateDescriptor("records", Types.LONG(), Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        at = (value[4] // self.every + 1) * self.every if self.every else LAST
        self.records.put(at, sorted([*(self.records.get(at) or []), (text_of(list(value)), value[4])]))
        ctx.timer_service().register_event_time_timer(at)
        if self.deleted and value[4] % 11 == 0:
            ctx.timer_service().delete_event_time_timer(at)

    def on_timer(self, timestamp, ctx):
        found = self.records.get(timestamp)
        self.records.remove(timestamp)
        yield self.make(ctx.get_current_key(), None, " ".join(text for text, _ in found), None, found[0][1])
        if self.tag is not None and len(found) > 1:
            yield self.tag, (len(found), f"{text_of(ctx.get_current_key())} {timestamp} {ctx.timestamp()} {ctx.time_domain().name}")


class Added:
    """Reduce: the sum of numbers, all texts, the later time."""

    def __init__(self, make):
        self.make = make

    def __call__(self, one, other):
        number = one[1] if other[1] is None else other[1] if one[1] is None else one[1] + other[1]
        return self.make(one[0], number, f"{one[2]}+{other[2]}", other[3], max(one[4], other[4]))


class Commuting:
    """Reduce in any order."""

    def __init__(self, make):
        self.make = make

    def __call__(self, one, other):
        number = one[1] if other[1] is None else other[1] if one[1] is None else max(one[1], other[1])
        key = max(one[0], other[0], key=text_of)
        return self.make(key, number, max(one[2] or "", other[2] or ""), None, max(one[4], other[4]))


class Contents(ProcessWindowFunction):
    def __init__(self, make, in_order, with_state):
        self.make, self.in_order, self.with_state = make, in_order, with_state

    def process(self, key, context, elements):
        texts = [text_of(list(value) if not isinstance(value, str) else value) for value in elements]
        window, fired = context.window(), 0
        if self.with_state:
            state = context.window_state().get_state(ValueStateDescriptor("fired", Types.INT()))
            fired = (state.value() or 0) + 1
            state.update(fired)
        found = " ".join(texts if self.in_order else sorted(texts))
        yield self.make(key, None, f"{window.start} {window.end} {fired} {found}", None, window.start)


class ContentsAside(ProcessWindowFunction):
    """Counts the windows of each key in order, and sends small ones aside."""

    def __init__(self, make, tag):
        self.make, self.tag = make, tag

    def process(self, key, context, elements):
        windows = context.global_state().get_state(ValueStateDescriptor("windows", Types.INT()))
        windows.update((windows.value() or 0) + 1)
        times, start = sorted(value[4] for value in elements), context.window().start
        if len(times) == 1:
            yield self.tag, (times[0], f"{text_of(key)} {start}")
        yield self.make(key, None, f"{windows.value()} {start} {times}", None, times[0])


class Gap(SessionWindowTimeGapExtractor):
    """A gap that comes from the record."""

    def extract(self, element):
        return element[4] % 4 * 6 + 2


class Applied(WindowFunction):
    def __init__(self, make):
        self.make = make

    def apply(self, key, window, inputs):
        values = [value[4] for value in inputs]
        yield self.make(key, None, f"{window.max_timestamp() if hasattr(window, 'start') else 'count'} {sum(values)}", None, min(values))


class Told(ProcessWindowFunction):
    """The result of an incremental aggregation, with the key."""

    def __init__(self, make):
        self.make = make

    def process(self, key, context, elements):
        yield self.make(key, None, " ".join(elements), None, 0)


class AllContents(ProcessAllWindowFunction):
    def __init__(self, make):
        self.make = make

    def process(self, context, elements):
        values = sorted(text_of(list(value)) for value in elements)
        yield self.make("", None, f"{context.window().start} {len(values)} {' '.join(values)}", None, context.window().start)


class AllApplied(AllWindowFunction):
    def __init__(self, make):
        self.make = make

    def apply(self, window, inputs):
        values = sorted(value[4] if isinstance(value, (tuple, Row)) else value for value in inputs)
        yield self.make("", None, f"{window.max_timestamp() if hasattr(window, 'start') else 'all'} {values}", None, 0)


# Functions of two streams.


class Both(CoMapFunction):
    def __init__(self, make):
        self.make = make

    def map1(self, value):
        return self.make(str(value[0]), 1, value[2], value[4] % 5, value[4])

    def map2(self, value):
        return self.make(str(value[0]), 2, None, None, value[4]) if value[4] % 4 else None


class Some(CoFlatMapFunction):
    def __init__(self, make):
        self.make = make

    def flat_map1(self, value):
        if value[4] % 2:
            yield self.make(str(value[0]), 1, value[2], value[4] % 5, value[4])

    def flat_map2(self, value):
        for number in range(value[4] % 3):
            yield self.make(str(value[0]), number, None, 0, value[4])


class Met(KeyedCoProcessFunction):
    """Pairs of both sides, at the end."""

    def __init__(self, make):
        self.make = make

    def open(self, runtime_context):
        self.sides = [runtime_context.get_list_state(ListStateDescriptor(f"side {side}", Types.LONG())) for side in range(2)]

    def process_element1(self, value, ctx):
        self.sides[0].add(value[4])
        ctx.timer_service().register_event_time_timer(LAST)

    def process_element2(self, value, ctx):
        self.sides[1].add(value[4])
        ctx.timer_service().register_event_time_timer(LAST)

    def on_timer(self, timestamp, ctx):
        one, other = (sorted(state.get() or []) for state in self.sides)
        for number in one or [-1]:
            yield self.make(text_of(ctx.get_current_key()), len(other), ",".join(map(str, other)), number % 9, max(number, 0))


class Beside(CoProcessFunction):
    """Records of both sides pass, some of each go aside."""

    def __init__(self, make, tag):
        self.make, self.tag = make, tag

    def process_element1(self, value, ctx):
        if value[4] % 2:
            yield self.tag, (1, f"{text_of(value[0])} {ctx.timestamp()}")
        yield self.make(text_of(value[0]), 1, value[2], 1, value[4])

    def process_element2(self, value, ctx):
        if value[4] % 3:
            return [(self.tag, (2, text_of(value[3])))]
        return [self.make(text_of(value[0]), 2, value[2], 2, value[4])]


class MetInSteps(KeyedCoProcessFunction):
    """Counts, sums and marks of both sides, told at several times."""

    def __init__(self, make, tag):
        self.make, self.tag = make, tag

    def open(self, runtime_context):
        get = runtime_context
        self.most = get.get_reducing_state(ReducingStateDescriptor("most", max, Types.LONG()))
        self.total = get.get_aggregating_state(AggregatingStateDescriptor("total", Total(), Types.PICKLED_BYTE_ARRAY()))
        self.marks = get.get_map_state(MapStateDescriptor("marks", Types.STRING(), Types.INT()))

    def process_element1(self, value, ctx):
        self.most.add(value[4])
        self.total.add(value[4])
        ctx.timer_service().register_event_time_timer(value[4] // 25 * 25 + 1000)
        yield self.tag, (1, text_of(ctx.get_current_key()))

    def process_element2(self, value, ctx):
        self.marks.put(value[2] or "", value[4] % 3 if value[2] is None else 5)
        ctx.timer_service().register_event_time_timer(LAST)
        if value[4] % 7 == 0:
            ctx.timer_service().delete_event_time_timer(LAST - 1)

    def on_timer(self, timestamp, ctx):
        # Of texts that are None any one may have come last.
        marks = sorted(self.marks.keys())
        yield self.make(text_of(ctx.get_current_key()), None, f"{self.most.get()} {self.total.get()} {marks}", 3, timestamp % 10_000)


def rules_descriptor():
    """The state of what is broadcast."""
    return MapStateDescriptor("rules", Types.STRING(), Types.LONG())


class Ruled(KeyedBroadcastProcessFunction):
    """Keyed records wait until the rules are all there."""

    def __init__(self, make):
        self.make = make

    def open(self, runtime_context):
        self.times = runtime_context.get_list_state(ListStateDescriptor("times", Types.LONG()))

    def process_element(self, value, ctx):
        self.times.add(value[4])
        ctx.timer_service().register_event_time_timer(LAST)

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(rules_descriptor())
        name = text_of(value[0])
        state.put(name, max(state.get(name) or 0, value[4]))

    def on_timer(self, timestamp, ctx):
        rules = dict(ctx.get_broadcast_state(rules_descriptor()).items())
        times = sorted(self.times.get())
        name = text_of(ctx.get_current_key())
        yield self.make(name, len(times), f"{text_of(rules)} {times}", rules.get(name, 0) % 7, times[0])


class Passing(BroadcastProcessFunction):
    """Records pass; rules count themselves."""

    def __init__(self, make):
        self.make = make

    def process_element(self, value, ctx):
        yield self.make(text_of(value[0]), 0, value[2], 0, value[4])

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(rules_descriptor())
        state.put(str(value[4]), 1)


def marks_descriptor():
    """Another state of what is broadcast."""
    return MapStateDescriptor("marks", Types.LONG(), Types.TUPLE([Types.INT(), Types.STRING()]))


class RuledTwice(KeyedBroadcastProcessFunction):
    """Two states of what is broadcast; side outputs of both sides."""

    def __init__(self, make, tag):
        self.make, self.tag = make, tag

    def open(self, runtime_context):
        self.counts = runtime_context.get_map_state(MapStateDescriptor("counts", Types.LONG(), Types.INT()))

    def process_element(self, value, ctx):
        self.counts.put(value[4], (self.counts.get(value[4]) or 0) + 1)
        ctx.timer_service().register_event_time_timer(LAST)
        yield self.tag, (1, text_of(value[2]))

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(rules_descriptor()).put(text_of(value[0]), 1)
        marks = ctx.get_broadcast_state(marks_descriptor())
        if value[4] % 3:
            marks.put(value[4], (1, "m"))
        elif marks.contains(-1):
            marks.remove(-1)

    def on_timer(self, timestamp, ctx):
        rules = sorted(ctx.get_broadcast_state(rules_descriptor()).keys())
        marks = sorted((key, *mark) for key, mark in ctx.get_broadcast_state(marks_descriptor()).items())
        counts = sorted(self.counts.items())
        yield self.make(text_of(ctx.get_current_key()), len(rules), f"{rules} {marks} {counts}", len(marks), counts[0][0])
        yield self.tag, (2, f"{text_of(ctx.get_current_key())} {ctx.timestamp()}")


class Key:
    """Key selectors."""

    def __init__(self, what):
        self.what = what

    def __call__(self, value):
        if self.what == "pair":
            return (value[0], value[4] % 2)
        if self.what == "row":
            return Row(value[0], value[2] or "")
        if self.what == "some":
            return value[0] if value[4] % 3 else None
        if self.what == "text":
            return value[2] or ""
        return value[0]
