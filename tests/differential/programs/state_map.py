"""MapState: put, get of a missing key, contains, remove, put_all, is_empty, items, keys, values, clear."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import MapStateDescriptor

COMMANDS = ["?", "put x 1", "put y 2", "?", "put x 3", "remove y", "remove z", "?", "all p 5 q 6", "?", "clear", "?", "put x 9", "?"]


class Run(KeyedProcessFunction):
    def open(self, runtime_context):
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.INT()))

    def process_element(self, value, ctx):
        command, *words = value[1].split()
        if command == "put":
            self.map.put(words[0], int(words[1]))
        elif command == "remove":
            self.map.remove(words[0])
        elif command == "all":
            self.map.put_all([(key, int(n)) for key, n in zip(words[::2], words[1::2], strict=True)])
        elif command == "clear":
            self.map.clear()
        else:
            yield (
                value[0],
                sorted(self.map.items()),
                sorted(self.map.keys()),
                sorted(self.map.values()),
                sorted(self.map),
                "x" in self.map,
                self.map.contains("y"),
                self.map.get("x") if self.map.contains("x") else "absent",
                self.map.is_empty(),
            )


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    commands = [(key, f"{command}") for command in COMMANDS for key in "ab"] + [("c", "?")]
    values = env.from_collection(commands, type_info=Types.TUPLE([Types.STRING(), Types.STRING()]))
    return values.key_by(lambda v: v[0], key_type=Types.STRING()).process(Run()).set_parallelism(parallelism)
