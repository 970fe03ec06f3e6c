"""partition_custom, broadcast and forward: which subtask gets which record is defined."""

from pyflink.common import Types
from pyflink.datastream import KeySelector, MapFunction, Partitioner


class Where(MapFunction):
    def open(self, runtime_context):
        self.index = runtime_context.get_index_of_this_subtask()

    def map(self, value):
        return value, self.index


class Modulo(Partitioner):
    def partition(self, key, num_partitions):
        return (key * 7 + 1) % num_partitions


class Half(KeySelector):
    def get_key(self, value):
        return value // 2


def build(env):
    numbers = env.from_collection(list(range(8)), type_info=Types.INT())
    return {
        "custom": numbers.partition_custom(Modulo(), Half()).map(Where()),
        "custom lambda": numbers.partition_custom(lambda key, n: n - 1 - key % n, lambda x: x).map(Where()),
        "broadcast": numbers.broadcast().map(Where()),
        "forward": numbers.map(lambda x: x + 1).set_parallelism(1).forward().map(Where()).set_parallelism(1),
        "to one": numbers.map(lambda x: x).map(Where()).set_parallelism(1),
    }


PARALLELISM = (1, 2, 3)
