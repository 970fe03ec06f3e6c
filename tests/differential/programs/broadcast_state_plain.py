"""BroadcastProcessFunction: every subtask sees every broadcast record; other records pass one subtask each."""

from pyflink.common import Types
from pyflink.datastream.functions import BroadcastProcessFunction
from pyflink.datastream.state import MapStateDescriptor

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Apply(BroadcastProcessFunction):
    def open(self, runtime_context):
        self.index = runtime_context.get_index_of_this_subtask()

    def process_element(self, value, ctx):
        yield "element", value

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(RULES)
        state.put(value, (state.get(value) if state.contains(value) else 0) + 1)
        yield "broadcast", value, self.index, state.get(value)


def build(env):
    numbers = env.from_collection([1, 2, 3, 4, 5], type_info=Types.INT())
    rules = env.from_collection(["r1", "r2", "r1"], type_info=Types.STRING())
    return numbers.connect(rules.broadcast(RULES)).process(Apply())


PARALLELISM = (1, 2, 3)
