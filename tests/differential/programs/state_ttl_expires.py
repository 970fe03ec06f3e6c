"""State whose time to live has ended is gone, entry by entry in lists and maps; what was written just now is there."""

import time

from pyflink.common import Configuration, Time, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig, ValueStateDescriptor

KIND = Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT()])
# Key, what to do, and how many seconds to wait before.
COMMANDS = [
    ("a", "write", 0), ("a", "read", 0), ("b", "read", 0), ("a", "read", 4), ("a", "write", 0), ("a", "add", 4), ("a", "read", 0),
    ("b", "write", 0), ("b", "read", 0),
]  # fmt: skip


class Keep(KeyedProcessFunction):
    def open(self, runtime_context):
        def lives(descriptor, update_type):
            ttl = StateTtlConfig.new_builder(Time.seconds(3)).set_update_type(update_type)
            ttl.set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
            descriptor.enable_time_to_live(ttl.build())
            return descriptor

        write, read = StateTtlConfig.UpdateType.OnCreateAndWrite, StateTtlConfig.UpdateType.OnReadAndWrite
        self.written = runtime_context.get_state(lives(ValueStateDescriptor("written", Types.INT()), write))
        self.touched = runtime_context.get_state(lives(ValueStateDescriptor("touched", Types.INT()), read))
        self.list = runtime_context.get_list_state(lives(ListStateDescriptor("list", Types.STRING()), write))
        self.map = runtime_context.get_map_state(lives(MapStateDescriptor("map", Types.STRING(), Types.INT()), write))
        self.step = 0

    def process_element(self, value, ctx):
        self.step += 1
        time.sleep(value[2])
        if value[1] == "read":
            states = self.written.value(), self.touched.value(), list(self.list.get() or []), sorted(self.map.items())
            yield self.step, value[0], *states
            return
        if value[1] == "write":
            self.written.update(self.step)
            self.touched.update(self.step)
        self.list.add(value[1])
        self.map.put(value[1], self.step)


def build(env):
    # What PyFlink's worker holds in its cache does not expire; with a cache of one entry nothing stays there.
    config = Configuration()
    for option in ("python.state.cache-size", "python.map-state.read-cache-size", "python.map-state.write-cache-size"):
        config.set_string(option, "1")
    env.configure(config)
    env.set_parallelism(1)
    commands = env.from_collection(COMMANDS, type_info=KIND)
    return commands.key_by(lambda c: c[0], key_type=Types.STRING()).process(Keep())


PARALLELISM = (1,)
NEEDS_CLOCK = True
