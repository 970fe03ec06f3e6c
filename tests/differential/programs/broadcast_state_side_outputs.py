"""BroadcastProcessFunction: side outputs of both sides; the broadcast side repeats itself on every subtask."""

from pyflink.common import Types
from pyflink.datastream import OutputTag
from pyflink.datastream.functions import BroadcastProcessFunction
from pyflink.datastream.state import MapStateDescriptor

SEEN = MapStateDescriptor("seen", Types.INT(), Types.STRING())
RULES = OutputTag("rules", Types.TUPLE([Types.INT(), Types.STRING()]))
SMALL = OutputTag("small", Types.INT())


class Sort(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        if value < 3:
            yield SMALL, value
        else:
            yield "large", value

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(SEEN)
        state.put(len(value), value)
        yield RULES, (len(state.keys()) if hasattr(state.keys(), "__len__") else len(list(state.keys())), value)


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    rules = env.from_collection(["a", "bb", "cc", "ddd"], type_info=Types.STRING())
    numbers = env.from_collection(list(range(6)), type_info=Types.INT())
    main = numbers.connect(rules.broadcast(SEEN)).process(Sort()).set_parallelism(parallelism)
    return {"main": main, "rules": main.get_side_output(RULES), "small": main.get_side_output(SMALL)}


PARALLELISM = (3,)
