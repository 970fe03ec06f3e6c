"""ValueState per key: None before the first update and after clear; two states of one function do not mix."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

VALUES = [("a", 1), ("b", 2), ("a", 3), ("a", -1), ("b", 4), ("a", 5), ("c", -1), ("c", 6), ("b", 8)]


class Remember(KeyedProcessFunction):
    def open(self, runtime_context):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.INT()))
        self.all = runtime_context.get_state(ValueStateDescriptor("all", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        before = self.last.value(), self.all.value()
        if value[1] < 0:
            self.last.clear()
        else:
            self.last.update(value[1])
            self.all.update([*(before[1] or []), value[1]])
        yield value, before, self.last.value(), self.all.value()


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    values = env.from_collection(VALUES, type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    return values.key_by(lambda v: v[0], key_type=Types.STRING()).process(Remember()).set_parallelism(parallelism)


PARALLELISM = (1, 2, 3)
