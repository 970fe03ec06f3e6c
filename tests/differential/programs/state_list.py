"""ListState: what an empty list gives, add, add_all, update, update with nothing, clear."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor

COMMANDS = ["get", "add 1", "add 2", "get", "all 3 4", "get", "update 9 8", "add 7", "get", "clear", "get", "add 5", "update", "get"]


class Run(KeyedProcessFunction):
    def open(self, runtime_context):
        self.items = runtime_context.get_list_state(ListStateDescriptor("items", Types.INT()))

    def process_element(self, value, ctx):
        command, *numbers = value[1].split()
        numbers = [int(n) for n in numbers]
        if command == "add":
            self.items.add(numbers[0])
        elif command == "all":
            self.items.add_all(numbers)
        elif command == "update":
            self.items.update(numbers)
        elif command == "clear":
            self.items.clear()
        else:
            yield value, list(self.items.get())


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    commands = [(key, f"{command}") for command in COMMANDS for key in "ab"] + [("c", "get")]
    values = env.from_collection(commands, type_info=Types.TUPLE([Types.STRING(), Types.STRING()]))
    return values.key_by(lambda v: v[0], key_type=Types.STRING()).process(Run()).set_parallelism(parallelism)
