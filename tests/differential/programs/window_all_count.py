"""window_all on global windows with count triggers."""

from pyflink.common import Types
from pyflink.datastream.functions import AllWindowFunction
from pyflink.datastream.window import CountSlidingWindowAssigner, CountTrigger, CountTumblingWindowAssigner, GlobalWindows, PurgingTrigger


class Show(AllWindowFunction):
    def apply(self, window, inputs):
        yield list(inputs)


def build(env):
    env.set_parallelism(1)
    numbers = env.from_collection(list(range(8)), type_info=Types.INT())
    return {
        "purging": numbers.window_all(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(3))).apply(Show()),
        "keeping": numbers.window_all(GlobalWindows.create()).trigger(CountTrigger.of(3)).apply(Show()),
        "tumbling": numbers.window_all(CountTumblingWindowAssigner.of(4)).apply(Show()),
        "sliding": numbers.window_all(CountSlidingWindowAssigner.of(4, 2)).apply(Show()),
    }


PARALLELISM = (1,)
