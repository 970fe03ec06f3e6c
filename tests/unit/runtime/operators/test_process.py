"""Process functions on keyed and other streams: what Flink 2.3 does, as its documentation says or as seen by running it."""

from __future__ import annotations

import pytest

from tests.unit.runtime.harness import OperatorHarness, Record, Side, Watermark
from wiesel.core.errors import InvariantError, StateAccessError, StateMigrationError, UserFunctionError
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.runtime.operators.process import keyed_process_operator, process_operator
from wiesel.spi.functions import KeyedProcessFunction, ProcessFunction
from wiesel.spi.output_tag import OutputTag
from wiesel.spi.state import ListStateDescriptor, ValueStateDescriptor
from wiesel.types.types import Types


def first(value):
    return value[0]


def keyed(function, **options):
    return OperatorHarness(keyed_process_operator, payload={"function": function}, key=first, **options)


def unkeyed(function, **options):
    return OperatorHarness(process_operator, payload={"function": function}, **options)


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value[0], count


class TimeTeller(ProcessFunction):
    def process_element(self, value, ctx):
        service = ctx.timer_service()
        return [(value, ctx.timestamp(), service.current_watermark(), service.current_processing_time())]


def test_keyed_count_has_one_state_per_key():
    harness = keyed(Count())
    harness.push([("a", 0), ("b", 0), ("a", 0)])
    harness.push([("a", 0), ("b", 0)])
    assert harness.values == [("a", 1), ("b", 1), ("a", 2), ("a", 3), ("b", 2)]


def test_results_carry_the_timestamp_of_their_record():
    harness = keyed(Count())
    harness.push([("a", 0), ("b", 0)], timestamps=[10, None])
    assert harness.output == [Record(("a", 1), 10), Record(("b", 1), None)]


def test_one_batch_in_gives_one_batch_out():
    harness = keyed(Count())
    harness.push([("a", 0)] * 100)
    assert [len(b) for b in harness.collected.batches] == [100]


def test_the_context_tells_the_time():
    # As seen with PyFlink 2.3: the smallest long stands for "none", for timestamps and watermarks.
    harness = unkeyed(TimeTeller(), clock_ms=77)
    harness.push(["x"])
    harness.watermark(5)
    harness.push(["y"], timestamps=[6])
    assert harness.output == [
        Record(("x", MIN_TIMESTAMP, MIN_TIMESTAMP, 77), None),
        Watermark(5),
        Record(("y", 6, 5, 77), 6),
    ]


def test_the_timestamp_of_an_earlier_batch_is_not_seen_by_one_without():
    harness = unkeyed(TimeTeller())
    harness.push(["x"], timestamps=[6])
    harness.push(["y"])
    assert harness.values[1][1] == MIN_TIMESTAMP


class Nothing(ProcessFunction):
    def process_element(self, value, ctx):
        if value > 1:
            return [value] * value
        return None


def test_a_function_may_return_none_or_a_list():
    harness = unkeyed(Nothing())
    harness.push([1, 2, 1, 3], timestamps=[1, 2, 3, 4])
    assert harness.output == [Record(2, 2)] * 2 + [Record(3, 4)] * 3


BIG = OutputTag("big", Types.LONG())


class Splitter(ProcessFunction):
    def process_element(self, value, ctx):
        if value >= 10:
            yield BIG, value
        yield (value,)
        yield ()


def test_tagged_results_go_to_the_side_output():
    harness = unkeyed(Splitter())
    harness.push([1, 10], timestamps=[5, 6])
    assert harness.side("big") == [10]
    assert Side("big", 10, 6) in harness.output
    assert harness.values == [(1,), (), (10,), ()]


class SetsTimer(ProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(1)


def test_timers_without_a_key_are_refused_with_the_users_line():
    harness = unkeyed(SetsTimer(), error_policy="skip")  # skipping records would not make it better
    with pytest.raises(StateAccessError, match=r"only supported on keyed streams.*test_process\.py:\d+ in process_element"):
        harness.push([1])


class WantsState(ProcessFunction):
    def open(self, runtime_context):
        runtime_context.get_state(ValueStateDescriptor("s", Types.LONG()))

    def process_element(self, value, ctx):
        return None


def test_keyed_state_without_a_key_is_refused_with_the_users_line():
    with pytest.raises(StateAccessError, match=r"test_process\.py:\d+ in open.*program\.py:7"):
        unkeyed(WantsState())


class ReadsStateInOpen(KeyedProcessFunction):
    def open(self, runtime_context):
        runtime_context.get_state(ValueStateDescriptor("s", Types.LONG())).value()

    def process_element(self, value, ctx):
        return None


class HasChanged(KeyedProcessFunction):
    def open(self, runtime_context):
        raise StateMigrationError("state 's' does not fit", hint="declare what it was")

    def process_element(self, value, ctx):
        return None


def test_state_that_does_not_fit_is_told_with_the_users_line_and_the_operator():
    with pytest.raises(StateMigrationError, match=r"(?s)does not fit\n  at .*test_process\.py:\d+ in open\n  in operator") as caught:
        keyed(HasChanged())
    assert caught.value.hint == "declare what it was"


def test_state_read_in_open_is_refused_with_the_users_line():
    with pytest.raises(StateAccessError, match=r"(?s)no current key.*test_process\.py:\d+ in open"):
        keyed(ReadsStateInOpen())


class Retainer(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = []
        self.state = runtime_context.get_list_state(ListStateDescriptor("l", Types.LONG()))

    def process_element(self, value, ctx):
        self.seen.append(value[1])
        yield self.seen
        yield "k", self.seen


def test_a_result_that_the_function_changes_later_goes_out_as_it_was():
    # PyFlink 2.3 prints [1], [1, 2], [1, 2, 3] for this.
    harness = keyed(Retainer())
    harness.push([("a", 1), ("a", 2), ("a", 3)])
    assert harness.values == [[1], ("k", [1]), [1, 2], ("k", [1, 2]), [1, 2, 3], ("k", [1, 2, 3])]


def test_object_reuse_saves_the_copies():
    harness = keyed(Retainer(), config={"pipeline.object-reuse": True})
    harness.push([("a", 1), ("a", 2)])
    assert harness.values[0] is harness.values[2]


class Lifecycle(ProcessFunction):
    def __init__(self):
        self.calls = []

    def open(self, runtime_context):
        self.calls.append("open")

    def process_element(self, value, ctx):
        self.calls.append(value)
        yield list(self.calls)

    def close(self):
        self.calls.append("close")


def test_open_comes_first_and_close_last():
    harness = unkeyed(Lifecycle())
    harness.push([1])
    harness.close()
    assert harness.values == [["open", 1]]
    assert harness.operator.function.calls == ["open", 1, "close"]


def test_a_function_that_was_not_opened_is_not_closed():
    harness = unkeyed(Lifecycle(), open=False)
    harness.close()
    assert harness.operator.function.calls == []


class FailsInOpen(ProcessFunction):
    def open(self, runtime_context):
        raise ConnectionError("no database")

    def process_element(self, value, ctx):
        return None


def test_a_failure_in_open_names_the_method_and_the_line():
    with pytest.raises(UserFunctionError, match=r"(?s)ConnectionError: no database.*test_process\.py:\d+ in open.*FailsInOpen\.open"):
        unkeyed(FailsInOpen(), error_policy="skip")


class AtTheEnd(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(MAX_TIMESTAMP)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), self.count.value()


@pytest.mark.parametrize("backend", ["hashmap", "lmdb", "rocksdb"])
def test_state_and_timers_survive_a_restore_in_mid_stream(backend, tmp_path):
    records = [(key, n) for n in range(20) for key in "abc"[: n % 3 + 1]]
    undisturbed = keyed(AtTheEnd())
    undisturbed.push(records)
    undisturbed.end_input()

    first = keyed(AtTheEnd(), backend=backend, local_dir=str(tmp_path / "first"))
    first.push(records[:17])
    snapshot = first.snapshot()
    first.push(records[17:30])  # lost with the failure, and read again
    first.close()
    second = first.restored(snapshot, local_dir=str(tmp_path / "second"))
    second.push(records[17:])
    second.end_input()
    second.close()
    assert sorted(second.values) == sorted(undisturbed.values) == [("a", 20), ("b", 13), ("c", 6)]


def test_records_without_keys_are_a_bug_of_the_engine():
    with pytest.raises(InvariantError, match="without keys"):
        OperatorHarness(keyed_process_operator, payload={"function": Count()}).push([("a", 0)])


def test_declared_types_convert_results():
    harness = OperatorHarness(process_operator, payload={"function": Nothing(), "output_type": Types.FLOAT()}, key=None)
    harness.push([2])
    assert harness.values == [2.0, 2.0]
    assert all(type(v) is float for v in harness.values)
