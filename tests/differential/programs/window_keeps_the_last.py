"""What an evictor does in Java, said in PyFlink: the function looks at the last records, or those near the newest."""

from punctuated import per_record_watermarks
from pyflink.common import Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.state import ListStateDescriptor
from pyflink.datastream.window import CountTrigger, GlobalWindows, PurgingTrigger, TumblingEventTimeWindows

KIND = Types.TUPLE([Types.STRING(), Types.LONG()])
EVENTS = [("a", n * n % 17 + n) for n in range(14)] + [("b", n * 5 % 12) for n in range(9)]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class LastThree(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, [e[1] for e in elements][-3:]


class NearTheNewest(ProcessWindowFunction):
    def process(self, key, context, elements):
        values = [e[1] for e in elements]
        yield key, context.window().start, [v for v in values if v > max(values) - 5]


class LastThreeOfAll(ProcessWindowFunction):
    """Remembers them over the windows of its key, as the window itself is purged."""

    def process(self, key, context, elements):
        kept = context.global_state().get_list_state(ListStateDescriptor("kept", Types.LONG()))
        kept.add_all([e[1] for e in elements])
        kept.update(list(kept.get())[-3:])
        yield key, list(kept.get())


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    events = env.from_collection(EVENTS, type_info=KIND).assign_timestamps_and_watermarks(
        per_record_watermarks().with_timestamp_assigner(Second())
    )
    keyed = events.key_by(lambda e: e[0], key_type=Types.STRING())
    counted = keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(2))
    purged = keyed.window(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(2)))
    timed = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).allowed_lateness(100)
    return {
        "counted": counted.process(LastThree()).set_parallelism(parallelism),
        "purged": purged.process(LastThreeOfAll()).set_parallelism(parallelism),
        "timed": timed.process(NearTheNewest()).set_parallelism(parallelism),
    }


PARALLELISM = (2,)
