"""A bounded job does not wait for its processing-time windows: what has not fired when the input ends is lost."""

from pyflink.common import Time, Types
from pyflink.datastream.window import ProcessingTimeSessionWindows, TumblingProcessingTimeWindows


def build(env):
    pairs = env.from_collection([("a", 1), ("b", 2), ("a", 3)], type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    keyed = pairs.key_by(lambda p: p[0])
    return {
        "input": pairs,
        "tumbling": keyed.window(TumblingProcessingTimeWindows.of(Time.days(1000))).reduce(lambda a, b: (a[0], a[1] + b[1])),
        "session": keyed.window(ProcessingTimeSessionWindows.with_gap(Time.days(1))).reduce(lambda a, b: (a[0], a[1] + b[1])),
    }
