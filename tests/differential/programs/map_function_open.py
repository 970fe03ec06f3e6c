"""MapFunction.open runs before the first record and sees the runtime context."""

from pyflink.common import Types
from pyflink.datastream import MapFunction

PARALLELISM = (1, 2, 3)


class Describe(MapFunction):
    def open(self, runtime_context):
        self.subtasks = runtime_context.get_number_of_parallel_subtasks()
        self.max_subtasks = runtime_context.get_max_number_of_parallel_subtasks()
        self.index_is_valid = 0 <= runtime_context.get_index_of_this_subtask() < self.subtasks
        self.attempt = runtime_context.get_attempt_number()

    def map(self, value):
        return value, self.subtasks, self.max_subtasks, self.index_is_valid, self.attempt


def build(env):
    numbers = env.from_collection(list(range(6)), type_info=Types.INT())
    return {
        "default": numbers.map(Describe()),
        "set": numbers.map(Describe()).set_parallelism(2).set_max_parallelism(7),
        "no type": env.from_collection(["x", 1, None, 2.5]).map(lambda value: [value]),
    }
