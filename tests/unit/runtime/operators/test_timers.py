"""Timers of keyed functions in both time domains."""

from __future__ import annotations

import pytest

from tests.unit.runtime.harness import OperatorHarness, Record, Watermark
from wiesel.core.errors import StateAccessError, UserFunctionError
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.runtime.operators.process import keyed_process_operator
from wiesel.spi.functions import KeyedProcessFunction
from wiesel.spi.timers import TimeDomain


class Timers(KeyedProcessFunction):
    """Records are (key, command, time) or (key, None, 0); each timer tells all it knows."""

    def process_element(self, value, ctx):
        if value[1] is not None:
            getattr(ctx.timer_service(), value[1])(value[2])

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, ctx.timestamp(), ctx.time_domain().name, ctx.timer_service().current_watermark()


SET, DELETE = "register_event_time_timer", "delete_event_time_timer"
SET_PROCESSING, DELETE_PROCESSING = "register_processing_time_timer", "delete_processing_time_timer"


def harness_for(function, **options):
    return OperatorHarness(keyed_process_operator, payload={"function": function}, key=lambda v: v[0], **options)


def test_event_timers_fire_in_the_order_of_their_times_and_before_the_watermark():
    harness = harness_for(Timers())
    harness.push([("a", SET, 30), ("b", SET, 10), ("c", SET, 20), ("a", SET, 10)])
    harness.watermark(20)
    assert harness.output == [
        Record(("b", 10, 10, "EVENT_TIME", 20), 10),
        Record(("a", 10, 10, "EVENT_TIME", 20), 10),
        Record(("c", 20, 20, "EVENT_TIME", 20), 20),
        Watermark(20),
    ]


def test_a_timer_registered_twice_fires_once():
    harness = harness_for(Timers())
    harness.push([("a", SET, 10)] * 3)
    harness.watermark(10)
    harness.watermark(11)
    assert len(harness.values) == 1


def test_a_watermark_one_below_does_not_fire():
    harness = harness_for(Timers())
    harness.push([("a", SET, 10)])
    harness.watermark(9)
    assert harness.values == []


def test_a_deleted_timer_does_not_fire_and_deleting_is_by_key_and_time():
    harness = harness_for(Timers())
    harness.push([("a", SET, 10), ("b", SET, 10), ("a", SET, 11), ("a", DELETE, 10), ("b", DELETE, 11)])
    harness.watermark(20)
    assert [v[:2] for v in harness.values] == [("b", 10), ("a", 11)]


def test_a_timer_in_the_past_fires_with_the_next_watermark():
    harness = harness_for(Timers())
    harness.watermark(100)
    harness.push([("a", SET, 50)])
    assert harness.values == []
    harness.watermark(101)
    assert harness.output == [Watermark(100), Record(("a", 50, 50, "EVENT_TIME", 101), 50), Watermark(101)]


def test_the_two_domains_are_apart():
    harness = harness_for(Timers())
    harness.push([("a", SET, 10), ("a", SET_PROCESSING, 10), ("a", DELETE, 10)])
    harness.watermark(1000)
    assert harness.values == []
    harness.advance_processing_time(10)
    assert [v[3] for v in harness.values] == ["PROCESSING_TIME"]


def test_processing_timers_fire_with_no_input_and_carry_their_time():
    # PyFlink 2.3 gives results of processing-time timers the timer's timestamp, too.
    harness = harness_for(Timers(), clock_ms=1000)
    harness.push([("a", SET_PROCESSING, 1020), ("b", SET_PROCESSING, 1010)])
    harness.advance_processing_time(9)
    assert harness.values == []
    harness.advance_processing_time(1)
    assert [v[:2] for v in harness.values] == [("b", 1010)]
    harness.advance_processing_time(100)
    assert harness.output[1].timestamp == 1020


def test_the_task_is_asked_only_for_the_earliest_processing_timer():
    harness = harness_for(Timers())
    harness.push([("a", SET_PROCESSING, 50), ("b", SET_PROCESSING, 60), ("c", SET_PROCESSING, 40)])
    assert harness.asked_times == [50, 40]
    harness.advance_processing_time(100)
    assert [v[1] for v in harness.values] == [40, 50, 60]


def test_a_clock_that_jumps_fires_all_that_is_due_in_order():
    harness = harness_for(Timers())
    harness.push([(str(t), SET_PROCESSING, t) for t in (7, 3, 5)])
    harness.clock.set(1_000_000)
    harness.operator.on_processing_time(1_000_000)
    assert [v[1] for v in harness.values] == [3, 5, 7]


class Ticker(KeyedProcessFunction):
    """A chain of timers: each one registers the next and deletes another."""

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(10)
        ctx.timer_service().register_event_time_timer(35)

    def on_timer(self, timestamp, ctx):
        service = ctx.timer_service()
        if timestamp == 30:
            service.delete_event_time_timer(35)
        if timestamp < 100:
            service.register_event_time_timer(timestamp + 10)
        yield timestamp


def test_timers_set_and_deleted_by_a_timer_count_in_the_same_round():
    harness = harness_for(Ticker())
    harness.push([("a",)])
    harness.watermark(50)
    assert harness.values == [10, 20, 30, 40, 50]
    harness.watermark(MAX_TIMESTAMP)
    assert harness.values == [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]


class Repeater(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_processing_time_timer(ctx.timer_service().current_processing_time() + 10)

    def on_timer(self, timestamp, ctx):
        service = ctx.timer_service()
        service.register_processing_time_timer(timestamp + 10)
        yield timestamp, service.current_processing_time()


def test_a_processing_timer_may_set_the_next_one():
    harness = harness_for(Repeater())
    harness.push([("a",)])
    harness.advance_processing_time(35)
    assert harness.values == [(10, 10), (20, 20), (30, 30)]


def test_restored_processing_timers_are_asked_for_at_open():
    harness = harness_for(Timers(), clock_ms=5)
    harness.push([("a", SET_PROCESSING, 50), ("b", SET_PROCESSING, 20)])
    again = harness.restored(harness.snapshot())
    assert again.asked_times == [20]
    again.advance_processing_time(100)
    assert [v[:2] for v in again.values] == [("b", 20), ("a", 50)]


def test_a_timer_that_fired_before_the_snapshot_does_not_fire_again():
    harness = harness_for(Timers())
    harness.push([("a", SET, 10), ("a", SET, 20)])
    harness.watermark(15)
    again = harness.restored(harness.snapshot())
    again.watermark(30)
    assert [v[1] for v in again.values] == [20]


def test_processing_timers_that_are_due_fire_at_the_end_and_later_ones_are_dropped():
    harness = harness_for(Timers())
    harness.push([("a", SET_PROCESSING, 10), ("b", SET_PROCESSING, 1000)])
    harness.clock.set(10)
    harness.end_input()
    assert [v[0] for v in harness.values] == ["a"]


def test_in_batch_mode_the_end_fires_all_timers():
    harness = harness_for(Timers(), config={"execution.runtime-mode": "BATCH"})
    harness.push([("b", SET_PROCESSING, 1000), ("a", SET, 10)])
    harness.end_input()
    assert [v[0] for v in harness.values] == ["a", "b"]
    assert harness.output[-1] == Watermark(MAX_TIMESTAMP)


class FailsAtTwenty(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1])

    def on_timer(self, timestamp, ctx):
        yield "before", timestamp
        if timestamp == 20:
            raise ValueError("twenty")
        yield "after", timestamp


def test_a_failing_timer_fails_the_job_after_what_came_before_it():
    harness = harness_for(FailsAtTwenty())
    harness.push([("a", 10), ("b", 20), ("c", 30)])
    with pytest.raises(UserFunctionError, match=r"(?s)twenty.*test_timers\.py:\d+ in on_timer.*timer of key 'b' at 20 ms \(event time\)"):
        harness.watermark(100)
    assert harness.output == [Record(("before", 10), 10), Record(("after", 10), 10), Record(("before", 20), 20)]


def test_a_failing_timer_can_be_skipped():
    harness = harness_for(FailsAtTwenty(), error_policy="skip")
    harness.push([("a", 10), ("b", 20), ("c", 30)])
    harness.watermark(100)
    assert [v for v in harness.values if v[0] == "after"] == [("after", 10), ("after", 30)]
    assert harness.metrics.value("numRecordsSkipped") == 1


class NoOnTimer(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(1)


def test_a_function_without_on_timer_ignores_its_timers():
    harness = harness_for(NoOnTimer())
    harness.push([("a",)])
    harness.watermark(5)
    assert harness.output == [Watermark(5)]


@pytest.mark.parametrize("command", [SET, SET_PROCESSING])
def test_a_fraction_of_a_millisecond_is_refused(command):
    with pytest.raises(UserFunctionError, match="the time of a timer must be an int"):
        harness_for(Timers()).push([("a", command, 10.5)])


class KeepsContext(KeyedProcessFunction):
    def process_element(self, value, ctx):
        self.ctx = ctx


def test_a_context_kept_beyond_its_call_cannot_set_timers():
    harness = harness_for(KeepsContext())
    harness.push([("a",)])
    with pytest.raises(StateAccessError, match="no current key"):
        harness.operator.function.ctx.timer_service().register_event_time_timer(10)


def test_time_domains_have_flinks_numbers():
    assert (TimeDomain.EVENT_TIME.value, TimeDomain.PROCESSING_TIME.value) == (0, 1)
