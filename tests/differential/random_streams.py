"""Random DataStream programs: ``build(env, seed)`` makes the same job on real Flink and on Wiesel.

What a program returns must not depend on which of two subtasks is faster. So each stream knows whether the order of its records is defined
(they came one subtask after another from one that is alone); functions that depend on the order are given such streams only, and the others
sort what they have collected. Watermarks either follow each record, or come at the end.

The module is loaded under a name that nobody can import, so that its functions are shipped by value.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from random import Random

from punctuated import per_record_watermarks
from pyflink.common import Duration, Row, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from pyflink.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows

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
}
NUMBERS = ("int", "long", "double", "decimal")
NAMES = ("k", "n", "s", "x", "t")
KEYS = ("int", "string", "boolean", "long", "date")


class Shape:
    """What records look like: key, number, text, something, time; as tuples, rows or rows with names, of a declared type or not."""

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
    def extract_timestamp(self, value, record_timestamp):
        return value[4]


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


# Functions with state. Those that need an order have numbers in their results.


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

    def __init__(self, make, every, deleted):
        self.make, self.every, self.deleted = make, every, deleted

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


class Applied(WindowFunction):
    def __init__(self, make):
        self.make = make

    def apply(self, key, window, inputs):
        values = [value[4] for value in inputs]
        yield self.make(key, None, f"{window.max_timestamp() if hasattr(window, 'start') else 'count'} {sum(values)}", None, min(values))


class AllContents(ProcessAllWindowFunction):
    def __init__(self, make):
        self.make = make

    def process(self, context, elements):
        values = sorted(text_of(list(value)) for value in elements)
        yield self.make("", None, f"{context.window().start} {len(values)} {' '.join(values)}", None, context.window().start)


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


class Key:
    """Key selectors."""

    def __init__(self, what):
        self.what = what

    def __call__(self, value):
        if self.what == "pair":
            return (value[0], value[4] % 2)
        if self.what == "text":
            return value[2] or ""
        return value[0]


class Program:
    """Makes one program."""

    def __init__(self, env, seed):
        self.env, self.random = env, Random(seed)
        self.parallelism = env.get_parallelism()
        self.each = self.random.random() < 0.4
        self.results = {}
        self.tags = 0

    def source(self):
        """A source of its own."""
        random = self.random
        # PyFlink cannot hand lists of rows and what is pickled within a tuple over to its JVM.
        shape = Shape(
            random, random.choice(KEYS), random.choice(NUMBERS), random.choice([kind for kind in KINDS if kind not in ("rows", "pickled")])
        )
        values = []
        time = 0
        for _ in range(random.randrange(4, 16)):
            time += random.randrange(-6, 25)
            number = random.randrange(1000)
            key = KINDS[shape.key][1](number)
            fields = [
                None if random.random() < 0.15 else KINDS[kind][1](number // 3 + place)
                for place, kind in enumerate((shape.number, "string", shape.extra))
            ]
            values.append(shape.maker()(key, *fields, max(time, 0)))
        stream = self.env.from_collection(values, type_info=shape.type_info())
        if self.each:
            strategy = per_record_watermarks()
        elif random.random() < 0.5:
            strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_days(9))
        else:
            strategy = WatermarkStrategy.no_watermarks()
        stream = stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Moment())).set_parallelism(1)
        return Stream(stream, shape, ordered=True, alone=True, each=self.each)

    def stateless(self, of):
        """A stream made of each record of another one."""
        random, what = self.random, self.random.randrange(5)
        wide = random.random() < 0.4 and not of.each
        if what == 0:
            number = random.choice(NUMBERS)
            shape = Shape(random, of.shape.key, number, random.choice(list(KINDS)))
            factor = random.choice((1, 2, -1))
            stream = of.stream.map(Convert(shape.maker(), number, factor, KINDS[shape.extra][1]), shape.type_info())
        elif what == 1:
            shape = of.shape
            stream = of.stream.filter(Kept(random.choice(("time", "text", "number")), random.randrange(4)))
        elif what == 2:
            shape = of.shape
            stream = of.stream.flat_map(Copies(shape.maker(), random.choice((2, 3))), shape.type_info())
        elif what == 3:
            shape = of.shape
            self.tags += 1
            tag = OutputTag(f"aside {self.tags}", Types.TUPLE([KINDS[shape.key][0](), Types.STRING(), Types.LONG()]))
            stream = of.stream.process(Split(shape.maker(), tag), shape.type_info())
        else:
            return self.spread(of)
        if not of.alone or not wide:
            stream = stream.set_parallelism(1 if of.alone else self.parallelism)
            made = of.then(stream, shape, ordered=of.ordered and of.alone, alone=of.alone)
        else:
            stream = stream.set_parallelism(self.parallelism)
            made = of.then(stream, shape, ordered=self.parallelism == 1 and of.ordered, alone=self.parallelism == 1)
        if what == 3:
            self.results[f"aside {self.tags}"] = stream.get_side_output(tag)
        return made

    def spread(self, of):
        """A stream whose records go to other subtasks."""
        if of.each:
            return of
        how = self.random.randrange(5)
        if how == 0:
            stream = of.stream.partition_custom(lambda key, count: len(str(key)) % count, lambda value: value[0])
        else:
            stream = (of.stream.rebalance, of.stream.shuffle, of.stream.rescale, of.stream.broadcast)[how - 1]()
        shape = of.shape
        stream = stream.map(lambda value: value, shape.type_info()).set_parallelism(self.parallelism)
        return of.then(stream, shape, ordered=False, alone=False)

    def keyed(self, of, known=None):
        """A keyed stream, and the kind of its key."""
        what = known or self.random.choice(("field", "field", "pair", "text"))
        kind = {"field": of.shape.key, "text": "string"}.get(what)
        declared = self.random.random() < 0.6
        info = Types.TUPLE([KINDS[of.shape.key][0](), Types.INT()]) if what == "pair" else KINDS[kind][0]()
        return of.stream.key_by(Key(what), info if declared else None), kind

    def stateful(self, of):
        """A stream made of the records of each key."""
        random = self.random
        keyed, kind = self.keyed(of)
        shape = Shape(random, kind, of.shape.number, of.shape.extra) if kind else None
        if shape is None:
            shape = Shape(random, "string", of.shape.number, of.shape.extra)
        make = shape.maker(text_key=kind is None)
        whats = ["waiting", "window", "window"]
        if of.ordered:
            whats += ["running", "running", "reduce", "count"]
        what = random.choice(whats)
        if what == "running":
            # The key of records may be another one than that of the stream.
            shape = Shape(random, of.shape.key, of.shape.number, of.shape.extra)
            stream = keyed.process(
                Running(shape.maker(), of.shape.key, of.shape.number, of.shape.extra, random.random() < 0.3, random.choice((2, 4, 99))),
                shape.type_info(),
            )
        elif what == "waiting":
            every = random.choice((0, 0, 10, 30))
            stream = keyed.process(Waiting(make, every, of.each is False and random.random() < 0.2), shape.type_info())
        elif what == "reduce":
            shape = of.shape
            stream = keyed.reduce(Added(shape.maker()))
        elif what == "count":
            stream = self.counted(keyed, shape, make)
        else:
            stream, shape = self.windowed(keyed, of, shape, make)
        stream = stream.set_parallelism(self.parallelism)
        return of.then(
            stream, shape, ordered=self.parallelism == 1 and of.ordered and what in ("running", "reduce"), alone=self.parallelism == 1
        )

    def counted(self, keyed, shape, make):
        """Windows of so many records."""
        size = self.random.choice((1, 2, 3))
        windows = keyed.count_window(size, self.random.choice((0, 0, 1, 2)))
        return windows.apply(Applied(make), shape.type_info())

    def windowed(self, keyed, of, shape, make):
        """Windows of event time."""
        random = self.random
        size = random.choice((10, 20, 50))
        assigner = random.choice(
            (
                TumblingEventTimeWindows.of(Time.milliseconds(size)),
                TumblingEventTimeWindows.of(Time.milliseconds(size), Time.milliseconds(3)),
                SlidingEventTimeWindows.of(Time.milliseconds(size), Time.milliseconds(random.choice((5, 7, 25)))),
                EventTimeSessionWindows.with_gap(Time.milliseconds(random.choice((5, 15, 40)))),
            )
        )
        windows = keyed.window(assigner)
        late = None
        if of.each:
            if random.random() < 0.5:
                windows = windows.allowed_lateness(random.choice((0, 5, 15)))
            if random.random() < 0.5:
                self.tags += 1
                late = OutputTag(f"late {self.tags}", of.shape.type_info() or Types.PICKLED_BYTE_ARRAY())
                windows = windows.side_output_late_data(late)
        how = random.randrange(5)
        with_state = random.random() < 0.3 and not isinstance(assigner, EventTimeSessionWindows)
        if how == 0:
            stream = windows.process(
                Contents(make, of.ordered and not isinstance(assigner, EventTimeSessionWindows), with_state), shape.type_info()
            )
        elif how == 1:
            stream = windows.apply(Applied(make), shape.type_info())
        elif how == 2:
            stream, shape = windows.reduce(Commuting(of.shape.maker())), of.shape
        elif how == 3:
            stream = windows.aggregate(Total(), Contents(make, True, with_state), Types.PICKLED_BYTE_ARRAY(), shape.type_info())
        else:
            stream = windows.reduce(
                Commuting(of.shape.maker()), window_function=Contents(make, True, with_state), output_type=shape.type_info()
            )
        if late is not None:
            self.results[f"late {self.tags}"] = stream.get_side_output(late)
        return stream, shape

    def all_windows(self, of):
        """Windows of all records."""
        random = self.random
        shape = Shape(random, "string", "int", "int")
        if of.alone and of.ordered and random.random() < 0.3:
            self.results[f"all {len(self.results)}"] = of.stream.window_all(TumblingEventTimeWindows.of(Time.milliseconds(40))).aggregate(
                Total()
            )
        assigner = random.choice(
            (TumblingEventTimeWindows.of(Time.milliseconds(30)), EventTimeSessionWindows.with_gap(Time.milliseconds(20)))
        )
        return of.then(
            of.stream.window_all(assigner).process(AllContents(shape.maker()), shape.type_info()), shape, ordered=False, alone=True
        )

    def two(self, of):
        """A stream of two: of this one and another source, or the same."""
        random = self.random
        other = self.stateless(of) if random.random() < 0.4 else self.stateless(self.source())
        what = random.choice(("union", "map", "flat_map", "met", "met", "rules", "passing"))
        shape = Shape(random, "string", "int", "int")
        make = shape.maker()
        parallelism = self.parallelism
        if what == "union":
            # Records of two shapes meet under a type of their own.
            one, two = (
                each.stream.map(
                    lambda value, make=make: make(str(value[0]), None, value[2], 1, value[4]), shape.type_info()
                ).set_parallelism(1 if each.alone else parallelism)
                for each in (of, other)
            )
            return of.then(one.union(two), shape, ordered=False, alone=False)
        if what in ("map", "flat_map"):
            connected = of.stream.connect(other.stream)
            stream = connected.map(Both(make), shape.type_info()) if what == "map" else connected.flat_map(Some(make), shape.type_info())
            if what == "map":
                stream = stream.filter(lambda value: value is not None).set_parallelism(parallelism)
        elif what == "met":
            if of.shape.key != other.shape.key:
                keys = (lambda value: value[4] % 3), (lambda value: value[4] % 3)
            else:
                keys = Key("field"), Key("field")
            stream = of.stream.connect(other.stream).key_by(*keys).process(Met(make), shape.type_info())
        elif what == "rules":
            keyed, _ = self.keyed(of, "field")
            stream = keyed.connect(other.stream.broadcast(rules_descriptor())).process(Ruled(make), shape.type_info())
        else:
            stream = of.stream.connect(other.stream.broadcast(rules_descriptor())).process(Passing(make), shape.type_info())
        stream = stream.set_parallelism(parallelism)
        return of.then(stream, shape, ordered=False, alone=parallelism == 1)

    def build(self):
        """The program's results by name."""
        random = self.random
        self.env.set_parallelism(1)
        stream = self.source()
        done = False
        for _ in range(random.randrange(1, 6)):
            what = random.randrange(10)
            if stream.each and not (stream.alone and stream.ordered) and what >= 3:
                break  # Where watermarks are those of the faster of two, nothing may ask for them.
            if what < 3:
                stream = self.stateless(stream)
            elif what < 7:
                stream = self.stateful(stream)
            elif what < 8:
                stream = self.all_windows(stream)
            elif not stream.each and not done:
                stream, done = self.two(stream), True
            if random.random() < 0.2 and "copy" not in self.results:
                self.results["copy"] = stream.stream
        self.results["end"] = stream.stream
        return self.results


def build(env, seed):
    """Build the program of a seed; the environment's parallelism is that of most operators."""
    program = Program(env, seed)
    return program.build()
