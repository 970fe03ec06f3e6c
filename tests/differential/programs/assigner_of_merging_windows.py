"""A user's merging assigner: sessions that may not grow longer than a limit."""

from punctuated import per_record_watermarks
from pyflink.common import Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import EventTimeTrigger, MergingWindowAssigner, TimeWindow, TimeWindowSerializer

KIND = Types.TUPLE([Types.STRING(), Types.LONG()])
EVENTS = [("a", n) for n in (0, 4, 8, 12, 16, 20, 24, 40, 43)] + [("b", n) for n in (44, 48, 60, 64, 79)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class ShortSessions(MergingWindowAssigner):
    GAP = 5
    LONGEST = 15

    def assign_windows(self, element, timestamp, context):
        return [TimeWindow(timestamp, timestamp + self.GAP)]

    def merge_windows(self, windows, callback):
        group = []
        for window in sorted(windows, key=lambda w: w.start):
            if group and window.start <= max(w.end for w in group) and window.end - group[0].start <= self.LONGEST:
                group.append(window)
                continue
            self.close(group, callback)
            group = [window]
        self.close(group, callback)

    def close(self, group, callback):
        if len(group) > 1:
            callback.merge(group, TimeWindow(group[0].start, max(w.end for w in group)))

    def get_default_trigger(self, env):
        return EventTimeTrigger.create()

    def get_window_serializer(self):
        return TimeWindowSerializer()

    def is_event_time(self):
        return True


class Bounds(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, sorted(e[1] for e in elements)


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=KIND).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Second())
    )
    return events.key_by(lambda e: e[0], key_type=Types.STRING()).window(ShortSessions()).process(Bounds()).set_parallelism(parallelism)


