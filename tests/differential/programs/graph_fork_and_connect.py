"""A stream forks, its branches change it in their own way, and meet again by connect, by union, and by both."""

from pyflink.common import Types
from pyflink.datastream import CoFlatMapFunction, KeyedCoProcessFunction
from pyflink.datastream.state import MapStateDescriptor

PAIR = Types.TUPLE([Types.INT(), Types.INT()])


class Meet(KeyedCoProcessFunction):
    """Gives a number when both of its branches have brought it."""

    def open(self, runtime_context):
        self.half = runtime_context.get_map_state(MapStateDescriptor("half", Types.STRING(), Types.INT()))

    def process_element1(self, value, ctx):
        yield from self.take("square", value)

    def process_element2(self, value, ctx):
        yield from self.take("cube", value)

    def take(self, side, value):
        self.half.put(side, value[1])
        if self.half.contains("square") and self.half.contains("cube"):
            yield value[0], self.half.get("square"), self.half.get("cube")


class Mark(CoFlatMapFunction):
    def flat_map1(self, value):
        yield f"left {value}"

    def flat_map2(self, value):
        yield from (f"right {part}" for part in value)


def build(env):
    numbers = env.from_collection(list(range(8)), type_info=Types.INT())
    squares = numbers.map(lambda n: (n, n * n), output_type=PAIR)
    cubes = numbers.filter(lambda n: n % 3 != 1).map(lambda n: (n, n**3), output_type=PAIR)
    met = squares.connect(cubes).key_by(lambda v: v[0], lambda v: v[0], Types.INT()).process(Meet())
    united = squares.union(cubes).map(lambda v: v[1], output_type=Types.INT())
    return {
        "met": met,
        "united": united,
        "marked": united.connect(cubes).flat_map(Mark(), output_type=Types.STRING()),
        "met and squares": met.map(lambda v: (v[0], v[2]), output_type=PAIR).union(squares, cubes).key_by(lambda v: v[0]).max(1),
    }


MODES = ("BATCH",)
PARALLELISM = (3,)
