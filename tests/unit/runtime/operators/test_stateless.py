"""map, flat_map, filter, project and the conversion to a declared type."""

from __future__ import annotations

import pytest

from tests.unit.runtime.harness import OperatorHarness, Record, Watermark
from wiesel.core.errors import TypeMismatchError, UserFunctionError
from wiesel.runtime.operators.stateless import (
    convert_operator,
    filter_operator,
    flat_map_operator,
    map_operator,
    project_operator,
)
from wiesel.runtime.registry import make_operator
from wiesel.spi.functions import FilterFunction, FlatMapFunction, MapFunction
from wiesel.types.row import Row
from wiesel.types.types import Types


def run(factory, function, values, timestamps=None, output_type=None, **options):
    harness = OperatorHarness(factory, payload={"function": function, "output_type": output_type}, **options)
    harness.push(values, timestamps)
    return harness


class AddOne(MapFunction):
    def open(self, runtime_context):
        self.one = runtime_context.get_number_of_parallel_subtasks()

    def map(self, value):
        return value + self.one


@pytest.mark.parametrize("function", [lambda v: v + 1, AddOne()], ids=["callable", "function object"])
def test_map(function):
    assert run(map_operator, function, [1, 2], [10, None]).output == [Record(2, 10), Record(3, None)]


def test_map_may_return_none():
    assert run(map_operator, lambda v: None, [1]).values == [None]


def test_a_class_or_builtin_is_a_function_too():
    assert run(map_operator, int, ["1", "2"]).values == [1, 2]
    assert run(map_operator, str.upper, ["a"]).values == ["A"]


def test_map_drops_keys_and_keeps_one_batch():
    harness = OperatorHarness(map_operator, payload={"function": lambda v: v}, key=lambda v: v)
    harness.push([1, 2])
    assert [b.keys for b in harness.collected.batches] == [None]


class Growing(MapFunction):
    def __init__(self):
        self.seen = []

    def map(self, value):
        self.seen.append(value)
        return self.seen


def test_an_object_that_a_map_function_keeps_goes_out_as_it_was():
    assert run(map_operator, Growing(), [1, 2]).values == [[1], [1, 2]]


def test_an_object_that_a_closure_keeps_goes_out_as_it_was():
    def growing():
        seen = []

        def add(value):
            seen.append(value)
            return seen

        return add

    assert run(map_operator, growing(), [1, 2]).values == [[1], [1, 2]]


class Words(FlatMapFunction):
    def flat_map(self, value):
        yield from value.split()


@pytest.mark.parametrize("function", [str.split, lambda v: (w for w in v.split()), Words()], ids=["list", "generator", "function object"])
def test_flat_map(function):
    harness = run(flat_map_operator, function, ["a b", "", "c"], [1, 2, 3])
    assert harness.output == [Record("a", 1), Record("b", 1), Record("c", 3)]


def test_flat_map_may_return_none():
    assert run(flat_map_operator, lambda v: [v] if v else None, [0, 1]).values == [1]


class Even(FilterFunction):
    def filter(self, value):
        return value % 2 == 0


@pytest.mark.parametrize("function", [lambda v: not v % 2, Even()], ids=["callable", "function object"])
def test_filter(function):
    assert run(filter_operator, function, [1, 2, 3, 4], [1, 2, 3, 4]).output == [Record(2, 2), Record(4, 4)]


def test_filter_takes_what_is_true():
    assert run(filter_operator, lambda v: v, [0, "x", None, [], [0]]).values == ["x", [0]]


def test_filter_sends_no_empty_batch():
    assert run(filter_operator, lambda v: False, [1]).collected.batches == []


class Unsure:
    def __bool__(self):
        raise ValueError("neither true nor false")


def test_a_verdict_without_truth_is_an_error_of_its_record():
    harness = run(filter_operator, lambda v: Unsure() if v == 2 else True, [1, 2, 3], [1, 2, 3], error_policy="skip")
    assert harness.output == [Record(1, 1), Record(3, 3)]


@pytest.mark.parametrize(("fails_at", "named"), [(2, "2"), (4, "3")])
def test_the_first_record_without_a_verdict_or_truth_ends_the_job(fails_at, named):
    def verdict(value):
        if value == fails_at:
            raise KeyError("no verdict")
        return Unsure() if value == 3 else [value]

    harness = OperatorHarness(filter_operator, payload={"function": verdict})
    with pytest.raises(UserFunctionError, match=f"record '{named}'|record {named}"):
        harness.push([1, 2, 3, 4, 5], timestamps=[1, 2, 3, 4, 5])
    assert harness.output == [Record(v, v) for v in (1, 2, 3) if v < int(named)]


@pytest.mark.parametrize(("fields", "result"), [([1], ("b",)), ([2, 0], (3, "a"))])
def test_project_gives_tuples(fields, result):
    harness = OperatorHarness(project_operator, params={"fields": fields}, payload=None)
    harness.push([("a", "b", 3), Row("a", "b", 3)], timestamps=[1, 2])
    assert harness.output == [Record(result, 1), Record(result, 2)]


def test_convert_applies_the_declared_type():
    harness = OperatorHarness(convert_operator, payload={"output_type": Types.FLOAT()})
    harness.push([1, 0.1])
    # 0.1 as a 32-bit float
    assert harness.values == [1.0, 0.10000000149011612]


def test_a_result_of_another_type_than_declared_fails_after_those_before_it():
    harness = OperatorHarness(map_operator, payload={"function": lambda v: v, "output_type": Types.TUPLE([Types.STRING(), Types.LONG()])})
    with pytest.raises(TypeMismatchError, match=r"(?s)under test.*subtask 1/1, created at program\.py:7.*'not a tuple'"):
        harness.push([("a", 1), "not a tuple", ("b", 2)], timestamps=[1, 2, 3])
    assert harness.output == [Record(("a", 1), 1)]


def test_watermarks_pass():
    harness = OperatorHarness(map_operator, payload={"function": lambda v: v})
    harness.watermark(5)
    harness.push([1])
    assert harness.output == [Watermark(5), Record(1)]


def test_the_registry_finds_the_operators():
    for kind in ("map", "flat_map", "filter", "keyed_map", "keyed_flat_map", "keyed_filter", "keyed_reduce", "process", "keyed_process"):
        make_operator(kind, {}, {"function": lambda *v: v})
    make_operator("project", {"fields": [0]}, None)
    make_operator("convert", {}, {"output_type": Types.LONG()})


def test_stop_iteration_in_a_map_function_is_an_error():
    def function(value):
        return next(iter([])) if value == 2 else value

    with pytest.raises(UserFunctionError, match="StopIteration"):
        run(map_operator, function, [1, 2, 3])
    assert run(map_operator, function, [1, 2, 3, 2], [1, 2, 3, 4], error_policy="skip").output == [Record(1, 1), Record(3, 3)]
