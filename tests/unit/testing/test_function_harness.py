"""Single functions under test."""

from __future__ import annotations

import pytest

from tests.unit.testing.programs import (
    CountOfKey,
    Double,
    Even,
    Largest,
    Match,
    Numbered,
    Remember,
    Sides,
    WithTimes,
    Words,
    first,
)
from wiesel.common import Types
from wiesel.core.errors import TypeMismatchError, UserFunctionError
from wiesel.datastream.functions import CheckpointedFunction, KeyedBroadcastProcessFunction, KeySelector, MapFunction
from wiesel.datastream.state import ListStateDescriptor, MapStateDescriptor
from wiesel.testing import END_OF_TIME, Record, SideRecord, StreamHarness, Timer, Watermark, WatermarkStatus, function_harness

NO_WATERMARK = -(2**63)


@pytest.mark.parametrize(
    ("function", "pushed", "expected"),
    [
        (Double(), [1, 2, 3], [2, 4, 6]),
        (Words(), ["to be", "", "or"], ["to", "be", "or"]),
        (Even(), [1, 2, 3, 4], [2, 4]),
    ],
)
def test_functions_without_a_key(function, pushed, expected):
    with function_harness(function) as harness:
        for value in pushed:
            harness.push(value)
        assert harness.values == expected
        assert harness.take() == [Record(value) for value in expected]
        harness.push_all(pushed, range(len(pushed)))
        assert harness.values == expected
        assert all(record.timestamp is not None for record in harness.records)


def test_a_reduce_function_needs_a_key_and_gives_all_intermediate_results():
    with function_harness(Largest(), key_selector=lambda v: v % 2) as harness:
        harness.push_all([3, 4, 1, 8, 5])
        assert harness.values == [3, 4, 3, 8, 5]


def test_a_process_function_sees_time_and_has_side_outputs():
    with function_harness(WithTimes()) as harness:
        harness.push(1, timestamp=10)
        harness.advance_watermark(7)
        harness.push(-2, timestamp=20)
        harness.push(3)
        assert harness.output == [
            Record((1, 10, NO_WATERMARK), 10),
            Watermark(7),
            SideRecord("negative", -2, 20),
            Record((3, NO_WATERMARK, 7)),
        ]
        assert harness.side_output(WithTimes.NEGATIVE) == harness.side_output("negative") == [-2]
        assert harness.side_records("negative") == [Record(-2, 20)]
        assert harness.side_output("other") == []
        assert (harness.watermarks, harness.watermark) == ([7], 7)


def test_timers_fire_when_their_time_comes():
    with function_harness(CountOfKey(), key_selector=first, start_time=5_000) as harness:
        harness.push(("a", 1), timestamp=10)
        harness.push(("b", 2), timestamp=20)
        harness.push(("a", 3), timestamp=30)
        assert harness.event_time_timers == [Timer(110, "a"), Timer(120, "b"), Timer(130, "a")]
        assert harness.processing_time_timers == [Timer(6_000, "a"), Timer(6_000, "b")]
        assert harness.take() == [Record(("a", 1), 10), Record(("b", 1), 20), Record(("a", 2), 30)]

        harness.advance_watermark(119)
        assert harness.take() == [Record(("EVENT_TIME", "a", 2), 110), Watermark(119)]
        harness.advance_watermark(120)
        assert harness.take() == [Record(("EVENT_TIME", "b", 1), 120), Watermark(120)]

        harness.set_processing_time(5_999)
        assert harness.take() == []
        harness.advance_processing_time(1)
        assert harness.take() == [Record(("PROCESSING_TIME", "a", 2), 6_000), Record(("PROCESSING_TIME", "b", 1), 6_000)]
        assert (harness.event_time_timers, harness.processing_time_timers) == ([Timer(130, "a")], [])
        assert harness.processing_time == 6_000


def test_state_of_a_key_can_be_looked_at():
    with function_harness(CountOfKey(), key_selector=first) as harness:
        assert harness.state("a") == {}
        harness.push_all([("a", 7), ("b", 8), ("a", 9)], [1, 2, 3])
        assert harness.state("a") == {"count": 2, "seen": [7, 9], "by time": {1: 7, 3: 9}}
        assert harness.state("b") == {"count": 1, "seen": [8], "by time": {2: 8}}
        harness.state("b")["seen"].append("not in the state")
        assert harness.state("b")["seen"] == [8]
        harness.set_processing_time(1_000)
        assert harness.state("a") == harness.state("b") == {}


@pytest.mark.parametrize("backend", ["hashmap", "lmdb", "rocksdb"])
def test_looking_at_state_does_not_keep_it_alive(backend):
    with function_harness(Remember(), key_selector=lambda v: v[0], state_backend=backend) as harness:
        harness.push("ann")
        harness.advance_processing_time(900)
        assert harness.state("a") == {"last": "ann"}
        harness.advance_processing_time(200)
        assert harness.state("a") == {}
        harness.push("abe")
        assert harness.values == [None, None]


def test_two_inputs():
    with function_harness(Sides()) as harness:
        harness.push(1, input=2)
        harness.push(2)
        harness.push_all([3, 4], [5, 6], input=2)
        assert harness.output == [(("right", 1), None), (("left", 2), None), (("right", 3), 5), (("right", 4), 6)]
    with function_harness(Numbered()) as harness:
        harness.push("a", input=2)
        harness.push("b", input=1)
        assert harness.values == [(1, "a"), (2, "b")]


def test_two_keyed_inputs_share_their_state_and_the_smaller_watermark():
    with function_harness(Match(), key_selector=[lambda order: order["id"], lambda payment: payment["order"]], parallelism=2) as harness:
        harness.push({"id": 1}, input=1)
        harness.push({"order": 2}, input=2)
        assert harness.state(1) == {"order": {"id": 1}}
        assert harness.state(2) == {"payment": {"order": 2}}
        harness.push({"order": 1}, input=2)
        harness.push({"id": 2}, input=1)
        assert harness.values == [({"id": 1}, {"order": 1}), ({"id": 2}, {"order": 2})]

        harness.advance_watermark(10, input=1)
        assert harness.watermarks == []
        harness.advance_watermark(5, input=2)
        assert harness.watermarks == [5]
        harness.advance_watermark(20, input=2)
        assert harness.watermarks == [5, 10]
        harness.advance_watermark(30)
        assert harness.watermarks == [5, 10, 30]


def test_an_idle_input_does_not_hold_event_time_back():
    with function_harness(Sides()) as harness:
        harness.advance_watermark(10, input=1)
        harness.set_idle(input=2)
        assert harness.output == [Watermark(10)]
        harness.set_idle()
        assert harness.take() == [Watermark(10), WatermarkStatus(True)]
        harness.push("x", input=2)
        assert harness.take() == [WatermarkStatus(False), Record(("right", "x"))]


def test_the_end_of_the_input():
    with function_harness(CountOfKey(), key_selector=first) as harness:
        harness.push(("a", 1), timestamp=50)
        harness.take()
        harness.end_input()
        # Timers of processing time that are not due yet are dropped, as at the end of a job.
        assert harness.output == [Record(("EVENT_TIME", "a", 1), 150), Watermark(END_OF_TIME)]
    with function_harness(Sides()) as harness:
        harness.end_input(input=1)
        assert harness.output == []
        harness.push("x", input=2)
        harness.end_input()
        assert harness.output == [Record(("right", "x")), Watermark(END_OF_TIME)]


def test_several_subtasks_look_like_one_stream():
    keys = "abcdefgh"
    with function_harness(CountOfKey(), key_selector=first, parallelism=4) as harness:
        for i, key in enumerate(keys * 2):
            harness.push((key, i), timestamp=i)
        assert harness.values == [(key, 1) for key in keys] + [(key, 2) for key in keys]
        assert [harness.state(key)["seen"] for key in keys] == [[i, i + 8] for i in range(8)]
        assert [timer.timestamp for timer in harness.event_time_timers] == [100 + i for i in range(16)]
        harness.take()
        harness.advance_watermark(103)
        # One watermark, after the results of all subtasks; the order of those is open.
        assert sorted(harness.take()[:-1]) == [Record(("EVENT_TIME", key, 2), 100 + i) for i, key in enumerate("abcd")]
        assert harness.watermarks == []
        harness.advance_watermark(104)
        assert harness.watermarks == [104]
        assert harness.metric("counted") == 16


def test_records_without_a_key_go_to_the_subtasks_in_turn():
    with function_harness(Numbered(), parallelism=3) as harness:
        for value in range(7):
            harness.push(value)
        assert [number for number, _ in harness.values] == [1, 1, 1, 2, 2, 2, 3]


class ById(KeySelector):
    def get_key(self, value):
        return value["id"]


def test_key_selectors_may_be_objects_and_types_declared():
    with function_harness(FieldOfRow(), key_selector=ById(), key_type=Types.INT()) as harness:
        harness.push({"id": 1, "n": 1})
        assert harness.values == [1]
    with function_harness(Double(), output_type=Types.FLOAT()) as harness:
        harness.push(2)
        assert harness.values == [4.0]
        assert type(harness.values[0]) is float
        with pytest.raises(TypeMismatchError):
            harness.push("a")


class FieldOfRow(MapFunction):
    """A map function with keyed state."""

    def map(self, value):
        return value["n"]


def test_what_a_function_raises_comes_out_of_push():
    with function_harness(Double()) as harness:
        harness.push(1)
        with pytest.raises(UserFunctionError, match="NoneType") as caught:
            harness.push(None)
        assert isinstance(caught.value.__cause__, TypeError)
        assert "programs.py" in caught.value.message
        assert harness.values == [2]


def test_options_of_the_job_hold():
    config = {"wiesel.user-error-policy": "skip", "pipeline.global-job-parameters": "factor:3"}
    with function_harness(Scaled(), config=config) as harness:
        harness.push_all([1, "x", 2])
        assert harness.values == [3, 6]
        assert harness.metric("numRecordsSkipped") == 1


class Scaled(MapFunction):
    def open(self, runtime_context):
        self.factor = int(runtime_context.get_job_parameter("factor", "1"))

    def map(self, value):
        return self.factor * int(value)


class Spied(MapFunction):
    def __init__(self):
        self.calls = []

    def open(self, runtime_context):
        self.calls.append("open")

    def map(self, value):
        self.calls.append(value)
        return value

    def close(self):
        self.calls.append("close")


def test_functions_are_copied_unless_the_test_wants_the_very_object():
    function = Spied()
    with function_harness(function) as harness:
        harness.push(1)
    assert function.calls == []
    with function_harness(function, ship=False) as harness:
        harness.push(1)
    assert function.calls == ["open", 1, "close"]


def test_what_came_out_can_be_read_after_the_end():
    with StreamHarness(lambda stream: stream.map(lambda v: v + 1)) as harness:
        harness.push(1)
    assert harness.values == [2]
    harness.close()


RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())


class Limits(KeyedBroadcastProcessFunction):
    """Passes on the values of a key that are above the limit of all keys."""

    def process_element(self, value, ctx):
        if value[1] > (ctx.get_broadcast_state(RULES).get("limit") or 0):
            yield value

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put("limit", value)


class Unequal(Limits):
    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put("limit", id(self))


def test_broadcast_state_reaches_all_subtasks():
    with function_harness(Limits(), key_selector=first, broadcast_state=RULES, parallelism=3) as harness:
        assert harness.broadcast_state(RULES) == {}
        harness.push_all([(key, 5) for key in "abcdef"])
        harness.push(7, input=2)
        harness.push_all([(key, 5) for key in "abcdef"])
        harness.push(("a", 8))
        assert sorted(harness.values) == [("a", 5), ("a", 8), *((key, 5) for key in "bcdef")]
        assert harness.broadcast_state("rules") == {"limit": 7}
        with harness.restored(harness.snapshot(), parallelism=5) as again:
            assert again.broadcast_state(RULES) == {"limit": 7}
            again.push(("b", 7))
            assert again.values == []
    with function_harness(Unequal(), key_selector=first, broadcast_state=[RULES], parallelism=2) as harness:
        harness.push(1, input=2)
        with pytest.raises(AssertionError, match="subtasks hold different entries"):
            harness.broadcast_state(RULES)


class Buffering(MapFunction, CheckpointedFunction):
    """Remembers all values of its subtask."""

    def initialize_state(self, context):
        self.kept = context.get_operator_state_store().get_list_state(ListStateDescriptor("kept", Types.INT()))
        self.buffer = list(self.kept.get())

    def map(self, value):
        self.buffer.append(value)
        return len(self.buffer)

    def snapshot_state(self, context):
        self.kept.update(self.buffer)


@pytest.mark.parametrize("parallelism", [1, 2, 3, 4])
def test_operator_state_is_shared_out(parallelism):
    with function_harness(Buffering(), parallelism=3) as harness:
        harness.push_all(range(7))
        assert harness.operator_state("kept") == [[], [], []]
        snapshot = harness.snapshot()
        assert harness.operator_state("kept") == [[0, 3, 6], [1, 4], [2, 5]]
        with harness.restored(snapshot, parallelism=parallelism) as again:
            shares = again.operator_state("kept")
            assert sorted(value for share in shares for value in share) == list(range(7))
            assert max(map(len, shares)) - min(map(len, shares)) <= 1
