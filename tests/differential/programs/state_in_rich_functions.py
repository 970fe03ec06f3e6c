"""Keyed state in map, flat_map, filter and reduce functions, and two operators whose states have one name."""

from pyflink.common import Types
from pyflink.datastream import FilterFunction, FlatMapFunction, MapFunction
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor

KIND = Types.TUPLE([Types.STRING(), Types.INT()])
VALUES = [("ab"[n % 2], n // 3) for n in range(12)] + [("c", 1), ("c", 1)]


class Difference(MapFunction):
    def open(self, runtime_context):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.INT()))

    def map(self, value):
        last = self.last.value()
        self.last.update(value[1])
        return value[0], None if last is None else value[1] - last


class Changed(FilterFunction):
    def open(self, runtime_context):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.INT()))

    def filter(self, value):
        changed = self.last.value() != value[1]
        self.last.update(value[1])
        return changed


class InThrees(FlatMapFunction):
    def open(self, runtime_context):
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("last", Types.INT()))

    def flat_map(self, value):
        self.waiting.add(value[1])
        group = list(self.waiting.get())
        if len(group) == 3:
            self.waiting.clear()
            yield value[0], group


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    keyed = env.from_collection(VALUES, type_info=KIND).key_by(lambda v: v[0], key_type=Types.STRING())
    changed = keyed.filter(Changed()).set_parallelism(parallelism)
    return {
        "map": keyed.map(Difference()).set_parallelism(parallelism),
        "filter": changed,
        "flat map": keyed.flat_map(InThrees()).set_parallelism(parallelism),
        "two": changed.key_by(lambda v: v[0], key_type=Types.STRING()).map(Difference()),
    }


PARALLELISM = (2,)
