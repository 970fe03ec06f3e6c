"""A user's assigner of windows that are no times: records are shared out by a number of theirs, and counted."""

from pyflink.common import Types
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import CountTrigger, CountWindow, CountWindowSerializer, PurgingTrigger, WindowAssigner

KIND = Types.TUPLE([Types.STRING(), Types.INT()])
EVENTS = [("ab"[n % 2], n * 7 % 23) for n in range(24)]


class Tens(WindowAssigner):
    def assign_windows(self, element, timestamp, context):
        return [CountWindow(element[1] // 10)]

    def get_default_trigger(self, env):
        return PurgingTrigger.of(CountTrigger.of(2))

    def get_window_serializer(self):
        return CountWindowSerializer()

    def is_event_time(self):
        return False


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().id, [e[1] for e in elements]


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    keyed = env.from_collection(EVENTS, type_info=KIND).key_by(lambda e: e[0], key_type=Types.STRING())
    return {
        "default": keyed.window(Tens()).process(Show()).set_parallelism(parallelism),
        "three": keyed.window(Tens()).trigger(CountTrigger.of(3)).process(Show()).set_parallelism(parallelism),
    }


