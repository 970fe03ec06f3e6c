"""Worked examples that need time or checkpoints in the hands of a test; the numbers are given with the features."""

from __future__ import annotations

import pytest

from wiesel.common import Duration, Time, Types, WatermarkStrategy
from wiesel.common.watermark_strategy import TimestampAssigner
from wiesel.core.clock import ManualClock
from wiesel.datastream.functions import AggregateFunction, KeyedProcessFunction
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.datastream.window import TumblingEventTimeWindows
from wiesel.state.backend import KeyGroupRange
from wiesel.state.factory import make_backend
from wiesel.testing import ManualSource, StreamHarness, local_environment
from wiesel.testing.snapshots import files_in_memory

NO_WATERMARKS = WatermarkStrategy.no_watermarks()


class Seconds(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * 1_000


BOUND_OF_5_S = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5)).with_timestamp_assigner(Seconds())
EVENTS_AND_WATERMARKS = [(8, 3), (9, 4), (12, 7), (10, 7), (13, 8)]
"""Seconds. A watermark tells that no event of its time or before will come, so it stands 1 ms before these."""


def test_x4_watermarks_of_five_events_with_a_bound_of_five_seconds():
    with StreamHarness(lambda stream: stream.assign_timestamps_and_watermarks(BOUND_OF_5_S)) as harness:
        reached = None
        for event, watermark in EVENTS_AND_WATERMARKS:
            harness.push(event)
            harness.advance_processing_time(200)
            reached = harness.watermarks[-1]
            assert reached == watermark * 1_000 - 1
        assert harness.watermarks == [2_999, 3_999, 6_999, 7_999]


def test_x4_no_window_fires_before_the_watermark_reaches_its_end():
    env = local_environment()
    source = ManualSource()
    windows = env.from_source(source, BOUND_OF_5_S, "events").window_all(TumblingEventTimeWindows.of(Time.seconds(10)))
    out = env.collect(windows.aggregate(Events()))
    with env.start() as job:
        for event, _ in EVENTS_AND_WATERMARKS:
            source.push(event)
            job.advance_processing_time(200)
            assert out.values == []
        source.push(14)
        job.advance_processing_time(200)
        assert out.values == []
        source.push(15)
        job.advance_processing_time(200)
        assert out.values == [[8, 9]]
        job.finish()
        assert out.values == [[8, 9], [10, 12, 13, 14, 15]]


class Events(AggregateFunction):
    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        return [*accumulator, value]

    def get_result(self, accumulator):
        return sorted(accumulator)

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


@pytest.mark.parametrize("parallelism", [1, 2])
def test_x6_four_checkpoints_of_a_stream_hold_1_3_6_and_4_events(parallelism):
    env = local_environment(parallelism=parallelism)
    env.enable_checkpointing(1_000)
    source = ManualSource()
    out = env.collect(env.from_source(source, NO_WATERMARKS, "events").key_by(lambda v: v).map(lambda v: v))
    with env.start() as job:
        held = []
        for events in (1, 3, 6, 4):
            before = len(out.committed)
            for event in range(events):
                source.push(event)
                job.settle()
            assert len(out.committed) == before
            job.advance_processing_time(1_000)
            held.append(len(out.committed) - before)
        assert (held, job.completed_checkpoints) == ([1, 3, 6, 4], 4)
        # Later events are in no checkpoint until the timer of the next one.
        source.push_all(["late", "later"])
        job.advance_processing_time(999)
        assert (len(out.values), len(out.committed)) == (16, 14)
        job.advance_processing_time(1)
        assert len(out.committed) == 16


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield value, self.count.value()


def values_in(state, name, kind="value"):
    """Return what the state of an operator in a checkpoint holds under a name."""
    everything = KeyGroupRange(0, 128, 128)
    backend = make_backend(
        "hashmap", operator_id="x", subtask=0, parallelism=1, key_group_range=everything, local_dir="", clock=ManualClock(), options={}
    )
    backend.restore([state], files_in_memory("x"))
    return [value for _, _, value in backend.table(name, kind=kind).items()]


def test_x2_a_count_job_goes_on_where_its_checkpoint_was_taken():
    env = local_environment()
    source = ManualSource()
    out = env.collect(env.from_source(source, NO_WATERMARKS, "events").key_by(lambda v: "all").process(Count()))
    with env.start() as job:
        source.push("e1")
        source.push("e2")
        job.settle()
        snapshot = job.checkpoint()
        ids = {o["id"]: o["name"] for vertex in snapshot.facts["vertices"] for o in vertex["operators"]}
        states = {ids[i]: state for task in snapshot.checkpoint.tasks.values() for i, state in task.operators.items()}
        (split,) = states["Source: events"].reader_splits
        assert split.position == 2
        assert values_in(states["KEYED PROCESS"].state, "count") == [2]

        source.push("e3")
        job.settle()
        job.fail("killed")
        assert out.values == [("e1", 1), ("e2", 2)]
        job.settle()
        assert out.values == [("e1", 1), ("e2", 2), ("e3", 3)]
