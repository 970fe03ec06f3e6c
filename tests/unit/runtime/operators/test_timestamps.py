"""A watermark strategy put on a stream, as Flink's TimestampsAndWatermarksOperator."""

from __future__ import annotations

import pytest

from tests.unit.runtime.harness import OperatorHarness, Record, Status, Watermark
from wiesel.core.durations import Duration
from wiesel.core.errors import UserFunctionError
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.runtime.operators.timestamps import timestamps_operator
from wiesel.spi.watermark import TimestampAssigner, WatermarkGenerator, WatermarkStrategy


class FromValue(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


def harness_for(strategy, **options):
    return OperatorHarness(timestamps_operator, payload={"strategy": strategy}, **options)


def bounded(bound_ms=0):
    return WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(bound_ms)).with_timestamp_assigner(FromValue())


def test_records_get_timestamps_and_one_batch_stays_one():
    harness = harness_for(bounded())
    harness.push([30, 10, 20])
    assert harness.output == [Record(30, 30), Record(10, 10), Record(20, 20)]
    assert len(harness.collected.batches) == 1


def test_watermarks_are_periodic_and_one_below_the_bound():
    harness = harness_for(bounded(5))
    harness.push([30, 10])
    harness.advance_processing_time(199)
    assert harness.watermarks == []
    harness.advance_processing_time(1)
    assert harness.watermarks == [30 - 5 - 1]
    harness.advance_processing_time(1000)
    assert harness.watermarks == [24]
    harness.push([40])
    harness.advance_processing_time(200)
    assert harness.watermarks == [24, 34]


def test_no_watermark_before_the_first_record():
    harness = harness_for(bounded())
    harness.advance_processing_time(1000)
    assert harness.output == []


def test_the_interval_is_configured():
    harness = harness_for(bounded(), config={"pipeline.auto-watermark-interval": 50})
    harness.push([100])
    harness.advance_processing_time(50)
    assert harness.watermarks == [99]
    harness = harness_for(bounded(), config={"pipeline.auto-watermark-interval": 0})
    harness.push([100])
    harness.advance_processing_time(10_000)
    assert harness.watermarks == []


def test_upstream_watermarks_and_idleness_are_dropped_but_for_the_last_watermark():
    harness = harness_for(bounded())
    harness.watermark(1000)
    harness.status(True)
    harness.status(False)
    harness.push([5])
    harness.end_input()
    assert harness.output == [Record(5, 5), Watermark(MAX_TIMESTAMP)]


def test_an_assigner_sees_the_timestamp_that_was_there():
    class Older(TimestampAssigner):
        def extract_timestamp(self, value, record_timestamp):
            return record_timestamp - 1 if record_timestamp > 0 else 0

    harness = harness_for(WatermarkStrategy.no_watermarks().with_timestamp_assigner(Older()))
    harness.push(["a", "b"], [10, None])
    harness.push(["c"])
    assert harness.output == [Record("a", 9), Record("b", 0), Record("c", 0)]


def test_without_an_assigner_timestamps_stay():
    harness = harness_for(WatermarkStrategy.for_monotonous_timestamps())
    harness.push(["a", "b"], [10, None])
    harness.push(["c"])
    harness.advance_processing_time(200)
    assert harness.output == [Record("a", 10), Record("b", None), Record("c", None), Watermark(9)]


def test_without_watermarks_only_the_end_moves_time():
    harness = harness_for(WatermarkStrategy.no_watermarks().with_timestamp_assigner(FromValue()))
    harness.push([1, 2])
    harness.advance_processing_time(1000)
    harness.end_input()
    assert harness.watermarks == [MAX_TIMESTAMP]


def test_in_batch_mode_only_the_end_moves_time():
    harness = harness_for(bounded(), config={"execution.runtime-mode": "BATCH"})
    harness.push([1, 2])
    harness.advance_processing_time(1000)
    assert harness.output == [Record(1, 1), Record(2, 2)]
    harness.end_input()
    assert harness.watermarks == [MAX_TIMESTAMP]


class Punctuated(WatermarkGenerator):
    """A record that is a multiple of 10 is a punctuation."""

    def on_event(self, event, event_timestamp, output):
        if event % 10 == 0:
            output.emit_watermark(event_timestamp)

    def on_periodic_emit(self, output):
        pass


def test_a_punctuated_generator_splits_the_batch_after_the_record():
    harness = harness_for(WatermarkStrategy.for_generator(Punctuated).with_timestamp_assigner(FromValue()))
    harness.push([1, 10, 2, 3, 5, 20, 10, 7])
    assert harness.output == [
        Record(1, 1),
        Record(10, 10),
        Watermark(10),
        Record(2, 2),
        Record(3, 3),
        Record(5, 5),
        Record(20, 20),
        Watermark(20),
        Record(10, 10),  # 10 is not higher than 20: no watermark
        Record(7, 7),
    ]
    assert [len(b) for b in harness.collected.batches] == [2, 4, 2]


class Restless(WatermarkGenerator):
    def on_event(self, event, event_timestamp, output):
        output.mark_idle() if event < 0 else output.mark_active()

    def on_periodic_emit(self, output):
        raise RuntimeError("out of order")


def test_a_generator_may_say_that_it_is_idle():
    harness = harness_for(WatermarkStrategy.for_generator(Restless).with_timestamp_assigner(FromValue()))
    harness.push([1, -1, -2, 3])
    assert harness.output == [Record(1, 1), Record(-1, -1), Status(True), Record(-2, -2), Record(3, 3), Status(False)]


def test_a_generator_that_raises_periodically_fails_the_job():
    harness = harness_for(WatermarkStrategy.for_generator(Restless), error_policy="skip")
    with pytest.raises(UserFunctionError, match=r"(?s)out of order.*test_timestamps\.py:\d+ in on_periodic_emit"):
        harness.advance_processing_time(200)


def test_idleness_begins_after_the_timeout_and_ends_with_the_next_watermark():
    strategy = bounded().with_idleness(Duration.of_millis(500))
    harness = harness_for(strategy, config={"pipeline.auto-watermark-interval": 100})
    harness.push([10])
    harness.advance_processing_time(100)
    assert harness.take() == [Record(10, 10), Watermark(9)]
    # Flink counts from the first emission without a record (at 200 ms) and wants more than the timeout.
    harness.advance_processing_time(600)
    assert harness.take() == []
    harness.advance_processing_time(100)
    assert harness.take() == [Status(True)]
    harness.push([20])
    harness.advance_processing_time(100)
    assert harness.take() == [Record(20, 20), Status(False), Watermark(19)]


class Picky(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value["ts"]


POISON = [{"ts": 1}, {}, {"ts": "no number"}, {"ts": 4}]


def test_records_whose_timestamp_cannot_be_taken_follow_the_policy():
    harness = harness_for(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Picky()), error_policy="skip")
    harness.push(POISON, [7, 7, 7, 7])
    assert harness.output == [Record({"ts": 1}, 1), Record({"ts": 4}, 4)]
    assert harness.metrics.value("numRecordsSkipped") == 2

    harness = harness_for(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Picky()))
    with pytest.raises(UserFunctionError, match=r"(?s)KeyError: 'ts'.*test_timestamps\.py:\d+ in extract_timestamp"):
        harness.push(POISON)
    assert harness.output == [Record({"ts": 1}, 1)]


class FailsOnEvent(WatermarkGenerator):
    def on_event(self, event, event_timestamp, output):
        if event == 2:
            raise ValueError("two")
        output.emit_watermark(event_timestamp)

    def on_periodic_emit(self, output):
        pass


def test_a_generator_that_raises_for_a_record():
    strategy = WatermarkStrategy.for_generator(FailsOnEvent).with_timestamp_assigner(FromValue())
    harness = harness_for(strategy)
    with pytest.raises(UserFunctionError, match="two"):
        harness.push([1, 2, 3])
    assert harness.output == [Record(1, 1), Watermark(1), Record(2, 2)]
    harness = harness_for(strategy, error_policy="skip")
    harness.push([1, 2, 3])
    assert harness.watermarks == [1, 3]


def test_a_generator_is_new_after_a_restore():
    harness = harness_for(bounded())
    harness.push([100])
    again = harness.restored(harness.snapshot())
    again.advance_processing_time(1000)
    assert again.watermarks == []
    again.push([50])
    again.advance_processing_time(1000)
    assert again.watermarks == [49]


def test_records_without_timestamps_do_not_move_time():
    harness = harness_for(WatermarkStrategy.for_generator(Recorder))
    harness.push(["a"])
    harness.push(["b", "c"], [None, 5])
    harness.end_input()
    assert harness.operator._generator.seen == [MIN_TIMESTAMP, MIN_TIMESTAMP, 5]


class Recorder(WatermarkGenerator):
    def __init__(self):
        self.seen = []

    def on_event(self, event, event_timestamp, output):
        self.seen.append(event_timestamp)

    def on_periodic_emit(self, output):
        pass
