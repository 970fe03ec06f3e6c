"""Side outputs of streams that are side outputs, one tag used at two places, and side outputs of keyed functions."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, OutputTag, ProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

REPEATED = OutputTag("repeated", Types.STRING())


class Halve(ProcessFunction):
    def process_element(self, value, ctx):
        if value % 2 == 0 and value > 0:
            yield OutputTag("halves", Types.LONG()), value // 2
        else:
            yield value


class First(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.BOOLEAN()))

    def process_element(self, value, ctx):
        if self.seen.value():
            yield REPEATED, f"{value} again"
        else:
            self.seen.update(True)
            yield value


def build(env):
    numbers = env.from_collection([1, 2, 4, 6, 12, 40, 7, 0, 3], type_info=Types.LONG())
    once = numbers.process(Halve(), output_type=Types.LONG())
    twice = once.get_side_output(OutputTag("halves", Types.LONG())).process(Halve(), output_type=Types.LONG())
    thrice = twice.get_side_output(OutputTag("halves", Types.LONG())).process(Halve(), output_type=Types.LONG())
    odd = once.union(twice, thrice)
    first = odd.key_by(lambda n: n, key_type=Types.LONG()).process(First(), output_type=Types.LONG())
    return {
        "once": once,
        "twice": twice,
        "thrice": thrice,
        "left": thrice.get_side_output(OutputTag("halves", Types.LONG())),
        "first": first,
        "repeated": first.get_side_output(REPEATED),
        "repeated letters": first.get_side_output(REPEATED).map(len, output_type=Types.INT()),
    }


PARALLELISM = (3,)
