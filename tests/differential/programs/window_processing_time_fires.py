"""Processing-time windows fire while the job runs: every record is in one tumbling window, within its bounds."""

import time

from pyflink.common import Time, Types
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import ContinuousProcessingTimeTrigger, GlobalWindows, PurgingTrigger, TumblingProcessingTimeWindows


class Check(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        for element in elements:
            yield key, element, window.end - window.start, window.start % 50, context.current_processing_time() >= window.max_timestamp()


class Records(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield from elements


def slowly(value):
    time.sleep(0.05 if value < 20 else 1.5)
    return value


def build(env):
    """The last records come late enough for all windows of the others to have fired; they are left out."""
    env.set_parallelism(1)
    numbers = env.from_collection(list(range(22)), type_info=Types.INT()).map(slowly, output_type=Types.INT())
    keyed = numbers.key_by(lambda n: n % 2, key_type=Types.INT())
    windows = keyed.window(TumblingProcessingTimeWindows.of(Time.milliseconds(50)))
    purging = PurgingTrigger.of(ContinuousProcessingTimeTrigger.of(Time.milliseconds(40)))
    return {
        "tumbling": windows.process(Check()).filter(lambda r: r[1] < 20),
        "continuous": keyed.window(GlobalWindows.create()).trigger(purging).process(Records()).filter(lambda r: r < 20),
    }


PARALLELISM = (1,)
NEEDS_CLOCK = True
