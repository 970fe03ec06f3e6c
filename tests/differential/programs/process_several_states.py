"""One keyed function with five states: what is cleared for one key or in one state leaves the others alone."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor

KIND = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
EVENTS = [
    ("a", 1, "x"), ("b", 2, "y"), ("a", 3, "y"), ("a", 4, "clear list"), ("b", 5, "x"), ("a", 6, "z"), ("b", 7, "clear map"),
    ("a", 8, "y"), ("b", 9, "y"), ("c", 10, "clear value"), ("c", 11, "x"), ("a", 12, "clear all"), ("a", 13, "w"), ("b", 14, "z"),
]  # fmt: skip


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Keep(KeyedProcessFunction):
    def open(self, runtime_context):
        self.states = {
            "value": runtime_context.get_state(ValueStateDescriptor("value", Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()]))),
            "list": runtime_context.get_list_state(ListStateDescriptor("list", Types.STRING())),
            "map": runtime_context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.LIST(Types.LONG()))),
            "sum": runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b, Types.LONG())),
            "longest": runtime_context.get_reducing_state(
                ReducingStateDescriptor("longest", lambda a, b: max(a, b, key=len), Types.STRING())
            ),
        }

    def process_element(self, value, ctx):
        word = value[2]
        if word.startswith("clear "):
            for name, state in self.states.items():
                if word.endswith((name, "all")):
                    state.clear()
        else:
            self.states["value"].update(value)
            self.states["list"].add(word)
            known = self.states["map"]
            known.put(word, [*(known.get(word) or []), value[1]] if known.contains(word) else [value[1]])
            self.states["sum"].add(value[1])
            self.states["longest"].add(word * value[1])
        ctx.timer_service().register_event_time_timer(value[1] + 1_000)

    def on_timer(self, timestamp, ctx):
        s = self.states
        yield ctx.get_current_key(), timestamp, s["value"].value(), list(s["list"].get()), sorted(s["map"].items()), s["sum"].get()
        yield ctx.get_current_key(), s["longest"].get()
        if timestamp == 1_008:
            for state in s.values():
                state.clear()


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    events = env.from_collection(EVENTS, type_info=KIND).assign_timestamps_and_watermarks(strategy)
    return events.key_by(lambda v: v[0], key_type=Types.STRING()).process(Keep()).set_parallelism(parallelism)


PARALLELISM = (2,)
