"""Random DataStream programs: ``build(env, seed)`` makes the same job on real Flink and on Wiesel.

What a program returns must not depend on which of two subtasks is faster. So each stream knows whether the order of its records is defined
(they came one subtask after another from one that is alone); functions that depend on the order are given such streams only, and the others
sort what they have collected. Watermarks either follow each record, or come at the end.

Both modules are loaded under names that nobody can import, so that their functions are shipped by value.
"""

from __future__ import annotations

from random import Random

from punctuated import per_record_watermarks
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.datastream import AsyncDataStream, OutputTag
from pyflink.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from random_stream_functions import (
    KEYS,
    KINDS,
    NUMBERS,
    STEPS,
    TTLS,
    Added,
    AllApplied,
    AllContents,
    Applied,
    Asked,
    Beside,
    Both,
    Commuting,
    Contents,
    ContentsAside,
    Convert,
    Copies,
    FirstOfTexts,
    Gap,
    Groups,
    Kept,
    Key,
    Met,
    MetInSteps,
    Moment,
    Numbered,
    Passing,
    Ruled,
    RuledTwice,
    Running,
    Seen,
    Shape,
    Some,
    Split,
    States,
    Stream,
    Told,
    Total,
    Waiting,
    marks_descriptor,
    rules_descriptor,
)

AS_RUNNING = ("running", "reduce", "states", "map", "filter", "flat map", "aggregation")
"""Keyed functions whose results follow each record."""


class Program:
    """Makes one program."""

    def __init__(self, env, seed):
        self.env, self.random = env, Random(seed)
        self.parallelism = env.get_parallelism()
        self.each = self.random.random() < 0.4
        self.results = {}
        self.tags = 0

    def tag(self, name, type_info):
        """A new output tag."""
        self.tags += 1
        return OutputTag(f"{name} {self.tags}", type_info)

    def aside(self):
        """A new output tag for numbers and texts."""
        return self.tag("aside", Types.TUPLE([Types.LONG(), Types.STRING()]) if self.random.random() < 0.6 else None)

    def keep(self, stream, tag):
        """Make a side output a result, as it is or with an operator behind it."""
        output = stream.get_side_output(tag)
        if self.random.random() < 0.3:
            output = output.filter(lambda value: len(str(value[1])) % 3 != 0)
        self.results[tag.tag_id] = output

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
            key = KINDS[shape.key][1](number % 8)
            fields = [
                None if random.random() < 0.15 else KINDS[kind][1](number // 3 + place)
                for place, kind in enumerate((shape.number, "string", shape.extra))
            ]
            values.append(shape.maker()(key, *fields, max(time, 0)))
        stream = self.env.from_collection(values, type_info=shape.type_info())
        stream = stream.assign_timestamps_and_watermarks(self.strategy(0)).set_parallelism(1)
        return Stream(stream, shape, ordered=True, alone=True, each=self.each)

    def strategy(self, later):
        """A watermark strategy, with timestamps that are later by so much."""
        if self.each:
            strategy = per_record_watermarks()
        elif self.random.random() < 0.5:
            strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_days(9))
        else:
            strategy = WatermarkStrategy.no_watermarks()
        return strategy.with_timestamp_assigner(Moment(later))

    def stateless(self, of):
        """A stream made of each record of another one."""
        random = self.random
        what = random.choice(("map", "map", "filter", "flat map", "split", "seen", "async", "later", "spread", "spread"))
        if what == "spread":
            return self.spread(of)
        wide = random.random() < 0.4 and not of.each
        shape, tag, in_order = of.shape, None, True
        if what == "map":
            number = random.choice(NUMBERS)
            shape = Shape(random, of.shape.key, number, random.choice(list(KINDS)))
            factor = random.choice((1, 2, -1))
            stream = of.stream.map(Convert(shape.maker(), number, factor, KINDS[shape.extra][1]), shape.type_info())
        elif what == "filter":
            stream = of.stream.filter(Kept(random.choice(("time", "text", "number")), random.randrange(4)))
        elif what == "flat map":
            stream = of.stream.flat_map(Copies(shape.maker(), random.choice((2, 3))), shape.type_info())
        elif what == "split":
            tag = self.tag("aside", Types.TUPLE([KINDS[shape.key][0](), Types.STRING(), Types.LONG()]))
            stream = of.stream.process(Split(shape.maker(), tag), shape.type_info())
        elif what == "seen" and of.each:
            # In a chain of PyFlink's all functions see the watermark of its head.
            stream = of.stream.process(Seen(shape.maker()), shape.type_info()).disable_chaining()
        elif what in ("seen", "async"):
            in_order = of.each or random.random() < 0.5
            wait = AsyncDataStream.ordered_wait if in_order else AsyncDataStream.unordered_wait
            stream = wait(of.stream, Asked(shape.maker()), Time.seconds(60), random.choice((1, 3, 100)), shape.type_info())
        else:
            # Two assigners with nothing between them would be one strategy in the same chain.
            stream = of.stream.assign_timestamps_and_watermarks(self.strategy(random.choice((3, 40))))
        stream = stream.set_parallelism(self.parallelism if wide or not of.alone else 1)
        if random.random() < 0.2:
            stream = random.choice((stream.disable_chaining, stream.start_new_chain))()
        alone = of.alone and (not wide or self.parallelism == 1)
        made = of.then(stream, shape, ordered=of.ordered and alone and in_order, alone=alone)
        if tag is not None:
            self.keep(stream, tag)
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
        parallelism = self.parallelism if how == 4 else self.random.choice((1, 2, 3))
        stream = stream.map(lambda value: value, shape.type_info()).set_parallelism(parallelism)
        return of.then(stream, shape, ordered=False, alone=parallelism == 1)

    def keyed(self, of, known=None):
        """A keyed stream, and the kind of its key."""
        what = known or self.random.choice(("field", "field", "pair", "text", "row", "some"))
        kind = {"field": of.shape.key, "text": "string"}.get(what)
        declared = self.random.random() < 0.6
        if what == "pair":
            info = Types.TUPLE([KINDS[of.shape.key][0](), Types.INT()])
        elif what == "row":
            info = Types.ROW([KINDS[of.shape.key][0](), Types.STRING()])
        else:
            info = KINDS[kind][0]() if kind else None
        return of.stream.key_by(Key(what), info if declared else None), kind

    def stateful(self, of):
        """A stream made of the records of each key."""
        random = self.random
        keyed, kind = self.keyed(of)
        shape = Shape(random, kind or "string", of.shape.number, of.shape.extra)
        make = shape.maker(text_key=kind is None)
        whats = ["waiting", "window", "window", "window"]
        if of.ordered:
            whats += ["running", "reduce", "count", "states", "states", "map", "filter", "flat map", "aggregation"]
        what = random.choice(whats)
        tag = None
        if what in ("running", "states", "map", "flat map"):
            # The key of records may be another one than that of the stream.
            shape = Shape(random, of.shape.key, of.shape.number, of.shape.extra)
            stream, tag = self.following(keyed, of, shape, what)
        elif what == "waiting":
            every = random.choice((0, 0, 10, 30))
            tag = self.aside() if random.random() < 0.4 else None
            stream = keyed.process(Waiting(make, every, of.each is False and random.random() < 0.2, tag), shape.type_info())
        elif what == "reduce":
            shape = of.shape
            stream = keyed.reduce(Added(shape.maker()))
        elif what == "filter":
            shape = of.shape
            stream = keyed.filter(FirstOfTexts(random.choice(TTLS)))
        elif what == "aggregation":
            shape = of.shape
            position = "t" if shape.container == "named" and random.random() < 0.5 else 4
            stream = random.choice((keyed.sum, keyed.min, keyed.max, keyed.min_by, keyed.max_by))(position)
        elif what == "count":
            stream, shape = self.counted(keyed, of, shape, make)
        else:
            stream, shape = self.windowed(keyed, of, shape, make)
        stream = stream.set_parallelism(self.parallelism)
        if tag is not None:
            self.keep(stream, tag)
        alone = self.parallelism == 1
        return of.then(stream, shape, ordered=alone and of.ordered and what in AS_RUNNING, alone=alone)

    def following(self, keyed, of, shape, what):
        """A keyed function with results at each record, and its output tag."""
        random, tag = self.random, None
        ttl = random.choice(TTLS)
        if what == "running":
            pickled, clear_at = random.random() < 0.3, random.choice((2, 4, 99))
            function = Running(shape.maker(), of.shape.key, of.shape.number, of.shape.extra, pickled, clear_at)
        elif what == "states":
            tag = self.aside()
            function = States(shape.maker(), of.shape.key, of.shape.extra, random.choices(STEPS, k=random.choice((3, 5, 8))), ttl, tag)
        elif what == "map":
            return keyed.map(Numbered(shape.maker(), ttl), shape.type_info()), None
        else:
            return keyed.flat_map(Groups(shape.maker(), ttl), shape.type_info()), None
        return keyed.process(function, shape.type_info()), tag

    def counted(self, keyed, of, shape, make):
        """Windows of so many records."""
        random = self.random
        size = random.choice((1, 2, 3))
        if random.random() < 0.3:
            windows = keyed.window(GlobalWindows.create())
            windows = windows.trigger(PurgingTrigger.of(CountTrigger.of(size)) if random.random() < 0.6 else CountTrigger.of(size))
        else:
            windows = keyed.count_window(size, random.choice((0, 0, 1, 2)))
        how = random.randrange(3)
        if how == 0:
            return windows.reduce(Added(of.shape.maker())), of.shape
        if how == 1:
            return windows.aggregate(Total(), Told(make), Types.PICKLED_BYTE_ARRAY(), shape.type_info()), shape
        return windows.apply(Applied(make), shape.type_info()), shape

    def assigner(self):
        """Windows of event time."""
        random = self.random
        size = random.choice((10, 20, 50))
        return random.choice(
            (
                TumblingEventTimeWindows.of(Time.milliseconds(size)),
                TumblingEventTimeWindows.of(Time.milliseconds(size), Time.milliseconds(3)),
                SlidingEventTimeWindows.of(Time.milliseconds(size), Time.milliseconds(random.choice((5, 7, 25)))),
                SlidingEventTimeWindows.of(Time.milliseconds(size), Time.milliseconds(25), Time.milliseconds(4)),
                EventTimeSessionWindows.with_gap(Time.milliseconds(random.choice((5, 15, 40)))),
                EventTimeSessionWindows.with_dynamic_gap(Gap()),
            )
        )

    def windowed(self, keyed, of, shape, make):
        """Windows of event time."""
        random = self.random
        assigner = self.assigner()
        merging = not isinstance(assigner, (TumblingEventTimeWindows, SlidingEventTimeWindows))
        windows = keyed.window(assigner)
        late = None
        if of.each:
            if random.random() < 0.5:
                windows = windows.allowed_lateness(random.choice((0, 5, 15)))
            if random.random() < 0.5:
                late = self.tag("late", of.shape.type_info() or Types.PICKLED_BYTE_ARRAY())
                windows = windows.side_output_late_data(late)
        if random.random() < 0.3 and not merging:
            triggers = [PurgingTrigger.of(EventTimeTrigger.create()), EventTimeTrigger.create()]
            if of.ordered:
                triggers += [CountTrigger.of(2), PurgingTrigger.of(CountTrigger.of(2))]
            windows = windows.trigger(random.choice(triggers))
        # PyFlink's sessions with reduce and aggregate forget records when a record joins two of them.
        how = random.choice(("process", "apply", "aside") if merging else ("process", "apply", "aside", "reduce", "aggregate", "both"))
        with_state = random.random() < 0.3 and not merging
        aside = None
        if how == "process":
            stream = windows.process(Contents(make, of.ordered and not merging, with_state), shape.type_info())
        elif how == "apply":
            stream = windows.apply(Applied(make), shape.type_info())
        elif how == "aside":
            aside = self.aside()
            stream = windows.process(ContentsAside(make, aside), shape.type_info())
        elif how == "reduce":
            stream, shape = windows.reduce(Commuting(of.shape.maker())), of.shape
        elif how == "aggregate":
            stream = windows.aggregate(Total(), Contents(make, True, with_state), Types.PICKLED_BYTE_ARRAY(), shape.type_info())
        else:
            stream = windows.reduce(
                Commuting(of.shape.maker()), window_function=Contents(make, True, with_state), output_type=shape.type_info()
            )
        for tag in (late, aside):
            if tag is not None:
                self.keep(stream, tag)
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
            (
                TumblingEventTimeWindows.of(Time.milliseconds(30)),
                SlidingEventTimeWindows.of(Time.milliseconds(40), Time.milliseconds(20)),
                EventTimeSessionWindows.with_gap(Time.milliseconds(20)),
            )
        )
        windows = of.stream.window_all(assigner)
        how = random.randrange(3) if not isinstance(assigner, EventTimeSessionWindows) else random.randrange(2)
        if how == 0:
            stream = windows.process(AllContents(shape.maker()), shape.type_info())
        elif how == 1:
            stream = windows.apply(AllApplied(shape.maker()), shape.type_info())
        else:
            stream = windows.reduce(Commuting(of.shape.maker()), window_function=AllApplied(shape.maker()), output_type=shape.type_info())
        return of.then(stream, shape, ordered=False, alone=True)

    def two(self, of):
        """A stream of two: of this one and another source, or the same."""
        random = self.random
        other = self.stateless(of) if random.random() < 0.4 else self.stateless(self.source())
        what = random.choice(("union", "map", "flat map", "beside", "met", "met", "met in steps", "rules", "rules twice", "passing"))
        shape = Shape(random, "string", "int", "int")
        make = shape.maker()
        parallelism = self.parallelism
        if what == "union":
            return self.united([of, other, *([self.source()] if random.random() < 0.3 else [])], shape)
        tag = self.aside() if what in ("beside", "met in steps", "rules twice") else None
        connected = of.stream.connect(other.stream)
        keys = (Key("field"), Key("field")) if of.shape.key == other.shape.key else (lambda value: value[4] % 3,) * 2
        if what in ("map", "flat map"):
            if random.random() < 0.4:
                connected = connected.key_by(*keys)
            stream = connected.map(Both(make), shape.type_info()) if what == "map" else connected.flat_map(Some(make), shape.type_info())
            if what == "map":
                stream = stream.filter(lambda value: value is not None).set_parallelism(parallelism)
        elif what == "beside":
            stream = connected.process(Beside(make, tag), shape.type_info())
        elif what == "met":
            stream = connected.key_by(*keys).process(Met(make), shape.type_info())
        elif what == "met in steps":
            stream = connected.key_by(*keys).process(MetInSteps(make, tag), shape.type_info())
        elif what == "passing":
            stream = of.stream.connect(other.stream.broadcast(rules_descriptor())).process(Passing(make), shape.type_info())
        else:
            keyed, _ = self.keyed(of, "field")
            twice = what == "rules twice"
            rules = other.stream.broadcast(rules_descriptor(), *([marks_descriptor()] if twice else []))
            stream = keyed.connect(rules).process(RuledTwice(make, tag) if twice else Ruled(make), shape.type_info())
        stream = stream.set_parallelism(parallelism)
        if tag is not None:
            self.keep(stream, tag)
        return of.then(stream, shape, ordered=False, alone=parallelism == 1)

    def united(self, streams, shape):
        """A union; records of several shapes meet under a type of their own."""
        make = shape.maker()
        alike = [
            each.stream.map(lambda value: make(str(value[0]), None, value[2], 1, value[4]), shape.type_info()).set_parallelism(
                1 if each.alone else self.parallelism
            )
            for each in streams
        ]
        return streams[0].then(alike[0].union(*alike[1:]), shape, ordered=False, alone=False)

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
