"""Many keys, each let through once; the survivors are counted by a second keyed operator."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor


class First(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.BOOLEAN()))

    def process_element(self, value, ctx):
        if not self.seen.value():
            self.seen.update(True)
            yield value % 5, 1


def build(env):
    numbers = env.from_collection([n * n % 101 for n in range(400)], type_info=Types.INT())
    unique = numbers.key_by(lambda n: n, key_type=Types.INT()).process(First(), Types.TUPLE([Types.INT(), Types.INT()]))
    return unique.key_by(lambda v: v[0], key_type=Types.INT()).reduce(lambda a, b: (a[0], a[1] + b[1]))


PARALLELISM = (1, 2, 4)
