"""Edges that skip levels: the source also feeds the last operator, past three exchanges."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"{value[0]}{value[0]}", count


def build(env):
    source = env.from_collection([("abc"[n % 3], n) for n in range(12)], type_info=PAIR)
    first = source.key_by(lambda v: v[0], key_type=Types.STRING()).process(Count(), output_type=PAIR)
    counted = first.key_by(lambda v: v[1], key_type=Types.INT()).process(Count(), output_type=PAIR)
    second = counted.map(lambda v: ("2" + v[0][:2], v[1]), output_type=PAIR)
    third = second.rebalance().filter(lambda v: v[1] % 2 == 1)
    union = third.union(source, first).map(lambda v: v, output_type=PAIR)
    joined = union.key_by(lambda v: len(v[0]), key_type=Types.INT()).process(Count())
    return {"joined": joined.map(lambda v: v[1]), "second": second.map(lambda v: (v[0][:1], v[1])), "source": source}


PARALLELISM = (1, 2, 3)
