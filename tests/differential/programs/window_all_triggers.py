"""window_all with triggers: counts in global windows, purging, and one that fires on a word."""

from pyflink.common import Types
from pyflink.datastream import AggregateFunction
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.window import CountTrigger, GlobalWindows, PurgingTrigger, Trigger, TriggerResult

WORDS = ["to", "be", "or", ".", "not", "to", ".", "be", "that", "is", "the", ".", ".", "question"]


class AtStops(Trigger):
    def on_element(self, element, timestamp, window, ctx):
        return TriggerResult.FIRE_AND_PURGE if element == "." else TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        pass


class Sentence(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield " ".join(elements)


class Longest(AggregateFunction):
    def create_accumulator(self):
        return ""

    def add(self, value, accumulator):
        return value if len(value) > len(accumulator) else accumulator

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return max(a, b, key=len)


def build(env):
    env.set_parallelism(1)
    words = env.from_collection(WORDS, type_info=Types.STRING())

    def windows(trigger):
        return words.window_all(GlobalWindows.create()).trigger(trigger)

    return {
        "sentences": windows(AtStops()).process(Sentence(), output_type=Types.STRING()),
        "reduced sentences": windows(AtStops()).reduce(lambda a, b: a + b, output_type=Types.STRING()),
        "growing": windows(CountTrigger.of(4)).aggregate(Longest(), output_type=Types.STRING()),
        "fours": windows(PurgingTrigger.of(CountTrigger.of(4))).aggregate(Longest(), Sentence(), Types.STRING(), Types.STRING()),
    }


PARALLELISM = (1,)
