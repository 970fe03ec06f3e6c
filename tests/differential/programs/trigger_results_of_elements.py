"""The four results of a trigger when a record comes: the record itself says which."""

from pyflink.common import Types
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import GlobalWindows, Trigger, TriggerResult

EVENTS = [
    ("a", 1, "CONTINUE"), ("a", 2, "FIRE"), ("b", 3, "PURGE"), ("a", 4, "CONTINUE"), ("a", 5, "FIRE_AND_PURGE"), ("b", 6, "FIRE"),
    ("a", 7, "FIRE"), ("b", 8, "PURGE"), ("a", 9, "PURGE"), ("a", 10, "FIRE"), ("b", 11, "CONTINUE"), ("b", 12, "FIRE_AND_PURGE"),
    ("b", 13, "FIRE_AND_PURGE"), ("c", 14, "PURGE"), ("c", 15, "PURGE"), ("c", 16, "FIRE"), ("a", 17, "CONTINUE"),
]  # fmt: skip


class AsItSays(Trigger):
    def on_element(self, element, timestamp, window, ctx):
        return TriggerResult[element[2]]

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        pass


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, [e[1] for e in elements]


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    kind = Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()])
    keyed = env.from_collection(EVENTS, type_info=kind).key_by(lambda e: e[0], key_type=Types.STRING())

    def windows():
        return keyed.window(GlobalWindows.create()).trigger(AsItSays())

    return {
        "process": windows().process(Show()).set_parallelism(parallelism),
        "reduce": windows().reduce(lambda a, b: (a[0], a[1] + b[1], b[2]), output_type=kind).set_parallelism(parallelism),
    }


PARALLELISM = (3,)
