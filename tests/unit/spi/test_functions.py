"""Function classes: PyFlink's names and parameters, and what callables become."""

from __future__ import annotations

import inspect
import json
import pickle
from pathlib import Path

import pytest

from wiesel.spi import functions
from wiesel.spi.output_tag import OutputTag, output_tags_exist
from wiesel.types.typeinfo import RowTypeInfo
from wiesel.types.types import Types

# Class.method -> parameters, written down from pyflink.datastream.functions of PyFlink 2.3.
SIGNATURES = json.loads(Path(__file__).with_name("function_signatures.json").read_text())


@pytest.mark.parametrize("path", SIGNATURES)
def test_signatures_are_pyflinks(path):
    member = functions
    for name in path.split("."):
        member = getattr(member, name)
    assert list(inspect.signature(member).parameters)[1:] == SIGNATURES[path]


def test_function_classes_cannot_be_made_without_their_methods():
    for name in ("MapFunction", "FlatMapFunction", "FilterFunction", "ReduceFunction", "AggregateFunction", "KeyedProcessFunction"):
        with pytest.raises(TypeError, match="abstract"):
            getattr(functions, name)()


def test_generic_functions_can_be_written_with_types():
    class Typed(functions.ProcessWindowFunction[tuple, str, str, object]):
        def process(self, key, context, elements):
            yield key

    assert list(Typed().process("k", None, [])) == ["k"]


def test_callables_become_functions_and_functions_stay():
    reduce = functions.as_reduce_function(max)
    assert reduce.reduce(1, 2) == 2
    assert functions.as_reduce_function(reduce) is reduce
    assert functions.as_key_selector(len).get_key("abc") == 3
    assert functions.as_partitioner(lambda key, n: key % n).partition(7, 4) == 3
    assert functions.NullByteKeySelector().get_key("anything") == 0


def test_what_is_called_per_record_has_no_wrapper_around_it():
    def function(value):
        return value

    class Selector(functions.KeySelector):
        def get_key(self, value):
            return value

    selector = Selector()
    assert functions.user_callable(function, "map") is function
    assert functions.user_callable(functions.as_key_selector(function), "get_key") is function
    assert functions.user_callable(selector, "get_key") == selector.get_key


def test_pass_through_functions_give_the_elements():
    assert functions.PassThroughWindowFunction().apply("k", None, [1, 2]) == [1, 2]
    assert functions.PassThroughAllWindowFunction().apply(None, [1, 2]) == [1, 2]


def test_an_output_tag_needs_a_name_and_takes_types():
    assert str(OutputTag("side").type_info) == "PickledByteArrayTypeInfo"
    assert OutputTag("side", Types.LONG()).type_info == Types.LONG()
    assert OutputTag("side", [Types.STRING(), Types.LONG()]).type_info == RowTypeInfo([Types.STRING(), Types.LONG()])
    for empty in ("", None):
        with pytest.raises(ValueError, match="cannot be None or empty"):
            OutputTag(empty)
    with pytest.raises(TypeError, match="type_info must be None, list or TypeInformation"):
        OutputTag("side", "LONG")


def test_an_output_tag_survives_pickling_and_is_equal_by_name():
    tag = OutputTag("side", Types.LONG())
    again = pickle.loads(pickle.dumps(tag))
    assert again == tag
    assert hash(again) == hash(tag)
    assert again.type_info == tag.type_info
    assert tag != OutputTag("other", Types.LONG())
    assert output_tags_exist()


def test_a_process_without_output_tags_knows_it():
    import subprocess
    import sys

    program = (
        "import pickle, sys; from wiesel.spi.output_tag import OutputTag, output_tags_exist as exist\n"
        "assert not exist(); pickle.loads(bytes.fromhex(sys.argv[1])); assert exist()"
    )
    subprocess.run([sys.executable, "-c", program, pickle.dumps(OutputTag("side")).hex()], check=True, timeout=150)
