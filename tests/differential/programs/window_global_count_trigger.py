"""Global windows: CountTrigger keeps the records, PurgingTrigger drops them, no trigger never fires."""

from pyflink.common import Types
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import CountTrigger, GlobalWindows, PurgingTrigger

VALUES = [("a", n) for n in range(7)] + [("b", n) for n in range(3)]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, [v[1] for v in elements], context.window().max_timestamp()


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    keyed = env.from_collection(VALUES, type_info=Types.TUPLE([Types.STRING(), Types.INT()])).key_by(lambda v: v[0])

    def windows():
        return keyed.window(GlobalWindows.create())

    return {
        "count": windows().trigger(CountTrigger.of(2)).process(Show()).set_parallelism(parallelism),
        "purging": windows().trigger(PurgingTrigger.of(CountTrigger.of(2))).process(Show()).set_parallelism(parallelism),
        "never": windows().process(Show()).set_parallelism(parallelism),
        "reduce": windows().trigger(CountTrigger.of(3)).reduce(lambda a, b: (a[0], a[1] + b[1])).set_parallelism(parallelism),
    }
