"""Windows that share slices as a program asks for them: in jobs, in BATCH mode, restored with other subtasks, and refused."""

from __future__ import annotations

from random import Random

import pytest

from tests.unit.testing.programs import add, first
from wiesel.common import Time, Types, WatermarkStrategy
from wiesel.core.errors import ProgramError
from wiesel.datastream import RuntimeExecutionMode
from wiesel.datastream.functions import AggregateFunction, ProcessWindowFunction
from wiesel.datastream.window import (
    CountEvictor,
    CountTrigger,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TimeWindow,
    TumblingEventTimeWindows,
)
from wiesel.testing import ManualSource, StreamHarness, for_seeds, local_environment

SLIDING = SlidingEventTimeWindows.of(Time.milliseconds(100), Time.milliseconds(10))
NONE = WatermarkStrategy.no_watermarks()


class Sum(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value[1]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class OfWindow(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, next(iter(elements))


def sums(stream, share=True):
    return stream.key_by(first).window(SLIDING).share_slices(share).aggregate(Sum(), OfWindow()).uid("sums")


def random_records(seed, count=300):
    random = Random(seed)
    for i in range(count):
        yield (random.choice("abcdefg"), random.randrange(100)), 3 * i + random.randrange(20)


def test_slices_can_be_looked_at():
    with StreamHarness(sums) as harness:
        harness.push(("a", 1), timestamp=1)
        harness.push(("a", 2), timestamp=3)
        harness.push(("a", 3), timestamp=11)
        assert harness.windows("a") == {TimeWindow(0, 10): 3, TimeWindow(10, 20): 3}
        harness.advance_watermark(19)
        assert harness.values == [("a", -90, 3), ("a", -80, 6)]
        assert harness.state("a") == {}


def test_keys_take_their_slices_along_to_other_subtasks():
    records = list(random_records(1))
    expected = []
    with StreamHarness(lambda stream: sums(stream, share=False)) as alone:
        for value, timestamp in records:
            alone.push(value, timestamp=timestamp)
        alone.advance_watermark(10_000)
        expected = sorted(alone.values)
    with StreamHarness(sums, parallelism=3) as harness:
        for value, timestamp in records[:150]:
            harness.push(value, timestamp=timestamp)
        harness.advance_watermark(400)
        found = harness.values
        snapshot = harness.snapshot()
    # Two subtasks then one, on disk then in memory.
    for parallelism, backend in ((2, "lmdb"), (1, "hashmap")):
        with harness.restored(snapshot, parallelism=parallelism, state_backend=backend) as harness:
            harness.advance_watermark(440)
            found += harness.values
            snapshot = harness.snapshot()
    with harness.restored(snapshot) as harness:
        harness.advance_watermark(440)
        for value, timestamp in records[150:]:
            harness.push(value, timestamp=timestamp)
        harness.advance_watermark(10_000)
        found += harness.values
    assert sorted(found) == expected


def job(define, records, mode=RuntimeExecutionMode.STREAMING, **options):
    env = local_environment(parallelism=2, **options)
    env.set_runtime_mode(mode)
    times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(TimeOf())
    stream = env.from_collection([(key, number, at) for (key, number), at in records], type_info=TRIPLE)
    collected = define(stream.assign_timestamps_and_watermarks(times).map(lambda r: r[:2], PAIR)).execute_and_collect()
    return sorted(collected)


TRIPLE = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class TimeOf:
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


@pytest.mark.parametrize("mode", [RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH])
def test_results_are_the_same_in_both_modes(mode):
    records = sorted(random_records(2), key=lambda record: record[1])
    assert job(sums, records, mode) == job(lambda stream: sums(stream, share=False), records)


@for_seeds(6)
def test_failures_change_nothing(seed):
    env = local_environment(parallelism=2, seed=seed)
    source = ManualSource(splits=2)
    out = env.collect(sums(env.from_source(source, NONE, "numbers")))
    random = Random(seed)
    expected = {}
    with env.start() as started:
        for i, (value, timestamp) in enumerate(random_records(seed, 120)):
            source.push(value, timestamp=timestamp, split=i % 2)
            for start in range(timestamp // 10 * 10 - 90, timestamp // 10 * 10 + 1, 10):
                expected[value[0], start] = expected.get((value[0], start), 0) + value[1]
            if i % 20 == 19:
                source.advance_watermark(3 * i - 30)
                started.step(random.randrange(40))
                started.checkpoint()
            if i % 50 == 30:
                started.step(random.randrange(20))
                started.fail()
        started.finish()
    assert sorted(out.values) == sorted((key, start, total) for (key, start), total in expected.items())


def test_the_option_shares_where_it_can():
    def description(define, **options):
        env = local_environment(config=options)
        stream = define(env.from_source(ManualSource(), NONE, "numbers").key_by(first))
        stream.print()
        return env.get_execution_plan()

    option = {"wiesel.windows.share-slices": "true"}
    assert "shared slices" in description(lambda s: s.window(SLIDING).reduce(add), **option)
    assert "shared slices" not in description(lambda s: s.window(SLIDING).share_slices(False).reduce(add), **option)
    assert "shared slices" not in description(lambda s: s.window(SLIDING).reduce(add))
    assert "shared slices" not in description(lambda s: s.window(SLIDING).process(OfWindow()), **option)
    assert "shared slices" not in description(lambda s: s.window(TumblingEventTimeWindows.of(Time.seconds(1))).reduce(add), **option)


REFUSED = {
    "evictor": lambda s: s.window(SLIDING).evictor(CountEvictor.of(2)).share_slices().reduce(add),
    "CountTrigger": lambda s: s.window(SLIDING).trigger(CountTrigger.of(2)).share_slices().reduce(add),
    "process": lambda s: s.window(SLIDING).share_slices().process(OfWindow()),
    "TumblingEventTimeWindows": lambda s: s.window(TumblingEventTimeWindows.of(Time.seconds(1))).share_slices().reduce(add),
    "EventTimeSessionWindows": lambda s: s.window(EventTimeSessionWindows.with_gap(Time.seconds(1))).share_slices().reduce(add),
    "CountSlidingWindowAssigner": lambda s: s.count_window(4, 2).share_slices().reduce(add),
}


@pytest.mark.parametrize("what", list(REFUSED))
def test_what_cannot_share_is_refused_with_the_line(what):
    env = local_environment()
    keyed = env.from_source(ManualSource(), NONE, "numbers").key_by(first)
    with pytest.raises(ProgramError, match=rf"share_slices\(\): .*{what}.*test_windows_that_share_slices.py:\d+") as raised:
        REFUSED[what](keyed)
    assert raised.value.hint


def test_windows_over_everything_share_slices_too():
    with StreamHarness(lambda stream: stream.window_all(SLIDING).share_slices().reduce(add)) as harness:
        for at in (5, 15, 25):
            harness.push(("a", 1), timestamp=at)
        harness.advance_watermark(1_000)
        assert harness.values == [("a", 1), ("a", 2), *[("a", 3)] * 8, ("a", 2), ("a", 1)]
