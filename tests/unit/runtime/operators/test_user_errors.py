"""What an exception of a user's function does under the three policies."""

from __future__ import annotations

import pickle

import pytest

from tests.unit.runtime.harness import OperatorHarness, Record, Side
from wiesel.core.errors import CheckpointStorageError, UserFunctionError
from wiesel.runtime.operators.keyed import keyed_map_operator, keyed_reduce_operator
from wiesel.runtime.operators.process import keyed_process_operator, process_operator
from wiesel.runtime.operators.stateless import filter_operator, flat_map_operator, map_operator
from wiesel.runtime.user_code import ERRORS_TAG
from wiesel.spi.functions import KeyedProcessFunction, MapFunction, ProcessFunction
from wiesel.spi.output_tag import OutputTag
from wiesel.types.types import Types


def helper(value):
    return 12 // value


def divide(value):
    return helper(value)


class Divide(ProcessFunction):
    def process_element(self, value, ctx):
        yield helper(value)


class DivideKeyed(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield helper(value)


class DivideStateful(MapFunction):
    def open(self, runtime_context):
        self.factor = 1

    def map(self, value):
        return helper(value) * self.factor


def harness_for(factory, function, **options):
    return OperatorHarness(factory, payload={"function": function}, key=lambda v: v, **options)


ONE_TO_ONE = pytest.mark.parametrize(
    ("factory", "function"),
    [
        (map_operator, divide),
        (map_operator, DivideStateful()),
        (flat_map_operator, lambda value: [divide(value)]),
        (process_operator, Divide()),
        (keyed_process_operator, DivideKeyed()),
        (keyed_map_operator, DivideStateful()),
    ],
    ids=["map", "map object", "flat_map", "process", "keyed_process", "keyed_map"],
)


@ONE_TO_ONE
@pytest.mark.parametrize("timestamps", [None, [10, 20, 30, 40]], ids=["no times", "times"])
def test_fail_hands_on_what_came_before_and_names_record_and_line(factory, function, timestamps):
    harness = harness_for(factory, function)
    with pytest.raises(UserFunctionError) as caught:
        harness.push([1, 2, 0, 4], timestamps)
    assert harness.values == [12, 6]
    if timestamps:
        assert [e.timestamp for e in harness.output] == [10, 20]
    error = caught.value
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert error.details["operator"] == "under test"
    assert error.details["subtask"] == 0
    assert error.details["record"] == "0"
    assert "test_user_errors.py" in error.details["location"]
    assert error.details["location"].endswith("in helper")
    # Only the user's frames, innermost last.
    trace = error.details["user_traceback"]
    assert trace.splitlines()[-3].endswith("in helper")
    assert "wiesel/runtime" not in trace
    assert "return 12 // value" in trace
    assert str(error).count("ZeroDivisionError") == 1
    assert "program.py:7" in str(error)
    assert pickle.loads(pickle.dumps(error)).details == error.details


@ONE_TO_ONE
@pytest.mark.parametrize("timestamps", [None, [10, 20, 30, 40, 50]], ids=["no times", "times"])
def test_skip_leaves_the_record_out_and_counts(factory, function, timestamps):
    harness = harness_for(factory, function, error_policy="skip")
    harness.push([0, 2, 0, 4, 0], timestamps)
    times = [20, 40] if timestamps else [None, None]
    assert harness.output == [Record(6, times[0]), Record(3, times[1])]
    assert harness.metrics.value("numRecordsSkipped") == 3


@ONE_TO_ONE
def test_side_output_tells_about_the_record(factory, function):
    harness = harness_for(factory, function, error_policy="side-output", parallelism=4, subtask_index=2)
    harness.push([1, 0], [10, 20])
    assert harness.values == [12]
    (row,) = harness.side(ERRORS_TAG)
    assert row["record"] == 0
    assert row["timestamp"] == 20
    assert row["error"] == "ZeroDivisionError: integer division or modulo by zero"
    assert (row["operator"], row["subtask"]) == ("under test", 2)
    assert "test_user_errors.py" in row["location"]
    assert harness.metrics.value("numRecordsSkipped") == 1


def test_the_first_and_the_last_record_can_fail():
    harness = harness_for(filter_operator, lambda v: 1 / v > 0, error_policy="skip")
    harness.push([0, 1, 2, 0], [1, 2, 3, 4])
    assert harness.output == [Record(1, 2), Record(2, 3)]
    harness.push([0])
    assert harness.metrics.value("numRecordsSkipped") == 3


class HalfDone(ProcessFunction):
    def process_element(self, value, ctx):
        yield "first", value
        if value == 2:
            raise RuntimeError("in the middle")
        yield "second", value


def test_results_yielded_before_the_exception_stand():
    harness = harness_for(process_operator, HalfDone(), error_policy="skip")
    harness.push([1, 2, 3], [1, 2, 3])
    assert harness.output == [
        Record(("first", 1), 1),
        Record(("second", 1), 1),
        Record(("first", 2), 2),
        Record(("first", 3), 3),
        Record(("second", 3), 3),
    ]


class EngineTrouble(ProcessFunction):
    def process_element(self, value, ctx):
        raise CheckpointStorageError("disk full")


@pytest.mark.parametrize("policy", ["fail", "skip", "side-output"])
def test_errors_of_the_engine_are_never_skipped(policy):
    harness = harness_for(process_operator, EngineTrouble(), error_policy=policy)
    with pytest.raises(CheckpointStorageError, match="disk full"):
        harness.push([1])


class Interrupted(ProcessFunction):
    def process_element(self, value, ctx):
        raise KeyboardInterrupt


def test_an_interrupt_is_not_an_error_of_the_function():
    with pytest.raises(KeyboardInterrupt):
        harness_for(process_operator, Interrupted(), error_policy="skip").push([1])


class BadRepr:
    def __repr__(self):
        raise ValueError("no repr")


def test_a_record_without_repr_and_a_huge_one_are_shortened():
    with pytest.raises(UserFunctionError, match="<BadRepr, whose repr raises ValueError>"):
        harness_for(map_operator, lambda v: v.missing).push([BadRepr()], keys=[0])
    with pytest.raises(UserFunctionError, match=r"x\.\.\. \(1000002 characters\)") as caught:
        harness_for(map_operator, lambda v: v.missing).push(["x" * 1_000_000])
    assert len(str(caught.value)) < 2000


def test_a_result_of_a_wrong_type_can_be_skipped():
    harness = OperatorHarness(
        process_operator, payload={"function": Mixed(), "output_type": Types.TUPLE([Types.LONG()])}, error_policy="side-output"
    )
    harness.push([1, 2, 3], [1, 2, 3])
    assert [e for e in harness.output if isinstance(e, Record)] == [Record((1,), 1), Record((3,), 3)]
    (row,) = harness.side(ERRORS_TAG)
    assert row["record"] == "two"
    assert row["timestamp"] == 2


class Mixed(ProcessFunction):
    def process_element(self, value, ctx):
        yield "two" if value == 2 else (value,)


TYPED = OutputTag("typed", Types.TUPLE([Types.LONG()]))


class WrongSide(ProcessFunction):
    def process_element(self, value, ctx):
        yield TYPED, ("two" if value == 2 else (value,))
        yield value


def test_side_outputs_are_of_their_declared_type():
    harness = harness_for(process_operator, WrongSide(), error_policy="skip")
    harness.push([1, 2, 3], [1, 2, 3])
    assert harness.side("typed") == [(1,), (3,)]
    assert Side("typed", (3,), 3) in harness.output
    assert harness.values == [1, 2, 3]


def test_a_failing_reduce_keeps_what_was_reduced_before():
    harness = OperatorHarness(
        keyed_reduce_operator, payload={"function": lambda a, b: (a[0], a[1] + b[1])}, key=lambda v: v[0], error_policy="skip"
    )
    harness.push([("a", 1), ("a", "poison"), ("a", 2), ("b", 1)], [1, 2, 3, 4])
    assert harness.output == [Record(("a", 1), 1), Record(("a", 3), 3), Record(("b", 1), 4)]


class Returns(ProcessFunction):
    def process_element(self, value, ctx):
        return value + 1


@pytest.mark.parametrize(
    ("factory", "function"), [(process_operator, Returns()), (flat_map_operator, lambda value: value + 1)], ids=["process", "flat_map"]
)
def test_a_result_that_is_no_collection_is_told_what_to_do(factory, function):
    with pytest.raises(UserFunctionError) as caught:
        harness_for(factory, function).push([1])
    assert "yield the results, or return a list of them" in str(caught.value)
    with pytest.raises(UserFunctionError) as caught:  # the user's own mistake, in the user's own line
        harness_for(map_operator, lambda value: list(value)).push([1])
    assert "yield the results" not in str(caught.value)
