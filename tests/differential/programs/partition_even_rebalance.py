"""rebalance from one subtask deals records out in turn, so every subtask gets the same number."""

from pyflink.common import Types
from pyflink.datastream import MapFunction


class Count(MapFunction):
    def open(self, runtime_context):
        self.count = 0

    def map(self, value):
        self.count += 1
        return self.count


def build(env):
    return env.from_collection(list(range(12)), type_info=Types.INT()).rebalance().map(Count())


PARALLELISM = (1, 2, 3)
