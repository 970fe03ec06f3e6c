"""A trigger like Java's DeltaTrigger: it fires when a record is far enough from the one that fired last."""

from pyflink.common import Types
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import GlobalWindows, Trigger, TriggerResult

EVENTS = [("a", n) for n in (0, 3, 9, 11, 12, 25, 24, 36, 36, 47)] + [("b", n) for n in (5, 15, 16, 4, 27)] + [("c", 1)]


class Delta(Trigger):
    def __init__(self, threshold, result):
        self.threshold = threshold
        self.result = result
        self.last = ValueStateDescriptor("last", Types.INT())

    def on_element(self, element, timestamp, window, ctx):
        last = ctx.get_partitioned_state(self.last)
        if last.value() is None:
            last.update(element[1])
        elif abs(element[1] - last.value()) > self.threshold:
            last.update(element[1])
            return self.result
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.last).clear()


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, [e[1] for e in elements]


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    keyed = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.INT()])).key_by(lambda e: e[0])

    def windows(result):
        return keyed.window(GlobalWindows.create()).trigger(Delta(10, result)).process(Show()).set_parallelism(parallelism)

    return {"keeping": windows(TriggerResult.FIRE), "purging": windows(TriggerResult.FIRE_AND_PURGE)}


PARALLELISM = (2,)
