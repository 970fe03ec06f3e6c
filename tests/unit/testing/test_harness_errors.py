"""What a harness says when it is used in a way that cannot be: what, where, and what to do."""

from __future__ import annotations

import threading

import pytest

from tests.unit.testing.programs import CountAll, CountOfKey, Double, Match, Sides, add, first, sums_of
from wiesel.core.errors import ConfigurationError, ProgramError, SerializationError
from wiesel.datastream.functions import BroadcastProcessFunction, MapFunction, ProcessWindowFunction
from wiesel.testing import StreamHarness, function_harness


class Windowed(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key


class Rules(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value

    def process_broadcast_element(self, value, ctx):
        yield value


@pytest.fixture
def harness():
    with function_harness(CountOfKey(), key_selector=first) as harness:
        yield harness


WRONG_FUNCTIONS = {
    "no key selector": (lambda: function_harness(CountOfKey()), "CountOfKey is a KeyedProcessFunction, which runs on a keyed stream"),
    "no key selectors": (lambda: function_harness(Match()), "has no key selector"),
    "one of two": (lambda: function_harness(Match(), key_selector=[first]), "1 key selectors for 2 inputs"),
    "two of one": (lambda: function_harness(CountOfKey(), key_selector=[first, first]), "2 key selectors for 1 input "),
    "a class": (lambda: function_harness(Double), "the class Double .*give an instance: Double"),
    "a callable": (lambda: function_harness(lambda v: v), "stream.map"),
    "of windows": (lambda: function_harness(Windowed()), "window"),
    "no broadcast state": (lambda: function_harness(Rules()), "Rules has no broadcast state"),
    "nonsense": (lambda: function_harness(5), "5 .a int."),
    "not a key selector": (lambda: function_harness(Double(), key_selector=7), "key_by"),
}


@pytest.mark.parametrize("name", WRONG_FUNCTIONS)
def test_functions_that_cannot_run(name):
    make, message = WRONG_FUNCTIONS[name]
    with pytest.raises(ProgramError, match=f"(?s){message}"):
        make()


WRONG_DEFINITIONS = {
    "not a function": (lambda: StreamHarness(Double()), "a definition is a function of streams"),
    "no stream": (lambda: StreamHarness(lambda: 1), "takes no stream"),
    "no operator": (lambda: StreamHarness(lambda s: s), "makes no operator"),
    "only a key": (lambda: StreamHarness(lambda s: s.key_by(first)), "makes no operator"),
    "no result": (lambda: StreamHarness(lambda s: None), "returned None"),
    "unfinished": (lambda: StreamHarness(lambda s: s.key_by(first).count_window(3)), "WindowedStream"),
    "several": (lambda: StreamHarness(lambda s: s.map(first).filter(bool)), "makes 2 operators: Map, Filter.*local_environment"),
    "a sink": (lambda: StreamHarness(lambda s: s.print() and s), "makes a sink"),
    "two inputs of one": (lambda: StreamHarness(lambda a, b: a.union(b).map(first)), "does not read each of the 2 inputs"),
    "types": (lambda: StreamHarness(sums_of(5), input_types=[None, None]), "has 1 inputs and got 2 input types"),
    "a wrong call": (lambda: StreamHarness(lambda s: s.key_by(first).window(5)), "window"),
    "parallelism": (lambda: StreamHarness(sums_of(5), parallelism=0), "parallelism must be at least 1"),
    "above the maximum": (lambda: StreamHarness(sums_of(5), parallelism=4, max_parallelism=2), "above its maximum parallelism"),
    "shared": (lambda: StreamHarness(sums_of(5), parallelism=2, ship=False), "ship=False"),
    "start": (lambda: StreamHarness(sums_of(5), start_time=0.5), "start_time must be a whole number of ms, got 0.5"),
}


@pytest.mark.parametrize("name", WRONG_DEFINITIONS)
def test_definitions_that_make_no_operator(name):
    make, message = WRONG_DEFINITIONS[name]
    with pytest.raises(ProgramError, match=f"(?s){message}"):
        make()


def test_a_source_inside_the_definition():
    def define(stream):
        return stream.get_execution_environment().from_collection([1]).map(first)

    with pytest.raises(ProgramError, match="makes a source"):
        StreamHarness(define)


def test_unknown_options_and_backends():
    with pytest.raises(ConfigurationError, match="user-error-polici"):
        StreamHarness(sums_of(5), config={"wiesel.user-error-polici": "skip"})
    with pytest.raises(ConfigurationError, match="rocks"):
        StreamHarness(sums_of(5), state_backend="rocks")


class Unshippable(MapFunction):
    def __init__(self):
        self.lock = threading.Lock()

    def map(self, value):
        return value


def test_what_cannot_be_shipped_is_found():
    with pytest.raises(SerializationError, match=r"Map .*test_harness_errors.py.*lock"):
        function_harness(Unshippable())
    with function_harness(Unshippable(), ship=False) as harness:
        harness.push(1)
        assert harness.values == [1]


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda h: h.push(("a", 1), timestamp=1.5), "a timestamp must be a whole number of ms, got 1.5"),
        (lambda h: h.push(("a", 1), timestamp=True), "got True"),
        (lambda h: h.push(("a", 1), timestamp=2**63), "whole number of ms"),
        (lambda h: h.push_all([("a", 1), ("b", 1)], [1]), "2 records were pushed with 1 timestamps"),
        (lambda h: h.push(("a", 1), input=2), "input must be from 1 to 1, got 2"),
        (lambda h: h.push(("a", 1), input=0), "input must be from 1 to 1, got 0"),
        (lambda h: h.advance_watermark("soon"), "a watermark must be a whole number of ms, got 'soon'"),
        (lambda h: (h.advance_watermark(5), h.advance_watermark(4)), "cannot go back from 5 to 4"),
        (lambda h: (h.set_processing_time(5), h.set_processing_time(4)), "cannot go back from 5 to 4"),
        (lambda h: h.advance_processing_time(-1), "cannot go back from 0 to -1"),
        (lambda h: (h.end_input(), h.push(("a", 1))), "the input has ended"),
        (lambda h: (h.end_input(), h.advance_watermark(2**63 - 1)), "the input has ended"),
        (lambda h: (h.end_input(), h.end_input()), "the input has ended"),
        (lambda h: h.side_output(5), "side output"),
        (lambda h: h.metric("numLateRecordsDroped"), "no metric 'numLateRecordsDroped'.*known are: counted"),
        (lambda h: h.broadcast_state("rules"), "has no broadcast state 'rules'"),
        (lambda h: h.operator_state("kept"), "has no operator list state 'kept'"),
        (lambda h: h.operator_state(3), "a state must be"),
        (lambda h: (h.close(), h.push(("a", 1))), "the harness is closed"),
        (lambda h: (h.close(), h.snapshot()), "the harness is closed"),
        (lambda h: (h.close(), h.state("a")), "the harness is closed"),
        (lambda h: (h.close(), h.advance_watermark(1)), "the harness is closed"),
        (lambda h: (h.close(), h.set_processing_time(1)), "the harness is closed"),
    ],
)
def test_misuse_of_a_harness(harness, act, message):
    with pytest.raises(ProgramError, match=f"(?s){message}") as caught:
        act(harness)
    assert caught.value.hint
    assert "test_harness_errors.py" in caught.value.message


def test_one_input_of_two():
    with function_harness(Sides()) as harness:
        harness.advance_watermark(5, input=2)
        with pytest.raises(ProgramError, match="watermark of input 2 cannot go back from 5 to 3"):
            harness.advance_watermark(3)
        assert harness.watermarks == []
        harness.end_input(input=1)
        with pytest.raises(ProgramError, match="input 1 has ended"):
            harness.push(1)


def test_state_without_a_key():
    with function_harness(Double()) as harness, pytest.raises(ProgramError, match="Map does not run on a keyed stream"):
        harness.state("a")


def test_records_without_a_timestamp_in_event_time_windows():
    with StreamHarness(lambda s: s.key_by(first).count_window(2).aggregate(CountAll())) as harness:
        harness.push_all([("a",), ("a",)])
        assert harness.values == ["2 records"]
    with StreamHarness(sums_of(10)) as harness, pytest.raises(ProgramError, match="timestamp"):
        harness.push(("a", 1))


def test_a_function_that_fails_to_open_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    class Broken(MapFunction):
        def open(self, runtime_context):
            raise RuntimeError("no database")

        def map(self, value):
            return value

    with pytest.raises(Exception, match="no database"):
        function_harness(Broken())
    assert list(tmp_path.iterdir()) == []
    with StreamHarness(lambda s: s.key_by(first).reduce(add), state_backend="lmdb") as harness:
        harness.push(("a", 1))
        assert list(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []
